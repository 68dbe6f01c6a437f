//! What every loss recovery needs of a sender: its variables, what it knows of the path, and its algorithm.
//!
//! `impl SenderCore` lies in:
//!
//! - this file: what the algorithm is shown and told
//! - `ack.rs`: what an ACK reports and measures
//! - `segments.rs`: new data, retransmissions and losses
//! - `rto.rs`: the deadlines of every sender

use std::collections::VecDeque;

use super::ack_context::{AckContext, AckVerdict, Prior};
use super::cc_state::CcState;
use super::cwnd_usage::CwndUsage;
use super::limits::Limits;
use super::pacer::Pacer;
use super::tso::TsoPacket;
use crate::cc::{Ack, Cause, Congestion, Head, Saved, Setup, State, View};
use crate::config::TcpConfig;
use crate::ecn::{self, Feedback};
use crate::options::{Agreed, EcnHandshake};
use crate::rate::{NewestAcked, RateSampler};
use crate::round::Round;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segment::Ecn;
use crate::seq::SeqNo;
use crate::settings::{CwndValidation, OpeningKind};
use crate::timers::Timers;
use crate::told::Told;
use crate::units::{Bytes, Rate, Span, Time};

/// Counts over the life of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Retransmission time-outs.
    pub timeouts: u32,
    /// Episodes of fast retransmit.
    pub recoveries: u32,
    /// Reductions on an ECN echo.
    pub ecn_reductions: u32,
    /// Pauses after a mark at a window of one segment (RFC 3168 §6.1.2).
    pub ecn_waits: u32,
    /// Tail loss probes.
    pub tail_probes: u32,
    /// Episodes undone as spurious.
    pub undone: u32,
    /// Segments retransmitted.
    pub retransmitted_segments: u32,
}

/// What the handshake measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandshakeTiming {
    /// Round trip of the SYN or SYN-ACK; absent if it was sent twice (Karn).
    pub(crate) rtt: Option<Span>,
    /// How often the SYN or SYN-ACK timed out.
    pub(crate) timeouts: u32,
}

/// What a connection has of its own beside settings that it shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Seed of the algorithm's random numbers.
    pub(crate) seed: u64,
    /// What an earlier connection of the pair of nodes has left.
    pub(crate) saved: Option<Saved>,
}

/// A sign of congestion, as a recovery sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CongestionSign {
    pub(crate) cause: Cause,
    /// The first reduction of this episode.
    pub(crate) first: bool,
    /// A retransmission was lost.
    pub(crate) again: bool,
    /// What limited transmit sent, which does not count as FlightSize (RFC 5681 §3.2 step 2).
    pub(crate) limited_transmit: Bytes,
    /// The window that a time-out restarts from.
    pub(crate) loss_window: Bytes,
    /// What the recovery knows better of the oldest segment than the scoreboard.
    pub(crate) head: Option<Head>,
}

