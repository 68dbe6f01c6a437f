//! The sending half: what may be sent now, and the order of work on an ACK (algorithms.md §9.4).

use crate::cc::{Ack, Cause, Congestion, CongestionControl, RttSample, Setup, State, View, Window};
use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::recovery::{DupAck, Progress};
use crate::round::Round;
use crate::rtt::Rtt;
use crate::scoreboard::{Chunk, Scoreboard};
use crate::segment::{Ecn, Flags, Segment};
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// What a trace shows of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// cwnd and ssthresh of the algorithm.
    pub window: Window,
    /// What the sender may use now: cwnd, or recovery's window while an episode lasts.
    pub send_window: Bytes,
    /// Smoothed RTT.
    pub srtt: Option<Span>,
    /// Least RTT.
    pub min_rtt: Option<Span>,
    /// Retransmission time-out in force.
    pub rto: Span,
    /// FlightSize (RFC 5681).
    pub flight: Bytes,
    /// Estimated to be in the network (RFC 6675).
    pub pipe: Bytes,
    /// State.
    pub state: State,
}

/// A segment to send, as far as the sender decides on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    /// The stretch of the sequence space.
    pub(crate) chunk: Chunk,
    /// ECN field of the packet.
    pub(crate) ecn: Ecn,
    /// Tell the other side that the window has been reduced (RFC 3168 §6.1.2).
    pub(crate) cwr: bool,
}

/// Counts over the life of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Episodes of fast retransmit.
    pub recoveries: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
}

/// Whether the window was used, so that an unused one does not grow (algorithms.md §7.5, Linux's rule).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    limited: bool,
    max_flight: Bytes,
    until: u64,
}

/// The sending half of a connection whose handshake is done.
#[derive(Debug)]
pub(crate) struct Sender {
    mss: Bytes,
    cwnd_validation: bool,
    idle_restart: bool,
    cc: Box<dyn CongestionControl>,
    recovery: DupAck,
    state: State,
    board: Scoreboard,
    rtt: Rtt,
    round: Round,
    usage: Usage,
    snd_una: u64,
    snd_nxt: u64,
    /// The number after the last byte written.
    end: u64,
    /// A FIN follows the last byte.
    fin: bool,
    rwnd: Bytes,
    last_sent_at: Option<Time>,
    /// Time-outs since `snd_una` last moved.
    timeouts_in_a_row: u32,
    /// FlightSize when the episode under way began.
    episode_flight: Bytes,
    /// Something was sent since the send loop last ran dry.
    sent_in_burst: bool,
    totals: Totals,
}

impl Sender {
    /// A sender of data from number 1 on. `handshake_rtt` is absent if the SYN was sent twice.
    pub(crate) fn new(config: &TcpConfig, agreed: Agreed, now: Time, handshake_rtt: Option<Span>, rwnd: Bytes) -> Sender {
        let mut rtt = Rtt::new(config.rto);
        let mut initial_window = config.initial_window;
        match handshake_rtt {
            Some(sample) => rtt.sample(sample),
            None => {
                // RFC 5681 §3.1: at most one segment after a lost SYN; RFC 6298 §5.7: RTO 3 s.
                initial_window = config.mss;
                rtt.set_initial(config.rto.initial.max(Span::from_millis(3000)));
            }
        }
        let setup =
            Setup { now, mss: config.mss, initial_window, initial_ssthresh: config.initial_ssthresh, handshake_rtt };
        Sender {
            mss: agreed.mss,
            cwnd_validation: config.cwnd_validation,
            idle_restart: config.idle_restart,
            cc: config.cc.build(&setup),
            recovery: DupAck::new(config),
            state: State::Open,
            board: Scoreboard::default(),
            rtt,
            round: Round::default(),
            usage: Usage::default(),
            snd_una: 1,
            snd_nxt: 1,
            end: 1,
            fin: false,
            rwnd,
            last_sent_at: None,
            timeouts_in_a_row: 0,
            episode_flight: Bytes::ZERO,
            sent_in_burst: false,
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
    }

    /// Forgets what was written and never sent.
    pub(crate) fn abandon_unsent(&mut self) {
        self.end = self.end.min(self.snd_nxt);
    }

    /// No more data follows.
    pub(crate) fn close(&mut self) {
        self.fin = true;
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

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            window: self.cc.window(),
            send_window: self.send_window(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            flight: self.board.flight(),
            pipe: self.board.pipe(),
            state: self.state,
        }
    }

    fn send_window(&self) -> Bytes {
        self.recovery.window(self.state, self.cc.window().cwnd)
    }

    /// Takes the acknowledgment that a segment carries.
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment, timers: &mut Timers) {
        let window_changed = self.rwnd != segment.window;
        if segment.ack < self.snd_una || segment.ack > self.snd_nxt {
            return;
        }
        self.rwnd = segment.window;
        let prior_flight = self.board.flight();
        let mut ack = Ack { prior_flight, ..Ack::default() };
        let mut round_start = false;
        let recovering = self.state == State::Recovery;
        if segment.ack > self.snd_una {
            round_start = self.on_advance(now, segment.ack, &mut ack, timers);
        } else if self.is_duplicate(segment, window_changed) {
            self.on_duplicate(now, &mut ack);
        } else {
            return;
        }
        let mut view = self.view(now, round_start);
        // RFC 5681 §3.2 step 6: the ACK that ends fast recovery deflates the window to ssthresh; it adds nothing.
        view.may_grow &= !recovering;
        self.cc.on_ack(&ack, &view);
    }

