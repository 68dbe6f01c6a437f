//! Channels of radio: stations, their rules, and how packets find their way.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::names::find_node;
use crate::ids::{ChannelId, NodeId, StationId};
use crate::mobility::Track;
use crate::radio::build;
use crate::radio::dcf::DcfMac;
use crate::radio::lrwpan::LrWpanMac;
use crate::radio::mac::Mac;
use crate::radio::streams::RandomStream;
use crate::routing;
use crate::scenario::{
    AccessPointsDef, AddressLength, ArpDef, BeaconsDef, ChannelDef, HandoffDef, NeighborDiscoveryDef, RoutingDef,
    Scenario, ScenarioError, SchedulerDef, ShortestDef, Standard,
};
use crate::wireless::arp::ArpTable;
use crate::wireless::arp_cache::ArpCache;
use crate::wireless::ndp::NeighborDiscovery;
use crate::wireless::{AccessPoints, AddressResolution, Gateways, Routing, ShortestPaths, WirelessSubnet, neighbours};

/// The channels of an expanded scenario.
pub(super) fn build(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    seed: u64,
) -> Result<Vec<WirelessSubnet>, ScenarioError> {
    let mut used: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut channels = Vec::with_capacity(graph.channel.len());
    for (index, def) in graph.channel.iter().enumerate() {
        let path = format!("channel[{index}]");
        let mut nodes = Vec::with_capacity(def.stations.len());
        for (i, name) in def.stations.iter().enumerate() {
            let path = format!("{path}.stations[{i}]");
            let node = find_node(names, name, &path)?;
            if used.insert(node, index).is_some() {
                return Err(ScenarioError::new(path, format!("{name:?} has a radio already")));
            }
            nodes.push(node);
        }
        channels.push(channel(graph, def, &path, ChannelId(index as u16), nodes, seed)?);
    }
    Ok(channels)
}

fn channel(
    graph: &Scenario,
    def: &ChannelDef,
    path: &str,
    id: ChannelId,
    nodes: Vec<NodeId>,
    seed: u64,
) -> Result<WirelessSubnet, ScenarioError> {
    let floods = def.radio.lrwpan.is_some_and(|lrwpan| lrwpan.mesh_under.is_some());
    if floods && !matches!(def.routing, RoutingDef::Shortest(_)) {
        let message = "with `mesh_under` all stations are neighbours, and the kind is \"shortest\"";
        return Err(ScenarioError::new(format!("{path}.routing.kind"), message));
    }
    let tracks = nodes.iter().map(|node| Track::of(&graph.node[node.index()], seed)).collect();
    if let Some(name) = def.radio.rates.keys().find(|name| !def.stations.contains(name)) {
        let error = ScenarioError::new(format!("{path}.radio.rates.{name}"), "is not one of the channel's stations");
        return Err(error.with_hint(format!("stations: {}", def.stations.join(", "))));
    }
    let (mut mac, mtu) = medium(def, id, &nodes, tracks, seed);
    if def.radio.scheduler == Some(SchedulerDef::Airtime) {
        let points = sharing(def, path)?;
        let rng = |point: StationId| Rng::stream(seed, &format!("station/{}/airtime", def.stations[point.index()]));
        mac.dcf().share_airtime(&points, rng);
    }
    let routing = match &def.routing {
        RoutingDef::Shortest(_) => Routing::Shortest(ShortestPaths::new(neighbours(&mut mac, Time::ZERO))),
        RoutingDef::AccessPoints(points) => access_points(def, points, path, &mut mac)?,
        RoutingDef::Dsdv(_) | RoutingDef::Aodv(_) | RoutingDef::Dsr(_) => protocol(def, path, &mut mac, mtu, seed)?,
    };
    let refresh = refresh(def, path, &mac, &routing)?;
    let mut gateways = Gateways::new(&mut mac, stations_of(def, &def.gateway, &format!("{path}.gateway"))?);
    if let Routing::Shortest(_) = routing {
        gateways.find_nearest(&neighbours(&mut mac, Time::ZERO));
    }
    let resolution = resolution(def, seed);
    let mut channel = WirelessSubnet::new(id, mac, nodes, gateways, routing, resolution);
    channel.refresh = refresh;
    Ok(channel)
}

