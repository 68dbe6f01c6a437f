//! Settings of flows and workloads: who has a `cc` or a `tcp` of his own gets complete ones, all others share the common ones.
//! Over 6LoWPAN segments have a default that suits its frames, and what it never carries is refused.

use tcp::TcpConfig;
use tcp::units::{Bytes, Span};

use super::check::{self, message_size, transport_of};
use super::check_app;
use super::check_transport;
use super::graph::{FlowEnds, count};
use super::limits::MAX_FLOWS;
use crate::radio::lrwpan::sixlowpan::{IPV6_HEADER, MTU};
use crate::scenario::{
    AppDef, EncapDef, FlowDef, Network, RadioDef, Scenario, ScenarioError, Standard, StartJitter, TcpOptions, Traffic,
    TransportDef, WorkloadDef, join,
};

/// Three frames, with options and over several hops as well. RFC 9006 §4.1.1 advises segments of one frame or few; Kumar et
/// al. (NSDI 2020) measured that more than a few gain little.
const MSS: Bytes = Bytes(256);
const TCP_HEADER: Bytes = Bytes(20);
const TIMESTAMPS: Bytes = Bytes(12);
const UDP_HEADER: Bytes = Bytes(8);

/// Completes the settings of all flows and workloads; the common ones stay if any flow shares them. `generated` flows are not listed.
pub(super) fn complete(scenario: &mut Scenario, generated: u64) -> Result<(), ScenarioError> {
    set_segment_size(scenario);
    check::check_app(&scenario.traffic.app, "traffic.app")?;
    check_transport::complete_common(scenario)?;
    let options = common_options(scenario);
    let common = options.resolve("tcp")?;
    let mut flows = std::mem::take(&mut scenario.flow);
    complete_flows(scenario, &mut flows, &common)?;
    let mut workloads = std::mem::take(&mut scenario.workload);
    for (index, workload) in workloads.iter_mut().enumerate() {
        complete_workload(scenario, workload, &common, &format!("workload[{index}]"))?;
    }
    // Settings that no flow has do not tell two runs apart.
    let is_shared = generated > 0 && scenario.traffic.transport.is_none()
        || flows.iter().any(|flow| flow.tcp.is_empty() && flow.transport.is_none());
    scenario.tcp = if is_shared { complete_options(&options, &common) } else { TcpOptions::default() };
    scenario.traffic.start_jitter.get_or_insert(Traffic::JITTER_OF_GENERATED);
    (scenario.flow, scenario.workload) = (flows, workloads);
    Ok(())
}

/// The settings of flows that have none of their own, those that `network.flows` asks for among them.
fn common_options(scenario: &Scenario) -> TcpOptions {
    options_beside(&scenario.traffic.app, &scenario.tcp)
}

/// What a flow of this application has where it says nothing itself. Browsers and servers of the web set TCP_NODELAY.
fn options_beside(app: &AppDef, tcp: &TcpOptions) -> TcpOptions {
    let nagle = matches!(app, AppDef::Page(_) | AppDef::Responsiveness(_)).then_some(false);
    tcp.over(&TcpOptions { nagle, ..TcpOptions::default() })
}

/// What `options` stand for, with nothing left to their profile.
fn complete_options(options: &TcpOptions, config: &TcpConfig) -> TcpOptions {
    TcpOptions::of(options.profile.unwrap_or_default(), config)
}

