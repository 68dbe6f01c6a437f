//! CAKE (Linux, sch_cake): a shaper without bursts, tins by DSCP, queues of flows with fairness among hosts, COBALT, and a filter
//! of ACKs.

mod ack_filter;
mod counts;
mod tin;
mod ways;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::Dequeued;
use super::autorate::Autorate;
use super::context::QueueContext;
use super::fifo::{Held, QueuedPacket};
use super::report::{HostBytes, QueueReport};
use super::shaping::{RateChanges, Wakes};
use crate::hash::spread;
use crate::ids::FlowId;
use crate::packet::{DropReason, Packet};
use crate::scenario::{AckFilterMode, CakeDef, Dscp, Isolate, Overhead, Tins};
use tin::{HostLoad, Keys, Tin};

/// A CAKE queue.
#[derive(Debug)]
pub(crate) struct Cake {
    tins: Vec<Tin>,
    classes: Tins,
    isolate: Isolate,
    ack_filter: AckFilterMode,
    ingress: bool,
    overhead: Overhead,
    memory: Bytes,
    shaper: Option<Shaper>,
    /// Target and RTT, from which those of the tins follow.
    times: [Span; 2],
    /// The tin whose turn it is, without a rate.
    turn: usize,
    /// Perturbation of the hash, different in each run and on each link.
    salt: u64,
    /// BLUE's decisions.
    rng: Rng,
    held: Held,
    memory_max: Bytes,
    pub(super) hosts: HostBytes,
}

/// The shaper of all tins.
#[derive(Debug)]
struct Shaper {
    rate: Rate,
    wakes: Wakes,
    changes: RateChanges,
    autorate: Option<Box<Autorate>>,
    /// When the next packet may start.
    next: Time,
    /// When it may start at the latest, although dropped packets have used the rate.
    failsafe: Time,
}

/// What becomes of a packet that the shaper is charged for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Sent,
    Dropped,
}

impl Shaper {
    /// When the next packet of so many may start, if that is later than now.
    fn wait(&mut self, now: Time, packets: u64) -> Option<Dequeued> {
        if let Some(asleep) = self.wakes.asleep(now, packets) {
            return Some(asleep);
        }
        let at = self.next.min(self.failsafe);
        (at > now).then(|| self.wakes.sleep(self.changes.bound(at)))
    }

    fn set_rate(&mut self, rate: Rate, tins: &mut [Tin], classes: Tins, times: [Span; 2]) {
        self.rate = rate;
        for (tin, part) in tins.iter_mut().zip(parts(classes)) {
            tin.set_rate(Rate::from_bps(rate.as_bps() / part), times);
        }
    }

    fn charge(&mut self, size: Bytes, fate: Fate) {
        let takes = self.rate.transmission_time(size);
        self.next = self.next + takes;
        if fate == Fate::Sent {
            self.failsafe = self.failsafe + takes * 3 / 2;
        }
    }
}

/// The parts of the rate that tins have, as divisors, in the order in which they are looked through; without a rate the same parts
/// of a quantum of 1024 B.
fn parts(tins: Tins) -> &'static [u64] {
    match tins {
        Tins::Besteffort => &[1],
        Tins::Diffserv3 => &[1, 16, 4],
        Tins::Diffserv4 => &[1, 16, 2, 4],
    }
}

/// The names of tins, in the same order.
fn names(tins: Tins) -> &'static [&'static str] {
    match tins {
        Tins::Besteffort => &["best_effort"],
        Tins::Diffserv3 => &["best_effort", "bulk", "voice"],
        Tins::Diffserv4 => &["best_effort", "bulk", "video", "voice"],
    }
}

/// The tin of a DSCP, by its place in `parts`.
fn tin_of(tins: Tins, dscp: Dscp) -> usize {
    let bulk = [Dscp::CS1, Dscp::LE].contains(&dscp);
    let voice = [Dscp::EF, Dscp::VA, Dscp::CS6, Dscp::CS7].contains(&dscp);
    match tins {
        Tins::Besteffort => 0,
        _ if bulk => 1,
        Tins::Diffserv3 if voice || dscp == Dscp::TOS4 => 2,
        Tins::Diffserv4 if voice || [Dscp::CS4, Dscp::CS5].contains(&dscp) => 3,
        Tins::Diffserv4 if dscp.is_video() => 2,
        _ => 0,
    }
}

