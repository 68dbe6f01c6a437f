//! The order of flows after a run in several parts ([`crate::parallel`]).

use super::Workloads;
use crate::ids::FlowId;

impl Workloads {
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
