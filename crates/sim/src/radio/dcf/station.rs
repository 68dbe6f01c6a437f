//! One station of a channel: what it holds, where it is in an exchange, and what it has counted.

use crate::radio::queue::StationQueue;
use crate::radio::service::{MacCounters, MacRequest};
use tcp::units::{Rate, Span, Time};

use crate::ids::StationId;
use crate::radio::backoff::Backoff;
use crate::radio::dcf::rate_control::ArfState;
use crate::radio::receiver::Receiver;

/// Where a station is in the exchange under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxState {
    /// Nothing to send.
    Idle,
    /// A frame waits for the medium.
    Contending,
    AwaitsCts,
    /// The CTS has come; the data follow.
    Cleared,
    AwaitsAck,
    Broadcasts,
}

/// The frame a station holds until it is through or given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentFrame {
    pub(super) request: MacRequest,
    pub(super) sequence: u32,
    /// Of the attempt under way.
    pub(super) rate: Rate,
    /// Attempts that failed: of RTS and of short frames; of long frames.
    pub(super) short_failures: u32,
    pub(super) long_failures: u32,
    /// The receiver has it, though the sender may not know.
    pub(super) delivered: bool,
}

/// What a station is about to answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Response {
    Cts { to: StationId, rate: Rate, duration: Span },
    Ack { to: StationId, rate: Rate },
    Data,
}

/// One station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    pub(super) backoff: Backoff,
    pub(super) queue: StationQueue,
    pub(super) arf: ArfState,
    pub(super) current: Option<CurrentFrame>,
    pub(super) tx_state: TxState,
    /// When the pending `Access` is due; one at another time is stale.
    pub(super) access_at: Option<Time>,
    /// When the wait for a CTS or an ACK, or a broadcast, is over.
    pub(super) exchange_ends: Option<Time>,
    pub(super) response: Option<(Time, Response)>,
    pub(super) sequence: u32,
    /// The last sequence number taken from each sender, by sender.
    pub(super) duplicate_cache: Vec<(StationId, u32)>,
    pub(super) counters: MacCounters,
}
