//! Flows that the scenario lists or generates, one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use tcp::rng::Rng;
use tcp::settings::Headers;
use tcp::units::{Bytes, Time};
use tcp::{Ecn, TcpConfig};

use super::applications;
use super::names::find_node;
use crate::engine::flow_ends::FlowEnds;
use crate::expand::transport_of;
use crate::host::app::member::Member;
use crate::host::app::{App, plans};
use crate::host::flow::{Flow, SinkAgent};
use crate::host::foreign::Foreign;
use crate::host::transport::Transport;
use crate::ids::{FlowId, NodeId};
use crate::network::Network;
use crate::scenario::{AppDef, DatagramEcn, FlowDef, PriorityDef, Scenario, ScenarioError, TransportDef, join};

/// What queues may ask about a flow.
pub(super) fn ends_of(def: &FlowDef, flow: &Flow, group: u16, serial: FlowId) -> FlowEnds {
    let priority = def.priority.unwrap_or(PriorityDef::DEFAULT_BAND);
    FlowEnds { source: flow.source, sink: flow.sink, priority, dscp: def.code_point(), group, serial }
}

/// The part that a connection has in the conversation of an application.
pub(super) fn member_of(def: &AppDef, session: usize, connection: usize) -> App {
    let (client, has_end) = (plans::client_of(def), plans::has_end(def));
    App::Conversation(Box::new(Member::new(session, connection, client, has_end)))
}

/// What distinguishes the connections of an application.
pub(super) struct FlowParts {
    pub(super) id: FlowId,
    pub(super) source: NodeId,
    pub(super) app: App,
    pub(super) rng: Rng,
    /// Of the ends of a whole transport.
    pub(super) seeds: Option<[u64; 2]>,
}

pub(super) fn build_flow(
    graph: &Scenario,
    def: &FlowDef,
    parts: FlowParts,
    common: &Arc<TcpConfig>,
    path: &str,
    names: &BTreeMap<&str, NodeId>,
) -> Result<Flow, ScenarioError> {
    let FlowParts { id, source, app, mut rng, seeds } = parts;
    let sink = find_node(names, &def.to, &join(path, "to"))?;
    if source == sink {
        return Err(ScenarioError::new(join(path, "to"), format!("{:?} would send to itself", def.to)));
    }
    let (mut headers, mut fill) = (Headers::Options, Bytes(1));
    let client = plans::client_of(&def.app);
    let transport = match (&def.transport, transport_of(&def.app)) {
        (Some(native), _) => {
            let seeds = seeds.expect("a flow with a whole transport has its seeds");
            let places = [source, sink].map(|node| graph.node[node.index()].name.as_str());
            Transport::Foreign(Box::new(Foreign::between(native, client, id, [source, sink], places, seeds)))
        }
        (None, TransportDef::Udp) => Transport::Udp,
        (None, TransportDef::Tcp) => {
            let own = !def.tcp.is_empty();
            let config = if own { Arc::new(def.tcp.resolve(&join(path, "tcp"))?) } else { common.clone() };
            (headers, fill) = (config.headers(), config.write_unit());
            Transport::connection(&config, rng.next_u64(), client)
        }
    };
    Ok(Flow {
        headers,
        sink_agent: if def.silent { SinkAgent::Silent } else { SinkAgent::Own },
        datagram_ecn: match def.app.datagrams().ecn.unwrap_or_default() {
            DatagramEcn::Off => Ecn::NotEct,
            DatagramEcn::Ect0 => Ecn::Ect0,
            DatagramEcn::L4s => Ecn::Ect1,
        },
        on_full: applications::on_full_of(&def.app),
        stop: def.stop.filter(|stop| *stop < graph.duration).map(|stop| Time::ZERO + stop),
        ..Flow::new([source, sink], app.with_writes_of(fill), transport, id)
    })
}

pub(super) fn check_path(
    network: &Network,
    flow: &Flow,
    id: FlowId,
    def: &FlowDef,
    path: &str,
) -> Result<(), ScenarioError> {
    let (source, sink) = (flow.source, flow.sink);
    // With radio a flow without a path is a result, not an error.
    if network.has_radio(source) || network.has_radio(sink) {
        return Ok(());
    }
    if !network.has_path(source, sink, id.sink()) || !network.has_path(sink, source, id.source()) {
        let message = format!("no path from {:?} to {:?} and back", def.from, def.to);
        return Err(
            ScenarioError::new(join(path, "to"), message).with_hint("add a link, or check link.from and link.to")
        );
    }
    Ok(())
}
