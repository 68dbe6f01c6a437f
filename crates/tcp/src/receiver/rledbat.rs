//! rLEDBAT (RFC 9840): a receiver that keeps its sender behind others, whatever algorithm that has, by the window it announces.
//!
//! The window is that of LEDBAT++ over the RTT that the receiver measures by timestamps (§4). It never takes back what it has
//! announced: it shrinks only by what arrives (§4.1). A gap that is filled more than a round trip after it appeared was a loss.

use crate::cc::LedbatPlusPlus;
use crate::units::{Bytes, Span, Time};

/// The controller of one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Rledbat {
    control: LedbatPlusPlus,
    mss: Bytes,
    /// rlw: the window to announce at most.
    window: Bytes,
    /// Something has been missing since.
    gap_since: Option<Time>,
    halved_at: Option<Time>,
}

impl Rledbat {
    pub(crate) fn new(mss: Bytes) -> Rledbat {
        let control = LedbatPlusPlus::of_receiver();
        let mut made = Rledbat { control, mss, window: Bytes::ZERO, gap_since: None, halved_at: None };
        made.show();
        made
    }

    pub(crate) fn agree(&mut self, mss: Bytes) {
        self.mss = mss;
        self.show();
    }

    pub(crate) fn window(&self) -> Bytes {
        self.window
    }

    fn show(&mut self) {
        self.window = Bytes((self.control.segments() * self.mss.as_f64()) as u64);
    }

    /// A full segment has echoed our timestamp.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_echo(&mut self, rtt: Span, now: Time) {
        self.control.note(rtt, now);
    }

    /// Something has arrived beyond a gap.
    pub(crate) fn on_gap(&mut self, now: Time) {
        self.gap_since.get_or_insert(now);
    }

    /// `bytes` have arrived in order; `gap`: something is still missing.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_in_order(&mut self, now: Time, bytes: Bytes, rtt: Option<Span>, gap: bool) {
        let rtt = rtt.unwrap_or_default();
        if let Some(since) = self.gap_since.take_if(|_| !gap) {
            // At most once per round trip.
            let halved = self.halved_at.is_some_and(|at| now.since(at) < rtt);
            if now.since(since) > rtt && !halved {
                self.control.halve(now, rtt);
                self.halved_at = Some(now);
            }
        }
        let is_used = bytes > Bytes::ZERO;
        self.control.on_ack(bytes.as_f64() / self.mss.as_f64(), now, rtt, is_used);
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1000);

    fn arrive(receiver: &mut Rledbat, ms: u64, rtt_ms: u64, gap: bool) {
        let now = Time::ZERO + Span::from_millis(ms);
        let rtt = Span::from_millis(rtt_ms);
        receiver.on_echo(rtt, now);
        receiver.on_in_order(now, MSS, Some(rtt), gap);
    }

    /// With a base of 40 ms GAIN is a third: slow start adds that per segment until three quarters of the target queue.
    #[test]
    fn the_window_is_that_of_ledbat_plus_plus() {
        let mut receiver = Rledbat::new(MSS);
        assert_eq!(receiver.window(), MSS * 2);
        (0..30).for_each(|ms| arrive(&mut receiver, ms, 40, false));
        assert_eq!(receiver.window().0 / 10, 1200);
        (30..40).for_each(|ms| arrive(&mut receiver, ms, 90, false));
        let full = receiver.window();
        arrive(&mut receiver, 41, 90, false);
        assert!(receiver.window().0 - full.0 < 50, "slow start is over");
        arrive(&mut receiver, 41 + 300, 90, false);
        assert_eq!(receiver.window(), MSS * 2, "a slowdown");
    }

    #[test]
    fn a_gap_that_outlasts_a_round_trip_halves_once_in_one() {
        let mut receiver = Rledbat::new(MSS);
        (0..30).for_each(|ms| arrive(&mut receiver, ms, 40, false));
        let before = receiver.window();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        receiver.on_gap(at(100));
        arrive(&mut receiver, 120, 40, false);
        assert!(receiver.window() >= before, "reordering");
        receiver.on_gap(at(200));
        arrive(&mut receiver, 210, 40, true);
        arrive(&mut receiver, 260, 40, false);
        let halved = receiver.window();
        assert!(halved.0 < before.0 * 6 / 10, "{halved:?}");
        receiver.on_gap(at(261));
        receiver.gap_since = Some(at(200));
        arrive(&mut receiver, 262, 40, false);
        assert!(receiver.window() >= halved);
    }
}