/// The sender but for its loss recovery.
// Hot fields first; see connection.rs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SenderCore {
    pub(crate) snd_una: SeqNo,
    pub(crate) snd_nxt: SeqNo,
    /// The number after the last byte written.
    pub(crate) end: SeqNo,
    pub(crate) rwnd: Bytes,
    /// SND.WL1 (RFC 9293 §3.3.1): sequence number of the segment that last updated `rwnd`.
    pub(crate) snd_wl1: SeqNo,
    /// Probes of a closed window in a row.
    pub(crate) window_probes: u32,
    /// Time-outs since `snd_una` last moved.
    pub(crate) timeouts_in_a_row: u32,
    /// The send loop has had nothing to send at least once.
    pub(crate) ran_dry: bool,
    /// This side of the connection only receives: its send loop has run dry, and nothing has ever been written.
    pub(crate) pure_receiver: bool,
    pub(crate) window_probe_due: bool,
    /// The next segment is sent however little the receiver has room for (the override timeout of RFC 9293 §3.8.6.2.1).
    pub(crate) override_due: bool,
    /// A FIN follows the last byte.
    pub(crate) fin: bool,
    pub(crate) state: State,
    /// Something was sent since the send loop last ran dry.
    pub(crate) sent_in_burst: bool,
    pub(crate) tso_psh: bool,
    pub(crate) tso_defer: bool,
    pub(crate) tso_fill: bool,
    pub(crate) nagle: bool,
    /// Only full segments are sent (TCP_CORK).
    pub(crate) cork: bool,
    /// What is not a full segment waits until an ACK arrives or more is written (Linux's MSG_MORE).
    pub(crate) more: bool,
    pub(crate) ecn: Ecn,
    /// ECN field of what is sent again. RFC 3168 §6.1.5 forbids it to be ECN-capable; RFC 8311 §4.3 lifts that for
    /// experiments, and in Linux an algorithm that needs ECN has it so. RFC 9331 §4.1: every packet for the L4S service
    /// carries ECT(1).
    pub(crate) ecn_of_retransmissions: Ecn,
    /// cwnd applies in recovery too.
    pub(crate) owns_window: bool,
    /// Delivered in all when the window was last reduced.
    reduced_at: Bytes,
    pub(crate) feedback: Feedback,
    pub(crate) mss: Bytes,
    /// The end of the last segment that was not full.
    pub(crate) small_end: SeqNo,
    /// What was written below this number waits neither for Nagle's rule nor for the cork.
    pub(crate) pushed: SeqNo,
    /// The end of the last write that announced no more: the segment that ends here has PSH (RFC 9293 §3.9.1, MUST-61).
    pub(crate) written_end: SeqNo,
    /// The ends of earlier writes, while they are outstanding: their retransmissions have PSH too. Bulk data has none.
    #[expect(clippy::box_collection, reason = "8 bytes in every connection instead of 32")]
    pub(crate) earlier_ends: Option<Box<VecDeque<SeqNo>>>,
    /// Far in the future before the first segment, so that no idle period is measured.
    pub(crate) last_sent_at: Time,
    /// Max(SND.WND) (RFC 9293 §3.8.6.2.1): the largest window that the receiver has offered.
    pub(crate) max_rwnd: Bytes,
    pub(crate) usage: CwndUsage,
    pub(crate) limits: Limits,
    pub(crate) pacer: Pacer,
    pub(crate) cc: CcState,
    pub(crate) board: Scoreboard,
    pub(crate) sampler: RateSampler,
    pub(crate) round: Round,
    /// Delivered and marked.
    pub(crate) delivered_ce: Bytes,
    pub(crate) rtt: RttEstimator,
    pub(crate) totals: Totals,
    // In the four bytes behind seven counts.
    /// cwnd grows only while it is used, by Linux's rule; `cc` has the other rules.
    pub(crate) cwnd_validation: bool,
    pub(crate) slow_start_after_idle: bool,
    /// The next new segment carries CWR (RFC 3168 §6.1.2).
    pub(crate) cwr_due: bool,
    /// FlightSize when the episode under way began.
    pub(crate) episode_flight: Bytes,
    pub(crate) tso_packet: TsoPacket,
}

