//! Signals at a station: what has not started, and what is on the air.

use tcp::units::{Span, Time};

use crate::ids::StationId;

/// A transmission as it reaches one station: a cache line, since each frame puts one into the memory of all stations within reach.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Signal {
    /// Number of the transmission, unique on the channel.
    pub(crate) number: u64,
    pub(crate) from: StationId,
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// Power in watts.
    pub(crate) power: f64,
    /// Index of its rate in [`MacTiming::rate_modes`](super::MacTiming::rate_modes).
    pub(crate) rate_index: u8,
    /// The station receives it: it is addressed to it and strong enough.
    pub(crate) is_received: bool,
    /// It is an aggregate (802.11n): each of its MPDUs survives or not.
    pub(crate) aggregate: bool,
    /// Duration field, zero at the station that the frame is addressed to.
    pub(crate) duration: Span,
    /// NAVTimeout, for an RTS.
    pub(crate) nav_timeout: Option<Span>,
}

/// A signal that has started and not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnAir {
    pub(super) signal: Signal,
    pub(super) state: SignalState,
    /// What was in the way of a signal that the station receives.
    pub(super) obstacle: Obstacle,
}

/// What was in the way of a frame at its receiver.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Obstacle {
    /// The station transmitted itself.
    pub(crate) transmitted: bool,
    /// The strongest other signal meanwhile: its power in watts, and its transmitter.
    pub(crate) strongest: Option<(f64, StationId)>,
}

/// How much weaker a signal is, as a ratio, that harms no modulation.
const HARMLESS: f64 = 1e-3;

impl OnAir {
    /// Notes another signal meanwhile.
    pub(super) fn meet(&mut self, other: &Signal) {
        let harms = other.power > self.signal.power * HARMLESS;
        if harms && self.obstacle.strongest.is_none_or(|(power, _)| other.power > power) {
            self.obstacle.strongest = Some((other.power, other.from));
        }
    }
}

/// State of a signal on the air at a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SignalState {
    /// Readable; the minimum SINR so far.
    Readable(f64),
    /// Not, or no longer, readable.
    Unreadable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_stays_a_cache_line() {
        assert_eq!(size_of::<Signal>(), 64);
    }
}
