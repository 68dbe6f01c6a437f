//! Hierarchical token buckets (Linux, sch_htb): classes with a rate and a ceiling, which borrow from their parents what these do
//! not use. Names in parentheses are Linux'.

mod turns;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::report::{ClassCounts, HtbClassReport, QueueReport};
use super::shaping::{RateChanges, Wakes};
use super::token_bucket::TokenBucket;
use super::{Dequeued, Qdisc};
use crate::ids::FlowId;
use crate::packet::DropReason;
use crate::scenario::{Dscp, HtbClassDef, HtbDef, Overhead};
use turns::Turns;

/// Levels: leaves are on 0, classes without a parent on the last (TC_HTB_MAXDEPTH).
const LEVELS: usize = 8;
/// Priorities (TC_HTB_NUMPRIO).
const PRIORITIES: usize = 8;

/// The classes, parents before their children.
#[derive(Debug)]
pub(crate) struct Htb {
    classes: Vec<Class>,
    turns: Turns,
    overhead: Overhead,
    wakes: Wakes,
}

/// What a class may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// It is within its rate.
    CanSend,
    /// It is above its rate and below its ceiling.
    MayBorrow,
    CantSend,
}

#[derive(Debug)]
struct Class {
    name: String,
    parent: Option<usize>,
    level: usize,
    rate: TokenBucket,
    ceiling: TokenBucket,
    changes: [RateChanges; 2],
    mode: Mode,
    /// Priorities in which a leaf below it has packets that it may send, or that its children would borrow for; bits.
    active: u8,
    /// Packets that borrowed here, and that this class borrowed for.
    lent: u64,
    borrowed: u64,
    leaf: Option<Leaf>,
}

#[derive(Debug)]
struct Leaf {
    queue: Qdisc,
    conditions: Conditions,
    priority: u8,
    quantum: i64,
    /// What is left of its quantum, by the level that lends.
    deficit: [i64; LEVELS],
    /// Its queue has said that it holds its packets back; asked again at the next call.
    held: bool,
    counts: ClassCounts,
}

#[derive(Debug)]
struct Conditions {
    nodes: Vec<u32>,
    dscp: Vec<Dscp>,
    groups: Vec<u16>,
    /// There are flows or workloads to choose among.
    by_group: bool,
    by_node: bool,
}

impl Conditions {
    fn hold(&self, ctx: &QueueContext<'_>, arrival: &QueuedPacket) -> bool {
        let ends = ctx.ends(ctx.packet(arrival).to);
        (!self.by_node || [ends.source, ends.sink].iter().any(|node| self.nodes.contains(&node.0)))
            && (self.dscp.is_empty() || self.dscp.contains(&ctx.dscp(arrival)))
            && (!self.by_group || self.groups.contains(&ends.group))
    }
}

impl Class {
    fn new(def: &HtbDef, class: &HtbClassDef, level: usize, queue: Option<Qdisc>) -> Class {
        let given = "filled in from the defaults";
        let leaf = queue.map(|queue| Leaf {
            queue,
            conditions: Conditions {
                nodes: class.bound.nodes.clone(),
                dscp: class.dscp.clone(),
                groups: class.bound.groups.clone(),
                by_group: !(class.flows.is_empty() && class.workloads.is_empty()),
                by_node: !class.hosts.is_empty(),
            },
            priority: class.priority.expect(given),
            quantum: class.quantum.expect(given).0 as i64,
            deficit: [0; LEVELS],
            held: false,
            counts: ClassCounts::default(),
        });
        let changes = class.changes.iter();
        Class {
            name: class.name.clone(),
            parent: def.parent_of(class),
            level,
            rate: TokenBucket::new(class.rate, class.burst.expect(given)),
            ceiling: TokenBucket::new(class.ceiling.expect(given), class.ceiling_burst.expect(given)),
            changes: [
                RateChanges::new(changes.clone().filter_map(|change| Some((change.at, change.rate?)))),
                RateChanges::new(changes.filter_map(|change| Some((change.at, change.ceiling?)))),
            ],
            mode: Mode::CanSend,
            active: 0,
            lent: 0,
            borrowed: 0,
            leaf,
        }
    }