impl SenderCore {
    /// A sender of data from number 1 on.
    #[inline]
    pub(crate) fn new(
        config: &TcpConfig,
        own: Own,
        agreed: Agreed,
        now: Time,
        handshake: HandshakeTiming,
        rwnd: Bytes,
    ) -> SenderCore {
        let (ecn, all) = (ecn::of_data(agreed.ecn), agreed.ecn_handshake != EcnHandshake::None);
        SenderCore {
            mss: agreed.mss,
            cwnd_validation: config.cwnd_validation == CwndValidation::Linux,
            slow_start_after_idle: config.slow_start_after_idle,
            nagle: config.nagle,
            cork: false,
            pushed: SeqNo::default(),
            written_end: SeqNo::default(),
            earlier_ends: None,
            more: false,
            tso_psh: config.tso_psh,
            tso_defer: config.tso_defer,
            tso_fill: config.tso_fill,
            tso_packet: TsoPacket::default(),
            ecn,
            ecn_of_retransmissions: if all || agreed.ecn.is_proportionate() { ecn } else { Ecn::NotEct },
            reduced_at: Bytes::ZERO,
            owns_window: config.cc.algorithm.requirements.owns_window,
            cc: CcState::new(config, &setup(config, own, agreed, now, handshake)),
            state: State::Open,
            board: Scoreboard::default(),
            rtt: RttEstimator::after_handshake(config.rto, config.rtt_estimator, handshake.rtt),
            round: Round::default(),
            sampler: RateSampler::default(),
            feedback: Feedback::new(agreed.ecn, agreed.ecn_handshake),
            delivered_ce: Bytes::ZERO,
            usage: CwndUsage::default(),
            limits: Limits::new(now),
            pacer: Pacer::new(config.pacing),
            snd_una: SeqNo::FIRST_DATA,
            snd_nxt: SeqNo::FIRST_DATA,
            end: SeqNo::FIRST_DATA,
            fin: false,
            rwnd,
            max_rwnd: rwnd,
            snd_wl1: SeqNo::default(),
            last_sent_at: Timers::NEVER,
            small_end: SeqNo::default(),
            timeouts_in_a_row: 0,
            window_probes: 0,
            window_probe_due: false,
            override_due: false,
            episode_flight: Bytes::ZERO,
            cwr_due: false,
            sent_in_burst: false,
            ran_dry: false,
            pure_receiver: false,
            totals: Totals::default(),
        }
    }

