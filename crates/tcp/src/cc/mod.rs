//! The congestion-control trait, what it is told, and the list of algorithms.
//!
//! The algorithm owns cwnd and ssthresh; recovery owns a window of its own, in force while an episode lasts. So cwnd is
//! never overwritten behind the algorithm's back. Adding an algorithm: one file, one line in [`ALGORITHMS`].

mod aimd;
mod asran;
mod bbr;
mod bbr3;
mod bic;
mod cdg;
mod choice;
mod compound;
mod copa;
mod cubic;
mod dctcp;
mod delay;
#[cfg(test)]
mod driver;
mod ewphcc;
mod filter;
mod fr;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod ledbat;
mod lp;
mod nv;
mod prague;
mod reno;
mod scalable;
mod told;
mod vegas;
mod veno;
mod vivace;
mod westwood;
mod window;
mod yeah;

use std::fmt;

pub use choice::{Choice, ChoiceError, Param, ParamKind, Profile, Value, Values};
pub use told::{Ack, Cause, Congestion, Head, Lost, RttSample, Sent, Standing, State, View};
pub use window::{Counter, IdleRule, Window};

pub use crate::rate::RateSample;

use crate::config::{EcnMode, RecoveryKind};
use crate::units::{Bytes, Rate, Span, Time};

/// Every algorithm there is. Names, parameters, profiles, documentation and tests follow from this list.
pub const ALGORITHMS: &[&Algorithm] = &[
    &reno::TAHOE,
    &reno::RENO,
    &reno::NEWRENO,
    &cubic::CUBIC,
    &fr::FR,
    &asran::ASRAN,
    &bic::BIC,
    &highspeed::HIGHSPEED,
    &scalable::SCALABLE,
    &htcp::HTCP,
    &hybla::HYBLA,
    &vegas::VEGAS,
    &ewphcc::EWPHCC,
    &bbr::BBR,
    &bbr3::BBR3,
    &westwood::WESTWOOD,
    &lp::LP,
    &ledbat::LEDBAT,
    &nv::NV,
    &veno::VENO,
    &yeah::YEAH,
    &illinois::ILLINOIS,
    &cdg::CDG,
    &compound::COMPOUND,
    &copa::COPA,
    &dctcp::DCTCP,
    &prague::PRAGUE,
    &vivace::VIVACE,
];

/// Makes an algorithm for a connection whose handshake is done.
pub type Build = dyn Fn(&Values, &Setup) -> Box<dyn CongestionControl> + Sync;

/// The description of an algorithm: what a user can choose, and how to make one.
pub struct Algorithm {
    /// As written in a scenario.
    pub name: &'static str,
    /// In words.
    pub title: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// What it asks of its connection.
    pub demands: Demands,
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
pub struct Demands {
    /// Its cwnd holds in recovery too: losses are found and repaired, but nothing else shapes the window. BBR.
    pub owns_window: bool,
    /// The form of congestion marks that it reads, if it depends on one. DCTCP, Prague.
    pub ecn: Option<EcnMode>,
    /// Timestamps, for [`Ack::one_way`]. LEDBAT, TCP-LP.
    pub timestamps: bool,
}

impl Demands {
    /// Nothing special.
    pub const NONE: Demands = Demands { owns_window: false, ecn: None, timestamps: false };
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

/// A congestion-control algorithm. It never touches a segment; it answers with [`CongestionControl::window`].
pub trait CongestionControl: fmt::Debug + Send {
    /// Every ACK that carries information, in every state, duplicates included.
    /// Classic growth belongs under `view.may_grow`.
    fn on_ack(&mut self, ack: &Ack, view: &View);

    /// Once per episode of congestion; the algorithm sets its own cwnd and ssthresh.
    fn on_congestion(&mut self, event: &Congestion, view: &View);

    /// cwnd and ssthresh as they stand.
    fn window(&self) -> Window;

    /// The recovery point has been acknowledged. Used by NewReno (RFC 6582 §3.2 step 3).
    fn on_recovery_end(&mut self, _view: &View) {}

    /// The episode was spurious; `before` is what [`CongestionControl::window`] said when it began.
    fn on_undo(&mut self, before: Window, view: &View);

    /// A segment left. Used by rate-based algorithms.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A segment was newly marked lost. Comes before [`CongestionControl::on_congestion`], if that follows.
    fn on_lost(&mut self, _lost: &Lost, _view: &View) {}

    /// First transmission of new data after `idle` of silence with nothing outstanding. The window is to shrink only if
    /// `view.idle_restart` says so. Used by Reno (RFC 5681 §4.1) and CUBIC.
    fn on_idle(&mut self, _idle: Span, _view: &View) {}

    /// [`CongestionControl::next_timer`] has been reached.
    fn on_timer(&mut self, _view: &View) {}

    /// When to call [`CongestionControl::on_timer`]; asked again after every call of the others.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// With recovery `vegas`: a duplicate ACK sends the oldest segment again once it is this old.
    fn head_timeout(&self) -> Option<Span> {
        None
    }

    /// The algorithm itself sees congestion and wants the window to come down as after an ECN echo; asked after each
    /// ACK. [`CongestionControl::on_congestion`] follows at once, unless an episode is under way. CDG.
    fn wants_reduction(&self) -> bool {
        false
    }

    /// The rate to send at; `None` leaves it to the connection, which paces only if it is set to.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// So much leaves at once when paced, and a bundle that leaves late shortens the pause after it, as in Linux; `None`:
    /// single segments.
    fn send_quantum(&self) -> Option<Bytes> {
        None
    }

    /// What these four say, in one call: the sender asks for it after each call that may have changed it. Not to be
    /// written anew.
    fn standing(&self) -> Standing {
        Standing {
            window: self.window(),
            pacing_rate: self.pacing_rate(),
            next_timer: self.next_timer(),
            wants_reduction: self.wants_reduction(),
        }
    }

    /// Named internals for traces, read-only.
    fn observe(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name).copied()
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
