//! Careful Resume around BBR (RFC 9959, its appendix on rate-based senders): in Startup, for two rounds from the ACK of all of the
//! initial window, the pace of the earlier connection's half, and the window that goes with it. Loss ends it in Drain, and what it
//! sent tells nothing of the bandwidth.

use super::resume::is_another_path;
use crate::cc::controller::CongestionControl;
use crate::cc::signals::{Ack, Cause, Congestion, Lost, RateSample, Resumption, Saved, Sent, View};
use crate::cc::window::Window;
use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// So long the pace is held.
const ROUNDS: u64 = 2;

/// Where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Reconnaissance,
    /// Until this round.
    Resumes {
        until: u64,
    },
    /// After a loss, until this is acknowledged.
    Discards {
        last: SeqNo,
    },
    Over,
}

/// BBR with a window that was saved.
#[derive(Debug)]
pub(super) struct ByRate {
    inside: Option<Box<dyn CongestionControl>>,
    /// Half of what was saved, or what is allowed of it, and the RTT then.
    jump: Saved,
    initial_window: Bytes,
    phase: Phase,
    since: Time,
    rate: Option<Rate>,
    cwnd: Bytes,
    so_far: Resumption,
}

impl ByRate {
    /// Without a window that was saved it is over before it begins.
    pub(super) fn new(inside: Box<dyn CongestionControl>, jump: Option<Saved>, initial_window: Bytes) -> ByRate {
        let none = Saved { cwnd: Bytes::ZERO, rtt: Span::ZERO };
        ByRate {
            inside: Some(inside),
            phase: if jump.is_some() { Phase::Reconnaissance } else { Phase::Over },
            jump: jump.unwrap_or(none),
            initial_window,
            since: Time::ZERO,
            rate: None,
            cwnd: Bytes::ZERO,
            so_far: Resumption::default(),
        }
    }

    fn inside(&mut self) -> &mut dyn CongestionControl {
        self.inside.as_deref_mut().expect("a start that is over is asked no more")
    }

    fn within(&self) -> &dyn CongestionControl {
        self.inside.as_deref().expect("a start that is over is asked no more")
    }

    fn resumes(&self) -> bool {
        matches!(self.phase, Phase::Resumes { .. })
    }

    /// The factor of the window in the state that it is in.
    fn gain(&self) -> f64 {
        let mut gain = 1.0;
        self.within().observe(&mut |name, value| gain = if name == "cwnd_gain" { value } else { gain });
        gain
    }

    fn try_to_resume(&mut self, view: &View) {
        let Some(min_rtt) = view.min_rtt else { return };
        if is_another_path(min_rtt, self.jump.rtt) {
            self.phase = Phase::Over;
        } else if view.snd_una >= SeqNo::FIRST_DATA + self.initial_window {
            let rate = Rate::of(self.jump.cwnd, self.jump.rtt);
            let window = self.gain() * rate.as_bps() as f64 / 8.0 * min_rtt.as_secs_f64();
            (self.rate, self.cwnd, self.since) = (Some(rate), Bytes(window as u64), view.now);
            self.phase = Phase::Resumes { until: view.round + ROUNDS };
            self.so_far.resumed = true;
        }
    }
}

impl CongestionControl for ByRate {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        match self.phase {
            Phase::Reconnaissance => self.try_to_resume(view),
            Phase::Resumes { until } if view.round >= until => self.phase = Phase::Over,
            Phase::Discards { last } if view.snd_una >= last => self.phase = Phase::Over,
            _ => {}
        }
        let ours = |sample: RateSample| sample.sent_at >= self.since && matches!(self.phase, Phase::Discards { .. });
        let rate = ack.rate.map(|sample| RateSample { rate: sample.rate.filter(|_| !ours(sample)), ..sample });
        self.inside().on_ack(&Ack { rate, ..*ack }, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let lost = event.cause != Cause::Timeout;
        match self.phase {
            Phase::Resumes { .. } if lost => {
                self.phase = Phase::Discards { last: view.snd_nxt };
                self.so_far.retreated = true;
                let window = self.inside().window();
                self.inside().begin(window);
            }
            Phase::Discards { .. } if lost => {}
            _ => self.phase = Phase::Over,
        }
        self.inside().on_congestion(event, view);
    }

    fn window(&mut self) -> Window {
        let window = self.inside().window();
        if self.resumes() { Window { cwnd: window.cwnd.max(self.cwnd), ..window } } else { window }
    }

    fn hand_over(&mut self) -> Option<Box<dyn CongestionControl>> {
        if self.phase == Phase::Over { self.inside.take() } else { None }
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.inside().on_recovery_end(view);
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        self.inside().on_undo(before, view);
    }

    fn on_sent(&mut self, sent: &Sent) {
        if self.resumes() {
            self.so_far.jump_bytes += sent.bytes;
        }
        self.inside().on_sent(sent);
    }

    fn on_lost(&mut self, lost: &Lost, view: &View) {
        self.inside().on_lost(lost, view);
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.inside().on_idle(idle, view);
    }

    fn on_timer(&mut self, view: &View) {
        self.inside().on_timer(view);
    }

    fn next_timer(&self) -> Option<Time> {
        self.within().next_timer()
    }

    fn resumption(&self) -> Option<Resumption> {
        Some(Resumption { over: self.phase == Phase::Over, ..self.so_far })
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let own = self.within().pacing_rate();
        if self.resumes() { own.max(self.rate) } else { own }
    }

    fn send_quantum(&self) -> Option<Bytes> {
        self.within().send_quantum()
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.within().observe(put);
        let stage = match self.phase {
            Phase::Reconnaissance => 1.0,
            Phase::Resumes { .. } => 4.0,
            Phase::Discards { .. } => 6.0,
            Phase::Over => 0.0,
        };
        put(super::StartConfig::SHOWN[0].name, stage);
    }
}
