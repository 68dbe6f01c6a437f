//! `page`: a document, then the objects that it names, then those that these name. HTTP/1.1 fetches one at a time on each of
//! several connections, HTTP/2 all at once on one.

use std::collections::VecDeque;

use serde::Serialize;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::Period;
use super::command::{CLIENT, Command, Input, SERVER};

/// Largest piece of an object between pieces of others: a frame of HTTP/2 (RFC 9113 §4.2).
const FRAME: Bytes = Bytes(16_384);
/// What a client and a server say in a round trip of the handshake of TLS: a hello of usual extensions, and a chain of certificates
/// (RFC 8446 §4.1.2, §4.4.2; the sizes are those of common sites).
const HELLO: Bytes = Bytes(517);
const CERTIFICATES: Bytes = Bytes(4_096);

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
    hosts: Vec<Host>,
    connections: Vec<PageConnection>,
    /// Of which connection the server works on a request, and when it is done.
    working: Vec<(Time, usize)>,
    parsed_at: Option<Time>,
    rng: Rng,
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
    /// Objects take turns among them.
    pub(crate) hosts: usize,
    /// To each host.
    pub(crate) connections: usize,
    /// How long it takes to look up a host.
    pub(crate) dns: Span,
    /// Round trips of a handshake after that of TCP.
    pub(crate) tls: usize,
    pub(crate) server_time: Option<Period>,
    pub(crate) depth: usize,
    pub(crate) parse: Span,
    /// All objects at once on one connection.
    pub(crate) multiplexed: bool,
}

/// A name that the browser looks up, and the objects that are there and have not been asked for.
#[derive(Clone, Debug, Default)]
struct Host {
    known_at: Option<Time>,
    wanted: VecDeque<usize>,
}

