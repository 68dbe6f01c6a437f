//! `request_response`: a client asks, a server answers, the client thinks, over connections that stay open. What a sender does
//! with its window while the client thinks is the point of it.

use serde::Serialize;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::Period;
use super::command::{CLIENT, Command, End, Input, SERVER, TransportCounts};
use super::durations::{Durations, mean, quantile};

/// A client and its server.
#[derive(Debug)]
pub(crate) struct RequestResponse {
    plan: RequestPlan,
    rng: Rng,
    /// Connections opened.
    opened: u32,
    /// Requests on the last connection.
    on_connection: u32,
    asked_at: Time,
    /// Writes under way that have not arrived.
    under_way: usize,
    /// What is done at the next time that comes.
    next: Next,
    times: Durations,
}

/// Sizes and times.
#[derive(Clone, Debug)]
pub(crate) struct RequestPlan {
    pub(crate) requests: u32,
    pub(crate) request: Bytes,
    /// Sizes of the answers in turn.
    pub(crate) responses: Vec<Bytes>,
    /// What of a request and of an answer is written first; the rest has a write of its own.
    pub(crate) first: [Vec<Bytes>; 2],
    pub(crate) think: Option<Period>,
    pub(crate) server_time: Option<Period>,
    pub(crate) per_connection: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Nothing,
    Answer(Time),
    Ask(Time),
}

/// What requests measured: those that began within the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RequestSummary {
    /// Requests answered.
    pub requests: u64,
    /// From the request, or the opening of its connection, to the last byte of the answer: mean.
    pub request_s: Option<f64>,
    /// Median.
    pub request_p50_s: Option<f64>,
    /// 95th percentile.
    pub request_p95_s: Option<f64>,
    /// 99th percentile; from 100 requests on.
    pub request_p99_s: Option<f64>,
    /// Maximum.
    pub request_max_s: Option<f64>,
    /// cwnd of the server when it began an answer: mean over all answers of the run.
    pub request_cwnd_bytes: Option<f64>,
    /// Connections opened, over the whole run.
    pub connections_opened: u64,
}

impl RequestResponse {
    pub(crate) fn new(plan: RequestPlan, rng: Rng) -> RequestResponse {
        let (asked_at, next, times) = (Time::ZERO, Next::Nothing, Durations::default());
        RequestResponse { plan, rng, opened: 0, on_connection: 0, asked_at, under_way: 0, next, times }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start => self.ask(now, commands),
            Input::Message { .. } if self.under_way > 1 => self.under_way -= 1,
            Input::Message { reader, .. } if reader == SERVER => {
                let time = sample(&self.plan.server_time, &mut self.rng);
                self.wait(now, Next::Answer(now + time), commands);
            }
            Input::Message { .. } => {
                self.times.add(self.asked_at, now);
                if self.is_over() {
                    commands.push(Command::Close(self.connection()));
                } else {
                    let time = sample(&self.plan.think, &mut self.rng);
                    self.wait(now, Next::Ask(now + time), commands);
                }
            }
            Input::Due => self.on_due(now, commands),
            Input::Connected(_) | Input::Datagram { .. } | Input::Room { .. } => {}
        }
    }

    fn wait(&mut self, now: Time, next: Next, commands: &mut Vec<Command>) {
        self.next = next;
        match next {
            Next::Answer(at) | Next::Ask(at) if at > now => commands.push(Command::Wake(at)),
            _ => self.on_due(now, commands),
        }
    }

    fn on_due(&mut self, now: Time, commands: &mut Vec<Command>) {
        match self.next {
            Next::Answer(at) if at <= now => {
                self.next = Next::Nothing;
                let responses = &self.plan.responses;
                self.write(SERVER, responses[self.times.count() % responses.len()], commands);
            }
            Next::Ask(at) if at <= now => {
                self.next = Next::Nothing;
                self.ask(now, commands);
            }
            _ => {}
        }
    }

    fn ask(&mut self, now: Time, commands: &mut Vec<Command>) {
        if self.opened == 0 || self.on_connection == self.plan.per_connection {
            if self.opened > 0 {
                commands.push(Command::Close(self.connection()));
            }
            self.opened += 1;
            self.on_connection = 0;
            commands.push(Command::Open(self.connection()));
        }
        self.on_connection += 1;
        self.asked_at = now;
        self.write(CLIENT, self.plan.request, commands);
    }

    /// Writes a message of `all` bytes, its first parts one by one.
    fn write(&mut self, end: End, all: Bytes, commands: &mut Vec<Command>) {
        let (connection, mut rest) = (self.connection(), all);
        self.under_way = 0;
        for bytes in self.plan.first[usize::from(end == SERVER)].iter().copied().chain([Bytes::MAX]) {
            let bytes = bytes.min(rest);
            if bytes > Bytes::ZERO {
                commands.extend((self.under_way > 0).then_some(Command::Push { connection, end }));
                commands.push(Command::Send { connection, end, bytes });
                self.under_way += 1;
            }
            rest = rest.saturating_sub(bytes);
        }
    }

    /// The number of the last connection.
    fn connection(&self) -> usize {
        self.opened as usize - 1
    }

    pub(super) fn is_over(&self) -> bool {
        self.times.count() == self.plan.requests as usize
    }

    pub(super) fn times(&self) -> &Durations {
        &self.times
    }

    pub(super) fn summary(&self, warmup: Time, transport: TransportCounts) -> RequestSummary {
        let times = self.times.sorted_since(warmup);
        RequestSummary {
            requests: times.len() as u64,
            request_s: mean(&times),
            request_p50_s: quantile(&times, 0.50, 1),
            request_p95_s: quantile(&times, 0.95, 1),
            request_p99_s: quantile(&times, 0.99, 100),
            request_max_s: times.last().copied(),
            request_cwnd_bytes: transport.answer_cwnd_bytes,
            connections_opened: self.opened.into(),
        }
    }
}

