//! Which nodes a part has.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};

use super::Undivided;
use super::groups::{Groups, summed};
use crate::host::app::App;
use crate::ids::{FlowId, NodeId};
use crate::link::{Link, LinkChange};
use crate::simulation::Simulation;
use crate::workload::Workload;
use crate::workload::arrivals::Arrivals;
use crate::world::{Change, World};

/// What a packet costs at each node that it leaves, and at its source and its sink; what it costs to hand one to another part. In a
/// unit of its own: instructions of the engine give about these ratios.
const HOP: u64 = 2;
const END: u64 = 8;
const CROSSING: u64 = 1;

/// Flows of workloads that parts keep.
const MOST_FLOWS: f64 = 50_000.0;

/// Hops that are counted to know where the load is; flows are then taken from all of them at equal distances.
const MOST_HOPS: usize = 1 << 22;

/// Delays that are tried as lookahead.
const DELAYS: usize = 12;

/// The nodes of each part of a world, and how far parts may simulate without each other.
#[derive(Clone, Debug)]
pub struct Division {
    /// By node.
    part_of: Vec<u32>,
    parts: usize,
    lookahead: Span,
}

impl Division {
    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// How far a part may simulate beyond what all others have.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }

    pub(super) fn part_of(&self, node: NodeId) -> usize {
        self.part_of[node.index()] as usize
    }

    /// True if a link leads from one part to another.
    pub(super) fn is_between(&self, link: &Link) -> bool {
        let near = self.part_of(link.from);
        link.far_ends().into_iter().any(|far| self.part_of(far) != near)
    }
}

impl Simulation {
    /// Divides the world of a run that has not begun into at most so many parts. `may_go_on` is asked now and then.
    ///
    /// # Errors
    ///
    /// If it cannot be divided, or would not gain, or may not go on; the run is then one of one part.
    pub fn divide(&self, parts: usize, mut may_go_on: impl FnMut() -> bool) -> Result<Division, Undivided> {
        let world = &self.world;
        if let Some(reason) = obstacle(world) {
            return Err(Undivided(reason.into()));
        }
        let delays: Vec<Option<Span>> = dividing_delays(world);
        let load = Load::of(world);
        let mut lookaheads: Vec<Span> = delays.iter().copied().flatten().collect();
        lookaheads.sort_unstable();
        lookaheads.dedup();
        lookaheads.reverse();
        let step = lookaheads.len().div_ceil(DELAYS).max(1);
        let tried = lookaheads.iter().step_by(step).map(|lookahead| load.divided(world, &delays, *lookahead, parts));
        // Long windows need few barriers: the longest is taken that loads the parts about evenly.
        let fair = load.total() / parts as u64;
        let mut best: Option<(u64, Division)> = None;
        for found in tried {
            if !may_go_on() {
                return Err(Undivided("it was interrupted".into()));
            }
            let Some((cost, division)) = found else { continue };
            let is_even = cost <= fair + fair / 4;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, division));
            }
            if is_even {
                break;
            }
        }
        let gain = best.filter(|(cost, _)| *cost < load.total());
        gain.map(|(_, division)| division).ok_or_else(|| {
            Undivided(
                "no links with a constant delay divide its nodes into parts that could work at the same time".into(),
            )
        })
    }
}

/// What keeps a world in one part.
fn obstacle(world: &World) -> Option<&'static str> {
    let World { ctx, network, workloads, series, .. } = world;
    let obstacles = [
        (!network.channels.is_empty(), "stations of a radio channel hear each other at once"),
        (workloads.all.iter().any(is_answered), "users and answers of a workload wait for its flows"),
        (
            expected_flows(world) > MOST_FLOWS,
            "so many flows of workloads would not fit: each part keeps them to the end",
        ),
        (series.next_sample().is_some() || series.samples_flow_changes(), "series are sampled in one part"),
        (ctx.order.is_some(), "the order of packets is measured where links change it"),
        (ctx.keeps_doubles(), "time is kept in doubles"),
        (!world.probes.is_empty(), "a shaper's controller measures delays of a flow elsewhere"),
        (has_transport(world), "a transport in a library runs in one part"),
        (ctx.waits.is_some(), "waits of single flows are recorded in one part"),
        (ctx.sink.is_some(), "its packets are watched in their order"),
    ];
    obstacles.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

/// True if a whole transport carries flows.
fn has_transport(world: &World) -> bool {
    world.hosts.flows.iter().any(|flow| flow.foreign().is_some()) || world.workloads.all.iter().any(Workload::is_native)
}

/// True if arrivals wait for flows that have ended, or the sinks of flows answer.
fn is_answered(workload: &Workload) -> bool {
    matches!(workload.arrivals, Arrivals::Closed { .. }) || !workload.def.app.is_plain()
}

/// Flows of workloads that will arrive, about.
fn expected_flows(world: &World) -> f64 {
    let expected = |workload: &Workload| {
        let duration = world.resolved.duration;
        let open = workload.def.stop.unwrap_or(duration).min(duration).saturating_sub(workload.def.start);
        let arriving = match &workload.arrivals {
            Arrivals::Listed { rows, .. } => rows.len() as f64,
            _ => workload.rate.unwrap_or_default() * open.as_secs_f64(),
        };
        workload.def.count.map_or(arriving, |count| arriving.min(count as f64))
    };
    world.workloads.all.iter().map(expected).sum()
}

