//! One tin of CAKE: queues of flows, served by deficit round robin with precedence for those that have just become active.

use std::collections::VecDeque;

use tcp::units::{Bytes, Rate, Span, Time};

pub(super) use super::super::cobalt::MTU;
use super::super::cobalt::{Cobalt, Settings};
use super::super::fifo::{Fifo, QueuedPacket};
use super::super::report::TinReport;
use super::counts::Counts;
use super::ways::{Found, QUEUES, own_place, place};

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) settings: Settings,
    pub(super) rate: Option<Rate>,
    /// Quantum of a flow.
    quantum: u64,
    /// Quantum among tins without a rate.
    pub(super) share: i64,
    pub(super) deficit: i64,
    /// When its next packet may start, where a packet of another tin may go instead.
    pub(super) next: Time,
    pub(super) flows: Vec<Flow>,
    tags: Vec<u64>,
    sources: Hosts,
    destinations: Hosts,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    /// Packets of all flows.
    packets: u64,
    /// Flows that are not counted as bulk.
    sparse: u64,
    pub(super) bulk: u64,
    pub(super) counts: Counts,
}

/// The packets of one key, or of several that share a queue.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) waiting: Fifo,
    pub(super) cobalt: Cobalt,
    set: Set,
    pub(super) deficit: i64,
    /// What its quanta have left beyond whole bytes, in 1/65536 B.
    fraction: u64,
    source: usize,
    destination: usize,
}

/// As what a flow is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Set {
    #[default]
    None,
    Sparse,
    /// Sparse, but in the rotation of the bulk flows until its deficit is paid.
    SparseWait,
    Bulk,
    /// Empty, with a state that has not come to rest.
    Decaying,
}

/// The list that a flow is on.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    New,
    Old,
    Decaying,
}

/// What a packet is told apart by; hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub(super) flow: u64,
    /// Of hosts, where they are isolated.
    pub(super) source: Option<u64>,
    pub(super) destination: Option<u64>,
}

/// Hosts of one kind, with the number of bulk flows of each.
#[derive(Debug)]
struct Hosts {
    tags: Vec<u64>,
    bulk: Vec<u64>,
}

impl Hosts {
    fn new() -> Hosts {
        Hosts { tags: vec![u64::MAX; QUEUES], bulk: vec![0; QUEUES] }
    }

    /// The place of a host.
    fn seat(&mut self, key: u64) -> usize {
        let (at, _) = place(key, &self.tags, |at| self.bulk[at] > 0);
        self.tags[at] = key;
        at
    }
}

/// COBALT's times at a rate, from target and RTT: a full packet takes less than the target.
fn settings(rate: Option<Rate>, [target, rtt]: [Span; 2]) -> Settings {
    let mtu_time = rate.map_or(Span::ZERO, |rate| rate.transmission_time(MTU));
    let own = target.max(mtu_time * 3 / 2);
    Settings { target: own, interval: (rtt + own.saturating_sub(target)).max(own * 2), mtu_time }
}

fn quantum(rate: Option<Rate>) -> u64 {
    rate.map_or(MTU.0, |rate| (rate.as_bps() / 8 / 4096).clamp(300, MTU.0))
}

