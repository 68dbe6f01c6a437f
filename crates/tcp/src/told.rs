//! What a sender tells a log of its losses and of the congestion that it sees.

use crate::cc::Cause;
use crate::seq::SeqNo;
use crate::units::{Bytes, Time};

/// Something that a sender has found out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// A segment is marked lost.
    Lost {
        /// Sequence number of its first byte.
        seq: SeqNo,
        /// Payload bytes, and one of a FIN.
        bytes: Bytes,
        /// When it was last sent.
        sent_at: Time,
        /// Why.
        trigger: LossTrigger,
    },
    /// An episode of congestion begins, or something continues one that reduces the window once more.
    Congestion(Cause),
}

/// Why a segment is taken to be lost; the names are those of qlog (draft-ietf-quic-qlog-quic-events, `packet_lost`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// Duplicate ACKs, or what SACK reports beyond it (RFC 5681 §3.2, RFC 6675 §4).
    ReorderingThreshold,
    /// Something sent sufficiently later was delivered (RFC 8985 §6.2), or it is older than the algorithm's own time-out (Vegas).
    TimeThreshold,
    /// The retransmission timer expired (RFC 6298).
    PtoExpired,
}

impl LossTrigger {
    /// As written in logs.
    pub fn name(self) -> &'static str {
        match self {
            LossTrigger::ReorderingThreshold => "reordering_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::PtoExpired => "pto_expired",
        }
    }
}
