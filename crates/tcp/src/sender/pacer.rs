//! Pacing: when the next segment may be sent.

use crate::units::{Bytes, Rate, Span, Time};

/// Segments at the start of a connection that are not paced, as in Linux (after sch_fq).
const UNPACED_SEGMENTS: u32 = 10;

/// When the next segment may be sent.
// Hot fields first; see connection.rs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pacer {
    next_at: Time,
    /// The burst under way.
    burst: Option<Burst>,
    /// The connection paces although its algorithm does not ask for it.
    always: bool,
    /// Segments that are still sent without pacing: the initial window.
    unpaced: u32,
}

/// Segments that are sent at one time and paid for together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    bytes: Bytes,
    /// Delay after the time at which it could have been sent.
    late: Span,
}

impl Pacer {
    pub(crate) fn new(always: bool) -> Pacer {
        Pacer { always, next_at: Time::ZERO, unpaced: UNPACED_SEGMENTS, burst: None }
    }

    /// True if the connection paces whatever its algorithm asks for.
    #[inline]
    pub(crate) fn always(&self) -> bool {
        self.always
    }

    /// What follows is paced from the first segment on.
    #[inline]
    pub(crate) fn end_initial_window(&mut self) {
        self.unpaced = 0;
    }

    /// Nothing is sent before.
    #[inline]
    pub(crate) fn until(&self) -> Time {
        self.next_at
    }

    /// True while nothing may be sent.
    #[inline]
    pub(crate) fn blocks(&self, now: Time) -> bool {
        self.burst.is_none() && now < self.next_at
    }

    /// A segment is sent. The burst is complete when one more would make it larger than `quantum`; without a quantum each
    /// segment is a burst, and lateness changes nothing.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, bytes: Bytes, quantum: Option<Bytes>, rate: Rate) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            self.next_at = if quantum.is_some() { now } else { self.next_at };
            return;
        }
        let late = if quantum.is_some() { now.since(self.next_at) } else { Span::ZERO };
        let burst = self.burst.get_or_insert(Burst { bytes: Bytes::ZERO, late });
        burst.bytes += bytes;
        if quantum.is_none_or(|quantum| burst.bytes.saturating_add(bytes) > quantum) {
            self.complete(now, rate);
        }
    }

    /// The pause after a burst. As in Linux, a late burst shortens it by its lateness, by half at most.
    #[inline]
    pub(crate) fn complete(&mut self, now: Time, rate: Rate) {
        if let Some(Burst { bytes, late }) = self.burst.take() {
            let length = rate.transmission_time(bytes);
            self.next_at = self.next_at.max(now) + length.saturating_sub(late.min(length / 2));
        }
    }
}
