//! Ad hoc on-demand distance vector (RFC 3561): routes are discovered on demand by an expanding ring search, and expire
//! when they are not used. Not modelled: local repair, gratuitous RREPs, blacklists.

mod routes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::answer::{NextHop, Outbox, Outgoing, jitter};
use crate::ids::StationId;
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::message::{AodvMessage, Message, RouteReply, RouteRequest, Unreachable};
use routes::Routes;

const RREQ_SIZE: Bytes = Bytes(24);
const RREP_SIZE: Bytes = Bytes(20);
const RERR_SIZE: Bytes = Bytes(4);
const RERR_ENTRY_SIZE: Bytes = Bytes(8);
/// Configuration parameters (RFC 3561 §10).
const MY_ROUTE_TIMEOUT: Span = Span::from_millis(11_200);
const NET_DIAMETER: u32 = 35;
const NODE_TRAVERSAL_TIME: Span = Span::from_millis(40);
const NET_TRAVERSAL_TIME: Span = Span::from_millis(2_800);
const PATH_DISCOVERY_TIME: Span = Span::from_millis(5_600);
const RREQ_RETRIES: u32 = 2;
const TTL_INCREMENT: u32 = 2;
const TTL_THRESHOLD: u32 = 7;
const TIMEOUT_BUFFER: u64 = 2;
const HELLO_INTERVAL: Span = Span::from_millis(1_000);
const ALLOWED_HELLO_LOSS: u64 = 2;
/// RREQ_RATELIMIT and RERR_RATELIMIT: maximum number per second.
const RREQ_RATELIMIT: usize = 10;
const SECOND: Span = Span::from_millis(1_000);
/// Stations forward a flood at different times.
const BROADCAST_JITTER: Span = Span::from_millis(10);

/// Parameters that differ between profiles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AodvRules {
    pub(crate) active_timeout: Span,
    /// TTL_START: the TTL of the first ring.
    pub(crate) ttl_start: u32,
    /// Stations broadcast hello messages.
    pub(crate) hellos: bool,
}

/// A route discovery for a destination.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Discovery {
    ttl: u32,
    /// RREQs with TTL = NET_DIAMETER sent so far.
    network_wide: u32,
    /// Timeout: the next ring, or the end of the discovery.
    until: Time,
}

/// The AODV agent of a station.
#[derive(Clone, Debug)]
pub(crate) struct Aodv {
    me: StationId,
    rules: AodvRules,
    sequence: u32,
    rreq_id: u32,
    routes: Routes,
    discoveries: BTreeMap<StationId, Discovery>,
    /// RREQs received, by originator and RREQ ID, with the time at which they are forgotten.
    seen_requests: BTreeMap<(StationId, u32), Time>,
    /// Neighbours that sent a hello, with the time at which the link counts as broken.
    neighbours: BTreeMap<StationId, Time>,
    hello_at: Option<Time>,
    /// RREQs and RERRs of the last second.
    requests: Vec<Time>,
    errors: Vec<Time>,
    rng: Rng,
    pub(super) outbox: Outbox,
}

/// True if one more message at `now` is within the rate limit; it is then counted.
fn within_rate(events: &mut Vec<Time>, now: Time) -> bool {
    events.retain(|at| *at + SECOND > now);
    let within = events.len() < RREQ_RATELIMIT;
    if within {
        events.push(now);
    }
    within
}

impl Aodv {
    pub(crate) fn new(me: StationId, rules: AodvRules, mut rng: Rng) -> Aodv {
        let hello_at = rules.hellos.then(|| Time::ZERO + jitter(&mut rng, HELLO_INTERVAL));
        Aodv {
            me,
            rules,
            sequence: 0,
            rreq_id: 0,
            routes: Routes::default(),
            discoveries: BTreeMap::new(),
            seen_requests: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            hello_at,
            requests: Vec::new(),
            errors: Vec::new(),
            rng,
            outbox: Outbox::default(),
        }
    }

    pub(super) fn next_hop(&self, now: Time, destination: StationId) -> NextHop {
        match self.routes.valid(now, destination) {
            Some(route) => NextHop::Via(route.next),
            None if self.discoveries.contains_key(&destination) => NextHop::Wait,
            None => NextHop::None,
        }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        let discoveries = self.discoveries.values().map(|discovery| discovery.until);
        let neighbours = self.neighbours.values().copied();
        discoveries.chain(neighbours).chain(self.hello_at).chain(self.outbox.next_due()).min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        let over: Vec<StationId> = self
            .discoveries
            .iter()
            .filter(|(_, discovery)| discovery.until <= now)
            .map(|(station, _)| *station)
            .collect();
        for destination in over {
            self.expand_ring(now, destination);
        }
        let silent: Vec<StationId> =
            self.neighbours.iter().filter(|(_, until)| **until <= now).map(|(station, _)| *station).collect();
        for neighbour in silent {
            self.on_neighbour_lost(now, neighbour);
        }
        if self.hello_at.is_some_and(|at| at <= now) {
            self.send_hello(now);
        }
    }

