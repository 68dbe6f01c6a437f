//! The topology of a wired core with base stations and their stations.

use tcp::rng::Rng;

use super::graph::{FlowEnds, LinkDefaults, Shorthand, Topology, count, link, link_with_defaults, node, station};
use super::limits::{MAX_ROUTERS, MAX_STATIONS};
use super::placement::{check_area, place};
use super::stations::{check_density, fill_mobility, set_moving};
use crate::mobility::Point;
use crate::radio::build;
use crate::routing;
use crate::scenario::{
    AccessPointsDef, Adhoc, ChannelDef, Direction, Graph, LinkDef, LinkOptions, Network, Role, RoutingDef,
    ScenarioError, WiredCumWireless,
};

/// The links of the core and of its hosts.
const WIRES: LinkDefaults = LinkDefaults { mbps: 5, delay_us: 2_000, queue_packets: 50 };

/// The stations as an ad hoc network would have them.
fn field_of(c: &WiredCumWireless) -> Adhoc {
    Adhoc {
        area: c.area,
        placement: c.placement.clone(),
        mobility: c.mobility.clone(),
        own_mobility: c.own_mobility.clone(),
        ..Adhoc::default()
    }
}

/// How many of the nodes are wired.
fn hosts_of(c: &WiredCumWireless) -> Result<u64, ScenarioError> {
    let nodes = count("network.nodes", c.nodes, 2, MAX_STATIONS)?;
    if !(0.0..=1.0).contains(&c.wired_share) {
        let message = format!("{} is not a share from 0 to 1", c.wired_share);
        return Err(ScenarioError::new("network.wired_share", message));
    }
    Ok(((nodes as f64 * c.wired_share).round() as u64).clamp(1, nodes - 1))
}

impl Shorthand for WiredCumWireless {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        self.radio = build::with_defaults(&self.radio, "network.radio")?;
        self.routing = routing::build::with_defaults(&self.routing, self.radio.profile, "network.routing")?;
        if matches!(&self.routing, RoutingDef::AccessPoints(points) if !points.stations.is_empty()) {
            let error = ScenarioError::new("network.routing.stations", "the base stations are the access points");
            return Err(error.with_hint("leave it out"));
        }
        check_area(&self.area, "network.area")?;
        let mut field = field_of(self);
        fill_mobility(&mut field)?;
        (self.mobility, self.own_mobility) = (field.mobility, field.own_mobility);
        self.access = link_with_defaults(&self.access, "network.access", &WIRES)?;
        self.core = link_with_defaults(&self.core, "network.core", &WIRES)?;
        Ok(())
    }

    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let hosts = hosts_of(self)?;
        let stations = self.nodes - hosts;
        count("network.routers", self.routers, 1, MAX_ROUTERS)?;
        let bases = count("network.base_stations", self.base_stations, 1, MAX_STATIONS)?;
        let field = field_of(self);
        let mut topology =
            Topology { network: Network::Graph(Graph { area: Some(self.area), routing: None }), ..Topology::default() };
        add_core(&mut topology, self, hosts);
        let base_names: Vec<String> = (0..bases).map(|i| format!("bs{i}")).collect();
        for (i, at) in in_rows(bases, self.area.x.0, self.area.y.0).into_iter().enumerate() {
            topology.links.push(wire(i as u64 % self.routers, &base_names[i], &self.core));
            topology.nodes.push(station(base_names[i].clone(), Role::BaseStation, at));
        }
        let reach = build::range(&self.radio);
        let placed = place(&field, stations, &reach, seed)?;
        check_density(&placed.places, reach.limit(), "network.nodes")?;
        topology.placement_draws = placed.draws;
        let names: Vec<String> = (0..stations).map(|i| format!("sta{i}")).collect();
        let mut nodes: Vec<_> =
            placed.places.iter().zip(&names).map(|(at, name)| station(name.clone(), Role::Station, *at)).collect();
        set_moving(&field, &mut nodes)?;
        topology.nodes.extend(nodes);
        topology.channels = vec![channel(self, base_names, names)];
        topology.flow_ends = (0..self.flows).map(|i| ends(self, i, hosts, stations, seed)).collect();
        Ok(topology)
    }
}

fn channel(c: &WiredCumWireless, bases: Vec<String>, stations: Vec<String>) -> ChannelDef {
    let (routing, gateway) = match &c.routing {
        RoutingDef::AccessPoints(points) => {
            let points = AccessPointsDef { stations: bases.clone(), ..points.clone() };
            (RoutingDef::AccessPoints(points), Vec::new())
        }
        routing => (routing.clone(), bases.clone()),
    };
    ChannelDef { stations: [bases, stations].concat(), radio: c.radio.clone(), routing, gateway }
}

fn wire(router: u64, end: &str, options: &LinkOptions) -> LinkDef {
    link(&format!("r{router}"), end, options)
}

/// Routers in a row and their hosts, drawn above the field.
fn add_core(topology: &mut Topology, c: &WiredCumWireless, hosts: u64) {
    let (width, depth) = (c.area.x.0, c.area.y.0);
    let column = width / c.routers as f64;
    for i in 0..c.routers {
        let name = format!("r{i}");
        if i > 0 {
            topology.links.push(wire(i - 1, &name, &c.core));
        }
        topology.nodes.push(node(name, Role::Router, (i as f64 + 0.5) * column, 1.2 * depth));
    }
    for i in 0..hosts {
        let (name, router) = (format!("w{i}"), i % c.routers);
        let neighbours = (hosts - router).div_ceil(c.routers);
        let x = (router as f64 + ((i / c.routers) as f64 + 0.5) / neighbours as f64) * column;
        topology.links.push(wire(router, &name, &c.access));
        topology.nodes.push(node(name, Role::Host, x, 1.4 * depth));
    }
}

/// Positions in rows that divide a field evenly.
fn in_rows(places: u64, width: f64, depth: f64) -> Vec<Point> {
    let columns = (places as f64).sqrt().ceil() as u64;
    let rows = places.div_ceil(columns);
    let at = |i: u64| {
        let row = i / columns;
        let in_row = columns.min(places - row * columns);
        let x = width * ((i % columns) as f64 + 0.5) / in_row as f64;
        Point { x, y: depth * (row as f64 + 0.5) / rows as f64, z: 0.0 }
    };
    (0..places).map(at).collect()
}

/// The ends of a flow: a host and a station.
fn ends(c: &WiredCumWireless, flow: u64, hosts: u64, stations: u64, seed: u64) -> FlowEnds {
    let mut rng = Rng::stream(seed, &format!("traffic/{flow}/ends"));
    let (host, station) = (format!("w{}", rng.below(hosts)), format!("sta{}", rng.below(stations)));
    let down = match c.direction {
        Direction::Both => flow.is_multiple_of(2),
        Direction::ToStations => true,
        Direction::ToHosts => false,
    };
    if down { FlowEnds::new(host, station) } else { FlowEnds::new(station, host) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_stations_divide_the_field() {
        let xy = |places| in_rows(places, 100.0, 60.0).into_iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
        assert_eq!(xy(1), [(50.0, 30.0)]);
        assert_eq!(xy(2), [(25.0, 30.0), (75.0, 30.0)]);
        assert_eq!(xy(3), [(25.0, 15.0), (75.0, 15.0), (50.0, 45.0)]);
        assert_eq!(xy(4), [(25.0, 15.0), (75.0, 15.0), (25.0, 45.0), (75.0, 45.0)]);
    }
}
