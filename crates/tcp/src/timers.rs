//! The timer table of one endpoint: at most one deadline per purpose.

use crate::units::Time;

/// What a deadline is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    /// Retransmission time-out (RFC 6298), of the SYN as well.
    Rto,
    /// Tail loss probe (RFC 8985 §7).
    Tlp,
    /// RACK: segments are lost if nothing more arrives (RFC 8985 §6.2 step 5).
    Reorder,
    /// The next segment may be sent.
    Pacing,
    /// The receiver's window is closed: ask whether it has opened (RFC 9293 §3.8.6.1).
    Persist,
    /// An in-order segment waits for its ACK.
    DelayedAck,
    /// Duplicate ACKs that waited for one another (Linux).
    CompressedAck,
    /// The connection is over but remembered.
    TimeWait,
    /// The deadline of the congestion control.
    Algorithm,
    /// The user time-out (RFC 9293 §3.8.3).
    UserTimeout,
    /// Forged duplicate ACKs are due.
    Forgery,
    /// The application reads.
    Read,
}

impl Timer {
    /// In the order of the variants, for traces.
    const NAMES: [&'static str; 12] = [
        "rto",
        "tlp",
        "reorder",
        "pacing",
        "persist",
        "delayed_ack",
        "compressed_ack",
        "time_wait",
        "algorithm",
        "user_timeout",
        "forgery",
        "read",
    ];
}

/// Deadlines by purpose; the end of time for one that is not set, so that the earliest is a plain minimum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers([Time; 12]);

impl Default for Timers {
    fn default() -> Timers {
        Timers([Timers::NEVER; 12])
    }
}

impl Timers {
    /// Later than any time that is reached.
    pub(crate) const NEVER: Time = Time::from_nanos(u64::MAX);

    /// The timers that guard outstanding data; one of them runs at a time.
    pub(crate) const OF_LOSS: [Timer; 3] = [Timer::Rto, Timer::Tlp, Timer::Reorder];

    /// Sets one of [`Timers::OF_LOSS`] and stops the other two.
    #[inline]
    pub(crate) fn arm_alone(&mut self, timer: Timer, at: Time) {
        Timers::OF_LOSS.iter().for_each(|other| self.stop(*other));
        self.arm(timer, at);
    }

    /// True while one of them is set.
    #[inline]
    pub(crate) fn any_armed(&self, timers: &[Timer]) -> bool {
        timers.iter().any(|timer| self.armed(*timer))
    }

    /// Sets or moves a deadline.
    #[inline]
    pub(crate) fn arm(&mut self, timer: Timer, at: Time) {
        self.0[timer as usize] = at;
    }

    /// A deadline; [`Timers::NEVER`] if it is not set.
    #[inline]
    pub(crate) fn deadline(&self, timer: Timer) -> Time {
        self.0[timer as usize]
    }

    /// Clears a deadline.
    #[inline]
    pub(crate) fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Timers::NEVER;
    }

    /// True while a deadline is set.
    #[inline]
    pub(crate) fn armed(&self, timer: Timer) -> bool {
        self.0[timer as usize] != Timers::NEVER
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Time> {
        let first = self.0.iter().fold(Timers::NEVER, |first, at| first.min(*at));
        (first != Timers::NEVER).then_some(first)
    }

    /// What is armed, by name, for traces.
    pub(crate) fn armed_by_name(&self) -> impl Iterator<Item = (&'static str, Time)> + '_ {
        Timer::NAMES.into_iter().zip(self.0).filter(|(_, at)| *at != Timers::NEVER)
    }

    /// Takes a deadline that has been reached.
    pub(crate) fn expire(&mut self, timer: Timer, now: Time) -> bool {
        let due = self.0[timer as usize] <= now && self.armed(timer);
        if due {
            self.stop(timer);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_each_has_its_name() {
        let mut timers = Timers::default();
        timers.arm(Timer::TimeWait, Time::from_nanos(9));
        timers.arm(Timer::Rto, Time::from_nanos(7));
        timers.arm(Timer::CompressedAck, Time::from_nanos(8));
        assert_eq!(timers.next(), Some(Time::from_nanos(7)));
        assert!(!timers.expire(Timer::Rto, Time::from_nanos(6)));
        assert!(timers.expire(Timer::Rto, Time::from_nanos(7)));
        let left: Vec<_> = timers.armed_by_name().collect();
        assert_eq!(left, [("compressed_ack", Time::from_nanos(8)), ("time_wait", Time::from_nanos(9))]);
    }
}
