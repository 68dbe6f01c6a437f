//! HighSpeed TCP: Reno whose increase and decrease depend on the window (RFC 3649).
//!
//! Above 38 segments the increase a(W) rises and the decrease b(W) falls with the window, such that a loss rate p gives
//! a window of 0.12 / p^0.835: 10 Gbit/s over 100 ms need p = 1e-7, where Reno would need 2e-10. Profile `rfc` uses
//! the formulas of section 5 per acknowledged segment. Profile `linux` uses the table of appendix B, worked out here by
//! the rule that made it, and counts ACKs, not segments. Limited slow start (RFC 3742) is left out.

use super::aimd::{Aimd, OF_CWND};
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Congestion, View};
use super::window::Window;
use crate::units::{Bytes, Span};

/// Reno with a(W) and b(W).
pub(super) const HIGHSPEED: Algorithm = Algorithm {
    name: "highspeed",
    title: "HighSpeed TCP: Reno for large windows",
    reference: "RFC 3649",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[], recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(HighSpeed::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("a", "segments that a window of ACKs adds"),
    Internal::of("b", "share of the window that a loss takes"),
];

const LINUX: &[(&str, Value)] =
    &[("table", Value::Flag(true)), ("slow_start_limit", UNLIMITED), ("of_cwnd", Value::Flag(true))];

const PARAMS: &[Param] = &[
    Param::number("low_window", 1.0..=1000.0, 38.0)
        .unit("segments")
        .doc("up to this window Reno's increase and decrease")
        .source("RFC 3649 section 5: Low_Window"),
    Param::number("high_window", 2000.0..=1e6, 83_000.0)
        .unit("segments")
        .doc("the window at which high_decrease is reached")
        .source("RFC 3649 section 5: High_Window"),
    Param::number("high_decrease", 0.01..=0.5, 0.1)
        .doc("what a loss takes of a window of high_window")
        .source("RFC 3649 section 5: High_Decrease"),
    Param::flag("table", false)
        .doc("whole increases by the table of appendix B, per ACK, and decreases in parts of 256")
        .source("Linux"),
    SLOW_START_LIMIT,
    OF_CWND,
];

/// Rows of the kernel's table. The RFC has one more, which matters from 89053 segments on.
const ROWS: usize = 72;

/// b(W) would be nothing beyond 570,000 segments.
const MIN_DECREASE: f64 = 0.01;

/// What depends on the window.
#[derive(Debug)]
struct Response {
    low_window: f64,
    high_window: f64,
    high_decrease: f64,
}

/// A row of the table: increase i + 1 and this decrease hold up to this window.
#[derive(Clone, Copy, Debug)]
struct Row {
    window: u64,
    /// In 1/256.
    decrease: u64,
}

impl Response {
    /// b(W): half at the low window, `high_decrease` at the high one.
    fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        // RFC 3649 §5: b(w) = (B - 0.5) (log w - log W) / (log W_1 - log W) + 0.5; positive for any window
        let part = libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window);
        (0.5 + (self.high_decrease - 0.5) * part).max(MIN_DECREASE)
    }

    /// a(W) for the loss rate `p` that goes with the window: w^2 p(w) 2 b(w) / (2 - b(w)), RFC 3649 §5.
    fn increase_for(&self, w: f64, p: f64) -> f64 {
        let b = self.decrease(w);
        w * w * p * 2.0 * b / (2.0 - b)
    }

    /// a(W); one segment up to the low window.
    fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        // RFC 3649 §5: p(w) = 0.078 / w^1.2
        self.increase_for(w, 0.078 / libm::pow(w, 1.2)).max(1.0)
    }

    /// The table: a row begins at the first whole window whose a(W) exceeds that of the row before by more than 1.
    fn table(&self) -> Vec<Row> {
        // The program of RFC 3649 appendix B rounds 0.078 to 1 / 12.8.
        let increase = |w: u64| self.increase_for(w as f64, 1.0 / (12.8 * libm::pow(w as f64, 1.2)));
        let mut rows = vec![Row { window: self.low_window as u64, decrease: 128 }];
        let mut last = 1.0;
        while rows.len() < ROWS {
            // The first excess lies within ever longer steps, and there it is found by halving.
            let is_excess = |w: u64| increase(w) > last + 1.0;
            let (mut below, mut step) = (rows[rows.len() - 1].window, 1);
            while !is_excess(below + step) && step < 1 << 40 {
                (below, step) = (below + step, 2 * step);
            }
            let mut above = below + step;
            while below + 1 < above {
                let middle = below.midpoint(above);
                if is_excess(middle) { above = middle } else { below = middle }
            }
            last = increase(above);
            let decrease = (self.decrease(above as f64) * 256.0) as u64;
            rows.push(Row { window: above, decrease });
        }
        rows
    }
}

