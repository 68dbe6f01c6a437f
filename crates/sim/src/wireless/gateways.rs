//! Gateways to the wired network, and the domain of each.

use std::collections::VecDeque;

use tcp::units::Time;

use crate::ids::StationId;
use crate::radio::mac::Mac;

/// The gateways of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gateways {
    stations: Vec<StationId>,
    /// By station, the gateway of its domain; empty without gateways.
    domains: Vec<StationId>,
}

impl Gateways {
    /// These gateways; each station is in the domain of the nearest one at time zero.
    pub(crate) fn new(mac: &mut Mac, stations: Vec<StationId>) -> Gateways {
        let positions: Vec<_> = (0..mac.stations() as u32).map(|i| mac.position(StationId(i), Time::ZERO)).collect();
        let distance = |here: usize, gateway: &StationId| positions[here].distance(positions[gateway.index()]);
        let nearest =
            |here: usize| stations.iter().copied().min_by(|a, b| distance(here, a).total_cmp(&distance(here, b)));
        let domains = (0..positions.len()).filter_map(nearest).collect();
        Gateways { stations, domains }
    }

    /// The gateway of a station's domain.
    pub(crate) fn of(&self, station: StationId) -> Option<StationId> {
        self.domains.get(station.index()).copied()
    }

    /// Assigns each station to the gateway with the fewest hops to it, the first of several. A station that no gateway
    /// reaches keeps its domain.
    pub(crate) fn find_nearest(&mut self, neighbours: &[Vec<StationId>]) {
        if self.stations.is_empty() {
            return;
        }
        let mut found: Vec<Option<StationId>> = vec![None; neighbours.len()];
        let mut frontier = VecDeque::new();
        for gateway in &self.stations {
            found[gateway.index()] = Some(*gateway);
            frontier.push_back(*gateway);
        }
        while let Some(here) = frontier.pop_front() {
            for next in &neighbours[here.index()] {
                if found[next.index()].is_none() {
                    found[next.index()] = found[here.index()];
                    frontier.push_back(*next);
                }
            }
        }
        for (domain, found) in self.domains.iter_mut().zip(found) {
            *domain = found.unwrap_or(*domain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stations 0 to 5 in a row with gateways at both ends; station 6 out of range.
    #[test]
    fn stations_go_to_the_nearest_gateway_by_hops() {
        let row = |i: u32| [i.checked_sub(1), (i < 5).then_some(i + 1)].into_iter().flatten().map(StationId).collect();
        let mut neighbours: Vec<Vec<StationId>> = (0..6).map(row).collect();
        neighbours.push(Vec::new());
        let stations = vec![StationId(5), StationId(0)];
        let mut gateways = Gateways { stations, domains: vec![StationId(5); 7] };
        gateways.find_nearest(&neighbours);
        let domains: Vec<u32> = gateways.domains.iter().map(|station| station.0).collect();
        assert_eq!(domains, [0, 0, 0, 5, 5, 5, 5]);
        gateways.find_nearest(&vec![Vec::new(); 7]);
        assert_eq!(gateways.of(StationId(2)), Some(StationId(0)));
    }
}