/// Completes the listed flows, which stand in `scenario`.
fn complete_flows(scenario: &Scenario, flows: &mut Vec<FlowDef>, common: &TcpConfig) -> Result<(), ScenarioError> {
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
fn complete_flow(scenario: &Scenario, flow: &mut FlowDef, common: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    check_flow(scenario, flow, path)?;
    if check_transport::complete(scenario.traffic.transport.as_deref(), flow, path)? {
        return Ok(());
    }
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

/// Gives a workload complete settings.
fn complete_workload(
    scenario: &Scenario,
    def: &mut WorkloadDef,
    common: &TcpConfig,
    path: &str,
) -> Result<(), ScenarioError> {
    let mut template = FlowDef {
        cc: def.cc.take(),
        app: def.app.of_size(Bytes(1)),
        start: def.start,
        stop: def.stop,
        priority: def.priority,
        dscp: def.dscp,
        tcp: def.tcp.clone(),
        transport: def.transport.take(),
        ..FlowDef::between("", "")
    };
    if check_transport::complete(scenario.traffic.transport.as_deref(), &mut template, path)? {
        check_flow(scenario, &template, path)?;
        def.transport = template.transport;
        return Ok(());
    }
    // Nothing of a flow exists when its slot is used again: TIME-WAIT has nothing to wait for.
    template.tcp.time_wait = def.tcp.time_wait.or(scenario.tcp.time_wait).or(Some(Span::ZERO));
    complete_flow(scenario, &mut template, common, path)?;
    def.tcp = template.tcp;
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
        if flow.transport.is_none() {
            check_sizes(resolved, &flow, &resolved.tcp.resolve("tcp")?, "traffic")?;
        }
    }
    flows.extend(ends.iter().map(|ends| generated_flow(resolved, ends)));
    Ok(())
}

fn generated_flow(resolved: &Scenario, ends: &FlowEnds) -> FlowDef {
    let Traffic { app, start, start_jitter, stop, transport } = &resolved.traffic;
    FlowDef {
        app: app.clone(),
        start: (*start).min(resolved.duration),
        start_jitter: *start_jitter,
        stop: *stop,
        transport: transport.clone(),
        ..FlowDef::between(&ends.from, &ends.to)
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
    check_sixlowpan(scenario, flow, config, path)
}

fn is_sixlowpan(radio: &RadioDef) -> bool {
    let encap = radio.lrwpan.and_then(|lrwpan| lrwpan.encap);
    radio.standard == Some(Standard::Lrwpan) && encap == Some(EncapDef::Sixlowpan)
}

/// Gives a complete network with 6LoWPAN its segment size, unless the scenario has one.
fn set_segment_size(scenario: &mut Scenario) {
    let sixlowpan = match &scenario.network {
        Network::Adhoc(adhoc) => is_sixlowpan(&adhoc.radio),
        Network::Graph(_) => scenario.channel.iter().any(|channel| is_sixlowpan(&channel.radio)),
        _ => false,
    };
    if sixlowpan && scenario.tcp.mss.is_none() {
        scenario.tcp.mss = Some(MSS);
    }
}

/// Refuses segments and datagrams that no station of a PAN could send.
fn check_sixlowpan(scenario: &Scenario, flow: &FlowDef, config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    let Network::Adhoc(adhoc) = &scenario.network else { return Ok(()) };
    if !is_sixlowpan(&adhoc.radio) {
        return Ok(());
    }
    let refuse = |path: String, size: Bytes, headers: Bytes| {
        if size + headers <= MTU {
            return Ok(());
        }
        let message = format!("{size} and {headers} of headers do not fit into the {MTU} that 6LoWPAN carries");
        Err(ScenarioError::new(path, message).with_hint(format!("at most {}", MTU.saturating_sub(headers))))
    };
    match transport_of(&flow.app) {
        TransportDef::Tcp => {
            let options = if config.timestamps { TIMESTAMPS } else { Bytes::ZERO };
            let path = if flow.tcp.mss.is_some() { format!("{path}.tcp.mss") } else { "tcp.mss".into() };
            refuse(path, config.mss, IPV6_HEADER + TCP_HEADER + options)
        }
        TransportDef::Udp => {
            let size = message_size(&flow.app).unwrap_or(Bytes::ZERO);
            refuse(format!("{path}.app.size"), size, IPV6_HEADER + UDP_HEADER)
        }
    }
}