impl Cake {
    /// An empty queue.
    pub(super) fn new(def: &CakeDef, mut rng: Rng) -> Cake {
        let def = def.with_defaults();
        let given = "filled in from the defaults";
        let target = def.target.expect(given);
        let tin = |part: &u64| {
            let rate = def.rate.and_then(|rate| Rate::from_bps(rate.as_bps() / part));
            Tin::new(rate, [target, def.rtt], 1024 / *part as i64)
        };
        Cake {
            tins: parts(def.tins).iter().map(tin).collect(),
            classes: def.tins,
            isolate: def.isolate,
            ack_filter: def.ack_filter,
            ingress: def.ingress,
            overhead: def.overhead,
            memory: def.memory.expect(given),
            shaper: def.rate.map(|rate| Shaper {
                rate,
                wakes: Wakes::new(def.wake),
                changes: RateChanges::new(def.changes.iter().map(|change| (change.at, change.rate))),
                autorate: def.autorate.as_ref().map(|own| Box::new(Autorate::new(own, rate))),
                next: Time::ZERO,
                failsafe: Time::ZERO,
            }),
            times: [target, def.rtt],
            turn: 0,
            salt: rng.next_u64(),
            rng,
            held: Held::default(),
            memory_max: Bytes::ZERO,
            hosts: HostBytes::default(),
        }
    }

    fn host_load(&self) -> HostLoad {
        HostLoad {
            sources: matches!(self.isolate, Isolate::DualSrc | Isolate::Triple),
            destinations: matches!(self.isolate, Isolate::DualDst | Isolate::Triple),
        }
    }

    fn keys(&self, ctx: &QueueContext<'_>, packet: &Packet) -> Keys {
        let source = u64::from(ctx.ends(packet.to).source_of(packet.to).0);
        let destination = u64::from(packet.destination.0);
        let hash = |key: u64| spread(key ^ self.salt);
        let load = self.host_load();
        Keys {
            flow: hash(match self.isolate {
                Isolate::None => 0,
                Isolate::Src => source,
                Isolate::Dst => destination,
                Isolate::Hosts => source << 32 | destination,
                Isolate::Flows | Isolate::DualSrc | Isolate::DualDst | Isolate::Triple => ctx.flow_key(packet.to),
            }),
            source: load.sources.then(|| hash(source)),
            destination: load.destinations.then(|| hash(destination)),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let (now, packet) = (ctx.now(), ctx.packet(&arrival));
        if let Some(shaper) = self.shaper.as_mut().filter(|shaper| self.held.packets() == 0 && shaper.next < now) {
            (shaper.next, shaper.failsafe) = (now, now);
        }
        let (keys, load) = (self.keys(ctx, &packet), self.host_load());
        let tin = &mut self.tins[tin_of(self.classes, ctx.dscp(&arrival))];
        if !tin.has_packets() {
            tin.next = tin.next.max(now);
        }
        let at = tin.find(&keys);
        let others = tin.flows[at].waiting.iter().map(|waiting| ctx.packet(waiting));
        if let Some(place) = ack_filter::replaced(self.ack_filter, &packet, others)
            && let Some(gone) = tin.remove(at, place)
        {
            self.held.remove(&gone);
            tin.counts.ack_drops += 1;
            ctx.drop(&gone, DropReason::AckFilter);
        }
        tin.push(at, arrival, load);
        self.held.add(&arrival);
        while self.held.memory() > self.memory {
            self.drop_from_longest(ctx);
        }
        self.memory_max = self.memory_max.max(self.held.memory());
        Ok(())
    }

    /// Memory is full: the queue of most bytes loses its head.
    fn drop_from_longest(&mut self, ctx: &mut QueueContext<'_>) {
        let queues =
            self.tins.iter().enumerate().flat_map(|(tin, own)| {
                own.flows.iter().enumerate().map(move |(at, flow)| (flow.waiting.bytes(), tin, at))
            });
        // Of equals the last, so that the choice is the same on every machine.
        let (_, tin, at) = queues.max().expect("there is at least one queue");
        let own = &mut self.tins[tin];
        own.flows[at].cobalt.on_overflow(&own.settings, ctx.now());
        let head = own.remove(at, 0).expect("memory is not full of nothing");
        self.held.remove(&head);
        self.drop_head(ctx, (tin, at), &head, DropReason::Queue);
    }

    /// A packet that has left its queue is dropped; behind a bottleneck it has used the rate.
    fn drop_head(
        &mut self,
        ctx: &mut QueueContext<'_>,
        (tin, at): (usize, usize),
        head: &QueuedPacket,
        reason: DropReason,
    ) {
        self.tins[tin].counts.class.drops += 1;
        if self.ingress {
            let size = ctx.on_line(&self.overhead, head);
            self.tins[tin].charge(at, size, ctx.now());
            self.shaper.iter_mut().for_each(|shaper| shaper.charge(size, Fate::Dropped));
        }
        ctx.drop(head, reason);
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let now = ctx.now();
        let mut decays = true;
        while self.held.packets() > 0 {
            self.change_rate(now);
            let packets = self.held.packets();
            if let Some(later) = self.shaper.as_mut().and_then(|shaper| shaper.wait(now, packets)) {
                return later;
            }
            let tin = if self.shaper.is_some() { self.due(now) } else { self.next_turn() };
            if let Some(head) = self.serve(tin, &mut decays, ctx) {
                return Dequeued::Ready(head);
            }
        }
        Dequeued::Empty
    }

    /// The shaper has the rate of this time, and so have the tins and their COBALT (cake_reconfigure).
    fn change_rate(&mut self, now: Time) {
        let Some(shaper) = &mut self.shaper else { return };
        while let Some((_, rate)) = shaper.changes.next_due(now) {
            shaper.set_rate(rate, &mut self.tins, self.classes, self.times);
        }
    }

    /// A flow has measured a delay.
    pub(super) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        let Some(shaper) = &mut self.shaper else { return };
        if let Some(rate) = shaper.autorate.as_mut().and_then(|control| control.on_delay(now, flow, delay)) {
            shaper.set_rate(rate, &mut self.tins, self.classes, self.times);
        }
    }

