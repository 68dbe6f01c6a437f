//! `page`: a document, then the objects that it names, then those that these name. HTTP/1.1 fetches one at a time on each of
//! several connections, HTTP/2 all at once on one.

use std::collections::VecDeque;

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use super::command::{CLIENT, Command, Input, SERVER};

/// Largest piece of an object between pieces of others: a frame of HTTP/2 (RFC 9113 §4.2).
const FRAME: Bytes = Bytes(16_384);

/// A browser and its server.
#[derive(Debug)]
pub(crate) struct Page {
    plan: PagePlan,
    /// Objects by number; 0 is the document.
    asked: usize,
    arrived: usize,
    /// Objects with a lower number are known.
    known: usize,
    level: usize,
    connections: Vec<PageConnection>,
    /// With HTTP/2: objects of which the server has bytes left.
    active: VecDeque<(usize, Bytes)>,
    /// With HTTP/2: the pieces under way; true for the last of an object.
    frames: VecDeque<bool>,
    waits_for_room: bool,
    parsed_at: Option<Time>,
    started: Time,
    first_object: Option<Span>,
    load_time: Option<Span>,
}

/// What a page consists of.
#[derive(Clone, Debug)]
pub(crate) struct PagePlan {
    /// The document first.
    pub(crate) sizes: Vec<Bytes>,
    pub(crate) request: Bytes,
    pub(crate) connections: usize,
    pub(crate) depth: usize,
    pub(crate) parse: Span,
    /// All objects at once on one connection.
    pub(crate) multiplexed: bool,
}

/// Objects asked for on a connection and not yet answered, and the one under way.
#[derive(Clone, Debug, Default)]
struct PageConnection {
    waiting: VecDeque<usize>,
    busy: bool,
}

/// What a page measured; the time of the whole page is the flow's completion time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageSummary {
    /// Page load time: to the last byte of the last object.
    pub page_load_s: Option<f64>,
    /// To the last byte of the first object after the document.
    pub first_object_s: Option<f64>,
    /// Bytes of the document and all objects.
    pub page_bytes: u64,
    /// Objects that have arrived, the document among them.
    pub objects: u64,
    /// Connections opened.
    pub connections_opened: u64,
}

