//! The service of a MAC: what the layer above requests, what the MAC indicates to it, and what the MAC counts.

use tcp::units::{Bytes, Span, Time};

use super::frame::Content;
use crate::ids::{MessageId, PacketId, StationId};
use crate::packet::DropReason;

/// A request to transmit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct MacRequest {
    pub(crate) content: Content,
    /// Receiver address; `None` for broadcast.
    pub(crate) to: Option<StationId>,
    /// Size of the network-layer packet.
    pub(crate) size: Bytes,
    pub(crate) since: Time,
    pub(crate) class: TrafficClass,
}

/// What a request carries, the most urgent first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum TrafficClass {
    /// A message of a routing protocol.
    Routing,
    /// A TCP acknowledgment without data.
    Ack,
    /// All else, ARP included.
    Other,
}

/// What a MAC reports to the layer above.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum MacIndication {
    /// `at` has received a packet.
    Packet { at: StationId, from: StationId, packet: PacketId },
    /// `at` has received a message and holds a reference to it.
    Message { at: StationId, from: StationId, message: MessageId },
    /// `at` has received a data frame for another station; it holds a reference to a message.
    Overheard { at: StationId, from: StationId, content: Content },
    /// `at` has reached a retry limit; `lost` unless the receiver has the content all the same.
    GivenUp { at: StationId, request: MacRequest, lost: bool },
    /// A request was dropped because the queue was full.
    QueueFull { request: MacRequest },
    /// A request was dropped because its lifetime in the queue was over.
    Expired { request: MacRequest },
    /// An 802.15.4 station has dropped something.
    Dropped { content: Content, reason: DropReason },
}

/// Why no response to a frame arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unanswered {
    /// A station sent at the same time that the transmitter senses: both began in one slot.
    Collision,
    /// A station sent at the same time that the transmitter does not sense.
    Hidden,
    /// The receiver transmitted, or was in another exchange.
    ReceiverBusy,
    /// Too little power, or an error.
    Weak,
}

impl MacCounters {
    /// Counts a frame whose response will not arrive.
    pub(super) fn blame(&mut self, why: Unanswered) {
        match why {
            Unanswered::Collision => self.collisions += 1,
            Unanswered::Hidden => self.hidden += 1,
            Unanswered::ReceiverBusy => self.receiver_busy += 1,
            Unanswered::Weak => {}
        }
    }
}

/// Counters of one station since the measurement interval began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MacCounters {
    pub(crate) data_frames: u64,
    pub(crate) control_frames: u64,
    /// Transmissions whose CTS or ACK did not arrive.
    pub(crate) failures: u64,
    /// Of those: another station that the transmitter senses sent at the same time; one that it does not sense; the receiver was busy
    /// with something else. The rest was too weak, or in error.
    pub(crate) collisions: u64,
    pub(crate) hidden: u64,
    pub(crate) receiver_busy: u64,
    /// Frames given up at a retry limit.
    pub(crate) given_up: u64,
    /// Frames given up because every CCA found the medium busy (802.15.4 channel access failures).
    pub(crate) access_failures: u64,
    /// Requests that did not fit into frames.
    pub(crate) too_long: u64,
    /// Datagrams whose reassembly timed out.
    pub(crate) reassembly_timeouts: u64,
    /// Time spent transmitting.
    pub(crate) airtime: Span,
    /// Time in which others transmitted frames addressed to it.
    pub(crate) addressed_airtime: Span,
    /// Messages transmitted, retransmissions included; their size at the network layer; their airtime.
    pub(crate) messages: u64,
    pub(crate) message_bytes: Bytes,
    pub(crate) message_airtime: Span,
}
