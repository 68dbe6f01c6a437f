//! Bandwidth in the kernel's unit: segments per microsecond, scaled by 2^24, in 32 bits; gains are in 256ths.

use crate::units::{Bytes, Rate};

/// One segment per microsecond.
pub(in crate::cc) const UNIT: u64 = 1 << 24;
/// A gain of 1.
pub(in crate::cc) const GAIN: u64 = 256;

/// `segments` in `micros`, at most what 32 bits hold (256 segments per microsecond).
pub(in crate::cc) fn of(segments: u64, micros: u64) -> u64 {
    let bw = u128::from(segments) * u128::from(UNIT) / u128::from(micros.max(1));
    bw.min(u128::from(u32::MAX)) as u64
}

/// Bytes per second at that bandwidth times `gain`, less `margin` percent.
pub(in crate::cc) fn bytes_per_second(bw: u64, gain: u64, margin: u64, mss: Bytes) -> u64 {
    let scaled = u128::from(bw) * u128::from(mss.0) * u128::from(gain) / u128::from(GAIN);
    let rate = (scaled * u128::from(10_000 * (100 - margin))) / u128::from(UNIT);
    rate as u64
}

/// A rate of BBR as a `Rate`; never zero.
pub(in crate::cc) fn rate(bytes_per_second: u64) -> Rate {
    Rate::from_bps(bytes_per_second.saturating_mul(8).max(1)).expect("one bit per second at least")
}

/// Segments at that bandwidth in `micros`, rounded down.
pub(in crate::cc) fn segments(bw: u64, micros: u64) -> u64 {
    (u128::from(bw) * u128::from(micros) / u128::from(UNIT)) as u64
}

/// A gain in 256ths.
pub(in crate::cc) fn gain(gain: f64) -> u64 {
    libm::round(gain * GAIN as f64) as u64
}

/// Bytes in segments, a part counting as one.
pub(in crate::cc) fn count(bytes: Bytes, mss: Bytes) -> u64 {
    bytes.0.div_ceil(mss.0)
}
