//! What one ACK reports of what was sent.

use super::tx_state::{SendOrder, TxState};
use crate::cc::RttSample;
use crate::seq::SeqNo;
use crate::units::{Bytes, Time};

/// A segment that an ACK reports for the first time, cumulatively or selectively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) end: SeqNo,
    pub(crate) bytes: Bytes,
    pub(crate) transmissions: u32,
    /// Time of the latest transmission.
    pub(crate) sent_at: Time,
    pub(crate) tx: TxState,
}

impl Delivered {
    pub(crate) fn order(&self) -> SendOrder {
        SendOrder { sent_at: self.sent_at, end: self.end }
    }
}

/// A segment newly marked lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSegment {
    pub(crate) seq: SeqNo,
    pub(crate) bytes: Bytes,
    pub(crate) sent_at: Time,
    pub(crate) tx: TxState,
    /// Marked lost in all, this one included.
    pub(crate) lost_total: Bytes,
}

/// When the first and the last of several segments were sent; those sent more than once are excluded (Karn).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendTimes {
    pub(crate) first: Time,
    pub(crate) last: Time,
}

impl SendTimes {
    /// The times with one more segment, sent at `at`.
    pub(super) fn extended(times: Option<SendTimes>, at: Time) -> SendTimes {
        SendTimes { first: times.map_or(at, |times| times.first), last: at }
    }

    /// The round-trip times that an ACK at `now` shows.
    pub(crate) fn rtt(self, now: Time) -> RttSample {
        RttSample { oldest: now.since(self.first), latest: now.since(self.last) }
    }
}

/// What one ACK reports of what was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckSummary {
    /// Cumulatively acknowledged: by how much `snd_una` moved.
    pub(crate) acked: Bytes,
    /// Of `acked`, what was believed in the network; the rest had been marked lost and arrived before that.
    pub(crate) acked_in_flight: Bytes,
    /// Segments of `acked_in_flight`.
    pub(crate) acked_in_flight_segments: u32,
    /// Reported for the first time, cumulatively or selectively.
    pub(crate) delivered: Bytes,
    /// Segments of `delivered`.
    pub(crate) delivered_segments: u32,
    /// Segments of `acked`.
    pub(crate) acked_segments: u32,
    /// Some of it was reported selectively.
    pub(crate) sacked: bool,
    /// `snd_una` moved over a segment that was sent more than once.
    pub(crate) retransmission_acked: bool,
    /// The newest segment that `snd_una` moved over was sent more than once.
    pub(crate) newest_resent: bool,
    /// A segment sent once, below the recovery point, was reported: what F-RTO waits for (RFC 5682 §3.1 step 3b).
    pub(crate) original_delivered: bool,
    /// The lowest segment that was sent once and is reported after a higher one: reordering.
    pub(crate) reordered_from: Option<SeqNo>,
    /// Send times of what was cumulatively acknowledged.
    pub(crate) acked_sent: Option<SendTimes>,
    /// Send times of what was selectively acknowledged.
    pub(crate) sacked_sent: Option<SendTimes>,
}

impl AckSummary {
    /// Notes that `[start, end)`, sent once, is reported for the first time.
    pub(super) fn on_original(&mut self, start: SeqNo, end: SeqNo, prior: PriorAckState) {
        self.original_delivered |= end <= prior.recover;
        if start < prior.highest_sacked {
            self.reordered_from = Some(self.reordered_from.map_or(start, |lowest| lowest.min(start)));
        }
    }
}

/// The sender's state before an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriorAckState {
    /// Where the episode under way, or the last one, ends.
    pub(crate) recover: SeqNo,
    /// The end of the highest segment reported selectively.
    pub(crate) highest_sacked: SeqNo,
}
