//! How flows of workloads come to an end and leave their slots, and which slots they have after a run in several parts
//! ([`crate::parallel`]).

use tcp::units::Time;

use super::arrivals::Arrivals;
use super::counts::finished;
use super::{Phase, Workloads};
use crate::engine::context::Context;
use crate::host::Hosts;
use crate::host::session::Session;
use crate::ids::FlowId;

impl Workloads {
    /// Follows a flow after an input; true if nothing can come for it any more, and its slot is to be released.
    pub(crate) fn follow(&mut self, ctx: &mut Context, hosts: &Hosts, id: FlowId) -> bool {
        let flow = &hosts.flows[id.index()];
        let is_closed = flow.is_closed();
        if self.slot(id).phase == Phase::Alive && (flow.ended_at.is_some() || is_closed) {
            self.on_over(ctx.now, hosts, id);
            let index = self.slot(id).workload as usize;
            if matches!(self.all[index].arrivals, Arrivals::Closed { .. }) {
                self.schedule(ctx, index, ctx.now);
            }
        }
        if !is_closed {
            return false;
        }
        let exists = ctx.flows[id.index()].tally.in_flight() > 0;
        let slot = &mut self.slots[id.index() - self.listed];
        if exists && slot.phase == Phase::Over {
            slot.phase = Phase::Lingering;
            self.lingering.push(id);
        }
        !exists && slot.phase != Phase::Free
    }

    /// The data of a flow is delivered, or TCP has given up.
    pub(crate) fn on_over(&mut self, now: Time, hosts: &Hosts, id: FlowId) {
        let slot = &mut self.slots[id.index() - self.listed];
        slot.phase = Phase::Over;
        let (slot, index) = (*slot, slot.workload as usize);
        self.alive.set(now, self.alive.value() - 1);
        let finished = finished(&slot, &hosts.flows[id.index()]);
        let own = hosts.session_of(id).filter(|_| finished.is_some()).and_then(Session::user_time_s);
        self.all[index].on_end(now, &slot, finished, own);
    }

    /// A flow whose last packet was dropped where no end saw it, if there is one.
    pub(crate) fn next_vanished(&mut self, ctx: &Context) -> Option<FlowId> {
        let (slots, listed) = (&self.slots, self.listed);
        self.lingering.retain(|id| slots[id.index() - listed].phase == Phase::Lingering);
        self.lingering.iter().find(|id| ctx.flows[id.index()].tally.in_flight() == 0).copied()
    }

    /// Frees the slot of a flow of which nothing exists any more; its counts go to its workload.
    pub(crate) fn release(&mut self, ctx: &mut Context, hosts: &mut Hosts, id: FlowId) {
        let slot = &mut self.slots[id.index() - self.listed];
        slot.phase = Phase::Free;
        self.free.push(id);
        let workload = &mut self.all[slot.workload as usize];
        self.native -= u32::from(workload.is_native());
        let state = &mut workload.state;
        // They start again when the next flow takes the slot.
        let metrics = &mut ctx.flows[id.index()];
        state.tally.merge(&std::mem::take(&mut metrics.tally));
        state.interval.merge(&metrics.interval);
        hosts.close_conversation(id);
        let flow = &mut hosts.flows[id.index()];
        state.read += std::mem::take(&mut flow.read);
        let totals = flow.totals();
        state.timeouts += u64::from(totals.timeouts);
        state.recoveries += u64::from(totals.recoveries);
    }

    /// Gives the flows in use these slots, in order, and nothing to others. Returns by slot until now the one from now on.
    pub(crate) fn reorder(&mut self, in_order: &[FlowId]) -> Vec<Option<FlowId>> {
        let mut now = vec![None; self.listed + self.slots.len()];
        (0..self.listed).for_each(|index| now[index] = Some(FlowId(index as u32)));
        for (place, id) in in_order.iter().enumerate() {
            now[id.index()] = Some(FlowId((self.listed + place) as u32));
        }
        self.slots = in_order.iter().map(|id| *self.slot(*id)).collect();
        (self.free, self.lingering) = (Vec::new(), Vec::new());
        now
    }
}
