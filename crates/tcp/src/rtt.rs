//! Round-trip time and retransmission time-out: RFC 6298, and Linux's estimator.
//!
//! Karn's rule is kept by the caller: what was sent twice gives no sample.

use crate::seq::SeqNo;
use crate::settings::{RtoBounds, RttAlgorithm};
use crate::units::{Bytes, Span};

/// The estimator.
// Hot fields first; see connection.rs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RttEstimator {
    srtt: Sampled,
    min: Sampled,
    latest: Sampled,
    rttvar: Span,
    /// The time-out now, backed off: asked for several times an ACK.
    rto: Span,
    kind: RttAlgorithm,
    /// Nobody has taken the newest sample yet.
    is_fresh: bool,
    /// The time-out is kept elsewhere.
    imposed: bool,
    /// Expiries since the last sample; each doubles the time-out (§5.5), a sample ends it (§5, last paragraph).
    backoff: u32,
    bounds: RtoBounds,
    linux: LinuxVariance,
}

/// A time that no sample has given yet, or one: half as large as an `Option`, in the state of every connection.
#[derive(Clone, Copy, Debug)]
struct Sampled(u64);

impl Sampled {
    const NONE: Sampled = Sampled(u64::MAX);

    fn of(span: Span) -> Sampled {
        Sampled(span.as_nanos())
    }

    #[inline]
    fn get(self) -> Option<Span> {
        (self.0 != u64::MAX).then(|| Span::from_nanos(self.0))
    }
}

/// Linux's variance term: the greatest mean deviation of a round; it rises at once and falls by a quarter per round.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxVariance {
    /// Four times the mean deviation, in µs.
    mdev: u64,
    /// The greatest of this round.
    mdev_max: u64,
    /// The term itself.
    rttvar: u64,
    /// The round ends when this has been acknowledged.
    round_end: SeqNo,
    /// Eight times the smoothed RTT, in µs.
    srtt8: u64,
}

impl LinuxVariance {
    fn first(&mut self, rtt: u64, least: u64, snd_nxt: SeqNo) {
        self.srtt8 = rtt * 8;
        // The first time-out is three RTTs.
        self.mdev = rtt * 2;
        self.rttvar = self.mdev.max(least);
        self.mdev_max = self.rttvar;
        self.round_end = snd_nxt;
    }

    fn next(&mut self, rtt: u64, least: u64, snd_una: SeqNo, snd_nxt: SeqNo) {
        let error = rtt as i64 - (self.srtt8 >> 3) as i64;
        self.srtt8 = self.srtt8.saturating_add_signed(error).max(1);
        let mut change = error.abs() - (self.mdev >> 2) as i64;
        if error < 0 && change > 0 {
            // An RTT that falls says little of how far it may rise (an idea of the Eifel timer).
            change >>= 3;
        }
        self.mdev = self.mdev.saturating_add_signed(change);
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if snd_una > self.round_end {
            self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) >> 2;
            self.round_end = snd_nxt;
            self.mdev_max = least;
        }
    }
}

impl RttEstimator {
    pub(crate) fn kind(&self) -> RttAlgorithm {
        self.kind
    }

    pub(crate) fn bounds(&self) -> RtoBounds {
        self.bounds
    }

    pub(crate) fn new(bounds: RtoBounds, kind: RttAlgorithm) -> RttEstimator {
        let (srtt, rttvar, min, linux) = (Sampled::NONE, Span::ZERO, Sampled::NONE, LinuxVariance::default());
        let (latest, is_fresh, imposed, rto) = (Sampled::NONE, false, false, Span::ZERO);
        let mut rtt =
            RttEstimator { bounds, kind, srtt, rttvar, min, latest, is_fresh, imposed, backoff: 0, linux, rto };
        rtt.set_rto();
        rtt
    }

