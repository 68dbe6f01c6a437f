//! The pending timer of a station.

use tcp::units::Time;

/// When the event of a timer is due; events at other times are stale.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingTimer(Option<Time>);

impl PendingTimer {
    /// True if an event must be scheduled for `at`, since none is pending that comes as soon.
    pub(super) fn advance(&mut self, at: Time) -> bool {
        let is_sooner = self.0.is_none_or(|pending| at < pending);
        if is_sooner {
            self.0 = Some(at);
        }
        is_sooner
    }

    /// True if an event at `now` is the one that is pending, which it then no longer is.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        self.0.take_if(|pending| *pending == now).is_some()
    }
}
