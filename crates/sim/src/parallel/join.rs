//! The end of a run in parts: one world again, with what each part has of it.

use std::mem::swap;

use super::Undivided;
use super::flow_log::WorkloadLog;
use super::part::Part;
use super::plan::Division;
use super::replay::{Replayed, replay};
use crate::host::flow::Flow;
use crate::host::transport::Transport;
use crate::ids::{FlowId, NodeId};
use crate::packet::MovedPacket;
use crate::simulation::{Outcome, Simulation};
use crate::world::World;

impl Part {
    /// Ends the run: its results, from all parts in order.
    ///
    /// # Errors
    ///
    /// If it was only in one part that these results can be had.
    ///
    /// # Panics
    ///
    /// If an invariant is violated: that is a bug of the engine, never the user's fault.
    pub fn finish(mut parts: Vec<Part>) -> Result<Outcome, Undivided> {
        if parts[0].simulation.exceeded().is_some() {
            return Err(Undivided("more flows of a workload came than expected".into()));
        }
        let events = parts.iter().map(Part::events).sum();
        parts.iter_mut().for_each(|part| part.simulation.settle());
        let Part { simulation: mut first, division, log, .. } = parts.remove(0);
        let mut logs = vec![log];
        let mut others = Vec::with_capacity(parts.len());
        for Part { simulation, log, .. } in parts {
            logs.push(log);
            others.push(simulation);
        }
        let mut joined = Joined { division, whole: &mut first.world, others };
        joined.join_links();
        joined.join_flows();
        let log = joined.join_logs(logs);
        let packets = joined.take_packets();
        let Some(Replayed { recorded, numbers }) = replay(&mut first.world, &log) else {
            let reason = "a flow of a workload ended in a way of which only one part can tell when";
            return Err(Undivided(reason.into()));
        };
        put_packets(&mut first.world, packets, &numbers);
        first.recorded = recorded;
        first.world.ctx.events = events;
        Ok(first.summarize())
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
    /// Each link is that of its near end, with what its far ends have; each node that of its own part.
    fn join_links(&mut self) {
        for index in 0..self.whole.network.links.len() {
            let near = self.division.part_of(self.whole.network.links[index].from);
            if near > 0 {
                swap(&mut self.whole.network.links[index], &mut self.others[near - 1].world.network.links[index]);
            }
            let link = &mut self.whole.network.links[index];
            if link.upstream.leaves {
                link.join(self.others.iter().map(|other| &other.world.network.links[index]));
            }
        }
        for index in 0..self.whole.network.nodes.len() {
            let part = self.division.part_of(NodeId(index as u32));
            if part > 0 {
                let theirs = &self.others[part - 1].world.network;
                self.whole.network.nodes[index] = theirs.nodes[index];
                if let (Some(mine), Some(theirs)) = (&mut self.whole.network.shared_buffers, &theirs.shared_buffers) {
                    mine.take(NodeId(index as u32), theirs);
                }
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

    /// What is known of each flow of a workload: its ends where they are, the last packet wherever it was.
    fn join_logs(&self, logs: Vec<WorkloadLog>) -> WorkloadLog {
        let listed = self.whole.workloads.listed();
        let mut joined = logs[0].clone();
        for (index, flow) in self.whole.hosts.flows.iter().skip(listed).enumerate() {
            for (part, log) in logs.iter().enumerate() {
                let ends = [flow.source, flow.sink].map(|node| self.division.part_of(node) == part);
                joined.flows[index].join(&log.flows[index], ends);
            }
        }
        joined
    }

    /// The packets of all parts.
    fn take_packets(&mut self) -> Vec<MovedPacket> {
        let mut packets = self.whole.ctx.packets.take_all();
        for other in &mut self.others {
            packets.extend(other.world.ctx.packets.take_all());
        }
        packets
    }
}

/// All packets exist in one store, for flows with these numbers. Queues and links know how many they hold, and nobody asks them any
/// more which.
fn put_packets(world: &mut World, packets: Vec<MovedPacket>, numbers: &[Option<FlowId>]) {
    for mut packet in packets {
        let to = packet.receiver();
        let flow = numbers[to.flow().index()].expect("a flow that is over has no packets");
        packet.rename_receiver(if to.is_source() { flow.source() } else { flow.sink() });
        world.ctx.packets.put_back(packet);
    }
}

/// Takes the state of the sink of a flow.
fn take_sink(flow: &mut Flow, other: &mut Flow) {
    (flow.read, flow.first_byte_at, flow.highest_answered, flow.needless) =
        (other.read, other.first_byte_at, other.highest_answered, other.needless);
    if let (Transport::Tcp(mine), Transport::Tcp(theirs)) = (&mut flow.transport, &mut other.transport) {
        // The sink of a connection knows when it has read all, the source of datagrams when it has sent the last.
        flow.ended_at = other.ended_at;
        swap(&mut mine[1], &mut theirs[1]);
    }
}
