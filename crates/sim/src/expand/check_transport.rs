//! Flows with a whole transport in a shared library: what goes with one, and its options.

use super::check::transport_of;
use crate::scenario::{AppDef, FlowDef, NativeTransport, Scenario, ScenarioError, TransportDef, join};

/// Most flows with such a transport: each end is a state in the library.
const MOST: u64 = 1_000;
/// Its applications have one connection, and streams for what TCP has connections for.
const NEW_CONNECTIONS: &str = "times handshakes of new connections, of which a flow with transport has one";
const WITHOUT: &str = "leave out transport, or time exchanges with `request_response`";

/// Completes what generated flows, and listed ones without a transport of their own, have.
pub(super) fn complete_common(scenario: &mut Scenario) -> Result<(), ScenarioError> {
    let Some(transport) = &mut scenario.traffic.transport else { return Ok(()) };
    let path = "traffic.transport";
    **transport = transport.complete(path)?;
    if transport_of(&scenario.traffic.app) != TransportDef::Tcp {
        return Err(ScenarioError::new(path, "does not carry datagrams, which traffic.app sends"));
    }
    if matches!(scenario.traffic.app, AppDef::Responsiveness(_)) {
        return Err(ScenarioError::new("traffic.app", NEW_CONNECTIONS).with_hint(WITHOUT));
    }
    Ok(())
}

/// Gives a listed flow, or those of a workload, their transport, complete; false if our TCP or datagrams carry it.
pub(super) fn complete(
    common: Option<&NativeTransport>,
    flow: &mut FlowDef,
    path: &str,
) -> Result<bool, ScenarioError> {
    let beside = [
        ("cc", flow.cc.is_some()),
        ("tcp", !flow.tcp.is_empty()),
        ("sink_agent", flow.sink_agent.is_some()),
        ("silent", flow.silent),
    ];
    let is_plain = beside.iter().all(|(_, is_given)| !is_given);
    if flow.transport.is_none() && is_plain && transport_of(&flow.app) == TransportDef::Tcp {
        flow.transport = common.cloned().map(Box::new);
    }
    let Some(transport) = &mut flow.transport else { return Ok(false) };
    **transport = transport.complete(&join(path, "transport"))?;
    if let Some((key, _)) = beside.into_iter().find(|(_, is_given)| *is_given) {
        let message = "does not go with transport, which is not our TCP";
        return Err(ScenarioError::new(join(path, key), message).with_hint("leave out one of them"));
    }
    let key = match &flow.app {
        AppDef::Rtc(_) | AppDef::Voice(_) => "app",
        app if transport_of(app) == TransportDef::Udp => "app.transport",
        AppDef::Responsiveness(_) => {
            return Err(ScenarioError::new(join(path, "app"), NEW_CONNECTIONS).with_hint(WITHOUT));
        }
        _ => return Ok(true),
    };
    Err(ScenarioError::new(join(path, key), "sends datagrams, which transport does not carry"))
}

/// Refuses more of them than a process keeps.
pub(super) fn check_number(flows: &[FlowDef]) -> Result<(), ScenarioError> {
    let number = flows.iter().filter(|flow| flow.transport.is_some()).count() as u64;
    if number <= MOST {
        return Ok(());
    }
    Err(ScenarioError::new("flow", format!("{number} flows with a transport in a library; at most {MOST}")))
}
