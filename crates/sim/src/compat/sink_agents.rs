//! Sink agents that several flows share, as scripts of ns-2 have them.

use std::collections::BTreeMap;

use crate::host::flow::{Flow, SinkAgent};
use crate::host::transport::Transport;
use crate::ids::FlowId;
use crate::scenario::{FlowDef, ScenarioError};

/// Gives the flows with one sink agent the receiver of the last of them, whose sender gets all ACKs.
///
/// # Errors
///
/// A flow with datagrams, and flows that end at different nodes.
pub(super) fn join(defs: &[FlowDef], flows: &mut [Flow]) -> Result<(), ScenarioError> {
    let mut last: BTreeMap<&str, FlowId> = BTreeMap::new();
    for (index, def) in defs.iter().enumerate() {
        let Some(name) = &def.sink_agent else { continue };
        let path = format!("flow[{index}].sink_agent");
        if matches!(flows[index].transport, Transport::Udp) {
            return Err(ScenarioError::new(path, format!("{name:?} would acknowledge datagrams"))
                .with_hint("a sink agent is for flows with TCP"));
        }
        if def.silent {
            return Err(ScenarioError::new(path, format!("{name:?} acknowledges, a silent sink does not"))
                .with_hint("leave out sink_agent or silent"));
        }
        if let Some(before) = last.insert(name, FlowId(index as u32))
            && flows[before.index()].sink != flows[index].sink
        {
            let other = &defs[before.index()].to;
            return Err(ScenarioError::new(path, format!("{name:?} is at {other:?}, this flow ends at {:?}", def.to))
                .with_hint("one sink agent is at one node"));
        }
    }
    for (index, (flow, def)) in flows.iter_mut().zip(defs).enumerate() {
        let receiver = def.sink_agent.as_deref().and_then(|name| last.get(name));
        if let Some(receiver) = receiver.filter(|receiver| receiver.index() != index) {
            flow.sink_agent = SinkAgent::Of(*receiver);
        }
    }
    Ok(())
}
