//! The clock of Linux: jiffies at HZ = 1000.

use crate::units::Time;

/// Jiffies per second.
pub(crate) const HZ: u64 = 1000;
/// Nanoseconds in a jiffy.
pub(crate) const NANOS_PER_JIFFY: u64 = 1_000_000_000 / HZ;

/// Whole jiffies since the start.
pub(crate) fn jiffies(time: Time) -> u64 {
    time.as_nanos() / NANOS_PER_JIFFY
}