fn sample(period: &Option<Period>, rng: &mut Rng) -> Span {
    period.map_or(Span::ZERO, |period| period.sample(rng))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: Command = Command::Send { connection: 0, end: CLIENT, bytes: Bytes(400) };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn plan(requests: u32, per_connection: u32) -> RequestPlan {
        let period = |ms| Some(Period::Constant(Span::from_millis(ms)));
        let (request, responses) = (Bytes(400), vec![Bytes(1000)]);
        let first = [Vec::new(), Vec::new()];
        RequestPlan { requests, request, responses, first, think: period(100), server_time: period(5), per_connection }
    }

    fn told(app: &mut RequestResponse, at: u64, input: Input) -> Vec<Command> {
        let mut commands = Vec::new();
        app.on(ms(at), input, &mut commands);
        commands
    }

    #[test]
    fn the_server_works_and_the_client_thinks() {
        let mut app = RequestResponse::new(plan(2, 9), Rng::stream(1, "app"));
        assert_eq!(told(&mut app, 0, Input::Start), [Command::Open(0), ASK]);
        let answer = Command::Send { connection: 0, end: SERVER, bytes: Bytes(1000) };
        for (asked, last) in [(0, false), (200, true)] {
            let message = |reader| Input::Message { connection: 0, reader };
            assert_eq!(told(&mut app, asked + 40, message(SERVER)), [Command::Wake(ms(asked + 45))]);
            assert_eq!(told(&mut app, asked + 45, Input::Due), [answer]);
            let after = told(&mut app, asked + 100, message(CLIENT));
            assert_eq!(after, [if last { Command::Close(0) } else { Command::Wake(ms(asked + 200)) }]);
            assert_eq!(told(&mut app, asked + 200, Input::Due), if last { vec![] } else { vec![ASK] });
        }
        assert!(app.is_over());
        let transport = TransportCounts { timeouts: 0, answer_cwnd_bytes: None };
        // The first began in the warm-up.
        assert_eq!(app.summary(ms(1), transport).requests, 1);
        let summary = app.summary(ms(0), transport);
        assert_eq!((summary.requests, summary.request_s, summary.request_p99_s), (2, Some(0.1), None));
    }

    #[test]
    fn an_answer_in_two_writes_has_arrived_with_the_second() {
        let first = [Vec::new(), vec![Bytes(200)]];
        let mut app =
            RequestResponse::new(RequestPlan { first, server_time: None, ..plan(1, 1) }, Rng::stream(1, "app"));
        told(&mut app, 0, Input::Start);
        let message = |reader| Input::Message { connection: 0, reader };
        let send = |bytes| Command::Send { connection: 0, end: SERVER, bytes: Bytes(bytes) };
        let push = Command::Push { connection: 0, end: SERVER };
        assert_eq!(told(&mut app, 1, message(SERVER)), [send(200), push, send(800)]);
        assert_eq!(told(&mut app, 2, message(CLIENT)), []);
        assert_eq!(told(&mut app, 42, message(CLIENT)), [Command::Close(0)]);
        assert_eq!(app.times.sorted_since(ms(0)), [0.042]);
    }

    #[test]
    fn after_so_many_requests_another_connection_is_opened() {
        let plan = RequestPlan { think: None, server_time: None, ..plan(3, 1) };
        let mut app = RequestResponse::new(plan, Rng::stream(1, "app"));
        told(&mut app, 0, Input::Start);
        let answer = told(&mut app, 1, Input::Message { connection: 0, reader: SERVER });
        assert_eq!(answer, [Command::Send { connection: 0, end: SERVER, bytes: Bytes(1000) }]);
        let ask = Command::Send { connection: 1, end: CLIENT, bytes: Bytes(400) };
        let next = told(&mut app, 2, Input::Message { connection: 0, reader: CLIENT });
        assert_eq!(next, [Command::Close(0), Command::Open(1), ask]);
    }
}
