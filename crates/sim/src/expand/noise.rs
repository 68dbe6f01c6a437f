//! Noise of hosts: packets that reach one by wire wait for the interrupt of its card, by batches. Flows whose bursts would keep in step
//! for ever part by it (Floyd and Jacobson 1992, On traffic phase effects in packet-switched gateways).

use std::collections::{BTreeMap, BTreeSet};

use tcp::settings::EcnMode;
use tcp::units::Span;

use super::bounds::span_within;
use super::graph::{forward_options, link, reverse_options};
use crate::scenario::{
    AppDef, DelayDef, DropTailDef, FlowDef, JitterDef, LinkOptions, Network, PerDraw, Queue, Role, Scenario,
    ScenarioError, TcpOptions, UniformDelay,
};

/// Longest wait: more is no interrupt.
const LONGEST: Span = Span::from_millis(100);

/// Where bursts lock, and nothing else varies: the least distance of interrupts of a card of Intel as it comes, 20,000 in a second
/// (InterruptThrottleRate of the drivers e1000e and igb).
const OF_INTERRUPTS: Span = Span::from_micros(50);

/// Fills in the noise of a resolved scenario in which flows would keep in step; `generated` flows are not listed.
pub(super) fn complete(scenario: &mut Scenario, generated: u64) -> Result<(), ScenarioError> {
    if let Some(noise) = scenario.host_noise {
        return span_within("", "host_noise", noise, Span::ZERO, LONGEST);
    }
    scenario.host_noise = locks(scenario, generated).then_some(OF_INTERRUPTS);
    Ok(())
}

/// True if several long flows hold segments back for larger bursts, and are marked by a threshold: who has the larger window then finds
/// the shorter queue, and keeps it.
fn locks(scenario: &Scenario, generated: u64) -> bool {
    let is_long = |app: &AppDef| matches!(app, AppDef::Bulk(bulk) if bulk.bytes.is_none());
    let defers = |tcp: &TcpOptions| tcp.tso_defer == Some(true) && tcp.ecn == Some(EcnMode::Dctcp);
    let of = |flow: &FlowDef| is_long(&flow.app) && defers(if flow.tcp.is_empty() { &scenario.tcp } else { &flow.tcp });
    let listed = scenario.flow.iter().filter(|flow| of(flow)).count() as u64;
    let more = if is_long(&scenario.traffic.app) && defers(&scenario.tcp) { generated } else { 0 };
    let by_wire = scenario.channel.is_empty() && !matches!(scenario.network, Network::WiredCumWireless(_));
    if !by_wire || listed + more <= 1 {
        return false;
    }
    let marks = |queue: &Queue| matches!(queue, Queue::DropTail(DropTailDef { mark_threshold: Some(_), .. }));
    let shorthand = scenario.network.links().into_iter().map(|(_, options)| link("", "", options));
    let links: Vec<LinkOptions> = shorthand
        .chain(scenario.link.iter().cloned())
        .flat_map(|def| [forward_options(&def), reverse_options(&def)])
        .collect();
    links.iter().any(|link| link.queue.as_ref().is_some_and(marks)) && links.iter().all(|link| link.jitter.is_none())
}

/// Gives the jitter of hosts to the links that lead to them and have none. A host is an end of a listed flow, or what has this role and
/// one link.
pub(super) fn fill(graph: &mut Scenario) -> Result<(), ScenarioError> {
    let Some(max) = graph.host_noise.filter(|max| *max > Span::ZERO) else { return Ok(()) };
    let mut links: BTreeMap<&str, u32> = BTreeMap::new();
    for end in graph.link.iter().flat_map(|link| [&link.from, &link.to]) {
        *links.entry(end).or_default() += 1;
    }
    let ends = graph.flow.iter().flat_map(|flow| [&flow.from, &flow.to]).map(String::as_str);
    let leaves = graph.node.iter().filter(|node| node.role == Role::Host).map(|node| node.name.as_str());
    let hosts: BTreeSet<String> =
        ends.chain(leaves.filter(|name| links.get(name) == Some(&1))).map(str::to_owned).collect();
    let jitter = JitterDef {
        delay: DelayDef::Uniform(UniformDelay { max }),
        per: PerDraw::Batch,
        reorder: false,
        correlation: 0.0,
    };
    let mut any = false;
    for link in &mut graph.link {
        if hosts.contains(&link.to) {
            link.options.jitter.get_or_insert_with(|| Box::new(jitter.clone()));
            any = true;
        }
        if hosts.contains(&link.from) {
            let reverse = link.options.reverse.get_or_insert_default();
            reverse.jitter.get_or_insert_with(|| Box::new(jitter.clone()));
            any = true;
        }
    }
    let message = "no wire leads to a host";
    if any { Ok(()) } else { Err(ScenarioError::new("host_noise", message).with_hint("leave it out")) }
}