impl Page {
    pub(crate) fn new(plan: PagePlan) -> Page {
        Page {
            plan,
            asked: 0,
            arrived: 0,
            known: 1,
            level: 0,
            connections: Vec::new(),
            active: VecDeque::new(),
            frames: VecDeque::new(),
            waits_for_room: false,
            parsed_at: None,
            started: Time::ZERO,
            first_object: None,
            load_time: None,
        }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start => {
                self.started = now;
                self.ask(commands);
            }
            Input::Message { connection, reader } if reader == SERVER => self.on_request(connection, commands),
            Input::Message { connection, .. } => self.on_data(now, connection, commands),
            Input::Room { .. } => {
                self.waits_for_room = false;
                self.send_frame(commands);
            }
            Input::Due => {
                if self.parsed_at.take_if(|at| *at <= now).is_some() {
                    self.ask(commands);
                }
            }
            Input::Connected(_) | Input::Datagram { .. } => {}
        }
    }

    /// Asks for what is known, as far as connections are free.
    fn ask(&mut self, commands: &mut Vec<Command>) {
        while self.asked < self.known {
            let Some(connection) = self.free_connection(commands) else { return };
            let bytes = self.plan.request;
            commands.push(Command::Send { connection, end: CLIENT, bytes });
            let this = &mut self.connections[connection];
            this.busy = true;
            this.waiting.push_back(self.asked);
            self.asked += 1;
        }
    }

    /// The first connection that is free, opened if it has to be and may be.
    fn free_connection(&mut self, commands: &mut Vec<Command>) -> Option<usize> {
        let multiplexed = self.plan.multiplexed;
        let free = self.connections.iter().position(|connection| multiplexed || !connection.busy);
        let opened = self.connections.len();
        if free.is_none() && opened < self.plan.connections {
            self.connections.push(PageConnection::default());
            commands.push(Command::Open(opened));
            return Some(opened);
        }
        free
    }

    fn on_request(&mut self, connection: usize, commands: &mut Vec<Command>) {
        let Some(object) = self.connections[connection].waiting.pop_front() else { return };
        let size = self.plan.sizes[object];
        if self.plan.multiplexed {
            self.active.push_back((object, size));
            self.send_frame(commands);
        } else {
            commands.push(Command::Send { connection, end: SERVER, bytes: size });
        }
    }

    /// Sends a piece of the next object in turn, unless what was sent before has not left.
    fn send_frame(&mut self, commands: &mut Vec<Command>) {
        if self.waits_for_room {
            return;
        }
        let Some((object, left)) = self.active.pop_front() else { return };
        let bytes = left.min(FRAME);
        if left > bytes {
            self.active.push_back((object, left - bytes));
        }
        self.frames.push_back(left == bytes);
        self.waits_for_room = true;
        commands.extend([
            Command::Send { connection: 0, end: SERVER, bytes },
            Command::TellRoom { connection: 0, end: SERVER },
        ]);
    }

    fn on_data(&mut self, now: Time, connection: usize, commands: &mut Vec<Command>) {
        if self.plan.multiplexed && self.frames.pop_front() == Some(false) {
            return;
        }
        self.connections[connection].busy = false;
        self.arrived += 1;
        if self.arrived == 2 {
            self.first_object = Some(now.since(self.started));
        }
        if self.arrived == self.known && !self.is_over() {
            self.level += 1;
            self.known = self.objects_up_to(self.level);
            if self.plan.parse > Span::ZERO {
                let at = now + self.plan.parse;
                self.parsed_at = Some(at);
                commands.push(Command::Wake(at));
                return;
            }
        }
        if self.is_over() {
            self.load_time = Some(now.since(self.started));
            commands.extend((0..self.connections.len()).map(Command::Close));
        } else {
            self.ask(commands);
        }
    }

    /// The document and the objects of the first `level` levels, which have equally many.
    fn objects_up_to(&self, level: usize) -> usize {
        let objects = self.plan.sizes.len() - 1;
        1 + (objects * level).div_ceil(self.plan.depth)
    }

    pub(super) fn is_over(&self) -> bool {
        self.arrived == self.plan.sizes.len()
    }

    pub(super) fn summary(&self) -> PageSummary {
        PageSummary {
            page_load_s: self.load_time.map(Span::as_secs_f64),
            first_object_s: self.first_object.map(Span::as_secs_f64),
            page_bytes: self.plan.sizes.iter().map(|size| size.0).sum(),
            objects: self.arrived as u64,
            connections_opened: self.connections.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(objects: usize, connections: usize, depth: usize, multiplexed: bool) -> PagePlan {
        let (sizes, request, parse) = (vec![Bytes(1000); objects + 1], Bytes(400), Span::ZERO);
        PagePlan { sizes, request, connections, depth, parse, multiplexed }
    }

    /// Plays a page over paths of 50 ms each way without a rate; when each object arrived, in milliseconds.
    fn arrivals(plan: PagePlan) -> Vec<u64> {
        let mut page = Page::new(plan);
        let (mut queue, mut open, mut arrived) = (vec![(0, Input::Start)], Vec::new(), Vec::new());
        while let Some(next) = (0..queue.len()).min_by_key(|i| (queue[*i].0, *i)) {
            let (now, input): (u64, Input) = queue.remove(next);
            let (before, mut commands) = (page.arrived, Vec::new());
            page.on(Time::ZERO + Span::from_millis(now), input, &mut commands);
            arrived.extend((before < page.arrived).then_some(now));
            for command in commands {
                match command {
                    Command::Open(connection) => {
                        assert_eq!(connection, open.len());
                        open.push(now + 100);
                    }
                    Command::Send { connection, end, .. } => {
                        let reader = if end == CLIENT { SERVER } else { CLIENT };
                        queue.push((now.max(open[connection]) + 50, Input::Message { connection, reader }));
                    }
                    Command::TellRoom { connection, end } => queue.push((now, Input::Room { connection, end })),
                    Command::Wake(at) => queue.push((at.as_nanos() / 1_000_000, Input::Due)),
                    Command::Close(_) => {}
                }
            }
        }
        assert!(page.is_over());
        arrived
    }

    /// The document at 200 ms; objects 1 and 7 on the warm connection at 300 and 400, 2 to 6 at 400, 8 to 12 at 500.
    #[test]
    fn twelve_objects_take_five_round_trips_on_six_connections() {
        let expected: Vec<u64> = [200, 300].into_iter().chain([400; 6]).chain([500; 5]).collect();
        assert_eq!(arrivals(plan(12, 6, 1, false)), expected);
    }

    #[test]
    fn one_connection_brings_all_of_a_level_at_once() {
        assert_eq!(arrivals(plan(4, 1, 1, true)), [200, 300, 300, 300, 300]);
        assert_eq!(arrivals(plan(4, 1, 2, true)), [200, 300, 300, 400, 400]);
        let parse = Span::from_millis(30);
        assert_eq!(arrivals(PagePlan { parse, ..plan(4, 1, 2, true) }), [200, 330, 330, 460, 460]);
        // The document alone.
        assert_eq!(arrivals(plan(0, 6, 1, false)), [200]);
    }

    #[test]
    fn objects_are_interleaved_by_frames() {
        let sizes = vec![Bytes(100), Bytes(40_000), Bytes(20_000)];
        let mut page = Page::new(PagePlan { sizes, ..plan(2, 1, 1, true) });
        let mut sent = Vec::new();
        let mut tell = |input| {
            let mut commands = Vec::new();
            page.on(Time::ZERO, input, &mut commands);
            let bytes = |command: &Command| match command {
                Command::Send { end, bytes, .. } if *end == SERVER => Some(bytes.0),
                _ => None,
            };
            sent.extend(commands.iter().filter_map(bytes));
        };
        let at = |reader| Input::Message { connection: 0, reader };
        let room = Input::Room { connection: 0, end: SERVER };
        [Input::Start, at(SERVER), room, at(CLIENT), at(SERVER), at(SERVER)].into_iter().for_each(&mut tell);
        (0..5).for_each(|_| tell(room));
        assert_eq!(sent, [100, 16_384, 16_384, 16_384, 7_232, 3_616]);
    }
}
