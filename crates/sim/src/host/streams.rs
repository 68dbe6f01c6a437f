//! The streams of a whole transport: which messages of an application go over which, and every byte of them. The engine knows both ends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcp::units::{Bytes, Time};

use crate::foreign::{ForeignEnd, StreamWrite, Ways};
use crate::host::app::command::End;

/// Most bytes that are offered or read in one call.
const CHUNK: usize = 65_536;
/// Bytes that an endless application writes at one instant, at most: a transport with a send buffer takes less.
const MOST_AT_ONCE: u64 = 1 << 30;

/// Byte `at` of a stream.
fn byte(stream: u64, at: u64) -> u8 {
    (at.wrapping_mul(31)).wrapping_add(stream.wrapping_mul(17)) as u8
}

/// A message on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// Offset in its stream after its last byte.
    end: u64,
    /// When it was written.
    pub(super) written_at: Time,
    /// The connection of the application that it is of.
    pub(super) lane: usize,
}

/// One direction of a stream.
#[derive(Debug, Default)]
struct Pipe {
    written: u64,
    taken: u64,
    read: u64,
    /// The stream ends after what is written.
    fin: bool,
    fin_taken: bool,
    fin_read: bool,
    /// The transport takes no more until it says so.
    blocked: bool,
    messages: VecDeque<Message>,
}

impl Pipe {
    /// The transport has taken all.
    fn is_done(&self) -> bool {
        self.taken == self.written && self.fin_taken == self.fin
    }

    fn is_idle(&self) -> bool {
        self.blocked || self.is_done()
    }

    fn push(&mut self, bytes: u64, written_at: Time, lane: usize) {
        self.written += bytes;
        self.messages.push_back(Message { end: self.written, written_at, lane });
    }
}

/// A stream: what source and sink write.
#[derive(Debug, Default)]
struct Stream {
    pipes: [Pipe; 2],
    lane: usize,
    /// The end that has not opened it knows of it.
    seen: bool,
}

/// A message that needs a stream.
#[derive(Debug)]
struct Request {
    ways: Ways,
    bytes: u64,
    written_at: Time,
    lane: usize,
    ends: bool,
}

/// The streams of a connection.
#[derive(Debug)]
pub(super) struct Streams {
    /// There is one, from the start.
    single: bool,
    client: End,
    all: BTreeMap<u64, Stream>,
    /// Streams with numbers from this on have not been opened.
    unopened: u64,
    /// What the client will open streams for.
    requests: VecDeque<Request>,
    /// Streams with something to write, by end.
    writing: [BTreeSet<u64>; 2],
    /// By lane: streams of the client that wait for an answer, and answers that wait for a stream.
    asked: BTreeMap<usize, VecDeque<u64>>,
    owed: BTreeMap<usize, VecDeque<(u64, Time)>>,
    buffer: Vec<u8>,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) bytes: u64,
    pub(super) messages: Vec<Message>,
    /// The stream has ended.
    pub(super) fin: bool,
}

impl Streams {
    pub(super) fn new(single: bool, client: End) -> Streams {
        let all = if single { BTreeMap::from([(0, Stream::default())]) } else { BTreeMap::new() };
        Streams {
            single,
            client,
            all,
            unopened: u64::from(single),
            requests: VecDeque::new(),
            writing: Default::default(),
            asked: BTreeMap::new(),
            owed: BTreeMap::new(),
            buffer: vec![0; CHUNK],
        }
    }

    /// An end sends a message of a conversation. One of the client has a stream of its own, an answer that of what it answers.
    pub(super) fn send(&mut self, from: End, lane: usize, bytes: Bytes, now: Time) {
        if self.single {
            self.put(0, from, lane, (bytes.0, now));
            return;
        }
        if from == self.client {
            let request = Request { ways: Ways::Both, bytes: bytes.0, written_at: now, lane, ends: true };
            self.requests.push_back(request);
            return;
        }
        match self.asked.get_mut(&lane).and_then(VecDeque::pop_front) {
            Some(stream) => self.answer(stream, from, lane, (bytes.0, now)),
            None => self.owed.entry(lane).or_default().push_back((bytes.0, now)),
        }
    }

