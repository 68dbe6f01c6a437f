//! Flows of workloads, which come and go: each takes a slot, and the memory of the connection that was there before.

use tcp::TcpConfig;
use tcp::units::Bytes;

use crate::host::Hosts;
use crate::host::flow::{Flow, Transport};
use crate::ids::{FlowId, NodeId};

impl Hosts {
    /// A flow of a workload takes the slot `id`: `size` bytes over a connection of its own.
    pub(crate) fn open(&mut self, id: FlowId, ends: [NodeId; 2], size: Bytes, config: TcpConfig) {
        match self.flows.get_mut(id.index()) {
            Some(slot) => {
                let before = std::mem::replace(&mut slot.transport, Transport::Udp);
                *slot = Flow::transfer(ends, size, config, id, before);
            }
            None => self.flows.push(Flow::transfer(ends, size, config, id, Transport::Udp)),
        }
    }
}