/// By link: the least delay that it ever has, if it may join two parts.
fn dividing_delays(world: &World) -> Vec<Option<Span>> {
    let end = Time::ZERO + world.resolved.duration;
    let mut delays: Vec<Option<Span>> = world.network.links.iter().map(|link| link.dividing_delay(end)).collect();
    for change in &world.changes {
        if let Change::Link { link, change, .. } = change {
            let delay = &mut delays[link.index()];
            *delay = match change {
                LinkChange::Delay(new) | LinkChange::Path(new) => delay.map(|delay| delay.min(*new)),
                LinkChange::Rate(_) => *delay,
                // What is in flight is lost, and the near end knows at once how much that is.
                LinkChange::Up | LinkChange::Down => None,
            };
        }
    }
    delays.into_iter().map(|delay| delay.filter(|delay| *delay > Span::ZERO)).collect()
}

/// How much there is to do at each node and over each link, if every flow does as much as any other.
struct Load {
    nodes: Vec<u64>,
    /// By node and next node.
    between: BTreeMap<[usize; 2], u64>,
}

impl Load {
    fn of(world: &World) -> Load {
        let mut load = Load { nodes: vec![1; world.network.nodes.len()], between: BTreeMap::new() };
        let listed = world.hosts.flows.iter().map(|flow| [flow.source, flow.sink]);
        // A flow between each pair of nodes, as if each were as likely.
        let pairs = world.workloads.all_ends(Vec::new()).unwrap_or_default();
        let ends: Vec<[NodeId; 2]> = listed.chain(pairs.into_iter().map(|(source, sink)| [source, sink])).collect();
        // Every `apart`-th flow first, then those between: where hops are too many, the flows that count are spread evenly.
        let apart = (1 << (ends.len().max(1).ilog2() / 2)).max(1);
        let mut hops = 0;
        for index in (0..apart).flat_map(|first| (first..ends.len()).step_by(apart)) {
            if hops >= MOST_HOPS {
                break;
            }
            hops += load.add(world, ends[index], FlowId(index as u32));
        }
        load
    }

    /// Adds a flow; returns how many hops its packets and their ACKs take.
    fn add(&mut self, world: &World, [source, sink]: [NodeId; 2], id: FlowId) -> usize {
        let mut hops = 0;
        self.nodes[source.index()] += END;
        self.nodes[sink.index()] += END;
        for (from, to, receiver) in [(source, sink, id.sink()), (sink, source, id.source())] {
            let mut here = from;
            for _ in 0..world.network.nodes.len() {
                let Some(link) = world.network.next_link(here, to, receiver).filter(|_| here != to) else { break };
                self.nodes[here.index()] += HOP;
                let next = world.network.links[link.index()].to.unwrap_or(to);
                *self.between.entry([here.index(), next.index()]).or_default() += CROSSING;
                here = next;
                hops += 1;
            }
        }
        hops
    }

    fn total(&self) -> u64 {
        self.nodes.iter().sum()
    }

    /// The division whose parts meet at links with at least this delay, and what its heaviest part costs.
    fn divided(&self, world: &World, delays: &[Option<Span>], least: Span, parts: usize) -> Option<(u64, Division)> {
        let mut together = Together::new(self.nodes.len());
        let links = &world.network.links;
        for (link, _) in links.iter().zip(delays).filter(|(_, delay)| delay.is_none_or(|delay| delay < least)) {
            link.far_ends().into_iter().for_each(|far| together.join([link.from.index(), far.index()]));
        }
        for flow in world.hosts.flows.iter().filter(|flow| matches!(flow.app, App::Conversation(_))) {
            together.join([flow.source.index(), flow.sink.index()]);
            together.join([flow.source.index(), world.hosts.flows[flow.owner.index()].source.index()]);
        }
        let of = together.groups();
        let between = self.between.iter().map(|(ends, load)| (*ends, *load));
        let between = between.map(|([from, to], load)| ([of[from], of[to]], load));
        let groups = Groups::new(summed(&self.nodes, &of), between);
        let mut split = groups.split(parts);
        let count = number_in_order(&mut split);
        if count < 2 {
            return None;
        }
        let part_of: Vec<u32> = of.iter().map(|group| split[*group] as u32).collect();
        let cost = groups.cost(&split, count);
        let mut division = Division { part_of, parts: count, lookahead: Span::ZERO };
        let between = links.iter().zip(delays).filter(|(link, _)| division.is_between(link));
        division.lookahead = between.filter_map(|(_, delay)| *delay).min()?;
        Some((cost, division))
    }
}

/// Gives the groups that occur the numbers from 0 on, in their order; returns how many there are.
fn number_in_order(groups: &mut [usize]) -> usize {
    let mut used: Vec<usize> = groups.to_vec();
    used.sort_unstable();
    used.dedup();
    for group in groups.iter_mut() {
        *group = used.binary_search(group).unwrap_or_default();
    }
    used.len()
}

/// Nodes that belong together.
struct Together(Vec<usize>);

impl Together {
    fn new(nodes: usize) -> Together {
        Together((0..nodes).collect())
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, nodes: [usize; 2]) {
        let [one, other] = nodes.map(|node| self.root(node));
        self.0[one.max(other)] = one.min(other);
    }

    /// By node: the number of its group, from 0 on.
    fn groups(mut self) -> Vec<usize> {
        let mut roots: Vec<usize> = (0..self.0.len()).map(|node| self.root(node)).collect();
        number_in_order(&mut roots);
        roots
    }
}