    #[inline]
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin && self.snd_nxt > self.end
    }

    /// The sender before an ACK.
    #[inline]
    pub(crate) fn prior(&self) -> Prior {
        Prior {
            snd_una: self.snd_una,
            flight: self.board.flight(),
            pipe: self.board.pipe(),
            lost_total: self.board.lost_total(),
        }
    }

    /// What an algorithm is shown of the sender.
    pub(crate) fn view(&self, now: Time) -> View {
        let cwnd_limited = self.usage.is_limited(self.cc.window());
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
            lost_total: self.board.lost_total(),
            delivered: self.sampler.delivered(),
            delivered_ce: self.delivered_ce,
            round: self.round.count,
            round_start: false,
            cwnd_limited,
            app_limited: self.sampler.app_limited(),
            paced_until: self.pacer.until(),
            slow_start_after_idle: self.slow_start_after_idle,
            may_grow: !self.state.in_cwnd_reduction() && (cwnd_limited || !self.cwnd_validation),
        }
    }

    /// Reports to the algorithm that an episode begins, or that a time-out continues one.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_congestion(&mut self, now: Time, sign: &CongestionSign) {
        let mut flight = self.board.flight().saturating_sub(sign.limited_transmit);
        if matches!(self.state, State::Open | State::Disorder) {
            self.episode_flight = flight;
        } else {
            // Departs from RFC 5681's FlightSize: a long recovery goes on sending while nothing is cumulatively
            // acknowledged, so a time-out that ends it would set ssthresh to many times what the path ever held.
            flight = flight.min(self.episode_flight);
        }
        self.report_losses(now);
        let CongestionSign { cause, first, again, loss_window, head, .. } = *sign;
        self.board.tell(Told::Congestion(cause));
        let head = head.or_else(|| self.board.head());
        let event = Congestion { cause, state_before: self.state, flight, first, again, loss_window, head };
        let view = self.view(now);
        self.cc.on_congestion(&event, &view);
        self.cwr_due = self.ecn != Ecn::NotEct;
        self.reduced_at = self.sampler.delivered();
    }

    /// True if what was sent with so much delivered in all was sent after the last reduction.
    pub(crate) fn sent_since_reduction(&self, delivered: Bytes) -> bool {
        delivered >= self.reduced_at
    }

    /// True if an ACK in fast recovery asks for one more reduction. One per window of data (RFC 8257 §3.3): something that
    /// was sent since the last has been reported. Without it a sender whose recovery goes on would be deaf to a queue
    /// that marks all it sends. A classic echo means no more than a loss does, which has been answered (RFC 3168 §6.1.2).
    #[inline]
    pub(crate) fn marks_reduce_in_recovery(&self, ack: &AckContext) -> bool {
        let since_the_last = |newest: &NewestAcked| self.sent_since_reduction(newest.prior_delivered());
        self.ecn_of_retransmissions != Ecn::NotEct
            && ack.marks.echo
            && self.state == State::Recovery
            && ack.report.newest.as_ref().is_some_and(since_the_last)
    }

    /// Reports an ACK to the algorithm. True if the algorithm sees congestion of its own and asks for a reduction.
    pub(crate) fn report_ack(&mut self, context: &AckContext, verdict: &AckVerdict) -> bool {
        let AckContext { now, prior, report, marks, .. } = *context;
        let lost_total = self.board.lost_total();
        let ack = Ack {
            acked: verdict.acked,
            acked_segments: verdict.acked_segments,
            cumulative_segments: report.summary.acked_segments,
            lost: lost_total.saturating_sub(prior.lost_total),
            duplicate: verdict.duplicate,
            partial: verdict.partial,
            rtt: context.rtt,
            echoed: verdict.echoed,
            one_way: context.one_way,
            prior_flight: prior.flight,
            prior_pipe: prior.pipe,
            echo: marks.echo,
            ce: marks.ce,
            rate: self.sampler.sample(report.newest.as_ref(), self.rtt.min(), lost_total),
        };
        self.report_losses(now);
        // An ACK (of a request) that finds nothing outstanding: Linux's tcp_ack leaves at `!prior_packets` before it calls an
        // algorithm that sets the window itself. The restart (on_idle) is what that learns first.
        if self.owns_window && prior.flight == Bytes::ZERO && report.summary.delivered == Bytes::ZERO {
            return false;
        }
        let mut view = View { round_start: context.round_start, ..self.view(now) };
        view.may_grow &= verdict.may_grow;
        self.cc.on_ack(&ack, &view);
        self.state < State::Cwr && self.cc.wants_reduction()
    }

    /// The rate to send at, if the connection or its algorithm paces.
    #[inline]
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.cc.pacing_rate() {
            return Some(rate);
        }
        if self.pacer.always() { self.default_pacing_rate() } else { None }
    }

    /// The pacing rate for an algorithm that asks for none (Linux): 2 cwnd/srtt below half of ssthresh, 1.2 above.
    pub(crate) fn default_pacing_rate(&self) -> Option<Rate> {
        let window = self.cc.window();
        let percent = if window.cwnd.0 < window.ssthresh.0 / 2 { 200 } else { 120 };
        let bytes = Bytes(window.cwnd.max(self.board.flight()).0.saturating_mul(percent) / 100);
        self.rtt.rate_of(bytes)
    }
}

/// What an algorithm is built from.
fn setup(config: &TcpConfig, own: Own, agreed: Agreed, now: Time, handshake: HandshakeTiming) -> Setup {
    Setup {
        now,
        mss: agreed.mss,
        initial_window: initial_window(config, agreed, handshake.timeouts),
        initial_ssthresh: config.initial_ssthresh,
        handshake_rtt: handshake.rtt,
        without_handshake: !config.handshake,
        agent: config.agent,
        saved: own.saved,
        paced: config.pacing,
        seed: own.seed,
    }
}

/// The window that a connection begins with.
fn initial_window(config: &TcpConfig, agreed: Agreed, syn_timeouts: u32) -> Bytes {
    if syn_timeouts > 1 && config.opening == OpeningKind::Rfc {
        // RFC 6928 §2: one lost SYN may be chance; after more of them one segment, as in RFC 5681 §3.1.
        agreed.mss
    } else {
        config.in_segments_of(agreed.mss, config.initial_window)
    }
}