    fn broadcast(&mut self, due: Time, message: AodvMessage) {
        let size = match &message {
            AodvMessage::Request(_) => RREQ_SIZE,
            AodvMessage::Reply(_) => RREP_SIZE,
            AodvMessage::Error(lost) => RERR_SIZE + RERR_ENTRY_SIZE * lost.len() as u64,
        };
        let size = size + IP_HEADER + UDP_HEADER;
        self.outbox.push(due, Outgoing { message: Message::Aodv(message), size, to: None });
    }

    fn unicast_rrep(&mut self, now: Time, to: StationId, reply: RouteReply) {
        let message = Message::Aodv(AodvMessage::Reply(reply));
        self.outbox.push(now, Outgoing { message, size: RREP_SIZE + IP_HEADER + UDP_HEADER, to: Some(to) });
    }

    /// Starts a route discovery, unless one is in progress (§6.3, §6.4).
    pub(super) fn discover(&mut self, now: Time, destination: StationId) {
        if self.discoveries.contains_key(&destination) || self.routes.valid(now, destination).is_some() {
            return;
        }
        // The hop count of an expired route is a first estimate (§6.4).
        let hops = self.routes.known_hops(destination);
        let ttl = hops.map_or(self.rules.ttl_start, |hops| hops + TTL_INCREMENT);
        self.start_discovery(now, destination, if ttl > TTL_THRESHOLD { NET_DIAMETER } else { ttl }, 0);
    }

    /// Continues a discovery that timed out with the next ring.
    fn expand_ring(&mut self, now: Time, destination: StationId) {
        let Some(Discovery { ttl, network_wide, .. }) = self.discoveries.remove(&destination) else { return };
        if self.routes.valid(now, destination).is_some() || network_wide > RREQ_RETRIES {
            return;
        }
        let next = if ttl + TTL_INCREMENT > TTL_THRESHOLD { NET_DIAMETER } else { ttl + TTL_INCREMENT };
        self.start_discovery(now, destination, next, network_wide);
    }

    fn start_discovery(&mut self, now: Time, destination: StationId, ttl: u32, network_wide: u32) {
        let is_wide = ttl == NET_DIAMETER;
        // Binary exponential backoff of repeated RREQs (§6.3).
        let wait = if is_wide {
            NET_TRAVERSAL_TIME * (1 << network_wide)
        } else {
            NODE_TRAVERSAL_TIME * 2 * (u64::from(ttl) + TIMEOUT_BUFFER)
        };
        let discovery = Discovery { ttl, network_wide: network_wide + u32::from(is_wide), until: now + wait };
        self.discoveries.insert(destination, discovery);
        if !within_rate(&mut self.requests, now) {
            return;
        }
        self.sequence += 1;
        self.rreq_id += 1;
        self.seen_requests.insert((self.me, self.rreq_id), now + PATH_DISCOVERY_TIME);
        let request = RouteRequest {
            id: self.rreq_id,
            hops: 0,
            ttl,
            originator: self.me,
            originator_sequence: self.sequence,
            destination,
            destination_sequence: self.routes.sequence(destination),
        };
        self.broadcast(now, AodvMessage::Request(request));
    }

    fn send_hello(&mut self, now: Time) {
        let reply = RouteReply {
            hops: 0,
            destination: self.me,
            destination_sequence: self.sequence,
            originator: self.me,
            lifetime: HELLO_INTERVAL * ALLOWED_HELLO_LOSS,
        };
        self.broadcast(now, AodvMessage::Reply(reply));
        self.hello_at = Some(now + HELLO_INTERVAL + jitter(&mut self.rng, BROADCAST_JITTER));
    }

    pub(super) fn on_message(&mut self, now: Time, from: StationId, message: &AodvMessage) {
        if let Some(until) = self.neighbours.get_mut(&from) {
            *until = now + HELLO_INTERVAL * ALLOWED_HELLO_LOSS;
        }
        match message {
            AodvMessage::Request(request) => self.on_rreq(now, from, request),
            AodvMessage::Reply(reply) if reply.destination == reply.originator => self.on_hello(now, from, reply),
            AodvMessage::Reply(reply) => self.on_rrep(now, from, reply),
            AodvMessage::Error(lost) => self.on_rerr(now, from, lost),
        }
    }

    /// Handles a hello message (§6.9).
    fn on_hello(&mut self, now: Time, from: StationId, hello: &RouteReply) {
        self.routes.learn(now, from, Some(hello.destination_sequence), from, 1, now + hello.lifetime);
        self.neighbours.insert(from, now + HELLO_INTERVAL * ALLOWED_HELLO_LOSS);
    }

