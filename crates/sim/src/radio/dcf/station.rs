//! State of one station.

use tcp::units::{Rate, Span, Time};

use crate::ids::StationId;
use crate::radio::airtime::AirtimeQueues;
use crate::radio::backoff::Backoff;
use crate::radio::dcf::block_ack::BlockAcks;
use crate::radio::dcf::rate_control::ArfState;
use crate::radio::queue::StationQueue;
use crate::radio::receiver::Receiver;
use crate::radio::service::{MacCounters, MacRequest};

/// State of a station in the frame exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxState {
    /// No frame to transmit.
    Idle,
    /// Waiting for channel access.
    Contending,
    AwaitsCts,
    /// The CTS has arrived; the data frame follows after SIFS.
    Cleared,
    AwaitsAck,
    /// After an aggregate, or after a block ACK request.
    AwaitsBlockAck,
    Broadcasts,
}

/// The frame that a station transmits until it is delivered or given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentFrame {
    pub(super) request: MacRequest,
    pub(super) sequence: u32,
    /// Data rate of the present attempt.
    pub(super) rate: Rate,
    /// Short and long retry counters (IEEE 802.11 §10.3.4.4).
    pub(super) short_failures: u32,
    pub(super) long_failures: u32,
    /// The receiver has it, though the ACK may not have arrived.
    pub(super) delivered: bool,
    /// It stands for the window of MPDUs to its receiver (802.11n), which hold the contents.
    pub(super) block_ack: bool,
    /// Its window has been filled: where airtime is shared, what is left of it is not filled up again before the next turn.
    pub(super) filled: bool,
}

/// A response due SIFS after the frame that solicits it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Response {
    Cts { to: StationId, rate: Rate, duration: Span },
    Ack { to: StationId, rate: Rate },
    BlockAck { to: StationId, rate: Rate },
    Data,
}

/// A station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    pub(super) backoff: Backoff,
    pub(super) queue: StationQueue,
    /// Where an access point shares airtime, the packets for its stations; `queue` has all else, and goes first.
    pub(super) airtime: Option<Box<AirtimeQueues>>,
    pub(super) arf: ArfState,
    pub(super) current: Option<CurrentFrame>,
    pub(super) tx_state: TxState,
    /// Time of the pending `ChannelAccess`; events at other times are stale.
    pub(super) access_at: Option<Time>,
    /// CTS timeout, ACK timeout, or end of a broadcast.
    pub(super) exchange_ends: Option<Time>,
    pub(super) response: Option<(Time, Response)>,
    /// Having sent a CTS, a station that `responds_if_idle` answers no other RTS until the data frame has had its time.
    pub(super) reserved_until: Time,
    pub(super) sequence: u32,
    /// Last sequence number received, by transmitter, to detect duplicates.
    pub(super) duplicate_cache: Vec<(StationId, u32)>,
    pub(super) block_acks: BlockAcks,
    pub(super) counters: MacCounters,
}

impl Station {
    /// True if the frame in transmission is addressed to this station.
    pub(super) fn expects(&self, from: StationId) -> bool {
        self.current.and_then(|current| current.request.to) == Some(from)
    }
}
