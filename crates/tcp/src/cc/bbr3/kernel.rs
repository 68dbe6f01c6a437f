//! What Google's kernel (branch v3) computes otherwise than the draft: whole numbers (`kernel`), bundles, and what is in flight when
//! pacing lets the next bundle leave (`by_departure`). Not modelled: its fast path for senders that the application limits, its
//! protective load balancing, the full range of a rate of 32 bits.

use super::params::Settings;
use super::{Bbr3, Mode};
use crate::cc::bbr::rate::{self, GAIN, UNIT};
use crate::cc::jiffies::jiffies;
use crate::cc::signals::{Ack, RateSample, View};
use crate::units::{Bytes, Span, Time};

/// A burst holds 64 KiB less headers at most.
const MAX_BUNDLE: u64 = 65_215;
/// The fewest segments of a bundle.
const LEAST_BUNDLE: u64 = 2;

impl Settings {
    /// In whole segments, a part counting as one.
    pub(super) fn up(&self, bytes: f64) -> f64 {
        if self.kernel { libm::ceil(bytes / self.mss) * self.mss } else { bytes }
    }

    /// In whole segments, a part counting as none.
    pub(super) fn down(&self, bytes: f64) -> f64 {
        if self.kernel { libm::floor(bytes / self.mss) * self.mss } else { bytes }
    }

    /// A rate in segments per microsecond times 2^24.
    pub(super) fn units(&self, rate: f64) -> u64 {
        libm::round(rate * UNIT as f64 / (self.mss * 1e6)) as u64
    }

    fn rate(&self, units: u64) -> f64 {
        units as f64 * self.mss * 1e6 / UNIT as f64
    }

    /// A share of a rate.
    pub(super) fn cut(&self, rate: f64, share: f64) -> f64 {
        if self.kernel { self.rate(libm::floor(self.units(rate) as f64 * share) as u64) } else { rate * share }
    }

    /// The rate of a sample, in bytes per second: rounded up, so that low rates can grow.
    pub(super) fn rate_of(&self, sample: &RateSample) -> Option<f64> {
        let rate = sample.rate?;
        if !self.kernel {
            return Some(rate.as_bps() as f64 / 8.0);
        }
        let delivered = u128::from(rate::count(sample.delivered, Bytes(self.mss as u64))) * u128::from(UNIT);
        Some(self.rate(delivered.div_ceil(u128::from(sample.interval.as_micros().max(1))) as u64))
    }

    /// `now` is later than `at`, on a clock of milliseconds.
    pub(super) fn is_later(&self, now: Time, at: Time) -> bool {
        if self.kernel { jiffies(now) > jiffies(at) } else { now > at }
    }

    /// A round-trip time in microseconds.
    pub(super) fn whole(&self, rtt: Span) -> Span {
        if self.kernel { Span::from_micros(rtt.as_micros()) } else { rtt }
    }

    /// Bytes per second at a gain, less the margin.
    pub(super) fn pace(&self, rate: f64, gain: f64) -> f64 {
        if !self.kernel {
            return gain * rate * (1.0 - self.margin);
        }
        let margin = libm::round(self.margin * 100.0) as u64;
        rate::bytes_per_second(self.units(rate), rate::gain(gain), margin, Bytes(self.mss as u64)).max(1) as f64
    }

    /// gain rate rtt, in whole segments.
    pub(super) fn product(&self, rate: f64, rtt: Span, gain: f64) -> f64 {
        if !self.kernel {
            return gain * (rate * rtt.as_secs_f64());
        }
        let scaled = u128::from(self.units(rate)) * u128::from(rtt.as_micros()) * u128::from(rate::gain(gain))
            / u128::from(GAIN);
        scaled.div_ceil(u128::from(UNIT)) as f64 * self.mss
    }
}

impl Bbr3 {
    /// A millisecond's worth (1/1024 s), and more on paths of some milliseconds.
    pub(super) fn bundle(&self) -> f64 {
        let mss = self.settings.mss as u64;
        let shift = self.rtt.least.map_or(64, |rtt| rtt.as_micros() >> 9).min(63);
        let bytes = ((self.pacing as u64 >> 10) + (65_536 >> shift)).min(MAX_BUNDLE);
        ((bytes / mss).max(LEAST_BUNDLE) * mss) as f64
    }

    /// What is in flight as the state machine sees it: now, or when pacing lets the next bundle leave, which counts where more is to
    /// be sent.
    pub(super) fn at_departure(&self, pipe: Bytes, view: &View) -> f64 {
        if !self.settings.by_departure {
            return pipe.as_f64();
        }
        let more = if self.pacing_gain() > 1.0 { self.quantum() } else { 0.0 };
        let wait = view.paced_until.since(view.now).as_micros() as f64 / 1e6;
        (self.settings.up(pipe.as_f64()) + more - self.settings.down(self.bw * wait)).max(0.0)
    }

    /// The same in the cycle, where the kernel looks at the time before this ACK.
    pub(super) fn in_cycle(&self, ack: &Ack, view: &View) -> f64 {
        self.at_departure(if self.settings.by_departure { ack.prior_pipe } else { view.pipe }, view)
    }

    /// A loss that a tail loss probe has repaired: one segment of what was in flight last.
    pub(super) fn on_tail_loss(&mut self, view: &View) {
        self.note_loss(view);
        let mss = self.settings.mss;
        let in_flight = self.signals.inflight_latest + mss;
        if self.probe.samples && self.too_high(mss, in_flight) {
            self.handle_too_high(in_flight, view.app_limited, view);
        }
    }

    /// The window before a time-out bounds what is in flight, where no probe is under way.
    pub(super) fn on_time_out(&mut self) {
        self.reset_full_pipe(0.0);
        if !self.mode.probes() && self.bounds.inflight_short.is_infinite() {
            self.bounds.inflight_short = self.cwnd.max(self.prior_cwnd);
        }
    }

    /// Cruising begins below the long-term bound.
    pub(super) fn start_cruise(&mut self) {
        if self.settings.short_term_first && self.bounds.inflight_short.is_finite() {
            self.bounds.inflight_short = self.bounds.inflight_short.min(self.bounds.inflight_long);
        }
        self.mode = Mode::Cruise;
    }
}

#[cfg(test)]
mod tests;
