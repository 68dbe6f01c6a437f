//! `incast`: partition and aggregate. An aggregator asks all its servers at once over open connections, and again when the last
//! answer of the round has come (Alizadeh et al., Data Center TCP, SIGCOMM 2010, §4.2).

use serde::Serialize;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::command::{CLIENT, Command, Input, SERVER, TransportCounts};
use super::durations::{Durations, mean, quantile};

/// An aggregator and its servers.
#[derive(Debug)]
pub(crate) struct Incast {
    plan: IncastPlan,
    rng: Rng,
    /// Connections not yet open, then answers of the round not yet read.
    missing: usize,
    began: Time,
    /// Requests to send, by time.
    requests: Vec<(Time, usize)>,
    next_round: Option<Time>,
    times: Durations,
}

/// Sizes and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncastPlan {
    pub(crate) servers: usize,
    pub(crate) each: Bytes,
    pub(crate) request: Bytes,
    pub(crate) rounds: u32,
    pub(crate) jitter: Span,
    pub(crate) gap: Span,
}

/// What rounds measured: those that began within the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct IncastSummary {
    /// Rounds that are complete.
    pub rounds: u64,
    /// Servers asked in each.
    pub servers: u64,
    /// Query completion time: from the requests to the last byte of the last answer. Mean.
    pub qct_s: Option<f64>,
    /// Median.
    pub qct_p50_s: Option<f64>,
    /// 95th percentile.
    pub qct_p95_s: Option<f64>,
    /// 99th percentile; from 100 rounds on.
    pub qct_p99_s: Option<f64>,
    /// 99.9th percentile; from 1000 rounds on.
    pub qct_p999_s: Option<f64>,
    /// Maximum.
    pub qct_max_s: Option<f64>,
    /// Retransmission time-outs of servers per round, over the whole run.
    pub timeouts_per_round: Option<f64>,
}