    /// An estimator that has what the handshake measured of the round trip; nothing if its SYN was retransmitted.
    pub(crate) fn after_handshake(bounds: RtoBounds, kind: RttAlgorithm, handshake_rtt: Option<Span>) -> RttEstimator {
        let mut rtt = RttEstimator::new(bounds, kind);
        match handshake_rtt {
            Some(sample) => {
                rtt.sample(sample, SeqNo::FIRST_DATA, SeqNo::FIRST_DATA);
                rtt.note_latest(sample);
            }
            // RFC 6298 §5.7
            None => rtt.set_initial(bounds.initial.max(Span::from_millis(3000))),
        }
        rtt
    }

    /// Takes a sample of a segment that was sent once; `snd_una` and `snd_nxt` mark Linux's rounds.
    pub(crate) fn sample(&mut self, r: Span, snd_una: SeqNo, snd_nxt: SeqNo) {
        self.backoff = 0;
        match self.kind {
            RttAlgorithm::Rfc | RttAlgorithm::Timestamps => self.sample_rfc(r),
            RttAlgorithm::Linux => self.sample_linux(r, snd_una, snd_nxt),
        }
        self.set_rto();
    }

    fn sample_rfc(&mut self, r: Span) {
        match self.srtt.get() {
            // §2.2: SRTT = R, RTTVAR = R/2
            None => {
                self.srtt = Sampled::of(r);
                self.rttvar = r / 2;
            }
            // §2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, then SRTT = 7/8 SRTT + 1/8 R
            Some(srtt) => {
                self.rttvar = (self.rttvar * 3 + srtt.abs_diff(r)) / 4;
                self.srtt = Sampled::of((srtt * 7 + r) / 8);
            }
        }
    }

    fn sample_linux(&mut self, r: Span, snd_una: SeqNo, snd_nxt: SeqNo) {
        let (rtt, least) = (r.as_micros().max(1), self.bounds.min.as_micros());
        match self.srtt.get() {
            None => self.linux.first(rtt, least, snd_nxt),
            Some(_) => self.linux.next(rtt, least, snd_una, snd_nxt),
        }
        self.srtt = Sampled::of(Span::from_micros(self.linux.srtt8) / 8);
        self.rttvar = Span::from_micros(self.linux.mdev / 4);
    }

    /// Notes the RTT of the newest segment; it may be another than the one the estimator takes.
    pub(crate) fn note_latest(&mut self, r: Span) {
        (self.latest, self.is_fresh) = (Sampled::of(r), true);
        self.min = Sampled::of(self.min.get().map_or(r, |min| min.min(r)));
    }

    /// The time-out now, backed off.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// From now on the time-out is what is said here.
    pub(crate) fn impose(&mut self, rto: Span) {
        (self.imposed, self.rto) = (true, rto);
    }

    fn set_rto(&mut self) {
        if self.imposed {
            return;
        }
        let base = match (self.srtt.get(), self.kind) {
            (None, _) => self.bounds.initial,
            // §2.3: RTO = SRTT + max(G, 4 RTTVAR); §2.4: at least the minimum
            (Some(srtt), RttAlgorithm::Rfc | RttAlgorithm::Timestamps) => {
                (srtt + (self.rttvar * 4).max(self.bounds.granularity)).max(self.bounds.min)
            }
            (Some(_), RttAlgorithm::Linux) => {
                let micros = (self.linux.srtt8 >> 3) + self.linux.rttvar;
                let tick = self.bounds.granularity.as_micros().max(1);
                Span::from_micros(micros.div_ceil(tick) * tick)
            }
        };
        self.rto = base.saturating_mul(1 << self.backoff.min(32)).min(self.bounds.max);
    }

    /// Least time-out, or least variance term.
    pub(crate) fn rto_min(&self) -> Span {
        self.bounds.min
    }