    fn answer(&mut self, stream: u64, from: End, lane: usize, message: (u64, Time)) {
        if let Some(pipe) = self.put(stream, from, lane, message) {
            pipe.fin = true;
        }
    }

    /// An end writes to a stream that exists; returns what it has written there.
    fn put(&mut self, stream: u64, from: End, lane: usize, (bytes, now): (u64, Time)) -> Option<&mut Pipe> {
        let pipe = &mut self.all.get_mut(&stream)?.pipes[from as usize];
        pipe.push(bytes, now, lane);
        self.writing[from as usize].insert(stream);
        Some(pipe)
    }

    /// The source writes to the one stream of an application that only writes, and ends it if that is all.
    pub(super) fn append(&mut self, bytes: u64, ends: bool, now: Time) {
        match self.all.first_key_value().map(|(stream, _)| *stream) {
            Some(stream) => {
                if let Some(pipe) = self.put(stream, End::Source, 0, (bytes, now)) {
                    pipe.fin |= ends;
                }
            }
            None => match self.requests.front_mut() {
                Some(request) => (request.bytes, request.ends) = (request.bytes + bytes, request.ends || ends),
                None => {
                    self.requests.push_back(Request { ways: Ways::One, bytes, written_at: now, lane: 0, ends });
                }
            },
        }
    }

    /// The source stops: what the transport has not taken is discarded, and its stream ends.
    pub(super) fn abandon(&mut self) {
        self.requests.clear();
        for (id, stream) in &mut self.all {
            let pipe = &mut stream.pipes[0];
            (pipe.written, pipe.fin, pipe.blocked) = (pipe.taken, true, false);
            self.writing[0].insert(*id);
        }
    }

    /// What the source has written and its transport has not taken.
    pub(super) fn pending(&self) -> u64 {
        let unopened: u64 = self.requests.iter().map(|request| request.bytes).sum();
        let left = |id: &u64| self.all.get(id).map_or(0, |stream| stream.pipes[0].written - stream.pipes[0].taken);
        unopened + self.writing[0].iter().map(left).sum::<u64>()
    }

    /// Opens streams and writes what an end has to write; true if the transport was called.
    pub(super) fn pump(&mut self, now: Time, from: End, end: &mut dyn ForeignEnd) -> bool {
        let mut called = false;
        while from == self.client
            && let Some(request) = self.requests.front()
        {
            // One stream too many: it is asked again after the next input.
            let Some(id) = end.open(now, request.ways) else { break };
            called = true;
            if id < self.unopened {
                end.fail(now, &format!("open failed at {now}: stream {id} has been opened before"));
            }
            let Request { bytes, written_at, lane, ends, .. } = self.requests.pop_front().expect("it was there");
            let mut stream = Stream { lane, ..Stream::default() };
            stream.pipes[from as usize].push(bytes, written_at, lane);
            stream.pipes[from as usize].fin = ends;
            self.all.insert(id, stream);
            self.unopened = id + 1;
            self.writing[from as usize].insert(id);
        }
        let writing: Vec<u64> = self.writing[from as usize].iter().copied().collect();
        for id in writing {
            let Some(stream) = self.all.get_mut(&id) else { continue };
            let pipe = &mut stream.pipes[from as usize];
            called |= write(now, id, pipe, end, &mut self.buffer);
            if pipe.is_done() {
                self.writing[from as usize].remove(&id);
            }
        }
        called
    }

    /// A stream takes more.
    pub(super) fn on_writable(&mut self, from: End, id: u64) {
        if let Some(stream) = self.all.get_mut(&id) {
            stream.pipes[from as usize].blocked = false;
        }
    }

    /// An end has heard of a stream.
    pub(super) fn on_seen(&mut self, now: Time, by: End, id: u64, end: &dyn ForeignEnd) {
        if id >= self.unopened {
            end.fail(now, &format!("poll_event failed at {now}: stream {id} was never opened"));
        }
        let Some(stream) = self.all.get_mut(&id).filter(|stream| !self.single && by != self.client && !stream.seen)
        else {
            return;
        };
        stream.seen = true;
        let lane = stream.lane;
        match self.owed.get_mut(&lane).and_then(VecDeque::pop_front) {
            Some(message) => self.answer(id, by, lane, message),
            None => self.asked.entry(lane).or_default().push_back(id),
        }
    }

