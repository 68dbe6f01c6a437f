//! Frames on the air.

use tcp::units::{Bytes, Rate, Span};

use crate::engine::trace::FrameKind;
use crate::ids::{FrameId, MessageId, PacketId, StationId};

/// What a data frame carries.
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

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Rts,
    Cts,
    Ack,
    Data(Content),
}

impl Kind {
    /// As records have it.
    pub(super) fn recorded(self) -> FrameKind {
        match self {
            Kind::Rts => FrameKind::Rts,
            Kind::Cts => FrameKind::Cts,
            Kind::Ack => FrameKind::Ack,
            Kind::Data(_) => FrameKind::Data,
        }
    }
}

/// A frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) from: StationId,
    /// `None` for all that hear it.
    pub(crate) to: Option<StationId>,
    /// Counts the data frames of a sender; a retransmission keeps its number.
    pub(crate) sequence: u32,
    /// Size of the network-layer packet in it.
    pub(crate) size: Bytes,
    pub(crate) rate: Rate,
    /// The duration field: how long it reserves the medium beyond its end.
    pub(crate) duration: Span,
    /// The same at all stations, and different for each transmission.
    pub(crate) number: u64,
    /// Which part of a datagram it carries.
    pub(crate) fragment: Fragment,
}

/// A part of a datagram, which 802.15.4 may cut into several frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fragment {
    /// The datagram's number at its sender.
    pub(crate) tag: u32,
    /// From 0.
    pub(crate) index: u32,
    pub(crate) count: u32,
}

impl Fragment {
    /// All of it.
    pub(crate) const ONLY: Fragment = Fragment { tag: 0, index: 0, count: 1 };
}

/// The frames whose end somebody waits for.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    /// Parallel to `frames`: stations that have still to hear of the end.
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

    /// One of the readers takes it; true with it if that was the last.
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