impl Incast {
    pub(crate) fn new(plan: IncastPlan, rng: Rng) -> Incast {
        let (requests, times) = (Vec::new(), Durations::default());
        Incast { plan, rng, missing: plan.servers, began: Time::ZERO, requests, next_round: None, times }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start => commands.extend((0..self.plan.servers).map(Command::Open)),
            Input::Connected(_) => {
                self.missing -= 1;
                if self.missing == 0 {
                    self.begin(now, commands);
                }
            }
            Input::Message { connection, reader } if reader == SERVER => {
                commands.push(Command::Send { connection, end: SERVER, bytes: self.plan.each });
            }
            Input::Message { .. } => {
                self.missing -= 1;
                if self.missing == 0 {
                    self.end(now, commands);
                }
            }
            Input::Due => self.on_due(now, commands),
            Input::Datagram { .. } | Input::Room { .. } => {}
        }
    }

    fn begin(&mut self, now: Time, commands: &mut Vec<Command>) {
        (self.began, self.missing) = (now, self.plan.servers);
        let jitter = self.plan.jitter.as_secs_f64();
        for connection in 0..self.plan.servers {
            let later = if jitter > 0.0 { Span::from_secs_f64(self.rng.uniform() * jitter) } else { Span::ZERO };
            self.requests.push((now + later, connection));
        }
        // The earliest is last.
        self.requests.sort_unstable_by(|a, b| b.cmp(a));
        self.on_due(now, commands);
    }

    fn end(&mut self, now: Time, commands: &mut Vec<Command>) {
        self.times.add(self.began, now);
        if self.is_over() {
            commands.extend((0..self.plan.servers).map(Command::Close));
        } else if self.plan.gap > Span::ZERO {
            let at = now + self.plan.gap;
            self.next_round = Some(at);
            commands.push(Command::Wake(at));
        } else {
            self.begin(now, commands);
        }
    }

    fn on_due(&mut self, now: Time, commands: &mut Vec<Command>) {
        if self.next_round.take_if(|at| *at <= now).is_some() {
            return self.begin(now, commands);
        }
        while let Some((_, connection)) = self.requests.pop_if(|(at, _)| *at <= now) {
            commands.push(Command::Send { connection, end: CLIENT, bytes: self.plan.request });
        }
        commands.extend(self.requests.last().map(|(at, _)| Command::Wake(*at)));
    }

    pub(super) fn is_over(&self) -> bool {
        self.times.count() == self.plan.rounds as usize
    }

    pub(super) fn times(&self) -> &Durations {
        &self.times
    }

    pub(super) fn summary(&self, warmup: Time, transport: TransportCounts) -> IncastSummary {
        let times = self.times.sorted_since(warmup);
        let rounds = self.times.count();
        IncastSummary {
            rounds: times.len() as u64,
            servers: self.plan.servers as u64,
            qct_s: mean(&times),
            qct_p50_s: quantile(&times, 0.50, 1),
            qct_p95_s: quantile(&times, 0.95, 1),
            qct_p99_s: quantile(&times, 0.99, 100),
            qct_p999_s: quantile(&times, 0.999, 1000),
            qct_max_s: times.last().copied(),
            timeouts_per_round: (rounds > 0).then(|| transport.timeouts as f64 / rounds as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(app: &mut Incast, at: u64, input: Input) -> Vec<Command> {
        let mut commands = Vec::new();
        app.on(Time::from_nanos(at), input, &mut commands);
        commands
    }

    fn sent_by(commands: &[Command], of: crate::host::app::command::End) -> Vec<usize> {
        let to = |command: &Command| match command {
            Command::Send { connection, end, .. } if *end == of => Some(*connection),
            _ => None,
        };
        commands.iter().filter_map(to).collect()
    }

    #[test]
    fn a_round_ends_with_its_last_answer() {
        let (each, request, gap) = (Bytes(1000), Bytes(100), Span::from_nanos(50));
        let plan = IncastPlan { servers: 3, each, request, rounds: 2, jitter: Span::ZERO, gap };
        let mut app = Incast::new(plan, Rng::stream(1, "app"));
        assert_eq!(told(&mut app, 0, Input::Start), [Command::Open(0), Command::Open(1), Command::Open(2)]);
        assert!(told(&mut app, 10, Input::Connected(2)).is_empty());
        assert!(told(&mut app, 11, Input::Connected(0)).is_empty());
        let mut asked = sent_by(&told(&mut app, 12, Input::Connected(1)), CLIENT);
        for (round, began) in [(0, 12), (1, 142)] {
            asked.sort_unstable();
            assert_eq!(asked, [0, 1, 2]);
            for connection in [1, 0, 2] {
                let answer = told(&mut app, began + 20, Input::Message { connection, reader: SERVER });
                assert_eq!(answer, [Command::Send { connection, end: SERVER, bytes: each }]);
            }
            assert!(told(&mut app, began + 50, Input::Message { connection: 1, reader: CLIENT }).is_empty());
            assert!(told(&mut app, began + 60, Input::Message { connection: 2, reader: CLIENT }).is_empty());
            let last = told(&mut app, began + 80, Input::Message { connection: 0, reader: CLIENT });
            if round == 0 {
                assert_eq!(last, [Command::Wake(Time::from_nanos(142))]);
                asked = sent_by(&told(&mut app, 142, Input::Due), CLIENT);
            } else {
                assert_eq!(last, [Command::Close(0), Command::Close(1), Command::Close(2)]);
            }
        }
        let summary = app.summary(Time::ZERO, TransportCounts { timeouts: 3, answer_cwnd_bytes: None });
        assert_eq!((summary.rounds, summary.qct_s, summary.timeouts_per_round), (2, Some(80e-9), Some(1.5)));
        assert_eq!((summary.qct_max_s, summary.qct_p99_s), (Some(80e-9), None));
    }

    #[test]
    fn jitter_spreads_the_requests_of_a_round() {
        let (each, request, jitter) = (Bytes(1000), Bytes(100), Span::from_nanos(1000));
        let plan = IncastPlan { servers: 50, each, request, rounds: 1, jitter, gap: Span::ZERO };
        let mut app = Incast::new(plan, Rng::stream(1, "app"));
        told(&mut app, 0, Input::Start);
        let mut commands: Vec<Command> = (0..50).flat_map(|c| told(&mut app, 0, Input::Connected(c))).collect();
        let (mut sent, mut last) = (0, 0);
        while let Some(Command::Wake(at)) = commands.last().copied() {
            assert!(at.as_nanos() > last && at.as_nanos() <= 1000);
            last = at.as_nanos();
            commands = told(&mut app, last, Input::Due);
            sent += sent_by(&commands, CLIENT).len();
        }
        assert!(sent == 50 && last > 900, "{sent} {last}");
    }
}