    /// Handles an RREQ (§6.5).
    fn on_rreq(&mut self, now: Time, from: StationId, request: &RouteRequest) {
        self.routes.learn(now, from, None, from, 1, now + self.rules.active_timeout);
        self.seen_requests.retain(|_, until| *until > now);
        if self.seen_requests.insert((request.originator, request.id), now + PATH_DISCOVERY_TIME).is_some() {
            return;
        }
        let hops = request.hops + 1;
        let far = NODE_TRAVERSAL_TIME * 2 * u64::from(hops);
        let until = now + (NET_TRAVERSAL_TIME * 2).saturating_sub(far);
        self.routes.learn(now, request.originator, Some(request.originator_sequence), from, hops, until);
        if request.destination == self.me {
            if request.destination_sequence == Some(self.sequence) {
                self.sequence += 1;
            }
            self.sequence = self.sequence.max(request.destination_sequence.unwrap_or(0));
            return self.send_rrep(now, from, request, 0, self.sequence, MY_ROUTE_TIMEOUT);
        }
        let fresh = self.routes.valid(now, request.destination).copied().filter(|route| {
            route.next != from
                && route.sequence.is_some_and(|known| request.destination_sequence.is_none_or(|w| known >= w))
        });
        if let Some((route, sequence)) = fresh.and_then(|route| route.sequence.map(|sequence| (route, sequence))) {
            self.routes.add_precursor(request.destination, from);
            self.routes.add_precursor(request.originator, route.next);
            return self.send_rrep(now, from, request, route.hops, sequence, route.expires.since(now));
        }
        if request.ttl > 1 {
            let known = self.routes.sequence(request.destination);
            let destination_sequence = request.destination_sequence.max(known);
            let request = RouteRequest { hops, ttl: request.ttl - 1, destination_sequence, ..*request };
            let due = now + jitter(&mut self.rng, BROADCAST_JITTER);
            self.broadcast(due, AodvMessage::Request(request));
        }
    }

    /// Generates an RREP (§6.6).
    fn send_rrep(
        &mut self,
        now: Time,
        to: StationId,
        request: &RouteRequest,
        hops: u32,
        sequence: u32,
        lifetime: Span,
    ) {
        let RouteRequest { destination, originator, .. } = *request;
        self.unicast_rrep(
            now,
            to,
            RouteReply { hops, destination, destination_sequence: sequence, originator, lifetime },
        );
    }

    /// Handles an RREP (§6.7).
    fn on_rrep(&mut self, now: Time, from: StationId, reply: &RouteReply) {
        self.routes.learn(now, from, None, from, 1, now + self.rules.active_timeout);
        let (destination, hops) = (reply.destination, reply.hops + 1);
        self.routes.learn(now, destination, Some(reply.destination_sequence), from, hops, now + reply.lifetime);
        if reply.originator == self.me {
            self.discoveries.remove(&destination);
            return;
        }
        let Some(back) = self.routes.valid(now, reply.originator).copied() else { return };
        self.routes.add_precursor(destination, back.next);
        self.routes.add_precursor(from, back.next);
        self.routes.extend(now, reply.originator, now + self.rules.active_timeout);
        self.unicast_rrep(now, back.next, RouteReply { hops, ..*reply });
    }

    /// Handles an RERR (§6.11).
    fn on_rerr(&mut self, now: Time, from: StationId, lost: &[Unreachable]) {
        let mut unreachable = Vec::new();
        for Unreachable { destination, sequence } in lost {
            let concerned = self.routes.valid(now, *destination).is_some_and(|route| route.next == from);
            if concerned && self.routes.invalidate(now, *destination, Some(*sequence)) {
                unreachable.push(Unreachable { destination: *destination, sequence: *sequence });
            }
        }
        self.send_rerr(now, unreachable);
    }

    fn send_rerr(&mut self, now: Time, lost: Vec<Unreachable>) {
        if !lost.is_empty() && within_rate(&mut self.errors, now) {
            let due = now + jitter(&mut self.rng, BROADCAST_JITTER);
            self.broadcast(due, AodvMessage::Error(lost));
        }
    }

    /// Handles a broken link: precursors receive an RERR (§6.11, case i).
    pub(super) fn on_neighbour_lost(&mut self, now: Time, neighbour: StationId) {
        self.neighbours.remove(&neighbour);
        let mut unreachable = Vec::new();
        for destination in self.routes.destinations_via(now, neighbour) {
            let has_precursors = self.routes.invalidate(now, destination, None);
            if has_precursors {
                let sequence = self.routes.sequence(destination).unwrap_or(0);
                unreachable.push(Unreachable { destination, sequence });
            }
        }
        self.send_rerr(now, unreachable);
    }

    /// Handles a forwarded packet without a route: its senders receive an RERR (§6.11, case ii).
    pub(super) fn on_no_route(&mut self, now: Time, destination: StationId) {
        let sequence = self.routes.sequence(destination).unwrap_or(0);
        self.send_rerr(now, vec![Unreachable { destination, sequence }]);
    }

    /// Extends the lifetimes of the routes that a packet uses (§6.2): to the destination, the next hop and the previous
    /// hop.
    pub(super) fn on_used(&mut self, now: Time, destination: StationId, previous: Option<StationId>) {
        let until = now + self.rules.active_timeout;
        let next = self.routes.valid(now, destination).map(|route| route.next);
        for station in [Some(destination), next, previous].into_iter().flatten() {
            self.routes.extend(now, station, until);
        }
        if let Some(previous) = previous {
            self.routes.add_precursor(destination, previous);
        }
    }
}
