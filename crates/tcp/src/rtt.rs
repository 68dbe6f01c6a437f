//! Round-trip time and retransmission time-out (RFC 6298).
//!
//! Karn's rule is kept by the caller: an ACK that covers a retransmitted segment gives no sample.

use crate::config::RtoBounds;
use crate::units::Span;

/// The estimator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    bounds: RtoBounds,
    srtt: Option<Span>,
    rttvar: Span,
    min: Option<Span>,
    /// Expiries since the last sample; each doubles the time-out (§5.5), a sample ends it (§5, last paragraph).
    backoff: u32,
}

impl Rtt {
    pub(crate) fn new(bounds: RtoBounds) -> Rtt {
        Rtt { bounds, srtt: None, rttvar: Span::ZERO, min: None, backoff: 0 }
    }

    /// Takes a sample of a segment that was sent once.
    pub(crate) fn sample(&mut self, r: Span) {
        self.min = Some(self.min.map_or(r, |min| min.min(r)));
        self.backoff = 0;
        match self.srtt {
            // §2.2: SRTT = R, RTTVAR = R/2
            None => {
                self.srtt = Some(r);
                self.rttvar = r / 2;
            }
            // §2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, then SRTT = 7/8 SRTT + 1/8 R
            Some(srtt) => {
                self.rttvar = (self.rttvar * 3 + srtt.abs_diff(r)) / 4;
                self.srtt = Some((srtt * 7 + r) / 8);
            }
        }
    }

    /// The time-out now, backed off.
    pub(crate) fn rto(&self) -> Span {
        let base = match self.srtt {
            // §2.3: RTO = SRTT + max(G, 4 RTTVAR); §2.4: at least the minimum
            Some(srtt) => (srtt + (self.rttvar * 4).max(self.bounds.granularity)).max(self.bounds.min),
            None => self.bounds.initial,
        };
        base.saturating_mul(1 << self.backoff.min(32)).min(self.bounds.max)
    }

    /// The timer expired: the next time-out is twice as long (§5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// No sample was to be had from a handshake that needed a retransmission: start from this time-out (§5.7: 3 s).
    pub(crate) fn set_initial(&mut self, rto: Span) {
        self.bounds.initial = rto;
        self.backoff = 0;
    }

    pub(crate) fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    pub(crate) fn rttvar(&self) -> Span {
        self.rttvar
    }

    pub(crate) fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(min_ms: u64) -> Rtt {
        let ms = Span::from_millis;
        Rtt::new(RtoBounds { initial: ms(1000), min: ms(min_ms), max: ms(60_000), granularity: ms(1) })
    }

    #[test]
    fn vectors_of_algorithms_7_4() {
        let mut rtt = estimator(0);
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.rto(), Span::from_millis(300));
        rtt.sample(Span::from_millis(120));
        assert_eq!(rtt.rttvar(), Span::from_micros(42_500));
        assert_eq!(rtt.srtt(), Some(Span::from_micros(102_500)));
        assert_eq!(rtt.rto(), Span::from_micros(272_500));
    }

    #[test]
    fn floor_backoff_and_ceiling() {
        let mut rtt = estimator(1000);
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.rto(), Span::from_millis(1000));
        for doubled in [2, 4, 8, 16, 32, 60, 60] {
            rtt.back_off();
            assert_eq!(rtt.rto(), Span::from_millis(doubled * 1000));
        }
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.rto(), Span::from_millis(1000));
    }
}
