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
mod vegas;
mod veno;
mod vivace;
mod westwood;
mod window;
mod yeah;

use std::fmt;

pub use choice::{Choice, ChoiceError, Param, ParamKind, Profile, Value, Values};
pub use window::{Counter, Window};

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

    /// Named internals for traces, read-only.
    fn observe(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// Where the sender stands (the names are Linux's).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum State {
    /// No sign of trouble.
    #[default]
    Open,
    /// Duplicate ACKs, fewer than mean loss.
    Disorder,
    /// The window is coming down after an ECN echo, a lost tail or by the algorithm's wish; nothing is to be sent again.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a time-out (or Tahoe's third duplicate ACK): slow start through what was lost.
    Loss,
}

impl State {
    /// True while the window comes down, so that nothing makes it grow.
    pub fn descends(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// How things stand; the same for every method.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// The time.
    pub now: Time,
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// The sender's state.
    pub state: State,
    /// Oldest unacknowledged sequence number.
    pub snd_una: u64,
    /// Next sequence number to send.
    pub snd_nxt: u64,
    /// FlightSize (RFC 5681): sent, not cumulatively acknowledged.
    pub flight: Bytes,
    /// Estimated to be in the network (RFC 6675).
    pub pipe: Bytes,
    /// The receiver's window.
    pub rwnd: Bytes,
    /// Smoothed RTT, once there is a sample.
    pub srtt: Option<Span>,
    /// RTT variation.
    pub rttvar: Span,
    /// Least RTT seen.
    pub min_rtt: Option<Span>,
    /// Retransmission time-out in force.
    pub rto: Span,
    /// Considered lost, sent again or not.
    pub lost: Bytes,
    /// Retransmissions believed in the network.
    pub retransmitted: Bytes,
    /// Everything ever marked lost; a segment counts each time.
    pub lost_total: Bytes,
    /// Reported or presumed to have arrived, since the start, selectively or cumulatively.
    pub delivered: Bytes,
    /// Of `delivered`, what the network marked.
    pub delivered_ce: Bytes,
    /// Packet-timed rounds since the start.
    pub round: u64,
    /// This ACK began a round.
    pub round_start: bool,
    /// The window, not the application or the receiver, holds the sender back (algorithms.md §7.5, Linux's rule).
    pub cwnd_limited: bool,
    /// The application, not the network, sets the pace: what is in the network does not fill the window.
    pub app_limited: bool,
    /// Pacing lets nothing leave before.
    pub paced_until: Time,
    /// The connection wants windows to shrink after silence.
    pub idle_restart: bool,
    /// Classic growth is allowed: the state permits it and, if the connection validates its window, the window is used.
    pub may_grow: bool,
}

/// What one ACK did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Bytes that it reports for the first time, cumulatively or selectively. Without SACK: bytes cumulatively
    /// acknowledged that were believed in the network; what a time-out had written off and turns out to have arrived
    /// before is left out, for it says nothing of the path now.
    pub acked: Bytes,
    /// The same in segments.
    pub acked_segments: u32,
    /// Segments that it acknowledges cumulatively, whether reported before or not.
    pub cumulative_segments: u32,
    /// Newly marked lost on it.
    pub lost: Bytes,
    /// Its count among duplicate ACKs; 0 if it is none.
    pub duplicate: u32,
    /// It advanced `snd_una`, but not to the recovery point.
    pub partial: bool,
    /// RTT of the segments it covers; absent if one of them was sent twice.
    pub rtt: Option<RttSample>,
    /// Time from the sender to the receiver, up to a constant, by timestamps: to a millisecond, and with the receiver's delay.
    pub one_way: Option<Span>,
    /// Flight before it.
    pub prior_flight: Bytes,
    /// Pipe before it.
    pub prior_pipe: Bytes,
    /// It echoes congestion.
    pub echo: bool,
    /// Of the reported bytes, those that the network marked.
    pub ce: Bytes,
    /// Delivery rate, if it reported anything.
    pub rate: Option<RateSample>,
}

/// Round-trip times of the segments that one ACK covers.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// Of the segment sent last: without the receiver's delay.
    pub latest: Span,
    /// Of the segment sent first: with the receiver's delay.
    pub oldest: Span,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The time.
    pub now: Time,
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: Bytes,
    /// Pipe with it.
    pub pipe: Bytes,
    /// It was sent before.
    pub retransmission: bool,
}

/// A segment that is believed lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: Bytes,
    /// When it was last sent.
    pub sent_at: Time,
    /// Pipe with it when it was sent.
    pub tx_in_flight: Bytes,
    /// Marked lost between its transmission and now, itself included.
    pub lost_since: Bytes,
    /// The application, not the network, set the pace when it was sent.
    pub app_limited: bool,
}

/// The oldest segment outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// When it was last sent.
    pub sent_at: Time,
    /// How often it was sent.
    pub transmissions: u32,
}

/// Why the sender believes in congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate ACKs (RFC 5681 §3.2).
    DupAck,
    /// Reports of data beyond a gap (RFC 6675).
    Sack,
    /// Time since something sent later has arrived (RFC 8985).
    Rack,
    /// The tail was lost and repaired by a probe (RFC 8985 §7.4).
    Tlp,
    /// The oldest segment is older than the algorithm's own time-out (Vegas).
    HeadTimeout,
    /// An ECN echo (RFC 3168).
    Ecn,
    /// The algorithm asked for it ([`CongestionControl::wants_reduction`]).
    Algorithm,
    /// The retransmission timer (RFC 6298).
    Timeout,
}

/// An episode of congestion begins.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Its sign.
    pub cause: Cause,
    /// The sender's state when it came.
    pub state_before: State,
    /// FlightSize without what limited transmit added (RFC 5681 §3.2 step 2).
    pub flight: Bytes,
    /// The first reduction of this episode; if not, ssthresh is to be left alone.
    pub first: bool,
    /// What a timed-out sender starts from: one segment, and what is still believed in the network.
    pub loss_window: Bytes,
    /// The oldest segment, if any is outstanding.
    pub head: Option<Head>,
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