    /// Carries out what has become due, and says what the class may do (htb_class_mode).
    fn settle(&mut self, now: Time) {
        for (bucket, changes) in [&mut self.rate, &mut self.ceiling].into_iter().zip(&mut self.changes) {
            while let Some((at, rate)) = changes.next_due(now) {
                bucket.set_rate(at, rate);
            }
        }
        self.mode = match [self.ceiling, self.rate].map(|mut bucket| bucket.ready_at(now, Bytes::ZERO) <= now) {
            [false, _] => Mode::CantSend,
            [true, true] => Mode::CanSend,
            [true, false] => Mode::MayBorrow,
        };
        self.active = 0;
    }

    /// When what it may do changes next.
    fn changes_at(&mut self, now: Time) -> Option<Time> {
        let due = [&mut self.rate, &mut self.ceiling].map(|bucket| bucket.ready_at(now, Bytes::ZERO));
        due.into_iter().chain(self.changes.iter().filter_map(RateChanges::next)).filter(|at| *at > now).min()
    }
}

impl Htb {
    /// Empty classes. The queue of each draws from a stream of its own.
    pub(super) fn new(def: &HtbDef, line: Rate, delay: Span, mut rng: Rng) -> Htb {
        let def = def.with_defaults();
        let seed = rng.next_u64();
        let mut classes: Vec<Class> = Vec::with_capacity(def.classes.len());
        for class in &def.classes {
            let above = def.parent_of(class).map_or(LEVELS, |parent| classes[parent].level);
            let queue = class.queue.as_ref().map(|queue| {
                let rate = line.min(class.ceiling.unwrap_or(class.rate));
                Qdisc::new(queue, rate, delay, Rng::stream(seed, &format!("class/{}", class.name)))
            });
            let level = if queue.is_some() { 0 } else { above - 1 };
            classes.push(Class::new(&def, class, level, queue));
        }
        let turns = Turns::new(classes.len());
        Htb { classes, turns, overhead: def.overhead, wakes: Wakes::new(def.wake) }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let leaves =
            || self.classes.iter().enumerate().filter_map(|(index, class)| Some((index, class.leaf.as_ref()?)));
        let found = leaves().find(|(_, leaf)| leaf.conditions.hold(ctx, &arrival)).or(leaves().next_back());
        let (index, _) = found.expect("the scenario's check asks for a class");
        let leaf = self.classes[index].leaf.as_mut().expect("it was found among leaves");
        let result = leaf.counts.of_act(&mut leaf.queue, ctx, |queue, ctx| queue.enqueue(ctx, arrival));
        leaf.counts.drops += u64::from(result.is_err());
        result
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let now = ctx.now();
        if let Some(answer) = self.wakes.asleep(now, self.packets()) {
            return answer;
        }
        let mut held = None;
        self.settle(now);
        while let Some((index, level)) = self.next_leaf() {
            let leaf = self.classes[index].leaf.as_mut().expect("turns end at leaves");
            let answer = leaf.counts.of_act(&mut leaf.queue, ctx, Qdisc::dequeue);
            match answer {
                Dequeued::Ready(next) => {
                    leaf.counts.on_departure(next.size, ctx.sojourn(&next));
                    self.pass_on(index, level, next.size);
                    self.charge(index, level, ctx.on_line(&self.overhead, &next), now);
                    self.wake_leaves();
                    return answer;
                }
                Dequeued::Later(at) => {
                    leaf.held = true;
                    held = Some(held.map_or(at, |earliest: Time| earliest.min(at)));
                }
                // It dropped all that it held.
                Dequeued::Empty => {}
            }
            self.settle(now);
        }
        self.wake_leaves();
        let own = self.packets() > 0;
        let changes = self.classes.iter_mut().filter_map(|class| class.changes_at(now)).chain(held).min();
        changes.filter(|_| own).map_or(Dequeued::Empty, |at| self.wakes.sleep(at))
    }

    fn wake_leaves(&mut self) {
        self.classes.iter_mut().filter_map(|class| class.leaf.as_mut()).for_each(|leaf| leaf.held = false);
    }