    /// An end reads what a stream has; every byte is compared with what was written.
    pub(super) fn read(&mut self, now: Time, reader: End, id: u64, end: &mut dyn ForeignEnd, place: &str) -> Reading {
        let mut reading = Reading::default();
        let Some(stream) = self.all.get_mut(&id) else { return reading };
        let pipe = &mut stream.pipes[reader.peer() as usize];
        loop {
            let read = end.read(now, id, &mut self.buffer);
            let bytes = &self.buffer[..read.bytes];
            if let Some(wrong) = difference(id, pipe, bytes, place) {
                end.fail(now, &wrong);
            }
            pipe.read += bytes.len() as u64;
            reading.bytes += bytes.len() as u64;
            reading.fin = read.fin;
            if read.fin || bytes.is_empty() {
                break;
            }
        }
        pipe.fin_read |= reading.fin;
        while let Some(message) = pipe.messages.pop_front_if(|message| message.end <= pipe.read) {
            reading.messages.push(message);
        }
        if !self.single && stream.pipes.iter().all(|pipe| pipe.fin_read) {
            self.all.remove(&id);
        }
        reading
    }
}

/// The first byte that is not what was written, in words.
fn difference(stream: u64, pipe: &Pipe, bytes: &[u8], place: &str) -> Option<String> {
    let mut expected = byte(stream, pipe.read);
    let differs = |found: &u8| {
        let wanted = expected;
        expected = expected.wrapping_add(31);
        *found != wanted
    };
    let written = pipe.taken.saturating_sub(pipe.read) as usize;
    let index = bytes.iter().position(differs).or((bytes.len() > written).then_some(written))?;
    let at = pipe.read + index as u64;
    let wanted =
        if index < written { format!("{:#04x} was written", byte(stream, at)) } else { "none was written".into() };
    Some(format!("byte {} of stream {stream} read by {place} is {:#04x}, {wanted}", grouped(at), bytes[index]))
}

/// Writes what a stream has, until the transport takes no more; true if it was called.
fn write(now: Time, id: u64, pipe: &mut Pipe, end: &mut dyn ForeignEnd, buffer: &mut [u8]) -> bool {
    let first = pipe.taken;
    let mut called = false;
    while !pipe.is_idle() {
        called = true;
        let left = pipe.written - pipe.taken;
        let size = left.min(CHUNK as u64) as usize;
        let mut value = byte(id, pipe.taken);
        for slot in &mut buffer[..size] {
            *slot = value;
            value = value.wrapping_add(31);
        }
        let fin = pipe.fin && size as u64 == left;
        let taken = end.write(now, StreamWrite { stream: id, bytes: &buffer[..size], fin });
        pipe.taken += taken as u64;
        pipe.fin_taken |= fin && taken == size;
        pipe.blocked = taken < size;
        if pipe.taken - first > MOST_AT_ONCE && left > MOST_AT_ONCE {
            end.fail(now, &format!("write took {} bytes at {now} without an end", grouped(pipe.taken - first)));
        }
    }
    called
}

/// A number with commas between its thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_with_its_place() {
        let pipe = Pipe { read: 41_000, taken: 42_000, ..Pipe::default() };
        let mut bytes: Vec<u8> = (41_000..41_500).map(|at| byte(3, at)).collect();
        assert_eq!(difference(3, &pipe, &bytes, "b"), None);
        bytes[7] ^= 1;
        let wanted = byte(3, 41_007);
        let said = format!("byte 41,007 of stream 3 read by b is {:#04x}, {wanted:#04x} was written", wanted ^ 1);
        assert_eq!(difference(3, &pipe, &bytes, "b"), Some(said));
        let more: Vec<u8> = (41_000..42_001).map(|at| byte(3, at)).collect();
        assert!(difference(3, &pipe, &more, "b").unwrap().ends_with("none was written"));
    }
}
