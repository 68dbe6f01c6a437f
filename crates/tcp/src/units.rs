//! Quantities of the simulator as types: time, spans, byte counts and rates.
//!
//! All are unsigned integers, so that equal inputs give equal bits on every machine. A duration is rounded once,
//! when it is made; a transmission time is rounded up. Text forms ("20ms", "10Mbps", "1460B") are what a scenario
//! file holds; `Display` prints the shortest exact one and `FromStr` reads it back.

mod grammar;
mod text;

use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

pub use grammar::{Domain, ParseQuantityError, QuantityKind, Unit, from_text, text_schema};
pub use text::{DURATION, RATE, SIZE};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// How long ago `earlier` was; zero if it lies in the future.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of `secs` seconds, rounded to the nearest nanosecond; negative or undefined values give zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        Span(libm::round(secs * NANOS_PER_SECOND as f64) as u64)
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Length in whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The absolute difference of two spans.
    pub const fn abs_diff(self, other: Span) -> Span {
        Span(self.0.abs_diff(other.0))
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// `self * factor`, or the longest span there is.
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any window: "not limited".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// The count as a float.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Bytes::MAX`].
    pub const fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    /// Number of whole segments of `mss` bytes.
    ///
    /// # Panics
    ///
    /// If `mss` is zero.
    pub const fn segments(self, mss: Bytes) -> u64 {
        self.0 / mss.0
    }
}

impl Rate {
    /// `bits` per second; `None` for zero, since no transmission would ever end.
    pub const fn from_bps(bits: u64) -> Option<Rate> {
        if bits == 0 { None } else { Some(Rate(bits)) }
    }

    /// The rate at which `size` passes in `time`; at least one bit per second, at most what 64 bits hold.
    pub fn of(size: Bytes, time: Span) -> Rate {
        // 64 bits hold what is delivered in one RTT; the wide path keeps the method total.
        if let Some(bit_nanos) = size.0.checked_mul(8 * NANOS_PER_SECOND) {
            return Rate((bit_nanos / time.0.max(1)).max(1));
        }
        let bits = u128::from(size.0) * u128::from(8 * NANOS_PER_SECOND) / u128::from(time.0.max(1));
        Rate(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `size` bytes occupy the transmitter, rounded up to a nanosecond.
    pub fn transmission_time(self, size: Bytes) -> Span {
        // 64 bits hold any packet; the wide path keeps the method total.
        if let Some(bit_nanos) = size.0.checked_mul(8 * NANOS_PER_SECOND) {
            return Span(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = u128::from(size.0) * u128::from(8 * NANOS_PER_SECOND);
        Span(u64::try_from(bit_nanos.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        self.saturating_mul(factor)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Bytes {
    type Output = Bytes;
    fn div(self, divisor: u64) -> Bytes {
        Bytes(self.0 / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times_of_networks_3_4() {
        let ten_mbps: Rate = "10Mbps".parse().unwrap();
        assert_eq!(ten_mbps.transmission_time(Bytes(1040)), Span::from_nanos(832_000));
        let gbps: Rate = "1Gbps".parse().unwrap();
        assert_eq!(gbps.transmission_time(Bytes(1500)), Span::from_nanos(12_000));
    }

    #[test]
    fn transmission_time_is_rounded_up() {
        let rate = Rate::from_bps(3).unwrap();
        assert_eq!(rate.transmission_time(Bytes(1)).as_nanos(), 2_666_666_667);
    }

    #[test]
    fn texts_are_read_exactly_and_printed_back() {
        for (text, nanos, printed) in [
            ("20ms", 20_000_000, "20ms"),
            ("0.01ms", 10_000, "10us"),
            ("1.5 s", 1_500_000_000, "1500ms"),
            ("0s", 0, "0s"),
            ("1min", 60_000_000_000, "60s"),
            ("2h", 7_200_000_000_000, "7200s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.as_nanos(), nanos);
            assert_eq!(span.to_string(), printed);
        }
        assert_eq!("100kB".parse::<Bytes>().unwrap(), Bytes(100_000));
        assert_eq!(Bytes::ZERO.to_string(), "0B");
        assert_eq!("1KB".parse::<Bytes>().unwrap(), Bytes(1_000));
        assert_eq!("4TB".parse::<Bytes>().unwrap().to_string(), "4000GB");
        assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes(65_536));
        assert_eq!("2.5Mbps".parse::<Rate>().unwrap().to_string(), "2500kbps");
    }

    #[test]
    fn wrong_texts_are_refused_with_the_allowed_units() {
        for text in ["20", "ms", "-1s", "20 mbps", "1e400s", "", "NaNs", "99999999999999999999s"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains("\"20ms\"") && error.contains("s, ms, us, ns"), "{error}");
        }
        assert!("0bps".parse::<Rate>().unwrap_err().to_string().contains("above zero"));
    }
}