impl Tin {
    /// From now on it has this rate.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>, times: [Span; 2]) {
        (self.rate, self.settings, self.quantum) = (rate, settings(rate, times), quantum(rate));
    }

    /// An empty tin of this rate.
    pub(super) fn new(rate: Option<Rate>, times: [Span; 2], share: i64) -> Tin {
        Tin {
            settings: settings(rate, times),
            rate,
            quantum: quantum(rate),
            share,
            deficit: 0,
            next: Time::ZERO,
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            tags: vec![u64::MAX; QUEUES],
            sources: Hosts::new(),
            destinations: Hosts::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            packets: 0,
            sparse: 0,
            bulk: 0,
            counts: Counts::default(),
        }
    }

    /// True if a flow has something to send, or had until now.
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of a packet; its hosts are noted.
    pub(super) fn find(&mut self, keys: &Keys) -> usize {
        let (at, found) = place(keys.flow, &self.tags, |at| self.flows[at].set != Set::None);
        match found {
            _ if self.tags[at] == keys.flow => self.counts.way_hits += u64::from(at != own_place(keys.flow)),
            Found::Shared => self.counts.way_collisions += 1,
            Found::Own | Found::Free => self.counts.way_misses += 1,
        }
        if found == Found::Own {
            return at;
        }
        self.tags[at] = keys.flow;
        let is_bulk = self.flows[at].set == Set::Bulk;
        if is_bulk {
            self.leave_hosts(at);
        }
        if let Some(source) = keys.source {
            self.flows[at].source = self.sources.seat(source);
        }
        if let Some(destination) = keys.destination {
            self.flows[at].destination = self.destinations.seat(destination);
        }
        if is_bulk {
            self.join_hosts(at);
        }
        at
    }

    /// A flow is one of the bulk flows from now on.
    fn join_bulk(&mut self, at: usize) {
        self.bulk += 1;
        self.counts.on_flows(self.sparse, self.bulk);
        self.join_hosts(at);
    }

    fn join_hosts(&mut self, at: usize) {
        self.sources.bulk[self.flows[at].source] += 1;
        self.destinations.bulk[self.flows[at].destination] += 1;
    }

    fn leave_hosts(&mut self, at: usize) {
        self.sources.bulk[self.flows[at].source] -= 1;
        self.destinations.bulk[self.flows[at].destination] -= 1;
    }

    /// The flow's part of a quantum: its host shares one among its bulk flows. `isolate` says which hosts count.
    fn grant(&mut self, at: usize, isolate: HostLoad) {
        let flow = &mut self.flows[at];
        let of_source = if isolate.sources { self.sources.bulk[flow.source] } else { 1 };
        let of_destination = if isolate.destinations { self.destinations.bulk[flow.destination] } else { 1 };
        let load = of_source.max(of_destination).max(1);
        let total = (self.quantum << 16) / load + flow.fraction;
        flow.fraction = total & 0xffff;
        flow.deficit += (total >> 16) as i64;
    }

    /// Quantum of a flow, in bytes.
    #[cfg(test)]
    pub(super) fn quantum(&self) -> u64 {
        self.quantum
    }

    /// True if it holds packets.
    pub(super) fn has_packets(&self) -> bool {
        self.packets > 0
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        self.counts.on_warmup_end(self.sparse, self.bulk);
    }

    /// What it counted until now.
    pub(super) fn report(&self, name: &'static str) -> TinReport {
        self.counts.report(name, &self.settings)
    }

    /// Takes the packet at this place out of a queue.
    pub(super) fn remove(&mut self, at: usize, place: usize) -> Option<QueuedPacket> {
        let gone = self.flows[at].waiting.remove(place)?;
        self.packets -= 1;
        Some(gone)
    }

    /// Removes the packets for which `wanted` is true, queue by queue; the queues leave their lists when their turn comes.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken: Vec<QueuedPacket> = self.flows.iter_mut().flat_map(|flow| flow.waiting.take(wanted)).collect();
        self.packets -= taken.len() as u64;
        taken
    }

    /// Enqueues a packet into its queue.
    pub(super) fn push(&mut self, at: usize, arrival: QueuedPacket, isolate: HostLoad) {
        self.packets += 1;
        self.flows[at].waiting.push(arrival);
        match self.flows[at].set {
            Set::None | Set::Decaying => {
                if self.flows[at].set == Set::Decaying {
                    // Only a flow with a deficit is in the other list.
                    self.decaying.retain(|other| *other != at);
                    self.old.retain(|other| *other != at);
                }
                self.new.push_back(at);
                self.flows[at].set = Set::Sparse;
                self.sparse += 1;
                self.counts.on_flows(self.sparse, self.bulk);
                self.flows[at].deficit = 0;
                self.grant(at, isolate);
            }
            Set::SparseWait => {
                self.flows[at].set = Set::Bulk;
                self.sparse -= 1;
                self.join_bulk(at);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// The flow whose turn it is; those that decay have one turn in each call of the discipline, before all others.
    pub(super) fn turn(&self, decays: bool) -> Option<(List, usize)> {
        let decaying = || self.decaying.front().map(|at| (List::Decaying, *at));
        let first = if decays { decaying() } else { None };
        first
            .or_else(|| self.new.front().map(|at| (List::New, *at)))
            .or_else(|| self.old.front().map(|at| (List::Old, *at)))
            .or_else(decaying)
    }

    fn pop(&mut self, list: List) {
        match list {
            List::New => self.new.pop_front(),
            List::Old => self.old.pop_front(),
            List::Decaying => self.decaying.pop_front(),
        };
    }

    /// The flow at the head of `list` has used up its deficit: it gets a new one and goes to the end of the rotation. A sparse
    /// one that still waits is bulk from now on.
    pub(super) fn renew(&mut self, list: List, at: usize, isolate: HostLoad) {
        if self.flows[at].set == Set::Sparse {
            if self.flows[at].waiting.packets() > 0 {
                self.sparse -= 1;
                self.join_bulk(at);
                self.flows[at].set = Set::Bulk;
            } else {
                self.flows[at].set = Set::SparseWait;
            }
        }
        self.grant(at, isolate);
        self.pop(list);
        self.old.push_back(at);
    }

    /// The flow at the head of `list` was found empty.
    pub(super) fn on_empty(&mut self, list: List, at: usize, now: Time) {
        self.flows[at].cobalt.on_empty(&self.settings, now);
        match self.flows[at].set {
            Set::Bulk => {
                self.bulk -= 1;
                self.leave_hosts(at);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying | Set::None => {}
        }
        self.pop(list);
        if self.flows[at].cobalt.is_at_rest(now) {
            self.flows[at].set = Set::None;
        } else {
            self.flows[at].set = Set::Decaying;
            self.decaying.push_back(at);
        }
    }

    /// A packet of `size` on the line starts, or was dropped where drops count as sent.
    pub(super) fn charge(&mut self, at: usize, size: Bytes, now: Time) {
        self.flows[at].deficit -= size.0 as i64;
        self.deficit -= size.0 as i64;
        let Some(rate) = self.rate else { return };
        let takes = rate.transmission_time(size);
        if self.next < now {
            self.next = self.next + takes;
        } else {
            self.next = self.next.max(now + takes);
        }
    }
}

/// Which hosts share a quantum among their flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostLoad {
    pub(super) sources: bool,
    pub(super) destinations: bool,
}
