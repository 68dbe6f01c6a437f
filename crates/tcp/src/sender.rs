//! The sending half: its state, the application's side, and what the others look at.
//!
//! `ack.rs` has the order of work on an ACK, `classic.rs` and `modern.rs` the two ways to judge it
//! (duplicate ACKs; SACK and RACK), `timeouts.rs` the timers, `transmit.rs` what may be sent.

mod ack;
mod bundle;
mod classic;
mod control;
mod modern;
mod timeouts;
mod transmit;

use crate::cc::{Cause, Congestion, Setup, State, View, Window};
use crate::config::TcpConfig;
use crate::ecn::Feedback;
use crate::options::Agreed;
use crate::rate::Sampler;
use crate::recovery::DupAck;
use crate::round::Round;
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::segment::Ecn;
use crate::settings::{EcnMode, RecoveryKind};
use crate::units::{Bytes, Span, Time};

use bundle::Bundle;
use control::Control;
use modern::Modern;
pub(crate) use transmit::Outgoing;
use transmit::{Pace, Usage};

/// What a trace shows of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// cwnd and ssthresh of the algorithm.
    pub window: Window,
    /// What the sender may use now: cwnd, or recovery's window while an episode lasts.
    pub send_window: Bytes,
    /// Smoothed RTT.
    pub srtt: Option<Span>,
    /// RTT variation.
    pub rttvar: Span,
    /// Least RTT.
    pub min_rtt: Option<Span>,
    /// Retransmission time-out in force.
    pub rto: Span,
    /// FlightSize (RFC 5681).
    pub flight: Bytes,
    /// Estimated to be in the network (RFC 6675).
    pub pipe: Bytes,
    /// Reported or presumed to have arrived beyond a gap.
    pub sacked: Bytes,
    /// Considered lost, sent again or not.
    pub lost: Bytes,
    /// State.
    pub state: State,
    /// Oldest unacknowledged sequence number.
    pub snd_una: u64,
    /// Next sequence number to send.
    pub snd_nxt: u64,
    /// The receiver's window.
    pub rwnd: Bytes,
}

/// Counts over the life of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Episodes of fast retransmit.
    pub recoveries: u64,
    /// Reductions on an ECN echo.
    pub ecn_reductions: u64,
    /// Probes for a lost tail.
    pub tail_probes: u64,
    /// Episodes taken back as spurious.
    pub undone: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
}

/// How losses are told and repaired.
#[derive(Debug)]
enum Repair {
    /// By duplicate ACKs.
    Classic(DupAck),
    /// By SACK or time.
    Modern(Modern),
}

/// The sending half of a connection whose handshake is done.
/// Fields lie in memory as written, those of every segment together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    snd_una: u64,
    snd_nxt: u64,
    /// The number after the last byte written.
    end: u64,
    rwnd: Bytes,
    /// SND.WL1 of RFC 9293: sequence number of the segment that told `rwnd`.
    window_told_by: u64,
    /// Probes of a closed window in a row.
    window_probes: u32,
    /// Time-outs since `snd_una` last moved.
    timeouts_in_a_row: u32,
    /// The send loop has run dry before.
    looked_in_vain: bool,
    /// So it has, and nothing has ever been written: this side of the connection only receives.
    only_receives: bool,
    window_probe_due: bool,
    /// A FIN follows the last byte.
    fin: bool,
    state: State,
    /// Something was sent since the send loop last ran dry.
    sent_in_burst: bool,
    bundles: bool,
    nagle: bool,
    ecn: Ecn,
    /// cwnd holds in recovery too.
    owns_window: bool,
    cwnd_validation: bool,
    slow_start_after_idle: bool,
    /// The other side is to hear that the window has been reduced.
    cwr_due: bool,
    feedback: Feedback,
    mss: Bytes,
    /// The end of the last segment that was not full.
    small_end: u64,
    last_sent_at: Option<Time>,
    usage: Usage,
    pace: Pace,
    cc: Control,
    board: Scoreboard,
    sampler: Sampler,
    round: Round,
    /// Delivered and marked.
    delivered_ce: Bytes,
    rtt: Rtt,
    repair: Repair,
    totals: Totals,
    /// FlightSize when the episode under way began.
    episode_flight: Bytes,
    bundle: Bundle,
}

