//! One endpoint with an arbitrary peer, application and clock: the fuzzer's bytes become settings and inputs.
//!
//! Nothing panics, no loop is endless, and the checks of `Watch` hold. `TONOPAH_FUZZ_TRACE=1` prints every step, to
//! explain an artifact.
#![no_main]

#[path = "../decode.rs"]
mod decode;
#[path = "../../crates/tcp/tests/random/silence.rs"]
mod silence;
#[path = "../../crates/tcp/tests/random/watch.rs"]
mod watch;
#[path = "../../crates/tcp/tests/random/window.rs"]
mod window;

use decode::Input;
use libfuzzer_sys::fuzz_target;
use tcp::units::{Bytes, Span, Time};
use tcp::{Flags, Segment, SeqNo, SeqRange};
use watch::{Outcome, Watch, ensure};

const STEPS: usize = 300;
/// The longest pause, and how many deadlines may lie in it.
const PAUSE: u64 = 600_000_000_000;
const DEADLINES: usize = 10_000;
/// So many segments may be written, of the endpoint's size or this one.
const WRITTEN: u64 = 2_000;
const SIZE: Bytes = Bytes(1460);

struct Run<'a> {
    input: Input<'a>,
    end: Watch,
    mss: Bytes,
    active: bool,
    now: Time,
    trace: bool,
}

impl Run<'_> {
    fn drain(&mut self) -> Outcome {
        let (trace, now) = (self.trace, self.now);
        self.end.drain(now, |segment| {
            if trace {
                eprintln!("{now} > {segment:?}");
            }
        })
    }

    fn receive(&mut self, segment: Segment) -> Outcome {
        if self.trace {
            eprintln!("{} < {segment:?}", self.now);
        }
        self.end.receive(self.now, &segment);
        self.drain()
    }

    /// The bytes that may be written.
    fn most(&self) -> u64 {
        WRITTEN * self.mss.min(SIZE).0
    }

    /// Lets time pass; deadlines on the way are met.
    fn advance(&mut self, span: Span) -> Outcome {
        let to = self.now + span;
        let (mut deadlines, before) = (0, self.end.segments);
        while let Some(at) = self.end.connection.next_timeout().filter(|at| *at <= to) {
            self.now = self.now.max(at);
            self.end.timeout(self.now);
            self.drain()?;
            deadlines += 1;
            // Each paced segment has a deadline of its own.
            let allowed = DEADLINES + (self.end.segments - before) as usize;
            ensure(deadlines < allowed, || format!("{DEADLINES} deadlines within {span}"))?;
        }
        self.now = to;
        Ok(())
    }

    /// The peer's side of a proper handshake, with the options it feels like.
    fn shake_hands(&mut self) -> Outcome {
        let syn = decode::syn(&mut self.input, self.active, self.mss);
        self.drain()?;
        self.receive(syn)?;
        let ack = Segment {
            seq: SeqNo::FIRST_DATA,
            ack: SeqNo::FIRST_DATA,
            flags: Flags::ACK,
            window: syn.window,
            ..Segment::default()
        };
        self.receive(ack)
    }

    /// What a well-behaved peer could send: data in order, or an acknowledgment of all, or again of the same.
    fn behave(&mut self) -> Outcome {
        let (seq, una, sent) = (self.end.ack_sent.max(1), self.end.una.max(1), self.end.sent_end.max(1));
        let mut segment = Segment {
            seq: SeqNo(seq),
            ack: SeqNo(sent),
            flags: Flags::ACK,
            window: Bytes(1 << 20),
            ..Segment::default()
        };
        let beyond = self.mss.0 * (1 + self.input.below(8));
        match self.input.below(5) {
            0 => segment.len = 1 + self.input.below(self.mss.0.min(65_495)) as u32,
            1 => segment.flags = Flags::ACK.with(Flags::FIN),
            2 => segment.ack = SeqNo(una),
            3 => {
                segment.ack = SeqNo(una);
                let (start, end) = ((una + beyond).min(sent), sent.min(una + 2 * beyond));
                segment.sack.push(SeqRange::new(SeqNo(start), SeqNo(end)));
            }
            _ => segment.ack = SeqNo((una + beyond).min(sent)),
        }
        segment.timestamps = decode::timestamps(&mut self.input, self.now);
        self.receive(segment)
    }

    fn step(&mut self) -> Outcome {
        let spread = |byte: u64| Span::from_nanos(1 << byte.min(39));
        match self.input.byte() {
            0..=39 => {
                let span = spread(u64::from(self.input.byte()) / 6);
                self.advance(span.min(Span::from_nanos(PAUSE)))
            }
            40..=59 => {
                let to = self.end.connection.next_timeout().unwrap_or(self.now);
                self.advance(to.since(self.now))
            }
            60..=69 => {
                // The driver is late, or early.
                self.now = self.now + spread(u64::from(self.input.byte()) / 7);
                self.end.timeout(self.now);
                self.drain()
            }
            70..=99 => {
                let left = self.most() - self.end.written;
                let bytes = self.input.size(self.mss).min(left);
                self.end.write(bytes)?;
                self.drain()
            }
            100..=103 => {
                match self.input.below(8) {
                    0 => self.end.leave(self.now),
                    1 => {
                        self.end.close_asked = true;
                        self.end.connection.abort(self.now);
                    }
                    2 => self.end.connection.shutdown_read(),
                    _ => self.end.close(),
                }
                self.drain()
            }
            104..=179 => self.behave(),
            _ => {
                let marks = [0, 1, self.end.una, self.end.sent_end, self.end.ack_sent, self.end.edge_sent];
                let segment = decode::segment(&mut self.input, &marks, self.mss, self.now);
                self.receive(segment)
            }
        }
    }

    fn run(&mut self) -> Outcome {
        self.drain()?;
        if self.input.byte() < 200 {
            self.shake_hands()?;
        }
        for _ in 0..STEPS {
            if self.input.is_empty() {
                break;
            }
            self.step()?;
        }
        // Left alone, it goes on by the clock and no faster.
        self.advance(Span::from_nanos(PAUSE))
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let config = decode::config(&mut input);
    let active = input.flag();
    let trace = std::env::var_os("TONOPAH_FUZZ_TRACE").is_some();
    if trace {
        eprintln!("active: {active}, {config:?}");
    }
    let mss = config.mss;
    let mut run = Run { input, end: Watch::new(config, active), mss, active, now: Time::ZERO, trace };
    if let Err(broken) = run.run() {
        panic!("{broken}");
    }
});
