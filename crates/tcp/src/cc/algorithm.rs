//! The description of an algorithm: name, parameters, profiles, requirements, and its constructor.

use std::fmt;

use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use super::signals::Saved;
use crate::compat::Agent;
use crate::settings::{EcnMode, RecoveryKind};
use crate::units::{Bytes, Span, Time};

/// Builds an algorithm for a connection whose handshake is complete.
pub type Build = dyn Fn(&ParamValues, &Setup) -> Box<dyn CongestionControl> + Sync;

/// The description of an algorithm: what a user can choose, and its constructor.
pub struct Algorithm {
    /// As written in a scenario.
    pub name: &'static str,
    /// Full name.
    pub title: &'static str,
    /// The document that defines it.
    pub reference: &'static str,
    /// What it requires of its connection.
    pub requirements: Requirements,
    /// Segments that an ACK may add in slow start where its parameters have no `slow_start_limit`, for an algorithm that takes
    /// a start of the connection (`tcp.start`); `None` if its start is part of it.
    pub starts: Option<u32>,
    /// Parameters with range, unit and source.
    pub params: &'static [Param],
    /// Historical forms; the first is the default.
    pub profiles: &'static [Profile],
    /// Variables that [`CongestionControl::observe`] shows.
    pub internals: &'static [Internal],
    /// The words of the variable `state`, by its number.
    pub states: &'static [&'static str],
    /// Constructor.
    pub build: &'static Build,
}

/// A variable that an algorithm shows of itself.
#[derive(Clone, Copy, Debug)]
pub struct Internal {
    /// Its name, which ends in its unit: `_bytes`, `_s`, `_bps`, none for ratios and counts.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
}

impl Algorithm {
    /// Of [`Algorithm::starts`]: every segment that is acknowledged.
    pub const EVERY: u32 = u32::MAX;
    /// Of [`Algorithm::starts`]: its slow start is part of it, and of all starts it takes a window that was saved alone. BBR.
    pub const RESUMES: u32 = 0;

    /// True if it is a class in Python that names what it shows as it runs ([`Internal::ANY`]).
    pub fn shows_freely(&self) -> bool {
        self.internals.iter().any(|internal| internal.name == Internal::ANY.name)
    }

    /// The variables whose names are known before.
    pub fn listed_internals(&self) -> impl Iterator<Item = &'static Internal> {
        self.internals.iter().filter(|internal| internal.name != Internal::ANY.name)
    }
}

impl Internal {
    /// Stands for variables that have their names from `observe` alone.
    pub const ANY: Internal = Internal::of("", "");

    /// A variable.
    pub const fn of(name: &'static str, doc: &'static str) -> Internal {
        Internal { name, doc }
    }

    /// Its unit, or "" for a pure number.
    pub fn unit(&self) -> &'static str {
        let units = [("_bytes", "B"), ("_s", "s"), ("_bps", "bit/s")];
        units.iter().find(|(end, _)| self.name.ends_with(end)).map_or("", |(_, unit)| unit)
    }
}

/// What an algorithm requires of its connection. A requirement is switched on; a setting that contradicts it is an
/// error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirements {
    /// Its cwnd applies in recovery too: losses are detected and repaired, but recovery does not set the window. BBR.
    pub owns_window: bool,
    /// The ECN feedback that it depends on, if any. DCTCP, Prague.
    pub ecn: Option<EcnMode>,
    /// Timestamps, for [`Ack::one_way`]. LEDBAT, TCP-LP.
    pub timestamps: bool,
    /// Random numbers of [`Setup::seed`]. BBR, CDG.
    pub random: bool,
}

impl Requirements {
    /// No requirements.
    pub const NONE: Requirements = Requirements { owns_window: false, ecn: None, timestamps: false, random: false };
}

/// What is known when the handshake is complete.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Current time.
    pub now: Time,
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// Initial cwnd.
    pub initial_window: Bytes,
    /// Initial ssthresh; [`Bytes::MAX`] means "not set".
    pub initial_ssthresh: Bytes,
    /// RTT of the handshake; absent if the SYN was retransmitted.
    pub handshake_rtt: Option<Span>,
    /// There was no handshake: the first segment stands for the SYN.
    pub without_handshake: bool,
    /// The sender is an agent of another simulator.
    pub agent: Option<Agent>,
    /// What an earlier connection of the pair of nodes has left, for a start that resumes from there.
    pub saved: Option<Saved>,
    /// The connection paces even without a rate from its algorithm.
    pub paced: bool,
    /// Seed of the algorithm's random numbers; each connection has its own.
    pub seed: u64,
}

impl Setup {
    /// A connection whose handshake took no time and measured no RTT, which has no ssthresh and does not pace.
    pub fn plain(mss: Bytes, initial_window: Bytes) -> Setup {
        Setup {
            now: Time::ZERO,
            mss,
            initial_window,
            initial_ssthresh: Bytes::MAX,
            handshake_rtt: None,
            without_handshake: false,
            agent: None,
            saved: None,
            paced: false,
            seed: 1,
        }
    }
}

/// Algorithms are equal if their names are.
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

    /// The loss recovery that `profile` prescribes, if any.
    pub fn recovery(&self, profile: &str) -> Option<RecoveryKind> {
        self.profile(profile).and_then(|p| p.recovery)
    }
}
