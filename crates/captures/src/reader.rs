//! A capture that comes part by part: its connections, and the packets of one of them.

use std::collections::HashMap;

use crate::connections::{Connection, Connections};
use crate::file::File;
use crate::frame::{Frame, Wrong};
use crate::layers::{Datagram, Layers, Piece, Why};
use crate::segment::{self, Ends, Options, Segment};

/// The connection whose packets are kept, by its number, up to a time.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// As in `Reader::connections`.
    pub number: usize,
    /// Nanoseconds since 1970.
    pub until_ns: i64,
}

/// A segment of the connection that was wanted; sequence numbers as in its header.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Nanoseconds since 1970.
    pub t_ns: i64,
    /// Of the connection.
    pub ends: Ends,
    /// True if the higher end sent it.
    pub from_high: bool,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Nine bits, with AE.
    pub flags: u16,
    /// Payload in bytes, whether captured or not.
    pub length: usize,
    /// Bytes of the IP packet.
    pub size: usize,
    /// As in the header.
    pub window: u16,
    /// Identification of the IP packet, 0 if it has none.
    pub ident: u16,
    /// Field of the IP header (RFC 3168): 3 is a mark.
    pub ecn: u8,
    /// What its options say.
    pub options: Options,
}

/// A capture, as far as it was read.
#[derive(Debug)]
pub struct Reader {
    file: File,
    seen: Seen,
}

/// What was seen in frames.
#[derive(Debug)]
struct Seen {
    connections: Connections,
    skipped: Skipped,
    wanted: Option<Wanted>,
    packets: Vec<Packet>,
    least_ns: i64,
}

/// Counts by the reason, in the order in which reasons were met first.
#[derive(Debug, Default)]
struct Skipped(Vec<(Why, u64)>);

/// What waits for the end of a part: from the first datagram that came in pieces on, all of it.
#[derive(Default)]
struct Waiting<'a> {
    segments: Vec<Segment<'a>>,
    /// Bytes of datagrams, by their last piece.
    ends: HashMap<Datagram, usize>,
}

impl Reader {
    /// A reader that keeps the packets of one connection, or of none.
    pub fn new(wanted: Option<Wanted>) -> Reader {
        Reader { file: File::new(), seen: Seen::new(wanted) }
    }

    /// Reads a part of a file, and returns the packets that were wanted of it.
    pub fn feed(&mut self, part: &[u8]) -> Result<Vec<Packet>, Wrong> {
        let (mut waiting, mut least_ns, seen) = (Waiting::default(), i64::MAX, &mut self.seen);
        std::mem::swap(&mut least_ns, &mut seen.least_ns);
        self.file.feed(part, &mut |frame| match frame {
            Some(frame) => seen.frame(frame, &mut waiting),
            None => seen.skipped.count(Why::NoTime),
        })?;
        let packets = seen.part(waiting);
        if seen.least_ns == i64::MAX {
            seen.least_ns = least_ns;
        }
        Ok(packets)
    }

    /// Says where the file ended too early, after its last part.
    pub fn end(&self) -> Result<Option<String>, Wrong> {
        self.file.end()
    }

    /// The earliest time among the segments of the last part that had some.
    pub fn least_ns(&self) -> i64 {
        self.seen.least_ns
    }

    /// The connections in the order of their first segments, each with how many its addresses and ports had.
    pub fn connections(&self) -> impl Iterator<Item = (&Connection, u32)> {
        let connections = &self.seen.connections;
        connections.found.iter().map(|one| (one, connections.turns(one)))
    }

    /// Frames that gave no segment, or not a whole one, by the reason.
    pub fn skipped(&self) -> &[(Why, u64)] {
        &self.seen.skipped.0
    }

    /// Segments of those connections that are too many.
    pub fn left_out(&self) -> u64 {
        self.seen.connections.left_out
    }
}

/// The packets of the first connection of some frames.
pub fn packets_of<'a>(frames: impl Iterator<Item = Frame<'a>>) -> Vec<Packet> {
    let (mut waiting, wanted) = (Waiting::default(), Wanted { number: 0, until_ns: i64::MAX });
    let mut seen = Seen::new(Some(wanted));
    frames.for_each(|frame| seen.frame(frame, &mut waiting));
    seen.part(waiting)
}

impl Seen {
    fn new(wanted: Option<Wanted>) -> Seen {
        let (connections, skipped) = (Connections::default(), Skipped::default());
        Seen { connections, skipped, wanted, packets: Vec::new(), least_ns: i64::MIN }
    }

    /// Notes a frame; what gives no segment is counted.
    fn frame<'a>(&mut self, frame: Frame<'a>, waiting: &mut Waiting<'a>) {
        let mut layers = Layers::new(frame);
        match layers.find_tcp().and_then(|()| segment::read(&layers)) {
            Ok(segment) if waiting.segments.is_empty() && segment.datagram.is_none() => self.segment(&segment),
            Ok(segment) => waiting.segments.push(segment),
            Err(why) => self.skipped.count(why),
        }
        if let Some(Piece::Last(datagram, end)) = layers.piece {
            waiting.ends.insert(datagram, end);
        }
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.least_ns = self.least_ns.min(segment.t_ns);
        let number = self.connections.note(segment);
        if self.wanted.is_some_and(|of| number == Some(of.number) && segment.t_ns <= of.until_ns) {
            self.packets.push(Packet::of(segment));
        }
    }

    /// Notes what waited, and returns the packets of the part. A datagram in pieces is as large as the last of them says.
    fn part(&mut self, waiting: Waiting<'_>) -> Vec<Packet> {
        for mut segment in waiting.segments {
            if let Some(datagram) = &segment.datagram {
                match waiting.ends.get(datagram) {
                    Some(end) => segment.size = segment.headers.max(end + segment.before),
                    None => self.skipped.count(Why::FirstFragment),
                }
            }
            self.segment(&segment);
        }
        std::mem::take(&mut self.packets)
    }
}

impl Skipped {
    fn count(&mut self, why: Why) {
        match self.0.iter_mut().find(|(of, _)| *of == why) {
            Some((_, count)) => *count += 1,
            None => self.0.push((why, 1)),
        }
    }
}

impl Packet {
    fn of(segment: &Segment<'_>) -> Packet {
        Packet {
            t_ns: segment.t_ns,
            ends: segment.ends,
            from_high: segment.from_high,
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            length: segment.length(),
            size: segment.size,
            window: segment.window,
            ident: segment.ident,
            ecn: segment.ecn,
            options: Options::of(segment.options),
        }
    }
}