/// A connection of the browser.
#[derive(Clone, Debug, Default)]
struct PageConnection {
    host: usize,
    /// Round trips of its handshake that are to come.
    handshakes: usize,
    /// Objects asked for and not yet answered.
    waiting: VecDeque<usize>,
    busy: bool,
    /// With HTTP/2: objects of which the server has bytes left.
    active: VecDeque<(usize, Bytes)>,
    /// With HTTP/2: the pieces under way; true for the last of an object.
    frames: VecDeque<bool>,
    waits_for_room: bool,
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
    pub(crate) fn new(plan: PagePlan, rng: Rng) -> Page {
        Page {
            hosts: vec![Host::default(); plan.hosts],
            plan,
            asked: 0,
            arrived: 0,
            known: 1,
            level: 0,
            connections: Vec::new(),
            working: Vec::new(),
            parsed_at: None,
            rng,
            started: Time::ZERO,
            first_object: None,
            load_time: None,
        }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start => {
                self.started = now;
                self.ask(now, commands);
            }
            Input::Message { connection, reader } => {
                let shakes_hands = self.connections[connection].handshakes > 0;
                match (shakes_hands, reader == SERVER) {
                    (true, true) => commands.push(Command::Send { connection, end: SERVER, bytes: CERTIFICATES }),
                    (true, false) => self.on_handshake(connection, commands),
                    (false, true) => self.on_request(now, connection, commands),
                    (false, false) => self.on_data(now, connection, commands),
                }
            }
            Input::Room { connection, .. } => {
                self.connections[connection].waits_for_room = false;
                self.send_frame(connection, commands);
            }
            Input::Due => self.on_due(now, commands),
            Input::Connected(_) | Input::Datagram { .. } => {}
        }
    }

    /// Asks for what is known, as far as hosts are known and connections free.
    fn ask(&mut self, now: Time, commands: &mut Vec<Command>) {
        for object in self.asked..self.known {
            self.hosts[object % self.plan.hosts].wanted.push_back(object);
        }
        self.asked = self.known;
        for host in 0..self.hosts.len() {
            while !self.hosts[host].wanted.is_empty() && self.knows(host, now, commands) {
                let Some(connection) = self.free_connection(host, commands) else { break };
                let this = &mut self.connections[connection];
                this.busy = true;
                this.waiting.extend(self.hosts[host].wanted.pop_front());
                if this.handshakes == 0 {
                    commands.push(Command::Send { connection, end: CLIENT, bytes: self.plan.request });
                }
            }
        }
    }

    /// True if the address of a host is known; otherwise it is looked up.
    fn knows(&mut self, host: usize, now: Time, commands: &mut Vec<Command>) -> bool {
        if self.plan.dns > Span::ZERO && self.hosts[host].known_at.is_none() {
            commands.push(Command::Wake(now + self.plan.dns));
        }
        now >= *self.hosts[host].known_at.get_or_insert(now + self.plan.dns)
    }

    /// The first connection to a host that is free, opened if it has to be and may be.
    fn free_connection(&mut self, host: usize, commands: &mut Vec<Command>) -> Option<usize> {
        let multiplexed = self.plan.multiplexed;
        let of_host = |connection: &PageConnection| connection.host == host;
        let is_free = |connection: &PageConnection| of_host(connection) && (multiplexed || !connection.busy);
        let free = self.connections.iter().position(is_free);
        if free.is_none()
            && self.connections.iter().filter(|connection| of_host(connection)).count() < self.plan.connections
        {
            let connection = self.connections.len();
            self.connections.push(PageConnection { host, handshakes: self.plan.tls, ..PageConnection::default() });
            commands.push(Command::Open(connection));
            if self.plan.tls > 0 {
                commands.push(Command::Send { connection, end: CLIENT, bytes: HELLO });
            }
            return Some(connection);
        }
        free
    }

    /// The server has answered in a handshake; what waits for its end is asked for then.
    fn on_handshake(&mut self, connection: usize, commands: &mut Vec<Command>) {
        let this = &mut self.connections[connection];
        this.handshakes -= 1;
        let (messages, bytes) = if this.handshakes > 0 { (1, HELLO) } else { (this.waiting.len(), self.plan.request) };
        commands.extend((0..messages).map(|_| Command::Send { connection, end: CLIENT, bytes }));
    }

    fn on_due(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some(first) = self.working.iter().enumerate().min_by_key(|(index, (at, _))| (*at, *index))
            && first.1.0 <= now
        {
            let (_, connection) = self.working.remove(first.0);
            self.answer(connection, commands);
        }
        self.parsed_at.take_if(|at| *at <= now);
        if self.parsed_at.is_none() {
            self.ask(now, commands);
        }
    }

    fn on_request(&mut self, now: Time, connection: usize, commands: &mut Vec<Command>) {
        match self.plan.server_time {
            Some(period) => {
                let at = now + period.sample(&mut self.rng);
                self.working.push((at, connection));
                commands.push(Command::Wake(at));
            }
            None => self.answer(connection, commands),
        }
    }

    fn answer(&mut self, connection: usize, commands: &mut Vec<Command>) {
        let this = &mut self.connections[connection];
        let Some(object) = this.waiting.pop_front() else { return };
        let size = self.plan.sizes[object];
        if self.plan.multiplexed {
            this.active.push_back((object, size));
            self.send_frame(connection, commands);
        } else {
            commands.push(Command::Send { connection, end: SERVER, bytes: size });
        }
    }

    /// Sends a piece of the next object in turn, unless what was sent before has not left.
    fn send_frame(&mut self, connection: usize, commands: &mut Vec<Command>) {
        let this = &mut self.connections[connection];
        if this.waits_for_room {
            return;
        }
        let Some((object, left)) = this.active.pop_front() else { return };
        let bytes = left.min(FRAME);
        if left > bytes {
            this.active.push_back((object, left - bytes));
        }
        this.frames.push_back(left == bytes);
        this.waits_for_room = true;
        commands
            .extend([Command::Send { connection, end: SERVER, bytes }, Command::TellRoom { connection, end: SERVER }]);
    }

    fn on_data(&mut self, now: Time, connection: usize, commands: &mut Vec<Command>) {
        if self.plan.multiplexed && self.connections[connection].frames.pop_front() == Some(false) {
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
            self.ask(now, commands);
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
        let (hosts, dns, tls, server_time) = (1, Span::ZERO, 0, None);
        PagePlan { sizes, request, hosts, connections, dns, tls, server_time, depth, parse, multiplexed }
    }

    /// Plays a page over paths of 50 ms each way without a rate; when each object arrived, in milliseconds.
    fn arrivals(plan: PagePlan) -> Vec<u64> {
        let mut page = Page::new(plan, Rng::stream(1, "app"));
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
                    Command::Close(_) | Command::Push { .. } => {}
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

    /// A look-up of 30 ms for each host, a round trip of 100 for TCP, one or two for TLS, one for the request, and 7 ms of the server.
    #[test]
    fn names_handshakes_and_servers_take_their_time() {
        let secure = |tls| PagePlan { tls, dns: Span::from_millis(30), ..plan(0, 6, 1, false) };
        assert_eq!(arrivals(secure(0)), [230]);
        assert_eq!(arrivals(secure(1)), [330]);
        assert_eq!(arrivals(secure(2)), [430]);
        let server_time = Some(Period::Constant(Span::from_millis(7)));
        assert_eq!(arrivals(PagePlan { server_time, ..secure(1) }), [337]);
        // The second object is on another host, the third on the first: its connection is open.
        assert_eq!(
            arrivals(PagePlan { hosts: 2, ..PagePlan { sizes: vec![Bytes(1000); 3], ..secure(1) } }),
            [330, 430, 660]
        );
        let multiplexed = PagePlan { connections: 1, multiplexed: true, sizes: vec![Bytes(1000); 3], ..secure(1) };
        assert_eq!(arrivals(multiplexed.clone()), [330, 430, 430]);
        assert_eq!(arrivals(PagePlan { hosts: 3, ..multiplexed }), [330, 660, 660]);
    }

    #[test]
    fn objects_are_interleaved_by_frames() {
        let sizes = vec![Bytes(100), Bytes(40_000), Bytes(20_000)];
        let mut page = Page::new(PagePlan { sizes, ..plan(2, 1, 1, true) }, Rng::stream(1, "app"));
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
