//! Time as a sum of doubles, which rounds: ns-2 keeps it so.

use crate::units::Time;

/// What an agent's simulator says of the time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SecondsClock {
    now: Option<f64>,
}

impl SecondsClock {
    /// The input that follows comes at `now`, in seconds. Without this call the time is that of the input.
    pub fn set_seconds(&mut self, now: f64) {
        self.now = Some(now);
    }

    /// The time in seconds.
    pub(crate) fn seconds(&self, now: Time) -> f64 {
        self.now.unwrap_or(now.as_nanos() as f64 / 1e9)
    }
}
