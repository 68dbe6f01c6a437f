//! The window as a start and the rate-limited increase promise it, whatever the network did.

use tcp::cc::{Begin, Growth, StartConfig, State};
use tcp::settings::CwndValidation;
use tcp::units::Bytes;
use tcp::{Snapshot, TcpConfig};

use super::watch::{Outcome, ensure};

/// What `tcp.start` shows of itself: 0 once it is over.
const OVER: f64 = 0.0;
const RETREAT: f64 = 6.0;
/// Slow start and conservative slow start.
const GROWS: [f64; 2] = [1.0, 2.0];

/// What was checked, so that no check stands idle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checked {
    /// Starts that were seen, and their ends.
    pub(crate) starts: u64,
    pub(crate) ends: u64,
    /// ACKs that grew a window that was not in use.
    pub(crate) unused: u64,
}

impl Checked {
    pub(crate) fn add(&mut self, other: Checked) {
        self.starts += other.starts;
        self.ends += other.ends;
        self.unused += other.unused;
    }
}

/// The states of an endpoint after its last input.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    last: Option<Snapshot>,
    /// Stage of the start; absent where there is none, and once the algorithm has been handed over.
    stage: Option<f64>,
    /// A recovery or reduction has begun while the start lasted.
    disturbed: bool,
    /// The largest FlightSize since the last reduction, and that before it (draft-ietf-ccwg-ratelimited-increase, maxFS).
    max_flight: Bytes,
    saved_flight: Bytes,
    /// Episodes undone in all.
    undone: u32,
    pub(crate) checked: Checked,
}

impl Windows {
    /// After an input and all that it sent.
    pub(crate) fn check(&mut self, config: &TcpConfig, now: &Snapshot, stage: Option<f64>, undone: u32) -> Outcome {
        if let Some(start) = &config.start {
            self.check_start(start, config, now, stage)?;
        }
        if config.cwnd_validation == CwndValidation::RateLimited {
            let before = std::mem::replace(&mut self.undone, undone);
            self.check_use(config, now, before != undone)?;
        }
        self.last = Some(*now);
        Ok(())
    }

    /// A start ends at congestion and never begins again.
    fn check_start(&mut self, start: &StartConfig, config: &TcpConfig, now: &Snapshot, stage: Option<f64>) -> Outcome {
        let (before, stage) = (self.stage, stage.unwrap_or(OVER));
        self.stage = Some(stage);
        let lasted = before.is_none_or(|stage| stage != OVER);
        ensure(lasted || stage == OVER, || format!("a start that was over is at stage {stage}"))?;
        self.checked.starts += u64::from(before.is_none());
        self.checked.ends += u64::from(before.is_some() && lasted && stage == OVER);
        if config.cc.algorithm.requirements.owns_window {
            return Ok(());
        }
        if stage == OVER {
            return self.check_end(config, now, lasted);
        }
        ensure(now.timeouts_in_a_row == 0, || format!("stage {stage} after a time-out"))?;
        // Rapid start and what was jumped to answer to the first congestion themselves; all others end there.
        let answers = start.growth == Growth::Rapid || start.begin != Begin::InitialWindow;
        let disturbed = now.state > State::Disorder;
        ensure(!disturbed || answers, || format!("stage {stage} in {:?}", now.state))?;
        ensure(stage != RETREAT || start.begin != Begin::InitialWindow, || "a retreat without a jump".into())?;
        // A retreat lasts until what was jumped is acknowledged (RFC 9959).
        ensure(disturbed || !self.disturbed || stage == RETREAT, || format!("stage {stage} after the first recovery"))?;
        self.disturbed |= disturbed;
        self.check_growth(start, now, before.filter(|_| GROWS.contains(&stage) && !disturbed))
    }

    /// Slow start adds what is acknowledged, rapid start twice as much, below ssthresh alone (RFC 5681 §3.1).
    fn check_growth(&self, start: &StartConfig, now: &Snapshot, before: Option<f64>) -> Outcome {
        let Some(last) = self.last.filter(|_| before.is_some_and(|stage| GROWS.contains(&stage))) else {
            return Ok(());
        };
        let acked = (now.snd_una.0 - last.snd_una.0) + now.sacked.0.saturating_sub(last.sacked.0);
        let most = acked * if start.growth == Growth::Rapid { 2 } else { 1 };
        let grown = now.window.cwnd.saturating_sub(last.window.cwnd).0;
        ensure(grown == 0 || now.window.in_slow_start(), || "a start grows beyond ssthresh".into())?;
        ensure(grown <= most, || format!("slow start grew by {grown} B for {acked} B"))
    }

    /// It has left a ssthresh, unless the window was taken down, as by an idle period, or the congestion was none. TCP-LP halves
    /// at a sign of its own, which may come once the ACK has made the window larger.
    fn check_end(&self, config: &TcpConfig, now: &Snapshot, ends: bool) -> Outcome {
        let Some(last) = self.last.filter(|_| ends) else { return Ok(()) };
        let halves = config.cc.algorithm.name == "lp";
        let left = halves || now.window.ssthresh < Bytes::MAX || now.window.cwnd < last.window.cwnd;
        ensure(left || self.disturbed, || format!("a start of {:?} ended without a reason", last.window))
    }

    /// An ACK that finds less outstanding than cwnd allows does not grow it beyond what maxFS, acknowledged, would make.
    fn check_use(&mut self, config: &TcpConfig, now: &Snapshot, undone: bool) -> Outcome {
        let Some(last) = self.last else {
            // in segments of the size that both ends take
            let initial = now.mss * (config.initial_window.0 / config.mss.0);
            self.max_flight = config.initial_window.max(initial).max(now.window.cwnd).max(now.flight);
            return Ok(());
        };
        let (before, after) = (last.window, now.window);
        let undone = undone || after.ssthresh > before.ssthresh;
        if after.cwnd < before.cwnd && now.state > last.state.max(State::Disorder) {
            self.saved_flight = self.saved_flight.max(std::mem::take(&mut self.max_flight));
        } else if undone {
            self.max_flight = self.max_flight.max(self.saved_flight);
        }
        let open = last.state == State::Open && now.state == State::Open;
        let jumps = config.start.as_ref().is_some_and(|start| start.begin != Begin::InitialWindow);
        let slow_start = before.in_slow_start() || undone;
        // The loss of a tail raises a window of one segment to ssthresh, and what it grows by then is avoidance.
        let raised = slow_start && after.cwnd >= after.ssthresh;
        if open && !jumps && !raised && last.flight < before.cwnd && after.cwnd > before.cwnd {
            self.checked.unused += 1;
            let used = self.max_flight.max(last.flight);
            let limit = match config.cc.algorithm.name {
                _ if slow_start => used + used,
                "cubic" => used + Bytes(used.0 / 2),
                // Theirs is as large as the window, the round trip or the delay makes it.
                "scalable" | "highspeed" | "htcp" | "hybla" | "illinois" => Bytes::MAX,
                _ => used + now.mss,
            };
            ensure(after.cwnd <= limit, || format!("cwnd grew to {} with {used} B in use", after.cwnd))?;
        }
        self.max_flight = self.max_flight.max(now.flight);
        Ok(())
    }
}