/// The stations that share airtime among those that they send to: access points, or gateways.
fn sharing(def: &ChannelDef, path: &str) -> Result<Vec<StationId>, ScenarioError> {
    let fail =
        |message: &str, hint: &str| Err(ScenarioError::new(format!("{path}.radio.scheduler"), message).with_hint(hint));
    match &def.routing {
        RoutingDef::AccessPoints(points) => stations_of(def, &points.stations, &format!("{path}.routing.stations")),
        RoutingDef::Shortest(_) if def.gateway.is_empty() => {
            fail("\"airtime\" is what an access point does, and the channel has none", "name it in `gateway`")
        }
        RoutingDef::Shortest(_) => stations_of(def, &def.gateway, &format!("{path}.gateway")),
        RoutingDef::Dsdv(_) | RoutingDef::Aodv(_) | RoutingDef::Dsr(_) => fail(
            "\"airtime\" is what an access point does, and stations with a routing protocol have none",
            "leave it out",
        ),
    }
}

/// The stations of these names, which stand at `path`.
fn stations_of(def: &ChannelDef, names: &[String], path: &str) -> Result<Vec<StationId>, ScenarioError> {
    let station = |(i, name): (usize, &String)| {
        let unknown =
            || ScenarioError::new(format!("{path}[{i}]"), format!("{name:?} is not one of the channel's stations"));
        let index = def.stations.iter().position(|station| station == name).ok_or_else(unknown)?;
        Ok(StationId(index as u32))
    };
    names.iter().enumerate().map(station).collect()
}

fn access_points(
    def: &ChannelDef,
    AccessPointsDef { stations, beacons, handoff }: &AccessPointsDef,
    path: &str,
    mac: &mut Mac,
) -> Result<Routing, ScenarioError> {
    check_handoff(handoff, mac.is_mobile(), path)?;
    let path = format!("{path}.routing.stations");
    let points = stations_of(def, stations, &path)?;
    if points.is_empty() {
        return Err(ScenarioError::new(path, "at least one station must be an access point"));
    }
    if points.len() == def.stations.len() {
        return Err(ScenarioError::new(path, "every station is an access point: at least one must be a client"));
    }
    let of = mac.dcf().initial_access_points(&points);
    let beacons = *beacons == BeaconsDef::Airtime;
    Ok(Routing::AccessPoints(Box::new(AccessPoints::new(points, of, (beacons, mac.is_mobile()), *handoff))))
}

/// What is said of changes of the access point is possible, and has an effect.
fn check_handoff(handoff: &HandoffDef, moves: bool, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: &str| Err(ScenarioError::new(format!("{path}.routing.handoff{field}"), message));
    match handoff {
        _ if !moves && !handoff.is_default() => fail("", "no station moves, so that none changes its access point"),
        HandoffDef { missed: 0, .. } => fail(".missed", "0 is not a number of beacons from 1 up"),
        HandoffDef { roam_margin_db: Some(_), roam_below: None, .. } => {
            fail(".roam_margin_db", "needs roam_below beside it")
        }
        HandoffDef { roam_margin_db: Some(margin), .. } if !(0.0..=60.0).contains(margin) => {
            fail(".roam_margin_db", &format!("{margin} is not from 0 to 60"))
        }
        _ => Ok(()),
    }
}

