//! ns-2.35's own Vegas: a window of real packets, the mean RTT of a round, a fine timer. With recovery
//! `vegas` the sender asks for that timer and cwnd itself is inflated; with another one it takes a quarter off and no more.

use crate::cc::algorithm::Setup;
use crate::cc::controller::CongestionControl;
use crate::cc::signals::{Ack, Cause, Congestion, Head, View};
use crate::cc::window::Window;
use crate::compat::AgentSignals;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span, Time};

/// Duplicate ACKs that mean loss (numdupacks_).
const DUPLICATES: u32 = 3;
/// Vegas' own window after a time-out (v_slowstart_), and its least one, in segments.
pub(crate) const MIN_WINDOW: f64 = 2.0;
/// The fine time-out before there is a sample, in seconds; back-off stops here.
const NO_TIMEOUT: f64 = 1000.0;
/// The base RTT before there is a sample, in seconds.
const NO_RTT: f64 = 1e9;
/// ns-2's counters are whole numbers of 32 bits: no window is larger.
pub(crate) const MAX_WINDOW: f64 = (1u64 << 31) as f64;

/// A window in segments; "not set" is beyond all of them.
fn in_segments(bytes: Bytes, mss: Bytes) -> f64 {
    if bytes == Bytes::MAX { f64::INFINITY } else { bytes.as_f64() / mss.as_f64() }
}

/// How much backlog is wanted, in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) gamma: f64,
}

/// ns-2's Vegas. Windows in segments, times in seconds, both real.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) w: f64,
    pub(crate) ssthresh: f64,
    mss: Bytes,
    pub(crate) initial_window: f64,
    /// ACKs of new data until the initial window holds: without a handshake the window is one segment until the first is
    /// acknowledged, and the next ACK sets it (delay_growth_).
    delayed: u32,
    bounds: Bounds,
    pub(crate) base: f64,
    /// The last clean sample.
    pub(crate) rtt: f64,
    /// Eight times the mean and four times the mean deviation of the samples.
    mean8: f64,
    deviation4: f64,
    pub(crate) timeout: f64,
    /// Of the clean samples of this round.
    pub(crate) sum: f64,
    pub(crate) samples: u32,
    /// The round ends when something from here on has been acknowledged.
    pub(crate) round_from: SeqNo,
    round_began: Time,
    /// Slow start grows in this round.
    grows: bool,
    /// What each ACK of new data adds.
    pub(crate) increment: f64,
    duplicates: u32,
    /// The window after the last loss, without inflation.
    deflated: f64,
    /// When a loss last changed the window.
    changed_at: Option<Time>,
    /// The ACK under way has reported a loss.
    reacted: bool,
    backlog: f64,
    /// One of ns-2's one-way agents.
    agent: bool,
    /// The ACK under way and its RTT in seconds, and the beginning of the round, by a clock of doubles if there is one.
    now_s: Option<f64>,
    rtt_s: Option<f64>,
    round_began_s: f64,
    /// The agent's own first RTT starts the estimator and is no sample.
    starts_unsampled: bool,
}

/// What a round has shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundEnd {
    /// Outstanding now, with the segment that the ACK lets go: F of the decision.
    pub(crate) outstanding: f64,
    /// Segments per second if nothing queued.
    pub(crate) expected: f64,
    /// Segments per second.
    pub(crate) actual: f64,
    /// The mean RTT less the base RTT before this round; 0 without a clean sample.
    pub(crate) queueing: f64,
    /// There was a clean sample.
    pub(crate) sampled: bool,
}

impl Native {
    pub(crate) fn new(bounds: Bounds, setup: &Setup) -> Native {
        let segments = |bytes| in_segments(bytes, setup.mss);
        let mut vegas = Native {
            w: if setup.without_handshake { 1.0 } else { segments(setup.initial_window) },
            delayed: if setup.without_handshake { 2 } else { 0 },
            ssthresh: segments(setup.initial_ssthresh),
            mss: setup.mss,
            initial_window: segments(setup.initial_window),
            bounds,
            base: NO_RTT,
            rtt: 0.0,
            mean8: 0.0,
            deviation4: 0.0,
            timeout: NO_TIMEOUT,
            sum: 0.0,
            samples: 0,
            round_from: SeqNo::FIRST_DATA,
            round_began: setup.now,
            grows: true,
            increment: 0.0,
            duplicates: 0,
            deflated: 0.0,
            changed_at: None,
            reacted: false,
            backlog: 0.0,
            agent: setup.agent.is_some(),
            now_s: None,
            rtt_s: None,
            round_began_s: setup.now.as_nanos() as f64 / 1e9,
            starts_unsampled: setup.agent.is_some() && setup.without_handshake,
        };
        if let Some(rtt) = setup.handshake_rtt {
            vegas.start_timer(rtt.as_secs_f64());
        }
        vegas
    }