    /// The timer expired: the next time-out is twice as long (§5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.set_rto();
    }

    /// The time-out is doubled so many times.
    pub(crate) fn back_off_to(&mut self, times: u32) {
        self.backoff = times;
        self.set_rto();
    }

    /// No sample was to be had from a handshake that needed a retransmission: start from this time-out (§5.7: 3 s).
    pub(crate) fn set_initial(&mut self, rto: Span) {
        self.bounds.initial = rto;
        self.backoff = 0;
        self.set_rto();
    }

    pub(crate) fn srtt(&self) -> Option<Span> {
        self.srtt.get()
    }

    pub(crate) fn rttvar(&self) -> Span {
        self.rttvar
    }

    pub(crate) fn latest(&self) -> Option<Span> {
        self.latest.get()
    }

    /// The newest sample, once.
    #[inline]
    pub(crate) fn take_latest(&mut self) -> Option<Span> {
        std::mem::take(&mut self.is_fresh).then(|| self.latest.get()).flatten()
    }

    pub(crate) fn min(&self) -> Option<Span> {
        self.min.get()
    }

    /// The rate of a window per RTT.
    pub(crate) fn rate_of(&self, window: Bytes) -> Option<crate::units::Rate> {
        self.srtt.get().map(|srtt| crate::units::Rate::of(window, srtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(min_ms: u64, kind: RttAlgorithm) -> RttEstimator {
        let ms = Span::from_millis;
        let bounds = RtoBounds { initial: ms(1000), min: ms(min_ms), max: ms(60_000), granularity: ms(1) };
        RttEstimator::new(bounds, kind)
    }

    #[test]
    fn vectors_of_algorithms_7_4() {
        let mut rtt = estimator(0, RttAlgorithm::Rfc);
        rtt.sample(Span::from_millis(100), SeqNo(1), SeqNo(2));
        assert_eq!(rtt.rto(), Span::from_millis(300));
        rtt.sample(Span::from_millis(120), SeqNo(1), SeqNo(2));
        assert_eq!(rtt.rttvar(), Span::from_micros(42_500));
        assert_eq!(rtt.srtt(), Some(Span::from_micros(102_500)));
        assert_eq!(rtt.rto(), Span::from_micros(272_500));
    }

    #[test]
    fn floor_backoff_and_ceiling() {
        let mut rtt = estimator(1000, RttAlgorithm::Rfc);
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        rtt.sample(Span::from_millis(100), SeqNo(1), SeqNo(2));
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        for doubled in [2, 4, 8, 16, 32, 60, 60] {
            rtt.back_off();
            assert_eq!(rtt.rto(), Span::from_millis(doubled * 1000));
        }
        rtt.sample(Span::from_millis(100), SeqNo(1), SeqNo(2));
        assert_eq!(rtt.rto(), Span::from_millis(1000));
    }

    /// The first samples of the recording reno-drop-one of Linux 6.1: srtt, rttvar and RTO in µs after each.
    #[test]
    fn linux_first_samples_of_a_recording() {
        let mut rtt = estimator(200, RttAlgorithm::Linux);
        for (sample, srtt, rttvar, rto) in [(50_027, 50_027, 25_013, 251_000), (50_617, 50_101, 18_908, 251_000)] {
            rtt.sample(Span::from_micros(sample), SeqNo(1), SeqNo(14_481));
            let (got_srtt, got_var) = (rtt.srtt().unwrap().as_micros(), rtt.rttvar().as_micros());
            assert!(got_srtt.abs_diff(srtt) <= 1 && got_var.abs_diff(rttvar) <= 2, "{got_srtt} {got_var}");
            assert_eq!(rtt.rto(), Span::from_micros(rto));
        }
    }

    #[test]
    fn linux_term_rises_at_once_and_falls_by_a_quarter_per_round() {
        let mut rtt = estimator(200, RttAlgorithm::Linux);
        rtt.sample(Span::from_millis(500), SeqNo(1), SeqNo(2));
        assert_eq!(rtt.rto(), Span::from_millis(1500));
        let mut before = rtt.rto();
        for round in 1..20 {
            for _ in 0..50 {
                rtt.sample(Span::from_millis(500), SeqNo(10 * round), SeqNo(10 * round + 9));
            }
            assert!(rtt.rto() <= before);
            before = rtt.rto();
        }
        assert!(before < Span::from_millis(720), "{before:?}");
    }
}
