//! One station of a channel: what it holds, where it is in an exchange, and what it has counted.

use tcp::units::{Bytes, Rate, Span, Time};

use crate::ids::StationId;
use crate::radio::backoff::Backoff;
use crate::radio::dcf::rate_control::ArfState;
use crate::radio::queue::{InterfaceQueue, MacRequest};
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

/// What a station has done since measurements began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MacCounters {
    pub(crate) data_frames: u64,
    pub(crate) control_frames: u64,
    /// Attempts without an answer.
    pub(crate) failures: u64,
    /// Frames given up.
    pub(crate) given_up: u64,
    /// Frames given up because the medium was always busy; of 802.15.4.
    pub(crate) access_failures: u64,
    /// What did not fit into frames.
    pub(crate) too_long: u64,
    /// Datagrams of which fragments were missing for too long.
    pub(crate) reassembly_timeouts: u64,
    /// Time on the air.
    pub(crate) airtime: Span,
    /// Messages sent, with repetitions; their size at the network layer; their time on the air.
    pub(crate) messages: u64,
    pub(crate) message_bytes: Bytes,
    pub(crate) message_airtime: Span,
}

/// One station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    pub(super) backoff: Backoff,
    pub(super) queue: InterfaceQueue,
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

/// What a station draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RandomStream {
    Backoff,
    FrameError,
}

impl RandomStream {
    /// As the names of random streams have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RandomStream::Backoff => "backoff",
            RandomStream::FrameError => "frame_error",
        }
    }
}