    /// The first RTT starts the fine timer and is a clean sample for it too. It says nothing of the base RTT: in ns-2 the first
    /// packet is as long as the others, a SYN is shorter.
    fn start_timer(&mut self, rtt: f64) {
        (self.mean8, self.deviation4) = (8.0 * rtt, rtt);
        self.smooth(rtt);
    }

    fn smooth(&mut self, rtt: f64) {
        let error = rtt - self.mean8 / 8.0;
        self.mean8 += error;
        self.deviation4 += error.abs() - self.deviation4 / 4.0;
        // timeout = (mean + 2 deviations) 17/16
        self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0 * 17.0 / 16.0;
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.w < self.ssthresh
    }

    /// A clean sample: RTTs of the round, base RTT, fine time-out.
    pub(crate) fn sample(&mut self, rtt: f64) {
        self.sum += rtt;
        self.samples += 1;
        if rtt <= 0.0 {
            return;
        }
        self.rtt = rtt;
        self.base = self.base.min(rtt);
        if self.mean8 > 0.0 {
            self.smooth(rtt);
        } else {
            self.start_timer(rtt);
        }
    }

    /// First half of an ACK: inflation on duplicates, deflation, and what the round has shown if it is over.
    pub(crate) fn begin_ack(&mut self, ack: &Ack, view: &View) -> Option<RoundEnd> {
        let reacted = std::mem::take(&mut self.reacted);
        if ack.cumulative_segments == 0 {
            if ack.duplicate > DUPLICATES && !reacted {
                self.w = (self.w + 1.0).min(MAX_WINDOW);
            }
            // A retransmission sets an agent's count back.
            let least = if self.agent && ack.duplicate > 0 { 0 } else { self.duplicates };
            self.duplicates = ack.duplicate.max(least);
            return None;
        }
        if self.delayed > 0 {
            self.delayed -= 1;
            self.w = if self.delayed == 0 { self.initial_window } else { self.w };
        }
        if std::mem::take(&mut self.duplicates) > DUPLICATES && self.w > self.deflated {
            // After a time-out that is 0 in ns-2, where nothing is sent then until the window has grown or the timer runs out.
            self.w = if self.agent { self.deflated } else { self.deflated.max(1.0) };
            self.ssthresh = MIN_WINDOW;
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| self.base == NO_RTT && rtt.latest > Span::ZERO) {
            self.base = self.rtt_s.unwrap_or(rtt.latest.as_secs_f64());
        }
        if view.snd_una <= self.round_from || view.state.in_cwnd_reduction() {
            return None;
        }
        self.end_round(view)
    }

    fn end_round(&mut self, view: &View) -> Option<RoundEnd> {
        let since = match self.now_s {
            Some(now) => now - self.round_began_s,
            None => view.now.since(self.round_began).as_secs_f64(),
        };
        self.round_began_s = self.now_s.unwrap_or(0.0);
        let sampled = self.samples > 0;
        let rtt = if sampled { self.sum / f64::from(self.samples) } else { since };
        (self.sum, self.samples) = (0.0, 0);
        // Go-back-N in ns-2 takes the next number back to what was sent since: what is believed in the network.
        let next = view.snd_una + view.pipe;
        let sent = next.since(self.round_from).as_f64() / view.mss.as_f64();
        (self.round_from, self.round_began) = (next, view.now);
        if rtt <= 0.0 {
            return None;
        }
        let queueing = if sampled { (rtt - self.base).abs() } else { 0.0 };
        if rtt < self.base || sent <= 1.0 {
            self.base = rtt;
        }
        // ns-2 counts from the last number acknowledged to the next one: one more than is outstanding before the ACK's own.
        let outstanding = in_segments(view.pipe, view.mss) + 1.0;
        let (expected, actual) = (outstanding / self.base, sent / rtt);
        self.backlog = (expected - actual) * self.base;
        Some(RoundEnd { outstanding, expected, actual, queueing, sampled })
    }

    /// The backlog in whole packets.
    fn delta(&self) -> f64 {
        libm::trunc(self.backlog + 0.5)
    }

    /// Slow start grows every other round trip, until a queue builds up.
    pub(crate) fn decide_in_slow_start(&mut self) {
        self.grows = !self.grows;
        self.increment = 0.0;
        if self.grows && self.delta() > self.bounds.gamma {
            self.ssthresh = MIN_WINDOW;
            self.w = (self.w - self.w / 8.0).max(MIN_WINDOW);
        } else if self.grows {
            self.increment = 1.0;
        }
    }

    fn decide(&mut self) {
        self.increment = 0.0;
        if self.delta() > self.bounds.beta {
            self.w = (self.w - 1.0).max(MIN_WINDOW);
        } else if self.delta() < self.bounds.alpha {
            self.increment = 1.0 / self.w;
        }
    }

