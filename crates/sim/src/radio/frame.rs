//! MAC frames.

use tcp::units::{Bytes, Rate, Span};

use crate::engine::trace::{AirFrame, FrameKind};
use crate::ids::{ChannelId, FrameId, MessageId, PacketId, StationId};

/// Payload of a data frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    Packet(PacketId),
    Message(MessageId),
}

impl Content {
    pub(crate) fn is_packet(self) -> bool {
        matches!(self, Content::Packet(_))
    }
}

/// Type of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Rts,
    Cts,
    Ack,
    Data(Content),
    /// The MPDUs of its transmitter's window (802.11n).
    Aggregate,
    BlockAck {
        start: u32,
        received: u64,
    },
    BlockAckRequest {
        start: u32,
    },
}

impl Kind {
    /// The type for the trace.
    fn recorded(self) -> FrameKind {
        match self {
            Kind::Rts => FrameKind::Rts,
            Kind::Cts => FrameKind::Cts,
            Kind::Ack => FrameKind::Ack,
            Kind::Data(_) | Kind::Aggregate => FrameKind::Data,
            Kind::BlockAck { start, received } => FrameKind::BlockAck { start, received },
            Kind::BlockAckRequest { start } => FrameKind::BlockAckRequest { start },
        }
    }
}

/// A MAC frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) from: StationId,
    /// Receiver address; `None` for broadcast.
    pub(crate) to: Option<StationId>,
    /// Sequence number of a data frame; retransmissions repeat it.
    pub(crate) sequence: u32,
    /// Size of the network-layer packet.
    pub(crate) size: Bytes,
    pub(crate) rate: Rate,
    /// Duration field: how long the medium is reserved after the frame.
    pub(crate) duration: Span,
    /// Number of the transmission, unique on the channel.
    pub(crate) number: u64,
    /// The fragment of a datagram that it carries.
    pub(crate) fragment: Fragment,
    /// Its mesh and broadcast headers (RFC 4944 §11), if it is flooded.
    pub(crate) mesh: Option<MeshHeader>,
}

impl Frame {
    /// For the trace.
    pub(super) fn recorded(&self, channel: ChannelId, airtime: Span) -> AirFrame {
        AirFrame {
            channel: u32::from(channel.0),
            from: self.from.0,
            to: self.to.map(|to| to.0),
            kind: self.kind.recorded(),
            sequence: self.sequence,
            size: self.size,
            rate: self.rate,
            airtime,
            duration: self.duration,
        }
    }
}

/// The headers of a flooded frame; the addresses are those of the flood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MeshHeader {
    /// The datagram, at the MAC.
    pub(crate) flood: u32,
    /// Sequence number of the originator.
    pub(crate) number: u8,
    pub(crate) hops_left: u8,
}

/// A fragment of a datagram; only 802.15.4 fragments (RFC 4944 §5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fragment {
    /// Datagram tag, unique at its sender.
    pub(crate) tag: u32,
    /// From 0.
    pub(crate) index: u32,
    pub(crate) count: u32,
}

impl Fragment {
    /// An unfragmented datagram.
    pub(crate) const ONLY: Fragment = Fragment { tag: 0, index: 0, count: 1 };
}

/// The frames that some station is receiving.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    /// Parallel to `frames`: stations that have not handled the end yet.
    readers: Vec<u32>,
    free: Vec<FrameId>,
}

impl Frames {
    pub(crate) fn insert(&mut self, frame: Frame, readers: u32) -> FrameId {
        let id = self.free.pop().unwrap_or(FrameId(self.frames.len() as u32));
        if id.0 as usize == self.frames.len() {
            self.frames.push(frame);
            self.readers.push(readers);
        } else {
            self.frames[id.0 as usize] = frame;
            self.readers[id.0 as usize] = readers;
        }
        id
    }

    /// The frame for one of its readers; true with it for the last one.
    pub(crate) fn read(&mut self, id: FrameId) -> (Frame, bool) {
        let left = &mut self.readers[id.0 as usize];
        *left -= 1;
        let last = *left == 0;
        if last {
            self.free.push(id);
        }
        (self.frames[id.0 as usize], last)
    }
}
