//! Fair queueing with pacing, after Linux's sch_fq: a queue for each flow, deficit round robin with precedence for flows that
//! have just become active, and for each flow a time before which its next packet may not start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcp::units::{Bytes, Rate, Span, Time};

use super::Dequeued;
use super::context::QueueContext;
use super::fifo::{Fifo, Held, Limit, QueuedPacket};
use crate::ids::EndpointId;
use crate::packet::DropReason;
use crate::scenario::FqDef;

/// A packet delays the next one of its flow by at most this.
const LONGEST_GAP: Span = Span::from_millis(1000);

/// An FQ queue.
#[derive(Debug)]
pub(crate) struct Fq {
    settings: Settings,
    /// All flows that ever came, by slot, of which a flow of a workload takes over the queue. There are no collisions.
    flows: BTreeMap<EndpointId, FlowQueue>,
    new: VecDeque<EndpointId>,
    old: VecDeque<EndpointId>,
    /// Flows whose time has not come, by that time.
    throttled: BTreeSet<(Time, EndpointId)>,
    held: Held,
}

/// The parameters.
#[derive(Debug)]
struct Settings {
    limit: Limit,
    flow_limit: u64,
    quantum: i64,
    initial_quantum: i64,
    refill: Span,
    flow_rate: Option<Rate>,
    low_rate: Rate,
    ce_threshold: Option<Span>,
}

/// The packets of one direction of one flow.
#[derive(Debug)]
struct FlowQueue {
    waiting: Fifo,
    /// Whose queue it is: one direction of one flow.
    flow_key: u64,
    /// Bytes that it may still send in this round.
    credit: i64,
    /// Its next packet starts at this time or later.
    next: Time,
    /// Since when it has been on no list.
    idle_since: Option<Time>,
}

/// The list of an active flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    New,
    Old,
}

impl Fq {
    /// An empty queue.
    pub(super) fn new(def: &FqDef) -> Fq {
        let settings = Settings {
            limit: def.limit.into(),
            flow_limit: def.flow_limit,
            quantum: def.quantum.0 as i64,
            initial_quantum: def.initial_quantum.0 as i64,
            refill: def.refill,
            flow_rate: def.flow_rate,
            low_rate: def.low_rate,
            ce_threshold: def.ce_threshold,
        };
        Fq {
            settings,
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            throttled: BTreeSet::new(),
            held: Held::default(),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let (now, settings) = (ctx.now(), &self.settings);
        if settings.limit.is_exceeded(self.held.packets() + 1, self.held.bytes() + arrival.size) {
            return Err(DropReason::Queue);
        }
        let key = ctx.packet(&arrival).to;
        let flow_key = ctx.flow_key(key);
        let flow = self.flows.entry(key).or_insert_with(|| FlowQueue {
            waiting: Fifo::default(),
            flow_key,
            credit: settings.initial_quantum,
            next: Time::ZERO,
            idle_since: Some(now),
        });
        if flow.flow_key != flow_key {
            (flow.flow_key, flow.credit, flow.next) = (flow_key, settings.initial_quantum, Time::ZERO);
        }
        if flow.waiting.packets() >= settings.flow_limit {
            return Err(DropReason::Queue);
        }
        if let Some(since) = flow.idle_since.take() {
            if now.since(since) > settings.refill {
                flow.credit = flow.credit.max(settings.quantum);
            }
            self.new.push_back(key);
        }
        flow.waiting.push(arrival);
        self.held.add(&arrival);
        Ok(())
    }

    /// The flow whose turn it is, at the head of its list; `None` if every flow with packets has to wait. To ask again at the
    /// same time changes nothing.
    fn settle(&mut self, now: Time) -> Option<(List, EndpointId)> {
        while let Some((_, key)) = self.throttled.first().copied().filter(|(next, _)| *next <= now) {
            self.throttled.pop_first();
            self.old.push_back(key);
        }
        loop {
            let list = if self.new.is_empty() { List::Old } else { List::New };
            let key = *if list == List::New { self.new.front() } else { self.old.front() }?;
            let flow = self.flows.get_mut(&key).expect("a listed flow exists");
            if flow.credit <= 0 {
                flow.credit += self.settings.quantum;
                self.retire(list);
            } else if flow.waiting.packets() == 0 {
                // A new flow has to pass through the old ones first, or it would be new again at its next packet.
                if list == List::New && !self.old.is_empty() {
                    self.retire(list);
                } else {
                    flow.idle_since = Some(now);
                    self.pop(list);
                }
            } else if flow.next > now {
                self.throttled.insert((flow.next, key));
                self.pop(list);
            } else {
                return Some((list, key));
            }
        }
    }

    fn pop(&mut self, list: List) -> Option<EndpointId> {
        if list == List::New { self.new.pop_front() } else { self.old.pop_front() }
    }

    /// The head of `list` goes to the end of the old flows.
    fn retire(&mut self, list: List) {
        let head = self.pop(list);
        self.old.extend(head);
    }

    /// The answer where no flow may send.
    fn wait(&self) -> Dequeued {
        let next = self.throttled.first().filter(|_| self.held.packets() > 0);
        next.map_or(Dequeued::Empty, |(next, _)| Dequeued::Later(*next))
    }

    /// The packet whose turn it is.
    pub(super) fn peek(&mut self, now: Time) -> Dequeued {
        let Some((_, key)) = self.settle(now) else { return self.wait() };
        self.flows[&key].waiting.front().map_or(Dequeued::Empty, |head| Dequeued::Ready(*head))
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let now = ctx.now();
        let Some((_, key)) = self.settle(now) else { return self.wait() };
        let flow = self.flows.get_mut(&key).expect("a listed flow exists");
        let head = flow.waiting.pop().expect("it was looked at");
        self.held.remove(&head);
        // Pacing is no congestion: the age counts from when the packet was allowed to start.
        let age = now.since(head.since.max(flow.next));
        if self.settings.ce_threshold.is_some_and(|threshold| age > threshold) {
            ctx.mark(&head);
        }
        flow.charge(&self.settings, now, head.size);
        Dequeued::Ready(head)
    }

    /// Removes the packets for which `wanted` is true, flow by flow; the flows leave their lists when their turn comes.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken: Vec<QueuedPacket> = self.flows.values_mut().flat_map(|flow| flow.waiting.take(wanted)).collect();
        taken.iter().for_each(|gone| self.held.remove(gone));
        taken
    }

    pub(super) fn packets(&self) -> u64 {
        self.held.packets()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.held.bytes()
    }
}

impl FlowQueue {
    /// A packet of `size` starts: its credit, and when the next may start.
    fn charge(&mut self, settings: &Settings, now: Time, size: Bytes) {
        self.credit -= size.0 as i64;
        let Some(rate) = settings.flow_rate else { return };
        let paid = if rate <= settings.low_rate {
            // Slow flows send packet by packet.
            self.credit = 0;
            size
        } else if self.credit <= 0 {
            size.max(Bytes(settings.quantum as u64))
        } else {
            return;
        };
        self.next = now + rate.transmission_time(paid).min(LONGEST_GAP);
    }
}

#[cfg(test)]
mod tests;
