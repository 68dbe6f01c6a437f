//! The description of an algorithm: name, parameters, profiles, what it asks of its connection, and how one is made.

use std::fmt;

use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use crate::settings::{EcnMode, RecoveryKind};
use crate::units::{Bytes, Span, Time};

/// Makes an algorithm for a connection whose handshake is done.
pub type Build = dyn Fn(&ParamValues, &Setup) -> Box<dyn CongestionControl> + Sync;

/// The description of an algorithm: what a user can choose, and how to make one.
pub struct Algorithm {
    /// As written in a scenario.
    pub name: &'static str,
    /// In words.
    pub title: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// What it asks of its connection.
    pub requirements: Requirements,
    /// Parameters with range, unit and source.
    pub params: &'static [Param],
    /// Historical forms; the first is the default.
    pub profiles: &'static [Profile],
    /// Makes one.
    pub build: &'static Build,
}

/// What an algorithm asks of its connection beyond what every connection does. What it asks for is switched on; a
/// setting that says otherwise is an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirements {
    /// Its cwnd holds in recovery too: losses are found and repaired, but nothing else shapes the window. BBR.
    pub owns_window: bool,
    /// The form of congestion marks that it reads, if it depends on one. DCTCP, Prague.
    pub ecn: Option<EcnMode>,
    /// Timestamps, for [`Ack::one_way`]. LEDBAT, TCP-LP.
    pub timestamps: bool,
}

impl Requirements {
    /// Nothing special.
    pub const NONE: Requirements = Requirements { owns_window: false, ecn: None, timestamps: false };
}

/// What is known when the handshake is done.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The time.
    pub now: Time,
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// cwnd to start from.
    pub initial_window: Bytes,
    /// ssthresh to start from; [`Bytes::MAX`] means "not set".
    pub initial_ssthresh: Bytes,
    /// RTT of the handshake; absent if its SYN was sent twice.
    pub handshake_rtt: Option<Span>,
    /// The connection paces even if its algorithm asks for no rate.
    pub paced: bool,
    /// Where the random numbers of an algorithm that draws come from; each connection has its own.
    pub seed: u64,
}

/// The name tells them apart.
impl PartialEq for Algorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Algorithm({})", self.name)
    }
}

impl Algorithm {
    /// The profile of that name.
    pub fn profile(&self, name: &str) -> Option<&'static Profile> {
        self.profiles.iter().find(|p| p.name == name)
    }

    /// The recovery this algorithm came with in `profile`, if it insists on one.
    pub fn recovery(&self, profile: &str) -> Option<RecoveryKind> {
        self.profile(profile).and_then(|p| p.recovery)
    }
}
