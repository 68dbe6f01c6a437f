//! The shapes of networks of radios: placements, cells, channels.

use tcp::rng::Rng;

use super::placement::{Placed, place};
use super::shapes::count;
use super::{MOST_FLOWS, Shape, mobility};
use crate::connectivity::{Components, in_range_graph};
use crate::mobility::{Point, Track};
use crate::radio::build;
use crate::radio::propagation::RadioRange;
use crate::routing;
use crate::scenario::{
    Adhoc, Area, ChannelDef, FlowPattern, Graph, MobilityDef, Network, NodeDef, PlacementDef, RadioDef,
    RandomWaypointDef, Role, RoutingDef, Scenario, ScenarioError, Standard, join,
};
use tcp::units::Time;

/// Channels keep a list of neighbours for every station; more would not fit.
pub(super) const MOST_STATIONS: u64 = 10_000;
/// That many pairs in reach of one another take seconds and a gigabyte.
pub(super) const MOST_PAIRS: u64 = 2_000_000;

pub(super) fn station(name: String, role: Role, at: Point) -> NodeDef {
    NodeDef { name, role, x: Some(at.x), y: Some(at.y), z: Some(at.z), mobility: None }
}

pub(super) fn adhoc(a: &Adhoc, seed: u64) -> Result<Shape, ScenarioError> {
    let nodes = count("network.nodes", a.nodes, 2, MOST_STATIONS)?;
    let flows = count("network.flows", a.flows, 0, MOST_FLOWS)?;
    let radio = build::with_defaults(&a.radio, "network.radio")?;
    check_area(&a.area, "network.area")?;
    let reach = build::range(&radio);
    let Placed { places, draws } = place(a, nodes, &reach, seed)?;
    check_density(&places, reach.limit(), "network.nodes")?;
    let name = |i: u64| format!("n{i}");
    let stations: Vec<String> = (0..nodes).map(name).collect();
    let network = Network::Graph(Graph { area: Some(a.area) });
    let mut shape = Shape { network, placement_draws: draws, ..Shape::default() };
    shape.nodes = places.iter().zip(&stations).map(|(at, name)| station(name.clone(), Role::Station, *at)).collect();
    set_moving(a, &mut shape.nodes)?;
    let ends = if a.connected_pairs { largest_component(&shape.nodes, &reach, seed)? } else { (0..nodes).collect() };
    let pairs = ends_of_flows(a.pattern, flows, ends.len() as u64, seed);
    shape.pairs = pairs.map(|[from, to]| (name(ends[from as usize]), name(ends[to as usize]))).collect();
    let routing = routing::build::with_defaults(&a.routing, radio.profile, "network.routing")?;
    shape.channels = vec![ChannelDef { stations, radio, routing, gateway: Vec::new() }];
    Ok(shape)
}

/// The ends of flows among so many stations; one more flow shifts no other's.
fn ends_of_flows(pattern: FlowPattern, flows: u64, among: u64, seed: u64) -> impl Iterator<Item = [u64; 2]> {
    let mut order: Vec<u64> = (0..among).collect();
    if pattern != FlowPattern::Pairs {
        let mut draws = Rng::stream(seed, "traffic/ends");
        for last in (1..among).rev() {
            order.swap(last as usize, draws.below(last + 1) as usize);
        }
    }
    (0..flows).map(move |i| {
        let other = order[1 + (i % (among - 1)) as usize];
        match pattern {
            FlowPattern::Pairs => {
                let mut draws = Rng::stream(seed, &format!("traffic/{i}/ends"));
                let from = draws.below(among);
                [from, (from + 1 + draws.below(among - 1)) % among]
            }
            FlowPattern::OneSource => [order[0], other],
            FlowPattern::OneSink => [other, order[0]],
        }
    })
}

/// The mobilities of an ad hoc network with nothing left to a default.
pub(super) fn fill_mobility(a: &mut Adhoc) -> Result<(), ScenarioError> {
    a.mobility = mobility::filled(&a.mobility, Some(&a.area), "network.mobility")?;
    for (name, own) in &mut a.own_mobility {
        *own = mobility::filled(own, Some(&a.area), &format!("network.own_mobility.{name}"))?;
    }
    Ok(())
}

