//! The queues of an access point that shares airtime: one for each station, with FQ-CoDel inside, served by deficits of airtime
//! (Høiland-Jørgensen et al., "Ending the Anomaly", USENIX ATC 2017, algorithm 3; Linux, mac80211).

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span};

use crate::engine::context::Context;
use crate::ids::StationId;
use crate::metrics::LinkMetrics;
use crate::qdisc::{Dequeued, Qdisc, QueueContext, QueuedPacket};
use crate::radio::frame::Content;
use crate::radio::service::{MacRequest, TrafficClass};
use crate::scenario::{Amount, FqCodelDef, Queue};

/// What a station may use in its turn (ath9k, ATH_AIRTIME_QUANTUM).
const QUANTUM: Span = Span::from_micros(300);

/// The queue of a station: mac80211's 8192 packets and quantum, and its CoDel, whose times are longer for a station below 12 Mb/s
/// (§3.1.1 of the paper).
fn discipline(rate: Rate) -> Queue {
    let is_slow = rate.as_bps() < 12_000_000;
    let [target, interval] = if is_slow { [50, 300] } else { [20, 100] }.map(Span::from_millis);
    Queue::FqCodel(FqCodelDef {
        limit: Amount::Packets(8192),
        quantum: Bytes(300),
        target,
        interval,
        ..FqCodelDef::default()
    })
}

/// The queues of all stations of an access point.
#[derive(Debug)]
pub(super) struct AirtimeQueues {
    stations: Vec<StationQueue>,
    /// Stations that have just become active, and the others.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// What the disciplines count of drops and marks.
    metrics: LinkMetrics,
}

#[derive(Debug)]
struct StationQueue {
    queue: Qdisc,
    /// Airtime that it may still use, in nanoseconds.
    deficit: i64,
    /// It is on one of the lists.
    active: bool,
}

impl AirtimeQueues {
    /// Empty queues for stations of these rates.
    pub(super) fn new(rates: &[Rate], rng: &mut Rng) -> AirtimeQueues {
        let station = |rate: &Rate| StationQueue {
            queue: Qdisc::new(&discipline(*rate), *rate, Span::ZERO, Rng::stream(rng.next_u64(), "airtime")),
            deficit: QUANTUM.as_nanos() as i64,
            active: false,
        };
        AirtimeQueues {
            stations: rates.iter().map(station).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            metrics: LinkMetrics::default(),
        }
    }

    /// Packets in all queues.
    pub(super) fn packets(&self) -> u64 {
        self.stations.iter().map(|station| station.queue.packets()).sum()
    }

    /// Takes a packet for a station; others may be dropped for it.
    pub(super) fn enqueue(&mut self, ctx: &mut Context, to: StationId, request: &MacRequest) {
        let Content::Packet(packet) = request.content else { unreachable!("messages wait elsewhere") };
        let arrival = QueuedPacket { packet, size: request.size, since: request.since };
        let station = &mut self.stations[to.index()];
        let now = ctx.now;
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, None, now);
        if let Err(reason) = station.queue.enqueue(&mut queue_ctx, arrival) {
            ctx.drop(packet, reason, None);
        }
        if !std::mem::replace(&mut station.active, true) {
            self.new.push_back(to.index());
        }
    }

    /// The packet that the station whose turn it is sends first.
    pub(super) fn next(&mut self, ctx: &mut Context) -> Option<MacRequest> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let station = &mut self.stations[index];
            if station.deficit <= 0 {
                station.deficit += QUANTUM.as_nanos() as i64;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let to = StationId(index as u32);
            if let Some(request) = self.take_to(ctx, to) {
                return Some(request);
            }
            // A new station without packets passes through the old ones first, as a flow of FQ-CoDel does.
            if is_new {
                self.new.pop_front();
                self.old.push_back(index);
            } else {
                self.old.pop_front();
                self.stations[index].active = false;
            }
        }
    }

    /// Size of the next packet for a station; the drops that come first happen.
    pub(super) fn first_to(&mut self, ctx: &mut Context, to: StationId) -> Option<Bytes> {
        let now = ctx.now;
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, None, now);
        match self.stations[to.index()].queue.peek(&mut queue_ctx) {
            Dequeued::Ready(head) => Some(head.size),
            Dequeued::Later(_) | Dequeued::Empty => None,
        }
    }

    /// Removes the next packet for a station.
    pub(super) fn take_to(&mut self, ctx: &mut Context, to: StationId) -> Option<MacRequest> {
        let now = ctx.now;
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, None, now);
        let Dequeued::Ready(head) = self.stations[to.index()].queue.dequeue(&mut queue_ctx) else { return None };
        let QueuedPacket { packet, size, since } = head;
        let content = Content::Packet(packet);
        Some(MacRequest { content, to: Some(to), size, since, class: TrafficClass::Other })
    }

    /// A frame to or from a station was on the air for so long.
    pub(super) fn charge(&mut self, station: StationId, airtime: Span) {
        self.stations[station.index()].deficit -= airtime.as_nanos() as i64;
    }
}
