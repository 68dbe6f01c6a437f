//! Settings as scenarios write them.

use tcp::units::Bytes;

use super::text::Amount;

/// The form of a setting in a scenario, and its value in a [`TcpConfig`].
pub(super) trait Setting<T> {
    fn value(self, mss: Bytes) -> T;
    fn of(value: &T) -> Self;
}

impl<T: Clone> Setting<T> for T {
    fn value(self, _mss: Bytes) -> T {
        self
    }
    fn of(value: &T) -> T {
        value.clone()
    }
}

/// Packets are segments.
impl Setting<Bytes> for Amount {
    fn value(self, mss: Bytes) -> Bytes {
        match self {
            Amount::Packets(n) => Bytes(n.saturating_mul(mss.0)),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => Bytes::MAX,
            Amount::Bdp { .. } => unreachable!("a window in BDP is refused"),
        }
    }
    fn of(value: &Bytes) -> Amount {
        if *value == Bytes::MAX { Amount::Unlimited } else { Amount::Bytes(*value) }
    }
}
