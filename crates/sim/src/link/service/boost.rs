//! A peak rate while tokens last, then a sustained rate: cable access with a burst allowance.

use tcp::units::{Bytes, Rate, Time};

use crate::scenario::BoostService;

/// Bit-nanoseconds per second of a byte.
const BYTE: i128 = 8_000_000_000;

/// Tokens in bit-nanoseconds per second, exact.
#[derive(Debug)]
pub(super) struct Boost {
    peak: Rate,
    sustained: Rate,
    bucket: i128,
    tokens: i128,
    /// When `tokens` was right.
    at: Time,
}

impl Boost {
    pub(super) fn new(def: &BoostService) -> Boost {
        let bucket = i128::from(def.bucket.0) * BYTE;
        Boost { peak: def.peak, sustained: def.sustained, bucket, tokens: bucket, at: Time::ZERO }
    }

    /// When a packet of `size` ends that begins now. At the sustained rate it takes what grows meanwhile.
    pub(super) fn finish(&mut self, now: Time, size: Bytes) -> Time {
        let grown = i128::from(self.sustained.as_bps()) * i128::from(now.since(self.at).as_nanos());
        self.tokens = self.bucket.min(self.tokens + grown);
        self.at = now;
        let bits = i128::from(size.0) * BYTE;
        let rate = if self.tokens >= bits { self.peak } else { self.sustained };
        self.tokens -= bits;
        now + rate.transmission_time(size)
    }

    /// Most bytes that it could have sent up to `now`.
    pub(super) fn offered(&self, now: Time) -> f64 {
        let bytes = |rate: Rate| rate.as_bps() as f64 / 8.0 * now.as_secs_f64();
        bytes(self.peak).min(bytes(self.sustained) + self.bucket as f64 / BYTE as f64)
    }
}
