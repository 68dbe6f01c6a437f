//! A constellation while packets travel over it: at each event links go up and down, and routes follow.
//!
//! Everything is a function of time and the scenario; only the next change is in the event list, so a day needs no more
//! memory than a minute.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};

use super::routes::{IslGraph, NextHop, length};
use super::shell::Shell;
use super::terminal::Terminal;
use crate::engine::context::Context;
use crate::ids::{LinkId, NodeId, PacketId};
use crate::network::Network;
use crate::orbit::Point;
use crate::routing::Routes;
use crate::scenario::Constellation;

/// The links of a constellation.
#[derive(Debug, Default)]
pub(crate) struct ConstellationLinks {
    /// By terminal and satellite: uplink and downlink. Only the satellites that ever serve a terminal have links to it.
    pub(crate) ground: Vec<BTreeMap<usize, [LinkId; 2]>>,
    /// All terminals of a satellite share its downlink.
    pub(crate) shared_downlink: bool,
    /// By pair of satellites: from `a` to `b` and back.
    pub(crate) between: Vec<[LinkId; 2]>,
}

/// A link that went down, for all packets or for those to one terminal.
#[derive(Clone, Copy, Debug)]
struct Closed {
    link: LinkId,
    terminal: Option<NodeId>,
}

/// What changes in a constellation over time: handovers, links between satellites, routes.
#[derive(Debug)]
pub(crate) struct ConstellationDynamics {
    shell: Shell,
    pub(crate) terminals: Vec<Terminal>,
    links: ConstellationLinks,
    requeue: bool,
    /// Terminals that flows send to.
    destinations: Vec<usize>,
    isl_interval: Span,
    route_interval: Span,
    /// Which pairs of satellites have a link now.
    up: Vec<bool>,
    /// Number of handovers of each terminal that are done.
    done: Vec<usize>,
    next_isl: Time,
    next_route: Time,
}

impl ConstellationDynamics {
    /// The constellation before its first step, which brings up the links of time 0.
    pub(crate) fn new(
        def: &Constellation,
        shell: Shell,
        terminals: Vec<Terminal>,
        links: ConstellationLinks,
        destinations: Vec<usize>,
    ) -> ConstellationDynamics {
        ConstellationDynamics {
            requeue: def.handover_requeue.expect("filled"),
            isl_interval: def.isl_interval.expect("filled"),
            route_interval: def.route_interval.expect("filled"),
            up: vec![false; shell.pairs.len()],
            done: vec![0; terminals.len()],
            shell,
            terminals,
            links,
            destinations,
            next_isl: Time::ZERO,
            next_route: Time::ZERO,
        }
    }

    /// Carries out the changes of this time and returns the time of the next step.
    pub(crate) fn step(&mut self, ctx: &mut Context, network: &mut Network) -> Time {
        let now = ctx.now;
        let places = self.shell.at(now.as_secs_f64());
        let mut closed = Vec::new();
        if now >= self.next_isl {
            self.update_isls(network, &places, &mut closed);
            self.next_isl = now + self.isl_interval;
        }
        self.hand_over(now, network, &mut closed);
        if now >= self.next_route {
            self.next_route = now + self.route_interval;
        }
        network.set_routes(self.routes(now, &places, network.nodes.len()));
        self.clear_queues(ctx, network, &closed);
        let handovers = self.terminals.iter().zip(&self.done).filter_map(|(t, done)| t.handovers.get(*done));
        handovers.map(|handover| handover.at).fold(self.next_isl.min(self.next_route), Time::min)
    }

    fn update_isls(&mut self, network: &mut Network, places: &[Point], closed: &mut Vec<Closed>) {
        let up = self.shell.up(places);
        for (index, links) in self.links.between.iter().enumerate().filter(|(index, _)| up[*index] != self.up[*index]) {
            for link in links {
                if up[index] { network.links[link.index()].up = true } else { close(network, *link, closed) }
            }
        }
        self.up = up;
    }

    fn hand_over(&mut self, now: Time, network: &mut Network, closed: &mut Vec<Closed>) {
        for (index, terminal) in self.terminals.iter().enumerate() {
            let links_to = |satellite: &usize| self.links.ground[index][satellite];
            while let Some(handover) = terminal.handovers.get(self.done[index]).filter(|handover| handover.at <= now) {
                let before =
                    self.done[index].checked_sub(1).map_or(&[][..], |last| &terminal.handovers[last].satellites);
                let given_up = before.iter().filter(|satellite| !handover.satellites.contains(satellite));
                for [up, down] in given_up.map(links_to) {
                    close(network, up, closed);
                    if self.links.shared_downlink {
                        // The other terminals go on receiving.
                        closed.push(Closed { link: down, terminal: Some(NodeId(index as u32)) });
                    } else {
                        close(network, down, closed);
                    }
                }
                let links = handover.satellites.iter().flat_map(links_to);
                links.for_each(|link| network.links[link.index()].up = true);
                self.done[index] += 1;
            }
        }
    }

    /// The routes of this instant. Nodes are the terminals, then the satellites; only terminals are destinations.
    fn routes(&self, now: Time, places: &[Point], nodes: usize) -> Routes {
        let terminals = self.terminals.len();
        let mut tables = vec![vec![None; terminals]; nodes];
        let isls = IslGraph::new(&self.shell, &self.up, places);
        let serving: Vec<&[usize]> = self.terminals.iter().map(|terminal| terminal.satellites(now)).collect();
        let grounds: Vec<Point> = self.terminals.iter().map(|terminal| terminal.body.at(now.as_secs_f64())).collect();
        for &to in &self.destinations {
            let tail = |last: &usize| (*last, length(&places[*last], &grounds[to]));
            let paths = isls.shortest_paths(&serving[to].iter().map(tail).collect::<Vec<_>>());
            for (satellite, path) in paths.iter().enumerate() {
                let Some(path) = path else { continue };
                let link = match path.next {
                    None => self.links.ground[to][&satellite][1],
                    Some(NextHop { pair, .. }) => {
                        self.links.between[pair][usize::from(self.shell.pairs[pair].a != satellite)]
                    }
                };
                tables[terminals + satellite][to] = Some(link);
            }
            for from in (0..terminals).filter(|from| *from != to) {
                let over =
                    |first: &usize| Some((length(&places[*first], &grounds[from]) + paths[*first]?.length, *first));
                let Some((_, first)) = serving[from].iter().filter_map(over).min() else { continue };
                tables[from][to] = Some(self.links.ground[from][&first][0]);
            }
        }
        Routes::of(tables)
    }

    /// Packets that wait for a link which went down take the new route, or are dropped.
    fn clear_queues(&self, ctx: &mut Context, network: &mut Network, closed: &[Closed]) {
        let mut waiting: Vec<(NodeId, PacketId)> = Vec::new();
        for Closed { link, terminal } in closed {
            let link = &mut network.links[link.index()];
            if self.requeue {
                let from = link.from;
                waiting.extend(link.take_queued(ctx, *terminal).into_iter().map(|packet| (from, packet)));
            } else {
                link.drop_queued(ctx, *terminal);
            }
        }
        for (node, packet) in waiting {
            network.send(ctx, node, packet, None);
        }
    }
}

fn close(network: &mut Network, link: LinkId, closed: &mut Vec<Closed>) {
    network.links[link.index()].close();
    closed.push(Closed { link, terminal: None });
}
