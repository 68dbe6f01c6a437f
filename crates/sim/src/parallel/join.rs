//! The end of a run in parts: one world again, with what each part has of it.

use std::mem::swap;

use super::part::Part;
use super::plan::Division;
use crate::host::flow::{Flow, Transport};
use crate::ids::NodeId;
use crate::simulation::{Outcome, Simulation};
use crate::world::World;

impl Part {
    /// Ends the run: its results, from all parts in order.
    ///
    /// # Panics
    ///
    /// If an invariant is violated: that is a bug of the engine, never the user's fault.
    pub fn finish(mut parts: Vec<Part>) -> Outcome {
        let events = parts.iter().map(Part::events).sum();
        parts.iter_mut().for_each(|part| part.simulation.settle());
        let Part { simulation: mut first, division, .. } = parts.remove(0);
        let others = parts.into_iter().map(|part| part.simulation).collect();
        let mut joined = Joined { division, whole: &mut first.world, others };
        joined.join_links();
        joined.join_flows();
        joined.join_packets();
        first.world.ctx.events = events;
        first.summarize()
    }
}

/// The world of the first part, which becomes the whole, and the others.
struct Joined<'a> {
    division: Division,
    whole: &'a mut World,
    others: Vec<Simulation>,
}

/// Where the two parts of something are after that of `[owner, other]` has changed places with that of the first part.
fn place_of([owner, other]: [usize; 2]) -> usize {
    if other == 0 { owner - 1 } else { other - 1 }
}

impl Joined<'_> {
    /// Each link is that of its near end, with what its far end has; each node that of its own part.
    fn join_links(&mut self) {
        for index in 0..self.whole.network.links.len() {
            let link = &self.whole.network.links[index];
            let [near, far] = self.division.ends_of(link);
            if near > 0 {
                swap(&mut self.whole.network.links[index], &mut self.others[near - 1].world.network.links[index]);
            }
            if near != far {
                let far = &self.others[place_of([near, far])].world.network.links[index];
                self.whole.network.links[index].join(far);
            }
        }
        for index in 0..self.whole.network.nodes.len() {
            let part = self.division.part_of(NodeId(index as u32));
            if part > 0 {
                self.whole.network.nodes[index] = self.others[part - 1].world.network.nodes[index];
            }
        }
    }

    /// Each flow is that of its source, with its receiver and its metrics from its sink, and what other parts have counted.
    fn join_flows(&mut self) {
        for index in 0..self.whole.hosts.flows.len() {
            let flow = &self.whole.hosts.flows[index];
            let [source, sink] = [flow.source, flow.sink].map(|node| self.division.part_of(node));
            if source > 0 {
                swap(&mut self.whole.hosts.flows[index], &mut self.others[source - 1].world.hosts.flows[index]);
            }
            if source != sink {
                let other = &mut self.others[place_of([source, sink])].world.hosts.flows[index];
                take_sink(&mut self.whole.hosts.flows[index], other);
            }
            if sink > 0 {
                swap(&mut self.whole.ctx.flows[index], &mut self.others[sink - 1].world.ctx.flows[index]);
            }
            for other in &self.others {
                self.whole.ctx.flows[index].join(&other.world.ctx.flows[index]);
            }
        }
        for index in 0..self.whole.hosts.sessions.len() {
            // Both ends of all of its connections are in one part.
            let first = self.whole.hosts.sessions[index].flows[0];
            let part = self.division.part_of(self.whole.hosts.flows[first.index()].source);
            if part > 0 {
                swap(&mut self.whole.hosts.sessions[index], &mut self.others[part - 1].world.hosts.sessions[index]);
            }
        }
    }

    /// All packets exist in one store. Queues and links know how many they hold, and nobody asks them any more which.
    fn join_packets(&mut self) {
        for other in &mut self.others {
            for packet in other.world.ctx.packets.take_all() {
                self.whole.ctx.packets.put_back(packet);
            }
        }
    }
}

/// Takes the state of the sink of a flow.
fn take_sink(flow: &mut Flow, other: &mut Flow) {
    (flow.read, flow.first_byte_at, flow.highest_answered) = (other.read, other.first_byte_at, other.highest_answered);
    if let (Transport::Tcp(mine), Transport::Tcp(theirs)) = (&mut flow.transport, &mut other.transport) {
        // The sink of a connection knows when it has read all, the source of datagrams when it has sent the last.
        flow.ended_at = other.ended_at;
        swap(&mut mine[1], &mut theirs[1]);
    }
}
