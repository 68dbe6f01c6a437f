//! The hosts of an emulation: which nodes they are, and what they may be.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use crate::scenario::{ClockDef, Network, Scenario, ScenarioError};

/// Hosts of an emulation.
const MAX_HOSTS: usize = 64;
/// Of IPv6 (RFC 8200 §5), and of the length field of IPv4.
const MTUS: RangeInclusive<u32> = 1280..=65535;

/// Completes `emulate` in an expanded scenario, if it is there.
pub(super) fn complete(graph: &mut Scenario) -> Result<(), ScenarioError> {
    let Some(mut emulate) = graph.emulate.take() else { return Ok(()) };
    if !graph.channel.is_empty() {
        let message = "networks with radio are simulated only: a program cannot run over them";
        return Err(ScenarioError::new("emulate", message).with_hint("a network of links"));
    }
    if graph.clock == ClockDef::Double {
        return Err(ScenarioError::new("clock", "a program runs by a clock that is \"exact\""));
    }
    if emulate.hosts.is_empty() {
        emulate.hosts = ends(graph);
    }
    if emulate.hosts.is_empty() || emulate.hosts.len() > MAX_HOSTS {
        let message = format!("{} hosts; 1 to {MAX_HOSTS} can be emulated", emulate.hosts.len());
        return Err(ScenarioError::new("emulate.hosts", message).with_hint("name those that programs use"));
    }
    for (index, host) in emulate.hosts.iter().enumerate() {
        let path = format!("emulate.hosts[{index}]");
        if !graph.node.iter().any(|node| node.name == *host) {
            return Err(unknown(&path, host, graph.node.iter().map(|node| &node.name)));
        }
        if emulate.hosts[..index].contains(host) {
            return Err(ScenarioError::new(path, format!("{host:?} is named twice")));
        }
    }
    let left = emulate.hosts.iter().find(|host| host.starts_with("left"));
    let first = left.unwrap_or(&emulate.hosts[0]).clone();
    let run_on = emulate.run_on.get_or_insert(first);
    let servers = emulate.server.iter().enumerate();
    let named = servers.map(|(index, server)| (format!("emulate.server[{index}].host"), &server.host));
    for (path, host) in std::iter::once(("emulate.run_on".to_owned(), &*run_on)).chain(named) {
        if !emulate.hosts.contains(host) {
            return Err(unknown(&path, host, emulate.hosts.iter()));
        }
    }
    if !MTUS.contains(&emulate.mtu) {
        return Err(ScenarioError::new("emulate.mtu", format!("{} is not from 1280 to 65535 bytes", emulate.mtu)));
    }
    check_network::<Ipv4Addr>("emulate.network", &emulate.network, 24, "10.77.0.0/16")?;
    check_network::<Ipv6Addr>("emulate.network6", &emulate.network6, 112, "fd77::/64")?;
    graph.emulate = Some(emulate);
    Ok(())
}

/// The nodes with at most one link; of a constellation its terminals.
fn ends(graph: &Scenario) -> Vec<String> {
    if let Network::Constellation(network) = &graph.network {
        return graph.node.iter().take(network.terminals.len()).map(|node| node.name.clone()).collect();
    }
    let links = |name: &String| graph.link.iter().filter(|link| link.from == *name || link.to == *name).count();
    graph.node.iter().map(|node| &node.name).filter(|name| links(name) == 1).cloned().collect()
}

fn unknown<'a>(path: &str, host: &str, known: impl Iterator<Item = &'a String>) -> ScenarioError {
    let some: Vec<&str> = known.take(8).map(String::as_str).collect();
    ScenarioError::new(path, format!("unknown host {host:?}")).with_hint(format!("hosts: {}", some.join(", ")))
}

/// A network in which every host finds an address.
fn check_network<A: std::str::FromStr>(
    path: &str,
    text: &str,
    longest: u8,
    example: &str,
) -> Result<(), ScenarioError> {
    let is_network = text.split_once('/').is_some_and(|(address, length)| {
        address.parse::<A>().is_ok() && length.parse::<u8>().is_ok_and(|length| (8..=longest).contains(&length))
    });
    if is_network {
        return Ok(());
    }
    let message = format!("{text:?} is not a network with a prefix of 8 to {longest} bits");
    Err(ScenarioError::new(path, message).with_hint(format!("such as {example:?}")))
}