#[derive(Debug)]
struct HighSpeed {
    base: Aimd,
    response: Response,
    /// Empty if the formulas hold.
    table: Vec<Row>,
    /// The row in force; moves only where the window grows, so that a loss in slow start is taken by an older one.
    row: usize,
    /// Increases since the last segment.
    count: u64,
}

impl HighSpeed {
    fn new(values: &ParamValues, setup: &Setup) -> HighSpeed {
        let response = Response {
            low_window: values.number("low_window"),
            high_window: values.number("high_window"),
            high_decrease: values.number("high_decrease"),
        };
        let table = if values.flag("table") { response.table() } else { Vec::new() };
        HighSpeed { base: Aimd::new(values, setup), response, table, row: 0, count: 0 }
    }

    fn add_by_table(&mut self, mss: Bytes) {
        let w = self.base.segments(mss);
        self.row = self.table.iter().position(|row| w <= row.window).unwrap_or(self.table.len() - 1);
        self.count += self.row as u64 + 1;
        if self.count >= w {
            self.count -= w;
            self.base.reno.window.cwnd += mss;
        }
    }

    fn add_by_formula(&mut self, acked: Bytes, mss: Bytes) {
        let w = self.base.exact(mss);
        // RFC 3649 §5: w = w + a(w) / w, here per acknowledged segment
        self.base.grow_by(self.response.increase(w) / w * (acked.as_f64() / mss.as_f64()), mss);
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let by_table = !self.table.is_empty();
        let below = self.base.reno.window.in_slow_start();
        let acked = self.base.slow_start(ack, view);
        // In Linux the ACK that ends slow start does nothing more.
        if acked == Bytes::ZERO || by_table && below {
            return;
        }
        if by_table {
            self.add_by_table(view.mss);
        } else {
            self.add_by_formula(acked, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.base.at_loss(event, view.mss);
        let taken = match self.table.get(self.row) {
            Some(row) => libm::floor(w * row.decrease as f64 / 256.0),
            None => w * self.response.decrease(w),
        };
        self.count = 0;
        self.base.reduce(w - taken, event, view.mss);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + Bytes((self.response.increase(window.as_f64() / view.mss.as_f64()) * view.mss.as_f64()) as u64)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Some(row) = self.table.get(self.row) {
            put("a", (self.row + 1) as f64);
            put("b", row.decrease as f64 / 256.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, near};
    use super::*;
    use crate::cc::signals::Cause;

    const RFC: Response = Response { low_window: 38.0, high_window: 83_000.0, high_decrease: 0.1 };

    /// RFC 3649 §5.
    #[test]
    fn increase_and_decrease_follow_the_formulas() {
        let expected = [(1e2, 0.449664, 1.8013), (1e3, 0.329878, 7.7398), (1e4, 0.210092, 29.0205), (83e3, 0.1, 70.73)];
        for (w, b, a) in expected {
            assert!((RFC.decrease(w) - b).abs() < 1e-6, "{w}: {}", RFC.decrease(w));
            assert!((RFC.increase(w) / a - 1.0).abs() < 1e-4, "{w}: {}", RFC.increase(w));
        }
        assert_eq!((RFC.decrease(38.0), RFC.increase(38.0)), (0.5, 1.0));
    }

    /// RFC 3649 appendix B.
    #[test]
    fn the_table_is_that_of_the_rfc() {
        let table = RFC.table();
        let windows = [
            38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596,
            5036,
        ];
        let decreases = [128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74, 72, 71, 69, 68, 66, 65];
        assert_eq!(table.iter().take(20).map(|row| row.window).collect::<Vec<_>>(), windows);
        assert_eq!(table.iter().take(18).map(|row| row.decrease).collect::<Vec<_>>(), decreases);
        assert_eq!((table[70].window, table[71].window), (84_035, 89_053));
    }

    #[test]
    fn a_round_adds_a_of_w_and_a_loss_takes_b_of_w() {
        let mut sender = Driver::new("highspeed", "rfc", &[], 1000, Some(2));
        sender.ack(1, None);
        // 1000 + a(1000) / 1000 segments of 1000 bytes, rounded down
        assert_eq!(sender.cwnd(), 1000.007);
        let mut sender = Driver::new("highspeed", "rfc", &[], 1000, Some(2));
        sender.congestion(Cause::Sack);
        assert!(near(sender.cwnd(), 670.121), "{}", sender.cwnd());
    }

    /// W = 1000 is row 8: eight per ACK of any size, and 83/256 of 1000 = 324 off.
    #[test]
    fn the_kernel_goes_by_the_table() {
        let mut sender = Driver::new("highspeed", "linux", &[], 1000, Some(2));
        (0..124).for_each(|_| sender.ack(2, None));
        assert_eq!(sender.cwnd(), 1000.0);
        sender.ack(2, None);
        assert_eq!(sender.cwnd(), 1001.0);
        assert_eq!((sender.internal("a"), sender.internal("b")), (8.0, 83.0 / 256.0));
        sender.congestion(Cause::Sack);
        assert_eq!(sender.cwnd(), 1001.0 - 324.0);
    }
}
