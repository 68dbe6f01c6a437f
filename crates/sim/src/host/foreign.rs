//! A connection of a whole transport that is not ours: its two ends, what they have to do, and what is known of them.

use std::collections::VecDeque;
use std::net::SocketAddrV4;

use tcp::units::{Bytes, Span, Time};

use crate::foreign::{ForeignDatagram, ForeignEnd, ForeignKind, ForeignRole, ForeignSetup, ForeignStats};
use crate::host::app::command::End;
use crate::host::streams::{Streams, grouped};
use crate::ids::{FlowId, NodeId};
use crate::packet::wire::{Socket, UDP, sockets};
use crate::packet::{IP_HEADER, UDP_HEADER};
use crate::scenario::NativeTransport;

/// The longest that a datagram may be held.
const LONGEST_HOLD: Span = Span::from_millis(10_000);

/// A connection of a whole transport.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(super) sides: [Side; 2],
    pub(super) streams: Streams,
    /// What it says of its datagrams, and what became of them.
    pub(crate) counts: ForeignCounts,
    /// The newest RTT and the losses that the source has told of.
    pub(super) latest_rtt_s: f64,
    lost_before: f64,
}

/// What is counted of a transport besides.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct ForeignCounts {
    pub(crate) too_big: u64,
    /// It has said of a datagram that it carries nothing new.
    pub(crate) tells_retransmissions: bool,
}

/// One end.
#[derive(Debug)]
pub(super) struct Side {
    kind: &'static ForeignKind,
    options: Vec<f64>,
    pub(super) setup: ForeignSetup,
    pub(super) end: Option<Box<dyn ForeignEnd>>,
    pub(super) connected: bool,
    pub(super) closed: Option<u32>,
    /// The application is done with it: it is to be closed, and it has been.
    pub(super) closes: bool,
    done: bool,
    pub(super) wake_at: Option<Time>,
    /// It has something to do at a later time.
    pub(super) waits: bool,
    /// Datagrams that depart later.
    pub(super) held: VecDeque<ForeignDatagram>,
    last_departure: Time,
    /// Time-outs at this time.
    pub(super) timeouts: (Time, u32),
}

impl Side {
    fn new((kind, options): (&'static ForeignKind, Vec<f64>), setup: ForeignSetup) -> Side {
        Side {
            kind,
            options,
            setup,
            end: None,
            connected: false,
            closed: None,
            closes: false,
            done: false,
            wake_at: None,
            waits: false,
            held: VecDeque::new(),
            last_departure: Time::ZERO,
            timeouts: (Time::ZERO, 0),
        }
    }

    /// The next datagram, which keeps the contract.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<ForeignDatagram> {
        let end = self.end.as_mut()?;
        let datagram = end.poll_transmit(now)?;
        let depart = datagram.depart;
        let wrong = if depart < now {
            Some(format!("departs {} ns before the call", grouped(now.since(depart).as_nanos())))
        } else if depart < self.last_departure {
            let earlier = self.last_departure.since(depart).as_nanos();
            Some(format!("departs {} ns before the one before it", grouped(earlier)))
        } else if depart > now + LONGEST_HOLD {
            Some(format!("departs {} after the call, at most {LONGEST_HOLD} are allowed", depart.since(now)))
        } else {
            datagram.bytes.is_empty().then(|| "a datagram has 0 bytes".to_owned())
        };
        if let Some(wrong) = wrong {
            end.fail(now, &format!("poll_transmit failed at {}: {wrong}", seconds(now)));
        }
        self.last_departure = depart;
        Some(datagram)
    }

    /// When it is to be looked at, if at all.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        let timeout = self.end.as_mut().and_then(|end| end.next_timeout(now)).map(|at| at.max(now));
        [timeout, self.held.front().map(|datagram| datagram.depart)].into_iter().flatten().min()
    }
}

/// A time as text.
pub(super) fn seconds(at: Time) -> String {
    format!("{} s", at.as_secs_f64())
}

