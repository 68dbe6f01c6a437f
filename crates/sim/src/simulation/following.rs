//! What the loop does for flows after an input: samples of their senders, and flows of workloads, which come and go.

use super::Simulation;
use crate::ids::FlowId;
use crate::summary;
use crate::world::World;

impl Simulation {
    /// Samples a flow after an input, if the scenario asks for it.
    #[inline]
    pub(super) fn on_flow_change(&mut self, id: FlowId) {
        if self.watches_flows {
            self.after_change(id);
        }
    }

    #[inline(never)]
    fn after_change(&mut self, id: FlowId) {
        let World { ctx, hosts, series, workloads, .. } = &mut self.world;
        if let Some(outbox) = &mut ctx.outbox {
            // What has become of a flow with its ends in two parts is found out when the run is over.
            outbox.inputs.push(id);
        } else if workloads.is_listed(id) {
            if series.samples_flow_changes() {
                series.on_change(ctx.now, id, &hosts.flows[id.index()], &ctx.flows[id.index()]);
            }
        } else if !workloads.is_under_way(hosts, id) {
            self.follow(id);
        }
    }

    /// Follows a flow of a workload that has come to an end of its data, or to its own.
    #[inline(never)]
    fn follow(&mut self, id: FlowId) {
        let World { ctx, hosts, workloads, .. } = &mut self.world;
        if workloads.follow(ctx, hosts, id) {
            self.release(id);
        }
    }

    /// A flow of a workload arrives.
    #[inline(never)]
    pub(super) fn on_arrival(&mut self, index: usize) {
        while let Some(id) = self.world.workloads.next_vanished(&self.world.ctx) {
            self.release(id);
        }
        let World { ctx, network, hosts, workloads, .. } = &mut self.world;
        if workloads.on_arrival(ctx, network, hosts, index) {
            self.recorded.retain(|serial, _| workloads.recorder.has(*serial));
        }
    }

    /// Nothing of a flow of a workload exists any more.
    fn release(&mut self, id: FlowId) {
        let serial = self.world.workloads.slot(id).serial;
        if self.world.workloads.recorder.has(serial) {
            self.recorded.insert(serial, Box::new(summary::of_transfer(&mut self.world, id, 0)));
        }
        let World { ctx, hosts, workloads, .. } = &mut self.world;
        workloads.release(ctx, hosts, id);
    }

    /// Why the run has ended before its time, if it has: more flows exist than may.
    pub fn exceeded(&self) -> Option<&str> {
        self.world.workloads.exceeded.as_deref()
    }
}
