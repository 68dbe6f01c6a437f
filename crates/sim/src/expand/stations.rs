//! What the topologies with radio share: how stations move, and what a channel can hold.

use super::graph::count;
use super::limits::{MAX_PAIRS, MAX_STATIONS};
use super::mobility;
use crate::mobility::{Point, Track};
use crate::radio::build;
use crate::routing;
use crate::scenario::{
    Adhoc, ChannelDef, MobilityDef, NodeDef, PlacementDef, RadioDef, RandomWaypointDef, Role, RoutingDef, Scenario,
    ScenarioError, Standard, join,
};

/// The mobilities of an ad hoc network with nothing left to a default.
pub(super) fn fill_mobility(a: &mut Adhoc) -> Result<(), ScenarioError> {
    a.mobility = mobility::with_defaults(&a.mobility, Some(&a.area), "network.mobility")?;
    for (name, own) in &mut a.own_mobility {
        *own = mobility::with_defaults(own, Some(&a.area), &format!("network.own_mobility.{name}"))?;
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
        if pairs > MAX_PAIRS {
            let error = ScenarioError::new(path, format!("more than {MAX_PAIRS} pairs of stations reach one another"));
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

pub(super) fn check_access_points(radio: &RadioDef, path: &str) -> Result<(), ScenarioError> {
    if radio.standard != Some(Standard::Lrwpan) {
        return Ok(());
    }
    let error = ScenarioError::new(join(path, "standard"), "802.15.4 has no access points");
    Err(error.with_hint("network.kind = \"adhoc\" with pattern = \"one_sink\""))
}

/// The channels of a graph with nothing of their radios left to a default.
pub(super) fn channels(scenario: &Scenario) -> Result<Vec<ChannelDef>, ScenarioError> {
    let fill = |(index, channel): (usize, &ChannelDef)| {
        let path = format!("channel[{index}]");
        count(&join(&path, "stations"), channel.stations.len() as u64, 2, MAX_STATIONS)?;
        let radio = build::with_defaults(&channel.radio, &join(&path, "radio"))?;
        let routing = routing::build::with_defaults(&channel.routing, radio.profile, &join(&path, "routing"))?;
        if let RoutingDef::AccessPoints(_) = routing {
            check_access_points(&radio, &join(&path, "radio"))?;
        }
        Ok(ChannelDef { radio, routing, ..channel.clone() })
    };
    scenario.channel.iter().enumerate().map(fill).collect()
}