/// Refuses a crowd that would not fit into memory.
pub(super) fn check_density(places: &[Point], range: f64, path: &str) -> Result<(), ScenarioError> {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut pairs = 0;
    for (index, here) in sorted.iter().enumerate() {
        let beside = sorted[index + 1..].iter().take_while(|there| there.x - here.x <= range);
        pairs += beside.filter(|there| here.distance(**there) <= range).count() as u64;
        if pairs > MOST_PAIRS {
            let error = ScenarioError::new(path, format!("more than {MOST_PAIRS} pairs of stations reach one another"));
            return Err(error.with_hint("fewer stations, a larger area or a shorter range"));
        }
    }
    Ok(())
}

/// Gives every station its mobility.
pub(super) fn set_moving(a: &Adhoc, nodes: &mut [NodeDef]) -> Result<(), ScenarioError> {
    let steady = matches!(a.mobility, MobilityDef::RandomWaypoint(RandomWaypointDef { steady: true, .. }));
    if steady && a.placement != PlacementDef::default() {
        let message = "stations that move from the beginning do not start where network.placement puts them";
        return Err(ScenarioError::new("network.mobility.steady", message).with_hint("leave network.placement out"));
    }
    let stations: Vec<&str> = nodes.iter().filter(|node| node.role == Role::Station).map(|node| &*node.name).collect();
    if let Some(name) = a.own_mobility.keys().find(|name| !stations.contains(&&***name)) {
        let error = ScenarioError::new(format!("network.own_mobility.{name}"), format!("{name:?} is no station"));
        let [first, last] = [stations.first(), stations.last()].map(|name| name.copied().unwrap_or_default());
        return Err(error.with_hint(format!("stations: {first} to {last}")));
    }
    let mut a = a.clone();
    fill_mobility(&mut a)?;
    for node in nodes.iter_mut().filter(|node| node.role == Role::Station) {
        let (def, path) = match a.own_mobility.get(&node.name) {
            Some(own) => (own, format!("network.own_mobility.{}", node.name)),
            None => (&a.mobility, "network.mobility".into()),
        };
        mobility::check_start(def, Track::start(node), &path)?;
        node.mobility = Some(def).filter(|def| !matches!(def, MobilityDef::Fixed(_))).cloned();
    }
    Ok(())
}

/// The stations of the largest set that reach one another at the start; of the sink's, if there is one.
fn largest_component(nodes: &[NodeDef], reach: &RadioRange, seed: u64) -> Result<Vec<u64>, ScenarioError> {
    let places: Vec<Point> = nodes.iter().map(|node| Track::of(node, seed).at(Time::ZERO)).collect();
    let largest = Components::new(&in_range_graph(&places, reach)).largest();
    if largest.len() < 2 {
        let error = ScenarioError::new("network.connected_pairs", "no station reaches another");
        return Err(error.with_hint("more stations, a smaller area or a longer range"));
    }
    Ok(largest.into_iter().map(|station| station as u64).collect())
}

pub(super) fn check_area(area: &Area, path: &str) -> Result<(), ScenarioError> {
    for (field, side, least) in [("x", area.x, 1e-3), ("y", area.y, 1e-3), ("z", area.z, 0.0)] {
        if !(least..=1e7).contains(&side.0) {
            let message = format!("{side} is not a side from {least}m to 10000km");
            return Err(ScenarioError::new(join(path, field), message));
        }
    }
    Ok(())
}

pub(super) fn check_access_points(radio: &RadioDef, path: &str) -> Result<(), ScenarioError> {
    if radio.standard != Some(Standard::Lrwpan) {
        return Ok(());
    }
    let error = ScenarioError::new(join(path, "standard"), "802.15.4 has no access points");
    Err(error.with_hint("network.kind = \"adhoc\" with pattern = \"one_sink\""))
}

/// The channels of a graph with their radios filled in.
pub(super) fn channels(scenario: &Scenario) -> Result<Vec<ChannelDef>, ScenarioError> {
    let fill = |(index, channel): (usize, &ChannelDef)| {
        let path = format!("channel[{index}]");
        count(&join(&path, "stations"), channel.stations.len() as u64, 2, MOST_STATIONS)?;
        let radio = build::with_defaults(&channel.radio, &join(&path, "radio"))?;
        let routing = routing::build::with_defaults(&channel.routing, radio.profile, &join(&path, "routing"))?;
        if let RoutingDef::AccessPoints(_) = routing {
            check_access_points(&radio, &join(&path, "radio"))?;
        }
        Ok(ChannelDef { radio, routing, ..channel.clone() })
    };
    scenario.channel.iter().enumerate().map(fill).collect()
}