    /// Second half of an ACK: growth, and the clean sample.
    pub(crate) fn finish_ack(&mut self, ack: &Ack, view: &View) {
        if ack.cumulative_segments == 0 {
            return;
        }
        // The threshold may have been reached before the round is over.
        if self.increment == 1.0 && !self.in_slow_start() {
            self.increment = 0.0;
        }
        let outstanding = in_segments(view.pipe, view.mss) + 1.0;
        if self.increment > 0.0 && self.w - outstanding <= 2.0 && !view.state.in_cwnd_reduction() {
            self.w = (self.w + self.increment).min(MAX_WINDOW);
        }
        if let Some(rtt) = ack.rtt {
            let rtt = self.rtt_s.take().unwrap_or(rtt.latest.as_secs_f64());
            if std::mem::take(&mut self.starts_unsampled) {
                (self.rtt, self.mean8, self.deviation4) = (rtt, 8.0 * rtt, rtt);
                self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
                return;
            }
            self.sample(rtt);
        }
    }

    /// A segment was lost: back off the fine time-out; a quarter off the window unless the loss is older than the last cut.
    fn on_loss(&mut self, event: &Congestion, view: &View) {
        let again = event.head.is_some_and(|head| head.transmissions > 1);
        self.timeout = (self.timeout * if again { 2.0 } else { 1.125 }).min(NO_TIMEOUT.max(self.timeout));
        // What was never sent looks older than the connection.
        let sent_since = |head: Head| head.transmissions > 0 && self.changed_at.is_none_or(|at| head.sent_at > at);
        let sent_since = event.head.is_none_or(sent_since);
        if !sent_since {
            return;
        }
        let win = libm::floor(self.usable(view));
        self.deflated = match win {
            win if win <= 3.0 => MIN_WINDOW,
            win if again => libm::floor(win / 2.0),
            win => win - libm::floor(win / 4.0),
        };
        // Another recovery inflates a window of its own, or none.
        let own = matches!(event.cause, Cause::DupAck | Cause::HeadTimeout);
        let inflation = if own { f64::from(self.duplicates.saturating_add(1)) } else { 0.0 };
        self.w = self.deflated + inflation;
        self.changed_at = Some(view.now);
    }

    /// What may be outstanding: the receiver's window is ns-2's `window_`.
    fn usable(&self, view: &View) -> f64 {
        self.w.min(view.rwnd.segments(view.mss) as f64)
    }
}

impl CongestionControl for Native {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.begin_ack(ack, view).is_some() {
            if self.in_slow_start() {
                self.decide_in_slow_start();
            } else {
                self.decide();
            }
        }
        self.finish_ack(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        // Before the algorithm sees the same ACK: a time-out has none, and an agent's look at the head follows its ACK.
        self.reacted = match event.cause {
            Cause::Timeout => false,
            Cause::DupAck | Cause::HeadTimeout => event.first || !self.agent,
            _ => !self.agent,
        };
        let half = self.usable(view) / 2.0;
        match event.cause {
            Cause::Timeout => {
                if event.first {
                    self.ssthresh = libm::floor(half).max(MIN_WINDOW);
                }
                self.w = MIN_WINDOW;
                self.deflated = 0.0;
                self.duplicates = 0;
                self.changed_at = Some(view.now);
            }
            // ns-2's way for every agent.
            Cause::Ecn => {
                self.ssthresh = libm::floor(half).max(MIN_WINDOW);
                self.w = half.max(1.0);
            }
            // Looking at the head again after a retransmission: the window has come down already.
            _ if !event.first => self.duplicates = DUPLICATES,
            _ => self.on_loss(event, view),
        }
    }

    fn begin(&mut self, window: Window) {
        (self.w, self.ssthresh) = (in_segments(window.cwnd, self.mss), in_segments(window.ssthresh, self.mss));
    }

    fn window(&mut self) -> Window {
        let bytes = |segments: f64| Bytes((segments.max(1.0) * self.mss.as_f64()) as u64);
        // No segment fits into a byte.
        let cwnd = if self.agent && self.w < 1.0 { Bytes(1) } else { bytes(self.w.min(MAX_WINDOW)) };
        Window { cwnd, ssthresh: bytes(self.ssthresh) }
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        self.w = self.w.max(in_segments(before.cwnd, view.mss));
        self.ssthresh = self.ssthresh.max(in_segments(before.ssthresh, view.mss));
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if view.slow_start_after_idle && idle > view.rto {
            self.w = self.w.min(self.initial_window);
        }
    }

    fn agent(&mut self) -> Option<&mut dyn AgentSignals> {
        Some(self)
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("w", self.w);
        if self.base < NO_RTT {
            put("base_rtt_s", self.base);
        }
        put("rtt_s", self.rtt);
        put("head_timeout_s", self.timeout);
        put("backlog", self.backlog);
        put("increment", self.increment);
    }
}

impl AgentSignals for Native {
    fn head_timeout(&self) -> Option<Span> {
        Some(Span::from_secs_f64(self.timeout))
    }

    fn on_expired_head(&mut self, _age: Span) {
        // Such a duplicate does not inflate the window.
        self.reacted = true;
    }

    fn on_seconds(&mut self, now: f64, rtt: Option<f64>) {
        (self.now_s, self.rtt_s) = (Some(now), rtt);
    }
}