impl Foreign {
    /// The connection of `flow` over this transport, which `client` opens. `nodes` are those of source and sink, called `places`.
    pub(crate) fn between(
        native: &NativeTransport,
        client: End,
        flow: FlowId,
        nodes: [NodeId; 2],
        places: [&str; 2],
        seeds: [u64; 2],
    ) -> Foreign {
        let sockets = sockets(flow.0, nodes).map(|Socket { address, port }| SocketAddrV4::new(address, port));
        let setup = |end: End| ForeignSetup {
            now: Time::ZERO,
            seed: seeds[end as usize],
            role: if end == client { ForeignRole::Client } else { ForeignRole::Server },
            mtu: native.mtu.expect("a complete transport has its MTU"),
            local: sockets[end as usize],
            remote: sockets[end.peer() as usize],
            place: places[end as usize].to_owned(),
            label: format!("flow{}-{}", flow.0, ["source", "sink"][end as usize]),
        };
        let [source, sink] = native.ends();
        let streams = Streams::new(source.0.max_streams == 1, client);
        let sides = [Side::new(source, setup(End::Source)), Side::new(sink, setup(End::Sink))];
        let counts = ForeignCounts::default();
        Foreign { sides, streams, counts, latest_rtt_s: f64::NAN, lost_before: 0.0 }
    }

    /// What the source says of its sending half.
    pub(crate) fn stats(&self, now: Time) -> ForeignStats {
        self.sides[0].end.as_ref().map_or(ForeignStats::UNKNOWN, |end| end.stats(now))
    }

    /// The congestion window of the source, if it says so.
    pub(crate) fn cwnd(&self, now: Time) -> Option<Bytes> {
        let cwnd = self.stats(now).cwnd_bytes;
        (cwnd.is_finite() && cwnd >= 0.0).then_some(Bytes(cwnd as u64))
    }

    /// Packets that the source has taken for lost in the measurement interval, if it says so.
    pub(crate) fn declared_lost(&self, now: Time) -> Option<u64> {
        let lost = self.stats(now).lost_packets;
        (!lost.is_nan()).then(|| (lost - self.lost_before).max(0.0) as u64)
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        let lost = self.stats(now).lost_packets;
        self.lost_before = if lost.is_nan() { 0.0 } else { lost };
        self.counts.too_big = 0;
    }

    /// What ended the connection: 0 if an end has closed it; absent while it lives.
    pub(crate) fn close_code(&self) -> Option<u32> {
        self.sides.iter().filter_map(|side| side.closed).max()
    }

    /// True if an end is closed.
    pub(super) fn has_closed_end(&self) -> bool {
        self.sides.iter().any(|side| side.done || side.closed.is_some())
    }

    /// True if an end is closed, and none waits for a time: nothing happens any more unless a datagram comes.
    pub(super) fn is_closed(&self) -> bool {
        self.has_closed_end() && !self.sides.iter().any(|side| side.waits)
    }

    /// Both ends come into being.
    pub(super) fn begin(&mut self, now: Time) {
        for side in &mut self.sides {
            side.setup.now = now;
            side.end.get_or_insert_with(|| (side.kind.create)(&side.setup, &side.options));
        }
    }

    /// The application at an end acts: streams open, data is written, the connection closes. True if the transport was called.
    pub(super) fn pump(&mut self, now: Time, from: End) -> bool {
        let side = &mut self.sides[from as usize];
        let Some(end) = side.end.as_deref_mut().filter(|_| !side.done && side.closed.is_none()) else { return false };
        if std::mem::take(&mut side.closes) {
            side.done = true;
            end.close(now);
            return true;
        }
        if !side.connected {
            return false;
        }
        self.streams.pump(now, from, end)
    }

    /// Protocol number of IP.
    pub(crate) fn protocol(&self) -> u8 {
        self.sides[0].kind.protocol
    }

    pub(super) fn header(&self) -> Bytes {
        if self.protocol() == UDP { IP_HEADER + UDP_HEADER } else { IP_HEADER }
    }
}
