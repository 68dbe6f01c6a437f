//! One station of a channel: what it holds, where it is in an exchange, and what it has counted.

use tcp::units::{Bytes, Rate, Span, Time};

use crate::ids::StationId;
use crate::radio::contention::Contention;
use crate::radio::dcf::rate_control::Ladder;
use crate::radio::queue::{InterfaceQueue, Request};
use crate::radio::receiver::Receiver;

/// Where a station is in the exchange under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
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
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) sequence: u32,
    /// Of the attempt under way.
    pub(super) rate: Rate,
    /// Attempts that failed: of RTS and of short frames; of long frames.
    pub(super) short_failures: u32,
    pub(super) long_failures: u32,
    /// The receiver has it, though the sender may not know.
    pub(super) handed_over: bool,
}

/// What a station is about to answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Response {
    Cts { to: StationId, rate: Rate, reserves: Span },
    Ack { to: StationId, rate: Rate },
    Data,
}

/// What a station has done since measurements began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
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
    pub(super) contention: Contention,
    pub(super) queue: InterfaceQueue,
    pub(super) ladder: Ladder,
    pub(super) job: Option<Job>,
    pub(super) phase: Phase,
    /// When the pending `Access` is due; one at another time is stale.
    pub(super) access_at: Option<Time>,
    /// When the wait for a CTS or an ACK, or a broadcast, is over.
    pub(super) over_at: Option<Time>,
    pub(super) response: Option<(Time, Response)>,
    pub(super) sequence: u32,
    /// The last sequence number taken from each sender, by sender.
    pub(super) taken: Vec<(StationId, u32)>,
    pub(super) counts: Counts,
}

/// What a station draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Draws {
    Backoff,
    FrameError,
}

impl Draws {
    /// As the names of random streams have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Draws::Backoff => "backoff",
            Draws::FrameError => "frame_error",
        }
    }
}
