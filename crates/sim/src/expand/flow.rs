//! Settings of flows: one that has a `cc` or a `tcp` of its own gets complete ones, all others share the common ones.

use tcp::TcpConfig;
use tcp::units::Span;

use super::check::{self, message_size, transport_of};
use super::graph::{FlowEnds, count};
use super::limits::MAX_FLOWS;
use super::{check_app, lrwpan};
use crate::scenario::{AppDef, FlowDef, Scenario, ScenarioError, StartJitter, TcpOptions, Traffic, TransportDef, join};

/// The settings of flows that have none of their own, those that `network.flows` asks for among them.
pub(super) fn common_options(scenario: &Scenario) -> TcpOptions {
    options_beside(&scenario.traffic.app, &scenario.tcp)
}

/// What a flow of this application has where it says nothing itself. Browsers and servers of the web set TCP_NODELAY.
fn options_beside(app: &AppDef, tcp: &TcpOptions) -> TcpOptions {
    let nagle = matches!(app, AppDef::Page(_)).then_some(false);
    tcp.over(&TcpOptions { nagle, ..TcpOptions::default() })
}

/// What `options` stand for, with nothing left to their profile.
pub(super) fn complete_options(options: &TcpOptions, config: &TcpConfig) -> TcpOptions {
    TcpOptions::of(options.profile.unwrap_or_default(), config)
}

/// Completes the listed flows, which stand in `scenario`.
pub(super) fn complete_flows(
    scenario: &Scenario,
    flows: &mut Vec<FlowDef>,
    common: &TcpConfig,
) -> Result<(), ScenarioError> {
    let jitter = scenario.traffic.start_jitter.unwrap_or(StartJitter::Span(Span::ZERO));
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.start_jitter.get_or_insert(jitter);
        complete_flow(scenario, flow, common, &format!("flow[{index}]"))?;
    }
    repeat(flows)
}

/// Adds the further flows of those with a `count`. They stand behind the listed ones, whose places errors name.
fn repeat(flows: &mut Vec<FlowDef>) -> Result<(), ScenarioError> {
    for index in 0..flows.len() {
        let Some(copies) = flows[index].count.take() else { continue };
        let path = format!("flow[{index}].count");
        let room = MAX_FLOWS - flows.len() as u64 + 1;
        count(&path, copies, 1, room)?;
        if copies > 1 && flows[index].name.is_some() {
            return Err(ScenarioError::new(path, "stands beside name, which is of one flow only"));
        }
        let flow = flows[index].clone();
        flows.extend((1..copies).map(|_| flow.clone()));
    }
    Ok(())
}

/// Gives a flow complete settings, unless it shares the `common` ones, which a scenario says once.
pub(super) fn complete_flow(
    scenario: &Scenario,
    flow: &mut FlowDef,
    common: &TcpConfig,
    path: &str,
) -> Result<(), ScenarioError> {
    check_flow(scenario, flow, path)?;
    let beside = options_beside(&flow.app, &scenario.tcp);
    if flow.cc.is_none() && flow.tcp.is_empty() && beside == common_options(scenario) {
        return check_sizes(scenario, flow, common, path);
    }
    let mut options = flow.tcp.over(&beside);
    let mut cc_path = format!("{path}.tcp.cc");
    if let Some(cc) = flow.cc.take() {
        options.cc = Some(cc);
        cc_path = format!("{path}.cc");
    }
    let config = options.resolve(&join(path, "tcp")).map_err(|mut error| {
        error.path = error.path.replace(&format!("{path}.tcp.cc"), &cc_path);
        error
    })?;
    check_sizes(scenario, flow, &config, path)?;
    flow.tcp = complete_options(&options, &config);
    Ok(())
}

/// Adds the flows of `network.flows` between these ends: the template, which has the common settings.
pub(super) fn add_generated(
    flows: &mut Vec<FlowDef>,
    resolved: &Scenario,
    ends: &[FlowEnds],
) -> Result<(), ScenarioError> {
    if let Some(first) = ends.first() {
        let flow = generated_flow(resolved, first);
        check_flow(resolved, &flow, "traffic")?;
        check_sizes(resolved, &flow, &resolved.tcp.resolve("tcp")?, "traffic")?;
    }
    flows.extend(ends.iter().map(|ends| generated_flow(resolved, ends)));
    Ok(())
}

fn generated_flow(resolved: &Scenario, ends: &FlowEnds) -> FlowDef {
    let Traffic { app, start, start_jitter, stop } = &resolved.traffic;
    FlowDef {
        name: None,
        from: ends.from.clone(),
        to: ends.to.clone(),
        cc: None,
        count: None,
        app: app.clone(),
        start: (*start).min(resolved.duration),
        start_jitter: *start_jitter,
        stop: *stop,
        priority: None,
        sink_agent: None,
        silent: false,
        dscp: None,
        tcp: TcpOptions::default(),
    }
}

/// Refuses what does not depend on the settings of TCP.
fn check_flow(scenario: &Scenario, flow: &FlowDef, path: &str) -> Result<(), ScenarioError> {
    if flow.start > scenario.duration {
        let message = format!("{} is after the end of the run ({})", flow.start, scenario.duration);
        return Err(ScenarioError::new(join(path, "start"), message));
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start) {
        return Err(ScenarioError::new(join(path, "stop"), format!("is not after start ({})", flow.start)));
    }
    check::check_app(&flow.app, &join(path, "app"))?;
    check_app::check_beside(flow, path)?;
    if let (Some(own), Some(dscp)) = (flow.app.datagrams().dscp, flow.dscp) {
        let message = format!("{own}, but the flow has dscp = \"{dscp}\"; give it once");
        return Err(ScenarioError::new(join(path, "app.dscp"), message));
    }
    Ok(())
}

/// Refuses messages that never fit, into the send buffer or into a frame.
fn check_sizes(scenario: &Scenario, flow: &FlowDef, config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    if let (TransportDef::Tcp, Some(size)) = (transport_of(&flow.app), message_size(&flow.app))
        && config.send_buffer < size
    {
        let message = format!("{size} never fits into send_buffer ({})", config.send_buffer);
        return Err(ScenarioError::new(join(path, "app.size"), message));
    }
    lrwpan::check_size(scenario, flow, config, path)
}