/// The agents of a routing protocol.
fn protocol(def: &ChannelDef, path: &str, mac: &mut Mac, mtu: Bytes, seed: u64) -> Result<Routing, ScenarioError> {
    if let RoutingDef::Dsr(dsr) = &def.routing {
        if mac.is_lrwpan() || def.radio.aggregation == Some(true) {
            let message =
                "\"dsr\" listens to the frames of others, which 802.15.4 and aggregates are not modelled to allow";
            return Err(ScenarioError::new(format!("{path}.routing.kind"), message).with_hint("\"aodv\""));
        }
        mac.dcf().listen_to_all();
        if routing::build::serves_by_class(dsr) {
            mac.dcf().serve_by_class();
        }
    }
    let rng = |i: u32| Rng::stream(seed, &format!("station/{}/routing", def.stations[i as usize]));
    let protocol = routing::build::protocol(&def.routing, def.stations.len() as u32, mtu, rng);
    Ok(Routing::Protocol(Box::new(protocol.expect("DSDV, AODV and DSR are protocols"))))
}

/// How often what the channel knows of its stations is renewed, if it is.
fn refresh(def: &ChannelDef, path: &str, mac: &Mac, routing: &Routing) -> Result<Option<Span>, ScenarioError> {
    match (&def.routing, routing) {
        (RoutingDef::Shortest(ShortestDef { interval: Span::ZERO }), _) => {
            Err(ScenarioError::new(format!("{path}.routing.interval"), "0s is not an interval; above 0s"))
        }
        (RoutingDef::Shortest(ShortestDef { interval }), _) => Ok(Some(*interval).filter(|_| mac.is_mobile())),
        (_, Routing::AccessPoints(access_points)) => Ok(access_points.refresh()),
        _ => Ok(None),
    }
}

/// The address resolution of a channel.
fn resolution(def: &ChannelDef, seed: u64) -> AddressResolution {
    let lrwpan = def.radio.lrwpan.unwrap_or_default();
    if lrwpan.neighbor_discovery == Some(NeighborDiscoveryDef::Hosts) {
        let option = link_layer_address_option(lrwpan.addresses);
        let host = |(i, name): (usize, &String)| {
            let rng = Rng::stream(seed, &format!("station/{name}/neighbor_discovery"));
            NeighborDiscovery::new(StationId(i as u32), option, rng)
        };
        return AddressResolution::ndp(def.stations.iter().enumerate().map(host));
    }
    match def.radio.arp {
        Some(ArpDef::Cache) => {
            let cache = |name: &String| ArpCache::new(Rng::stream(seed, &format!("station/{name}/arp")));
            AddressResolution::arp_cache(def.stations.iter().map(cache))
        }
        Some(ArpDef::Table) => AddressResolution::Arp(vec![ArpTable::default(); def.stations.len()]),
        Some(ArpDef::None) | None => AddressResolution::Known,
    }
}

/// Size of the option that holds an address of IEEE 802.15.4 (RFC 4944 §8).
fn link_layer_address_option(addresses: Option<AddressLength>) -> Bytes {
    match addresses {
        Some(AddressLength::Long) => Bytes(16),
        Some(AddressLength::Short) | None => Bytes(8),
    }
}

/// The medium of a channel, and the longest message that it does not cut.
fn medium(def: &ChannelDef, id: ChannelId, nodes: &[NodeId], tracks: Vec<Track>, seed: u64) -> (Mac, Bytes) {
    let rng = |i: usize, what: RandomStream| Rng::stream(seed, &format!("station/{}/{}", def.stations[i], what.name()));
    if def.radio.standard == Some(Standard::Lrwpan) {
        let radio = build::lrwpan::build(&def.radio);
        let (medium, mtu) = (radio.medium(tracks), radio.rules.longest_message());
        let lrwpan = LrWpanMac::new(id, radio.rules, nodes.to_vec(), medium, rng).with_energy(radio.energy);
        return (Mac::Lrwpan(Box::new(lrwpan)), mtu);
    }
    let mut radio = build::dcf::build(&def.radio);
    let medium = radio.medium(tracks);
    if !def.radio.rates.is_empty() {
        let rate = |name| def.radio.rates.get(name).copied().unwrap_or(radio.rules.phy.data_rate);
        radio.rules.station_rates = def.stations.iter().map(rate).collect();
    }
    let mac = DcfMac::new(id, radio.rules, medium, rng).with_energy(radio.energy);
    (Mac::Dcf(Box::new(mac)), routing::build::MTU)
}