    /// RFC 5681 §2: outstanding data, no payload, no SYN or FIN, the same acknowledgment and window.
    fn is_duplicate(&self, segment: &Segment, window_changed: bool) -> bool {
        let bare = segment.len == 0 && !segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::FIN);
        bare && !window_changed && !self.board.is_empty()
    }

    /// `snd_una` moves. Gives true if a round begins.
    fn on_advance(&mut self, now: Time, to: u64, ack: &mut Ack, timers: &mut Timers) -> bool {
        let advance = self.board.advance(now, to);
        self.snd_una = to;
        self.timeouts_in_a_row = 0;
        ack.acked = advance.delivered;
        ack.acked_segments = advance.segments;
        if let Some((oldest, latest)) = advance.rtt {
            self.rtt.sample(oldest);
            ack.rtt = Some(RttSample { latest, oldest });
        }
        let round_start = self.round.on_advance(to, self.snd_nxt);
        let progress = self.recovery.on_advance(self.state, to, advance.bytes, &mut self.board);
        ack.partial = matches!(progress, Progress::Partial { .. });
        let was = self.state;
        if progress == Progress::Done || was == State::Disorder {
            self.state = State::Open;
        }
        if progress == Progress::Done && was == State::Recovery {
            let view = self.view(now, round_start);
            self.cc.on_recovery_end(&view);
        }
        // RFC 6298 §5.2, §5.3; RFC 6582 §3.2: of several partial ACKs only the first restarts the timer.
        if self.board.is_empty() {
            timers.stop(Timer::Rto);
        } else if progress != (Progress::Partial { restart_timer: false }) {
            timers.arm(Timer::Rto, now + self.rtt.rto());
        }
        round_start
    }

    fn on_duplicate(&mut self, now: Time, ack: &mut Ack) {
        let meant_loss = self.recovery.on_duplicate(self.state, self.snd_una);
        ack.duplicate = self.recovery.duplicates();
        if meant_loss {
            self.totals.recoveries += 1;
            self.notify_congestion(now, Cause::DupAck);
            self.state = self.recovery.begin(self.snd_nxt, self.cc.window().cwnd, &mut self.board);
        } else if self.state == State::Open {
            self.state = State::Disorder;
        }
    }

    fn notify_congestion(&mut self, now: Time, cause: Cause) {
        let mut flight = self.board.flight().saturating_sub(self.recovery.limited_transmit_sent());
        if matches!(self.state, State::Open | State::Disorder) {
            self.episode_flight = flight;
        } else {
            // Departs from RFC 5681's FlightSize: a long recovery goes on sending while nothing is cumulatively
            // acknowledged, so a time-out that ends it would set ssthresh to many times what the path ever held.
            flight = flight.min(self.episode_flight);
        }
        let event = Congestion { cause, state_before: self.state, flight };
        let view = self.view(now, false);
        self.cc.on_congestion(&event, &view);
    }

    /// Some deadline may have been reached.
    pub(crate) fn on_timeout(&mut self, now: Time, timers: &mut Timers) {
        if timers.expire(Timer::Rto, now) {
            self.on_rto(now);
        }
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    fn on_rto(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        self.totals.timeouts += 1;
        // RFC 5681 §3.1: ssthresh is left alone when the same segment times out again.
        if self.timeouts_in_a_row == 0 {
            self.notify_congestion(now, Cause::Timeout);
        }
        self.timeouts_in_a_row += 1;
        self.rtt.back_off();
        self.recovery.on_timeout(self.snd_nxt, &mut self.board);
        self.state = State::Loss;
    }

    /// The next stretch to send, lost ones first; `None` when nothing may be sent now.
    pub(crate) fn poll(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let chunk = match self.board.next_lost() {
            Some(lost) => self.poll_lost(now, lost),
            None => self.poll_new(now),
        };
        if chunk.is_some() {
            self.last_sent_at = Some(now);
            self.sent_in_burst = true;
            // RFC 6298 §5.1
            if !timers.armed(Timer::Rto) {
                timers.arm(Timer::Rto, now + self.rtt.rto());
            }
        }
        chunk.map(|chunk| Outgoing { chunk, ecn: Ecn::NotEct, cwr: false })
    }

    fn poll_lost(&mut self, now: Time, lost: Chunk) -> Option<Chunk> {
        let fits = self.board.pipe() + Bytes(u64::from(lost.len)) <= self.send_window();
        if !fits && !self.recovery.urgent() {
            self.burst_ended(true);
            return None;
        }
        self.board.resent(now);
        self.recovery.on_retransmitted();
        self.totals.retransmitted_segments += 1;
        Some(lost)
    }

    fn poll_new(&mut self, now: Time) -> Option<Chunk> {
        let unsent = self.end.saturating_sub(self.snd_nxt);
        let fin_waits = self.fin && !self.fin_sent();
        if unsent == 0 && !fin_waits {
            self.burst_ended(false);
            return None;
        }
        let idle = self.board.is_empty();
        let wanted = unsent.min(self.mss.0);
        let room = (self.snd_una + self.rwnd.0).saturating_sub(self.snd_nxt);
        // Silly-window avoidance (RFC 9293 §3.8.6.2.1): a window smaller than the segment waits, unless all is quiet.
        let len = if room >= wanted || idle { wanted.min(room) } else { 0 };
        // The FIN occupies a number of its own and stays within the window too, unless all is quiet (RFC 9293 §3.4).
        let fin = fin_waits && len == unsent && (room > len || (idle && len == 0));
        if len == 0 && !fin {
            self.burst_ended(false);
            return None;
        }
        if let Some(last) = self.last_sent_at.filter(|_| idle && self.idle_restart) {
            let view = self.view(now, false);
            self.cc.on_idle(now.since(last), &view);
        }
        let chunk = Chunk { seq: self.snd_nxt, len: len as u32, fin };
        if self.board.pipe() + Bytes(len) > self.send_window() && !idle {
            self.burst_ended(true);
            return None;
        }
        self.recovery.on_new_data(self.state, Bytes(len), self.board.pipe() + Bytes(len), self.cc.window().cwnd);
        self.board.push(now, chunk);
        self.snd_nxt += chunk.sequence_len();
        Some(chunk)
    }

    /// The send loop ran dry; `limited` if the window stopped it.
    fn burst_ended(&mut self, limited: bool) {
        if !self.sent_in_burst && !limited {
            return;
        }
        self.sent_in_burst = false;
        let flight = self.board.flight();
        let stale = self.snd_una >= self.usage.until;
        if stale || limited || (!self.usage.limited && flight > self.usage.max_flight) {
            self.usage = Usage { limited, max_flight: flight, until: self.snd_nxt };
        }
    }

    fn cwnd_limited(&self) -> bool {
        let window = self.cc.window();
        // In slow start a window of twice the flight is still being filled.
        if window.in_slow_start() { window.cwnd < self.usage.max_flight * 2 } else { self.usage.limited }
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
            delivered: Bytes(self.snd_una - 1),
            round: self.round.count,
            round_start,
            cwnd_limited,
            may_grow: self.state != State::Recovery && (cwnd_limited || !self.cwnd_validation),
        }
    }

    /// Time-outs in a row and what stands behind them, for messages and tests.
    pub(crate) fn recovery_point(&self) -> u64 {
        self.recovery.point()
    }
}