    /// What each class may do now, and in which priorities something waits for it; children stand behind their parents.
    fn settle(&mut self, now: Time) {
        self.classes.iter_mut().for_each(|class| class.settle(now));
        for index in (0..self.classes.len()).rev() {
            let class = &mut self.classes[index];
            if let Some(leaf) = class.leaf.as_ref().filter(|leaf| leaf.queue.packets() > 0 && !leaf.held) {
                class.active |= 1 << leaf.priority;
            }
            let (active, mode) = (class.active, class.mode);
            if let Some(parent) = class.parent.filter(|_| mode == Mode::MayBorrow) {
                self.classes[parent].active |= active;
            }
        }
    }

    /// The leaf whose turn it is, on the lowest level that can send, there in the first priority (htb_dequeue_tree).
    fn next_leaf(&mut self) -> Option<(usize, usize)> {
        let slots = (0..LEVELS).flat_map(|level| (0..PRIORITIES).map(move |priority| (level, priority)));
        slots.into_iter().find_map(|(level, priority)| Some((self.turns.leaf(&self.classes, level, priority)?, level)))
    }

    /// A leaf has sent: the turn passes on when its quantum is used up.
    fn pass_on(&mut self, index: usize, level: usize, size: Bytes) {
        let class = &mut self.classes[index];
        let leaf = class.leaf.as_mut().expect("turns end at leaves");
        leaf.deficit[level] -= size.0 as i64;
        if leaf.deficit[level] < 0 {
            leaf.deficit[level] += leaf.quantum;
            let lender = class.parent.filter(|_| level > 0);
            self.turns.pass_on(lender, level, usize::from(leaf.priority), index);
        }
    }

    /// The lender and all above it pay from their rates; all pay from their ceilings (htb_charge_class).
    fn charge(&mut self, leaf: usize, level: usize, size: Bytes, now: Time) {
        let mut at = Some(leaf);
        while let Some(index) = at {
            let class = &mut self.classes[index];
            if class.level >= level {
                class.lent += u64::from(class.level == level);
                class.rate.overdraw(now, size);
            } else {
                class.borrowed += 1;
            }
            class.ceiling.overdraw(now, size);
            at = class.parent;
        }
    }

    fn leaves_mut(&mut self) -> impl Iterator<Item = &mut Leaf> {
        self.classes.iter_mut().filter_map(|class| class.leaf.as_mut())
    }

    /// Removes the packets for which `wanted` is true, class by class.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        self.leaves_mut().flat_map(|leaf| leaf.queue.take(wanted)).collect()
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        for leaf in self.leaves_mut() {
            leaf.counts.on_warmup_end();
            leaf.queue.on_warmup_end(now);
        }
        self.classes.iter_mut().for_each(|class| (class.lent, class.borrowed) = (0, 0));
    }

    /// A flow has measured a delay.
    pub(super) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        self.leaves_mut().for_each(|leaf| leaf.queue.on_delay(now, flow, delay));
    }

    /// What it counted until now.
    pub(super) fn report(&mut self, now: Time) -> QueueReport {
        QueueReport::Htb { classes: self.classes.iter_mut().map(|class| class.report(now)).collect() }
    }

    pub(super) fn packets(&self) -> u64 {
        self.classes.iter().filter_map(|class| class.leaf.as_ref()).map(|leaf| leaf.queue.packets()).sum()
    }

    pub(super) fn bytes(&self) -> Bytes {
        let leaves = self.classes.iter().filter_map(|class| class.leaf.as_ref());
        leaves.fold(Bytes::ZERO, |sum, leaf| sum + leaf.queue.bytes())
    }
}

impl Class {
    fn report(&mut self, now: Time) -> HtbClassReport {
        let none = ClassCounts::default();
        let counts = self.leaf.as_ref().map_or(&none, |leaf| &leaf.counts);
        let [delay_mean_s, delay_p50_s, delay_p99_s, delay_max_s] = counts.delays_s();
        HtbClassReport {
            class: self.name.clone(),
            packets: counts.packets,
            bytes: counts.bytes.0,
            delay_mean_s,
            delay_p50_s,
            delay_p99_s,
            delay_max_s,
            drops: counts.drops,
            marks: counts.marks,
            lent: self.lent,
            borrowed: self.borrowed,
            queue: self.leaf.as_mut().and_then(|leaf| leaf.queue.report(now)),
        }
    }
}

#[cfg(test)]
mod tests;