impl Sender {
    /// A sender of data from number 1 on. The handshake's RTT is absent if its SYN was sent twice; with it comes how often
    /// the SYN went unanswered.
    pub(crate) fn new(
        config: &TcpConfig,
        agreed: Agreed,
        now: Time,
        (handshake_rtt, syn_timeouts): (Option<Span>, u32),
        rwnd: Bytes,
    ) -> Sender {
        let mss = agreed.mss;
        let setup = Setup {
            now,
            mss,
            initial_window: first_window(config, agreed, syn_timeouts),
            initial_ssthresh: config.initial_ssthresh,
            handshake_rtt,
            paced: config.pacing,
            seed: config.seed,
        };
        Sender {
            mss,
            cwnd_validation: config.cwnd_validation,
            slow_start_after_idle: config.slow_start_after_idle,
            nagle: config.nagle,
            bundles: config.tso_psh,
            bundle: Bundle::default(),
            ecn: match agreed.ecn {
                EcnMode::Off => Ecn::NotEct,
                EcnMode::L4s => Ecn::Ect1,
                EcnMode::Classic | EcnMode::Dctcp | EcnMode::Accecn => Ecn::Ect0,
            },
            owns_window: config.cc.algorithm.requirements.owns_window,
            cc: Control::new(config.cc.build(&setup)),
            repair: Repair::new(config, agreed),
            state: State::Open,
            board: Scoreboard::default(),
            rtt: first_rtt(config, handshake_rtt),
            round: Round::default(),
            sampler: Sampler::default(),
            feedback: Feedback::new(agreed.ecn),
            delivered_ce: Bytes::ZERO,
            usage: Usage::default(),
            pace: Pace::new(config.pacing),
            snd_una: 1,
            snd_nxt: 1,
            end: 1,
            fin: false,
            rwnd,
            window_told_by: 0,
            last_sent_at: None,
            small_end: 0,
            timeouts_in_a_row: 0,
            window_probes: 0,
            window_probe_due: false,
            episode_flight: Bytes::ZERO,
            cwr_due: false,
            sent_in_burst: false,
            looked_in_vain: false,
            only_receives: false,
            totals: Totals::default(),
        }
    }

    /// Bytes written and not yet acknowledged.
    pub(crate) fn buffered(&self) -> Bytes {
        Bytes(self.end - self.snd_una.min(self.end))
    }

