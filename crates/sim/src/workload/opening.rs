//! How flows of workloads come into being: what they transfer between which nodes, what carries them, and the slot that they take.

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};

use super::arrivals::Arrivals;
use super::{MOST_FLOWS, Phase, Slot, State, Workload, Workloads};
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::flow_ends::FlowEnds;
use crate::host::Hosts;
use crate::host::app::command::End;
use crate::host::app::plans::client_of;
use crate::host::foreign::Foreign;
use crate::host::transport::Carrier;
use crate::ids::{FlowId, NodeId};
use crate::network::Network;

/// Flows of workloads that may exist at once.
pub(super) const MOST_ALIVE: usize = 100_000;
/// Those of whole transports: each end is a state in the library.
const MOST_NATIVE: u32 = 1_000;

impl Workloads {
    /// A flow arrives. True if flows chosen for the summary are no longer.
    pub(crate) fn on_arrival(
        &mut self,
        ctx: &mut Context,
        network: &mut Network,
        hosts: &mut Hosts,
        index: usize,
    ) -> bool {
        let Workload { def, state, .. } = &self.all[index];
        if def.count.is_some_and(|most| state.arrived >= most) {
            return false;
        }
        if let Some(message) = self.limit(ctx.now, index) {
            return self.stop(ctx, message);
        }
        let workload = &mut self.all[index];
        let (ends, size) = workload.draw();
        let is_plain = workload.def.app.is_plain();
        let serial = FlowId(self.next_serial);
        let ideal = network
            .ideal_completion(ctx.now, serial, ends, size, &workload.transfer)
            .filter(|_| is_plain && !workload.is_native());
        let id = self.free.pop().unwrap_or(FlowId((self.listed + self.slots.len()) as u32));
        self.next_serial += 1;
        let [source, sink] = ends;
        let (priority, dscp, group) = (workload.priority, workload.dscp, workload.group);
        self.native += u32::from(workload.is_native());
        let seed = workload.streams.app.next_u64();
        let rng = (!is_plain).then(|| Rng::stream(workload.streams.app.next_u64(), "app"));
        let app = workload.def.app.of_size(size);
        let carrier = workload.carrier(seed, serial, ends, client_of(&app));
        ctx.open(id, FlowEnds { source, sink, priority, dscp, group, serial }, carrier.protocol());
        match rng {
            None => hosts.open(id, ends, size, carrier),
            Some(rng) => hosts.open_conversation(id, ends, &app, carrier, rng),
        }
        let counts = (self.counted[0]..self.counted[1]).contains(&ctx.now);
        let slot = Slot { phase: Phase::Alive, workload: index as u32, serial, start: ctx.now, size, ideal, counts };
        match self.slots.get_mut(id.index() - self.listed) {
            Some(before) => *before = slot,
            None => self.slots.push(slot),
        }
        workload.on_arrival(size, counts);
        self.count_alive(ctx.now, index);
        if ctx.is_other_part(source) {
            hosts.flows[id.index()].started = true;
        } else {
            hosts.on_app(ctx, network, id);
        }
        if !matches!(self.all[index].arrivals, Arrivals::Closed { .. }) {
            self.schedule(ctx, index, ctx.now);
        }
        counts && self.recorder.on_arrival(serial)
    }

    /// Why no further flow of workload `index` may come, if none may.
    fn limit(&self, now: Time, index: usize) -> Option<String> {
        let workload = &self.all[index];
        if self.next_serial >= MOST_FLOWS {
            return Some(format!("too_many_flows: {MOST_FLOWS} flows have arrived"));
        }
        let most = if workload.is_native() && self.native >= MOST_NATIVE {
            format!("{MOST_NATIVE} flows with a transport in a library")
        } else if self.slots.len() - self.free.len() >= MOST_ALIVE {
            format!("{MOST_ALIVE} flows")
        } else {
            return None;
        };
        let (name, now) = (&workload.def.name, now.as_secs_f64());
        Some(format!(
            "too_many_alive: {most} exist at once at {now} s; workload {name:?} asks for more than the network carries"
        ))
    }

    /// Ends the run, which has exceeded a limit.
    #[cold]
    fn stop(&mut self, ctx: &mut Context, message: String) -> bool {
        if self.exceeded.is_none() {
            ctx.schedule(ctx.now, Event::Stop);
        }
        self.exceeded.get_or_insert(message);
        false
    }
}

impl Workload {
    /// What carries the next flow, `serial`, which `client` opens; our TCP with this seed.
    fn carrier(&mut self, seed: u64, serial: FlowId, ends: [NodeId; 2], client: End) -> Carrier<'_> {
        let Some(native) = &self.def.transport else { return Carrier::Tcp(&self.config, seed) };
        let places = ends.map(|node| self.places[node.index()].as_str());
        let seeds = [(); 2].map(|()| self.streams.transport.next_u64());
        Carrier::Foreign(Box::new(Foreign::between(native, client, serial, ends, places, seeds)))
    }

    /// Ends and size of the next flow: what is listed of them, the rest drawn.
    fn draw(&mut self) -> ([NodeId; 2], Bytes) {
        let Workload { arrivals, ends, sizes, streams, .. } = self;
        let row = arrivals.take_row();
        // Drawn also where they are given, so that a row changes no other flow.
        let [from, to] = ends.draw(&mut streams.ends);
        let given = row.map(|row| [row.from.unwrap_or(from), row.to.unwrap_or(to)]);
        let drawn = sizes.as_mut().map(|sizes| sizes.draw(&mut streams.sizes));
        let size = row.and_then(|row| row.size).or(drawn);
        (given.unwrap_or([from, to]), size.expect("a workload without sizes has them in every row"))
    }

    fn on_arrival(&mut self, size: Bytes, counts: bool) {
        let State { arrived, arrived_bytes, classes, .. } = &mut self.state;
        *arrived += 1;
        *arrived_bytes += size;
        if counts {
            let class = &mut classes[self.def.class_of(size)];
            class.started += 1;
            class.bytes += size.0;
        }
    }
}
