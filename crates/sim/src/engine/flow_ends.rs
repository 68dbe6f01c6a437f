//! What queues and links ask of the flow of a packet.

use crate::ids::{EndpointId, FlowId, NodeId};
use crate::scenario::{Dscp, PriorityDef};

/// The nodes of a flow, and what it asks of queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEnds {
    pub(crate) source: NodeId,
    pub(crate) sink: NodeId,
    /// Its band where priorities go by flow.
    pub(crate) priority: u8,
    pub(crate) dscp: Dscp,
    /// Its group where classes of shapers tell flows apart; 0 where none does.
    pub(crate) group: u16,
    /// The flow as everything outside names it: its index among listed flows, else a number that no other flow ever has.
    pub(crate) serial: FlowId,
}

impl FlowEnds {
    /// Of a flow that packets from outside may open.
    pub(crate) fn unopened([source, sink]: [NodeId; 2], serial: FlowId) -> FlowEnds {
        let priority = PriorityDef::DEFAULT_BAND;
        FlowEnds { source, sink, priority, dscp: Dscp::default(), group: 0, serial }
    }

    /// The node that sends what `to` receives.
    pub(crate) fn source_of(self, to: EndpointId) -> NodeId {
        if to.is_source() { self.sink } else { self.source }
    }
}
