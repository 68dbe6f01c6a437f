//! Pace, bundle and window from the model (§5.6).

use super::{Bbr3, Mode};
use crate::cc::signals::{Ack, State, View};
use crate::units::{Bytes, Span};

/// Maximum pacing quantum.
const MAX_QUANTUM: f64 = 65_536.0;
/// A window beyond any that TCP could use (2^30 bytes, RFC 7323 §2.3), so that absurd rates do no harm.
const MAX_BYTES: f64 = (1_u64 << 40) as f64;

impl Bbr3 {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.settings.startup_gain,
            Mode::Drain => self.settings.drain_gain,
            Mode::Down => self.settings.down_gain,
            Mode::Cruise | Mode::Refill | Mode::ProbeRtt => 1.0,
            Mode::Up => self.settings.up_gain,
        }
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Up => self.settings.up_cwnd_gain,
            Mode::ProbeRtt => self.settings.probe_rtt_gain,
            _ => self.settings.cwnd_gain,
        }
    }

    /// StartupPacingGain InitialCwnd / (srtt or 1 ms)
    pub(super) fn begin_pacing(&mut self, rtt: Option<Span>) {
        self.has_seen_rtt = rtt.is_some();
        let seconds = rtt.unwrap_or(Span::from_millis(1)).max(Span::from_nanos(1)).as_secs_f64();
        let gain = self.settings.startup_gain;
        self.pacing = if self.settings.kernel {
            self.settings.pace(self.cwnd / seconds, gain)
        } else {
            gain * self.settings.initial_window / seconds
        };
    }

    pub(super) fn set_pacing(&mut self, gain: f64, view: &View) {
        if !self.has_seen_rtt && view.srtt.is_some() {
            self.begin_pacing(view.srtt);
        }
        let rate = self.settings.pace(self.bw, gain);
        // While the pipe fills, low samples say nothing; without any the rate of the start stays, for at none nothing would leave.
        if self.bw > 0.0 && (self.full.reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// A millisecond's worth (§5.6.3).
    pub(super) fn quantum(&self) -> f64 {
        if self.settings.kernel {
            return self.bundle();
        }
        (self.pacing / 1000.0).min(MAX_QUANTUM).max(2.0 * self.settings.mss)
    }

    /// bw min_rtt, if there is an RTT.
    pub(super) fn bdp(&self, bw: f64) -> Option<f64> {
        self.rtt.least.map(|least| bw * least.as_secs_f64())
    }

    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.rtt.least.map_or(self.settings.initial_window, |least| self.settings.product(bw, least, gain))
    }

    /// Room for what both ends hold back.
    fn with_budget(&self, inflight: f64) -> f64 {
        let budget = inflight.max(3.0 * self.quantum()).max(self.settings.min_cwnd);
        if self.mode == Mode::Up { budget + 2.0 * self.settings.mss } else { budget }
    }

    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(bw, gain))
    }

    /// The BDP, unless congestion has cut the window.
    pub(super) fn target_inflight(&self) -> f64 {
        let bdp = if self.settings.kernel { self.inflight(self.bw, 1.0) } else { self.bdp_multiple(self.bw, 1.0) };
        bdp.min(self.cwnd)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, self.settings.probe_rtt_gain).max(self.settings.min_cwnd)
    }

    pub(super) fn set_cwnd(&mut self, ack: &Ack, view: &View) {
        let cuts = if self.settings.timeout_bound { State::Loss } else { State::Recovery };
        if self.prior_state >= cuts && view.state < cuts {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        let acked = self.settings.up(ack.acked.as_f64());
        if ack.acked > Bytes::ZERO {
            let aggregated = self.bdp_multiple(self.bw, self.cwnd_gain()) + self.extra_acked();
            let most = self.with_budget(aggregated);
            if self.full.reached {
                self.cwnd = (self.cwnd + acked).min(most);
            } else if self.cwnd < most || self.begins(view) {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(self.settings.min_cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.cap()).min(MAX_BYTES);
    }

    /// The first windows grow whatever the model says.
    fn begins(&self, view: &View) -> bool {
        let first = self.settings.initial_window;
        if self.settings.kernel { self.cwnd < 2.0 * first } else { view.delivered.as_f64() < first }
    }

    /// The column "volume cap" of §5.6.1.
    fn cap(&self) -> f64 {
        let long = match self.mode {
            Mode::Startup | Mode::Drain if self.settings.short_term_first => f64::INFINITY,
            Mode::Startup => return f64::INFINITY,
            Mode::Drain | Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_long,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
        };
        long.min(self.bounds.inflight_short).max(self.settings.min_cwnd)
    }
}
