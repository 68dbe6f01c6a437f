//! Applications: their state, and the nodes of their connections.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tcp::rng::Rng;

use super::names::{find_node, matches};
use crate::expand::{connections_of, interval_nanos};
use crate::host::app::plans::period_of;
use crate::host::app::script::{Entry, Script};
use crate::host::app::{Activity, App, Phases, Ticks};
use crate::host::flow::OnFull;
use crate::ids::NodeId;
use crate::scenario::{AppDef, FlowDef, Full, PageDef, PageProtocol, Scenario, ScenarioError, ScriptWrite, join};

/// The source of each connection of a flow; there is one at least.
pub(super) fn sources(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    def: &FlowDef,
    path: &str,
) -> Result<Vec<NodeId>, ScenarioError> {
    let AppDef::Incast(incast) = &def.app else {
        // A whole transport carries all over one.
        let one = def.transport.is_some();
        let connections = if one { 1 } else { connections_of(&def.app, 0, graph.duration) as usize };
        return Ok(vec![find_node(names, &def.from, &join(path, "from"))?; connections]);
    };
    let is_server = |name: &str| names.contains_key(name) && name != def.to && matches(&def.from, name);
    let nodes = graph.node.iter().enumerate().filter(|(_, node)| is_server(&node.name));
    let mut servers: Vec<NodeId> = nodes.map(|(index, _)| NodeId(index as u32)).collect();
    if servers.is_empty() {
        return Err(match find_node(names, &def.from, &join(path, "from")) {
            Ok(_) => ScenarioError::new(join(path, "to"), format!("{:?} would send to itself", def.to)),
            Err(error) => error,
        });
    }
    let wanted = incast.servers.map_or(servers.len(), |servers| servers as usize);
    if wanted > servers.len() {
        let message = format!("{wanted} servers, but from = {:?} names {} nodes", def.from, servers.len());
        return Err(ScenarioError::new(join(path, "app.servers"), message)
            .with_hint("a `*` in `from` stands for any text: from = \"left*\""));
    }
    servers.truncate(wanted);
    Ok(servers)
}

/// The application of a flow as its ends play it: over the streams of a whole transport each object of an HTTP/2 page has its own.
pub(super) fn planned(def: &FlowDef) -> Cow<'_, AppDef> {
    match &def.app {
        AppDef::Page(page) if def.transport.is_some() && page.protocol == PageProtocol::H2 => {
            Cow::Owned(AppDef::Page(over_streams(page)))
        }
        app => Cow::Borrowed(app),
    }
}

/// An HTTP/2 page over the streams of a whole transport.
pub(super) fn over_streams(page: &PageDef) -> PageDef {
    PageDef { protocol: PageProtocol::H1, connections: page.objects + 1, ..page.clone() }
}

/// An application that only writes.
pub(super) fn app_of(def: &AppDef, rng: Rng) -> App {
    match def {
        AppDef::Bulk(bulk) => App::Bulk { bytes: bulk.bytes },
        AppDef::Cbr(cbr) => {
            let interval = |rate| interval_nanos(rate, cbr.size);
            let phases = cbr.phases.iter().map(|phase| (phase.at, phase.rate.map(interval))).collect();
            App::Cbr { size: cbr.size, ticks: Ticks::every(interval(cbr.rate)), phases: Phases::of(phases) }
        }
        AppDef::OnOff(on_off) => App::OnOff {
            size: on_off.size,
            ticks: Ticks::every(interval_nanos(on_off.rate, on_off.size)),
            activity: Box::new(Activity::new(period_of(&on_off.on), period_of(&on_off.off), rng)),
        },
        AppDef::Script(script) => {
            let entry = |write: &ScriptWrite| {
                let ScriptWrite(at, bytes, repeat) = *write;
                Entry { at, bytes, repeat: repeat.map(|repeat| (repeat.every, repeat.until)) }
            };
            App::Script(Box::new(Script::new(script.writes.iter().map(entry).collect())))
        }
        _ => unreachable!("a conversation"),
    }
}

/// What a write does that does not fit.
pub(super) fn on_full_of(app: &AppDef) -> OnFull {
    let full = match app {
        AppDef::Cbr(cbr) => cbr.on_full,
        AppDef::OnOff(on_off) => on_off.on_full,
        // What does not fit waits.
        _ => Full::Block,
    };
    match full {
        Full::Block => OnFull::Block,
        Full::Drop => OnFull::Drop,
    }
}
