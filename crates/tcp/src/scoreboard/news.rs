//! What an ACK says about what was sent.

use crate::rate::Stamp;
use crate::units::{Bytes, Span, Time};

/// A segment that an ACK reports for the first time, cumulatively or selectively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) end: u64,
    pub(crate) bytes: Bytes,
    pub(crate) transmissions: u32,
    /// Of the latest transmission.
    pub(crate) sent_at: Time,
    pub(crate) stamp: Stamp,
}

/// A segment newly marked lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) seq: u64,
    pub(crate) bytes: Bytes,
    pub(crate) sent_at: Time,
    pub(crate) stamp: Stamp,
    /// Marked lost in all, this one included.
    pub(crate) total: Bytes,
}

/// When the first and the last segment of a group were sent, those sent more than once left out.
pub(crate) type SentBetween = Option<(Time, Time)>;

/// What one ACK says about what was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// By so much `snd_una` moved.
    pub(crate) advanced: Bytes,
    /// Of `advanced`, what was believed in the network; the rest had been written off and arrived before that.
    pub(crate) believed: Bytes,
    /// Segments of `believed`.
    pub(crate) believed_segments: u32,
    /// Reported for the first time, either way.
    pub(crate) delivered: Bytes,
    /// Segments of `delivered`.
    pub(crate) delivered_segments: u32,
    /// Segments taken off the board.
    pub(crate) acked_segments: u32,
    /// Some of it was reported selectively.
    pub(crate) sacked: bool,
    /// `snd_una` moved over something that was sent more than once.
    pub(crate) retransmission_acked: bool,
    /// Something sent once, below the recovery point, was reported: what F-RTO looks for.
    pub(crate) original_delivered: bool,
    /// The lowest of it that was sent once and lies below something reported earlier: reordering.
    pub(crate) late: Option<u64>,
    /// Sending times of what was cumulatively acknowledged.
    pub(crate) acked_sent: SentBetween,
    /// Sending times of what was selectively acknowledged.
    pub(crate) sacked_sent: SentBetween,
}

impl News {
    /// Something sent once, `[start, end)`, is reported for the first time.
    pub(super) fn on_original(&mut self, start: u64, end: u64, seen: Seen) {
        self.original_delivered |= end <= seen.point;
        if start < seen.highest_sacked {
            self.late = Some(self.late.map_or(start, |late| late.min(start)));
        }
    }
}

/// What was known before an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Where the episode under way, or the last one, ends.
    pub(crate) point: u64,
    /// The end of the highest segment reported selectively.
    pub(crate) highest_sacked: u64,
}

/// Takes a segment into a group.
pub(super) fn widen(between: &mut SentBetween, at: Time) {
    *between = Some((between.map_or(at, |(first, _)| first), at));
}

/// Time from a transmission to `now`, for the first and the last of a group.
pub(crate) fn ages(between: SentBetween, now: Time) -> Option<(Span, Span)> {
    between.map(|(first, last)| (now.since(first), now.since(last)))
}
