//! Flows that the scenario lists or generates, one by one.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::settings::Headers;
use tcp::units::{Bytes, Time};
use tcp::{Ecn, TcpConfig};

use super::find_node;
use crate::expand::{interval_nanos, transport_of};
use crate::host::app::{App, Period, Ticks};
use crate::host::flow::{Flow, OnFull, Transport};
use crate::ids::{FlowId, NodeId};
use crate::network::Network;
use crate::scenario::{AppDef, DatagramEcn, FlowDef, Full, PeriodDef, Scenario, ScenarioError, TransportDef, join};

pub(super) fn build_flow(
    graph: &Scenario,
    def: &FlowDef,
    id: FlowId,
    common: &TcpConfig,
    path: &str,
    names: &BTreeMap<&str, NodeId>,
    rng: Rng,
) -> Result<Flow, ScenarioError> {
    let source = find_node(names, &def.from, &join(path, "from"))?;
    let sink = find_node(names, &def.to, &join(path, "to"))?;
    if source == sink {
        return Err(ScenarioError::new(join(path, "to"), format!("{:?} would send to itself", def.to)));
    }
    let (mut headers, mut fill) = (Headers::Options, Bytes(1));
    let transport = match transport_of(&def.app) {
        TransportDef::Udp => Transport::Udp,
        TransportDef::Tcp => {
            // A copy, so that the application's stream is not advanced.
            let mut rng = rng.clone();
            let own = !def.tcp.is_empty();
            let mut config = if own { def.tcp.resolve(&join(path, "tcp"))? } else { common.clone() };
            config.seed = rng.next_u64();
            (headers, fill) = (config.headers, config.write_unit());
            Transport::connection(config)
        }
    };
    Ok(Flow {
        headers,
        receiver: (!def.silent).then_some(id),
        datagram_ecn: match def.app.datagrams().ecn.unwrap_or_default() {
            DatagramEcn::Off => Ecn::NotEct,
            DatagramEcn::Ect0 => Ecn::Ect0,
            DatagramEcn::L4s => Ecn::Ect1,
        },
        on_full: on_full_of(&def.app),
        stop: def.stop.filter(|stop| *stop < graph.duration).map(|stop| Time::ZERO + stop),
        ..Flow::new([source, sink], app_of(&def.app, rng).with_writes_of(fill), transport)
    })
}

pub(super) fn check_path(network: &Network, flow: &Flow, def: &FlowDef, path: &str) -> Result<(), ScenarioError> {
    let (source, sink) = (flow.source, flow.sink);
    // With radio a flow without a path is a result, not an error.
    if network.has_radio(source) || network.has_radio(sink) {
        return Ok(());
    }
    if !network.has_path(source, sink) || !network.has_path(sink, source) {
        let message = format!("no path from {:?} to {:?} and back", def.from, def.to);
        return Err(
            ScenarioError::new(join(path, "to"), message).with_hint("add a link, or check link.from and link.to")
        );
    }
    Ok(())
}

fn on_full_of(app: &AppDef) -> OnFull {
    let full = match app {
        AppDef::Bulk(_) => Full::Block,
        AppDef::Cbr(cbr) => cbr.on_full,
        AppDef::OnOff(on_off) => on_off.on_full,
    };
    match full {
        Full::Block => OnFull::Block,
        Full::Drop => OnFull::Drop,
    }
}

fn app_of(def: &AppDef, rng: Rng) -> App {
    match def {
        AppDef::Bulk(bulk) => App::Bulk { bytes: bulk.bytes },
        AppDef::Cbr(cbr) => App::Cbr { size: cbr.size, ticks: Ticks::every(interval_nanos(cbr.rate, cbr.size)) },
        AppDef::OnOff(on_off) => App::OnOff {
            size: on_off.size,
            ticks: Ticks::every(interval_nanos(on_off.rate, on_off.size)),
            on: period_of(&on_off.on),
            off: period_of(&on_off.off),
            on_until: Time::ZERO,
            rng,
        },
    }
}

pub(super) fn period_of(def: &PeriodDef) -> Period {
    match def {
        PeriodDef::Constant(constant) => Period::Constant(constant.length),
        PeriodDef::Exponential(exponential) => Period::Exponential(exponential.mean),
        PeriodDef::Pareto(pareto) => Period::Pareto(pareto.mean, pareto.shape),
    }
}
