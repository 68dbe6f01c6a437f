//! What is remembered of a transmission: its place in the order of sending, and the rate sampler's state at that time.

use crate::seq::SeqNo;
use crate::units::{Bytes, Time};

/// The order in which segments were sent: by time and, at the same time, by sequence number (RFC 8985 §6.2 step 2,
/// RACK_sent_after).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SendOrder {
    /// When it was last sent.
    pub(crate) sent_at: Time,
    /// The number after its last byte.
    pub(crate) end: SeqNo,
}

/// The rate sampler's state when a segment was sent (draft-ietf-ccwg-bbr §4.5.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TxState {
    /// Delivered in all before.
    pub(crate) delivered: Bytes,
    /// When the last of that was reported.
    pub(crate) delivered_at: Time,
    /// When the sampling interval that it belongs to began.
    pub(crate) first_sent_at: Time,
    /// [`TxState::pack`]: a cache line has no room for more.
    pub(crate) packed_in_flight: u64,
    /// Marked lost in all before.
    pub(crate) lost: Bytes,
}

impl TxState {
    /// The pipe with the segment, and whether the application limits the flow, as one number.
    #[inline]
    pub(crate) fn pack(in_flight: Bytes, app_limited: bool) -> u64 {
        in_flight.0 * 2 + u64::from(app_limited)
    }

    /// Pipe with the segment.
    pub(crate) fn in_flight(&self) -> Bytes {
        Bytes(self.packed_in_flight / 2)
    }

    /// The application, not the network, limited the flow.
    pub(crate) fn app_limited(&self) -> bool {
        self.packed_in_flight % 2 == 1
    }
}