    /// The last of the tins that are due, else the one that is due first.
    fn due(&self, now: Time) -> usize {
        let mut best: Option<(usize, Time)> = None;
        for (index, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            if tin.next <= now || best.is_none_or(|(_, earliest)| tin.next <= earliest) {
                best = Some((index, tin.next));
            }
        }
        best.expect("a packet waits in a tin that is active").0
    }

    /// Deficit round robin over the tins, where no rate says when they are due.
    fn next_turn(&mut self) -> usize {
        while self.tins[self.turn].deficit < 0 || !self.tins[self.turn].is_active() {
            let tin = &mut self.tins[self.turn];
            if tin.deficit <= 0 {
                tin.deficit += tin.share;
            }
            self.turn = (self.turn + 1) % self.tins.len();
        }
        self.turn
    }

    /// The next packet of a tin, after those that are dropped; `None` if a queue was found empty first.
    fn serve(&mut self, index: usize, decays: &mut bool, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        let (now, load) = (ctx.now(), self.host_load());
        loop {
            let tin = &mut self.tins[index];
            let (list, at) = tin.turn(std::mem::take(decays))?;
            if tin.flows[at].deficit <= 0 {
                tin.renew(list, at, load);
                continue;
            }
            let Some(head) = tin.remove(at, 0) else {
                tin.on_empty(list, at, now);
                return None;
            };
            self.held.remove(&head);
            let bulk = if self.ingress { tin.bulk } else { 0 };
            let flow = &mut tin.flows[at];
            let waited = (now, ctx.sojourn(&head));
            let [_, marks] = ctx.drops_and_marks();
            let unwanted = flow.cobalt.drops(&tin.settings, waited, bulk, || ctx.mark(&head), &mut self.rng);
            tin.counts.class.marks += ctx.drops_and_marks()[1] - marks;
            // The last packet of a queue may be marked, but is not dropped.
            if unwanted && flow.waiting.packets() > 0 {
                self.drop_head(ctx, (index, at), &head, DropReason::Aqm);
                continue;
            }
            let size = ctx.on_line(&self.overhead, &head);
            self.tins[index].counts.class.on_departure(head.size, waited.1);
            self.hosts.on_departure(ctx.hosts(&head), head.size);
            self.tins[index].charge(at, size, now);
            if let Some(shaper) = &mut self.shaper {
                shaper.charge(size, Fate::Sent);
                shaper.autorate.iter_mut().for_each(|control| control.on_sent(now, size));
            }
            return Some(head);
        }
    }

    /// Removes the packets for which `wanted` is true, tin by tin.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken: Vec<QueuedPacket> = self.tins.iter_mut().flat_map(|tin| tin.take(wanted)).collect();
        taken.iter().for_each(|gone| self.held.remove(gone));
        taken
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        self.tins.iter_mut().for_each(Tin::on_warmup_end);
        self.hosts = HostBytes::default();
        self.memory_max = self.held.memory();
    }

    /// What it counted until now.
    pub(super) fn report(&self) -> QueueReport {
        let tins = names(self.classes).iter().zip(&self.tins);
        QueueReport::Cake {
            tins: tins.map(|(name, tin)| tin.report(name)).collect(),
            memory_max_bytes: self.memory_max.0,
        }
    }

    pub(super) fn packets(&self) -> u64 {
        self.held.packets()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.held.bytes()
    }
}

#[cfg(test)]
mod tests;