    /// More data to send.
    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.fin, "data after close");
        self.end += bytes;
        self.note_use();
    }

    /// Forgets what was written and never sent.
    pub(crate) fn abandon_unsent(&mut self) {
        self.end = self.end.min(self.snd_nxt);
        self.note_use();
    }

    /// No more data follows.
    pub(crate) fn close(&mut self) {
        self.fin = true;
        self.note_use();
    }

    /// What there is to send has changed, or the send loop has run dry. Nothing was ever written on the side of a
    /// connection that only receives: segments of the other side tell it nothing but a window.
    fn note_use(&mut self) {
        self.only_receives = self.looked_in_vain && self.end == 1 && self.snd_nxt == 1 && !self.fin;
    }

    /// True once the FIN has left.
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin && self.snd_nxt > self.end
    }

    /// True once the FIN has been acknowledged.
    pub(crate) fn fin_acked(&self) -> bool {
        self.fin && self.snd_una > self.end
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    pub(crate) fn window(&self) -> Window {
        self.cc.window()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            window: self.cc.window(),
            send_window: self.send_window(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            flight: self.board.flight(),
            pipe: self.board.pipe(),
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            state: self.state,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            rwnd: self.rwnd,
        }
    }

    /// What may be in the network now.
    fn send_window(&self) -> Bytes {
        let cwnd = self.cc.window().cwnd;
        match &self.repair {
            _ if self.owns_window => cwnd,
            Repair::Classic(dupack) => dupack.window(self.state, cwnd),
            Repair::Modern(modern) => modern.window(self.state, cwnd),
        }
    }

    /// Tells the algorithm that an episode begins, or that a time-out continues one.
    #[cold]
    #[inline(never)]
    fn notify_congestion(&mut self, now: Time, cause: Cause, first: bool) {
        let limited = match &self.repair {
            Repair::Classic(dupack) => dupack.limited_transmit_sent(),
            Repair::Modern(modern) => modern.limited,
        };
        let mut flight = self.board.flight().saturating_sub(limited);
        if matches!(self.state, State::Open | State::Disorder) {
            self.episode_flight = flight;
        } else {
            // Departs from RFC 5681's FlightSize: a long recovery goes on sending while nothing is cumulatively
            // acknowledged, so a time-out that ends it would set ssthresh to many times what the path ever held.
            flight = flight.min(self.episode_flight);
        }
        let loss_window = match &self.repair {
            Repair::Classic(_) => self.mss,
            Repair::Modern(_) => self.board.pipe() + self.mss,
        };
        self.tell_losses(now);
        let head = self.board.head();
        let event = Congestion { cause, state_before: self.state, flight, first, loss_window, head };
        let view = self.view(now, false);
        self.cc.on_congestion(&event, &view);
        self.cwr_due = self.ecn != Ecn::NotEct;
    }

    fn view(&self, now: Time, round_start: bool) -> View {
        let cwnd_limited = self.cwnd_limited();
        View {
            now,
            mss: self.mss,
            state: self.state,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            flight: self.board.flight(),
            pipe: self.board.pipe(),
            rwnd: self.rwnd,
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            lost: self.board.lost(),
            retransmitted: self.board.retransmitted(),
            lost_total: self.board.lost_in_all(),
            delivered: self.sampler.delivered(),
            delivered_ce: self.delivered_ce,
            round: self.round.count,
            round_start,
            cwnd_limited,
            app_limited: self.sampler.app_limited(),
            paced_until: self.pace.until(),
            slow_start_after_idle: self.slow_start_after_idle,
            may_grow: !self.state.in_cwnd_reduction() && (cwnd_limited || !self.cwnd_validation),
        }
    }

    /// Where the episode under way, or the last one, ends.
    pub(crate) fn recovery_point(&self) -> u64 {
        match &self.repair {
            Repair::Classic(dupack) => dupack.point(),
            Repair::Modern(modern) => modern.point,
        }
    }
}

impl Repair {
    fn new(config: &TcpConfig, agreed: Agreed) -> Repair {
        match config.recovery {
            // RFC 6675 builds on SACK; without it NewReno remains.
            RecoveryKind::Sack if !agreed.sack => {
                Repair::Classic(DupAck::new(config, RecoveryKind::NewReno, agreed.mss))
            }
            RecoveryKind::Sack | RecoveryKind::Rack => Repair::Modern(Modern::new(config, agreed)),
            classic => Repair::Classic(DupAck::new(config, classic, agreed.mss)),
        }
    }
}

/// The window that a connection begins with.
fn first_window(config: &TcpConfig, agreed: Agreed, syn_timeouts: u32) -> Bytes {
    if syn_timeouts > 1 {
        // RFC 6928 §2: one lost SYN may be chance; after more of them one segment, as RFC 5681 §3.1 has it.
        agreed.mss
    } else if agreed.mss < config.mss {
        // A smaller segment size than the configured one keeps the window's number of segments.
        agreed.mss * (config.initial_window.0 / config.mss.0).max(1)
    } else {
        config.initial_window
    }
}

/// What the handshake says about the round trip.
fn first_rtt(config: &TcpConfig, handshake_rtt: Option<Span>) -> Rtt {
    let mut rtt = Rtt::new(config.rto, config.rtt_estimator);
    match handshake_rtt {
        Some(sample) => {
            rtt.sample(sample, 1, 1);
            rtt.note_min(sample);
        }
        // RFC 6298 §5.7
        None => rtt.set_initial(config.rto.initial.max(Span::from_millis(3000))),
    }
    rtt
}
