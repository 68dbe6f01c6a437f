//! Dynamic source routing (RFC 4728): the source finds whole paths by requests and writes one into every packet. Not
//! modelled: packets piggybacked on requests, several unanswered errors in one message.

mod cache;
mod discovery;
#[path = "../../compat/dsr_flows.rs"]
mod flows;
mod sizes;
mod source_route;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::answer::{NextHop, Outbox, Outgoing, jitter};
use crate::ids::StationId;
use crate::packet::header::IP_HEADER;
use crate::packet::message::{DsrMessage, LinkError, Message};
pub(crate) use cache::Path;
use cache::{MAX_PATH, RouteCache};
pub(crate) use discovery::DsrRules;
use discovery::{Discovery, RELEASE_INTERVAL, SEND_BUFFER_TIMEOUT};
use flows::Flows;
pub(crate) use sizes::Sizes;
pub(crate) use source_route::SourceRoute;
use source_route::next;

/// MAX_SALVAGE_COUNT (RFC 4728 §9).
const MAX_SALVAGES: u32 = 15;
/// BroadcastJitter.
const JITTER: Span = Span::from_millis(10);
/// GratReplyHoldoff, and how long an error is passed on with requests.
const SECOND: Span = Span::from_millis(1_000);

/// The DSR agent of a station.
#[derive(Clone, Debug)]
pub(crate) struct Dsr {
    me: StationId,
    rules: DsrRules,
    cache: RouteCache,
    flows: Flows,
    discoveries: BTreeMap<StationId, Discovery>,
    request_id: u32,
    /// The last request of each originator.
    seen_requests: BTreeMap<StationId, u32>,
    /// The last broken link that was reported to this station, for its next request.
    held_error: Option<(Time, LinkError)>,
    /// Paths for which a gratuitous reply was sent in the last second.
    shortened: Vec<(Path, Time)>,
    /// The next packet may leave the send buffer then.
    release_at: Option<Time>,
    rng: Rng,
    pub(super) outbox: Outbox,
}

impl Dsr {
    pub(crate) fn new(me: StationId, rules: DsrRules, rng: Rng) -> Dsr {
        Dsr {
            me,
            rules,
            cache: RouteCache::default(),
            flows: Flows::default(),
            discoveries: BTreeMap::new(),
            request_id: 0,
            seen_requests: BTreeMap::new(),
            held_error: None,
            shortened: Vec::new(),
            release_at: None,
            rng,
            outbox: Outbox::default(),
        }
    }

    /// The source route of a packet that begins here.
    pub(crate) fn find_route(&mut self, now: Time, to: StationId) -> Option<SourceRoute> {
        let path = self.cache.find(to)?;
        Some(if self.rules.flow_state { self.flows.route(now, path) } else { self.listed(path, 0) })
    }

    /// A source route that the packet lists.
    fn listed(&self, path: Path, salvages: u32) -> SourceRoute {
        let header = self.rules.sizes.source_route(path.len());
        SourceRoute { path, salvages, is_listed: true, header }
    }

    /// Whether a packet in the send buffer may leave it: a path is known, and the one before has had its time.
    pub(super) fn next_hop(&self, now: Time, to: StationId) -> NextHop {
        match self.cache.find(to) {
            Some(path) if self.release_at.is_none_or(|at| at <= now) => NextHop::Via(path[1]),
            _ => NextHop::Wait,
        }
    }

    /// A packet has left the send buffer.
    pub(super) fn on_released(&mut self, now: Time) {
        self.release_at = Some(now + RELEASE_INTERVAL);
    }

    /// Starts a discovery, unless one is in progress: first the neighbours alone are asked.
    pub(crate) fn discover(&mut self, now: Time, to: StationId) {
        let until = now + SEND_BUFFER_TIMEOUT;
        if let Some(discovery) = self.discoveries.get_mut(&to) {
            discovery.until = until;
            // Where requests wait for a check, each packet that comes is one.
            if !self.rules.check_delay {
                return;
            }
        } else {
            self.discoveries.insert(to, Discovery::begin(now, self.rules.period, until));
        }
        self.ask(now, to);
    }

    /// Sends the next request of a discovery that is due.
    fn ask(&mut self, now: Time, to: StationId) {
        let Some(discovery) = self.discoveries.get_mut(&to) else { return };
        if let Some(hops) = discovery.next_request(now, self.rules, &mut self.rng) {
            self.send_request(now, to, hops);
        }
    }

    /// Broadcasts a request that may be forwarded so often; an error told within the last second goes with it.
    fn send_request(&mut self, now: Time, target: StationId, hops: usize) {
        self.request_id += 1;
        let error = self.held_error.filter(|(at, _)| *at + SECOND > now).map(|(_, error)| error);
        if hops > 0 {
            self.held_error = None;
        }
        let (id, path) = (self.request_id, vec![self.me]);
        self.broadcast(now, DsrMessage::Request { id, target, path, hops, error });
    }

    fn broadcast(&mut self, now: Time, message: DsrMessage) {
        let due = now + jitter(&mut self.rng, JITTER);
        self.push(due, message, None);
    }

    /// Sends a message to the next station of its own source route.
    fn send_along(&mut self, due: Time, message: DsrMessage) {
        let (DsrMessage::Reply { back, .. } | DsrMessage::Error { back, .. }) = &message else { return };
        let next = next(back, self.me);
        if next.is_some() {
            self.push(due, message, next);
        }
    }

    fn push(&mut self, due: Time, message: DsrMessage, to: Option<StationId>) {
        let size = IP_HEADER + self.rules.sizes.message(&message);
        self.outbox.push(due, Outgoing { message: Message::Dsr(message), size, to });
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        let discoveries = self.discoveries.values().map(Discovery::next_timer);
        discoveries.chain(self.outbox.next_due()).chain(self.release_at).min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        self.release_at.take_if(|at| *at <= now);
        let cache = &self.cache;
        self.discoveries.retain(|to, discovery| discovery.until > now && cache.find(*to).is_none());
        let due = self.discoveries.iter().filter(|(_, discovery)| discovery.is_due(now));
        let due: Vec<StationId> = due.map(|(to, _)| *to).collect();
        due.into_iter().for_each(|to| self.ask(now, to));
    }

    pub(super) fn on_message(&mut self, now: Time, message: &DsrMessage) {
        match message {
            DsrMessage::Request { id, target, path, hops, error } => {
                if let Some(error) = error {
                    self.remove_link(error.from, error.to);
                }
                self.on_request(now, *id, *target, path, *hops, *error);
            }
            DsrMessage::Reply { route, back } => {
                if back.last() == Some(&self.me) {
                    self.cache.add_own(route);
                    if let Some(target) = route.last() {
                        self.discoveries.remove(target);
                    }
                    return;
                }
                self.notice(back, None);
                self.send_along(now, message.clone());
            }
            DsrMessage::Error { error, back } => {
                self.remove_link(error.from, error.to);
                if back.last() == Some(&self.me) {
                    self.held_error = Some((now, *error));
                    return;
                }
                self.send_along(now, message.clone());
            }
        }
    }

    /// Handles a request: the target replies to each copy along its path reversed; others reply from their caches, or
    /// pass the first copy on (RFC 4728 §8.2.2).
    fn on_request(
        &mut self,
        now: Time,
        id: u32,
        target: StationId,
        path: &[StationId],
        hops: usize,
        error: Option<LinkError>,
    ) {
        let originator = path[0];
        let mut here = path.to_vec();
        here.push(self.me);
        if path.contains(&self.me) || here.len() > MAX_PATH {
            return;
        }
        let is_old = self.seen_requests.get(&originator).is_some_and(|last| *last >= id);
        if target == self.me {
            self.seen_requests.insert(originator, id);
            let due = now + jitter(&mut self.rng, JITTER);
            return self.reply(due, here.clone(), &here);
        }
        if is_old {
            return;
        }
        self.seen_requests.insert(originator, id);
        if let Some(rest) = self.cache.find(target) {
            let mut route = here.clone();
            route.extend_from_slice(&rest[1..]);
            // A path that doubles back would lead around this station.
            let loops = (1..route.len()).any(|at| route[at..].contains(&route[at - 1]));
            if !loops && route.len() <= MAX_PATH {
                return self.reply(now, route, &here);
            }
        }
        if path.len() <= hops {
            self.broadcast(now, DsrMessage::Request { id, target, path: here, hops, error });
        }
    }

    /// Sends a path to the originator of a request, back the way the request came; links work in both directions.
    fn reply(&mut self, due: Time, route: Path, came: &[StationId]) {
        let back: Path = came.iter().rev().copied().collect();
        self.cache.add_own(&back);
        self.send_along(due, DsrMessage::Reply { route, back });
    }

    /// Notices that a path is in use, and, if it does not lead through this station, who has transmitted on it.
    fn notice(&mut self, path: &[StationId], transmitter: Option<StationId>) {
        if let Some(at) = path.iter().position(|station| *station == self.me) {
            self.cache.add_overheard(&path[at..]);
        } else if let Some(at) = transmitter.and_then(|from| path.iter().position(|station| *station == from)) {
            let mut stub = vec![self.me];
            stub.extend_from_slice(&path[at..]);
            self.cache.add_overheard(&stub);
        }
    }

    /// A packet is forwarded along a path on which this station is.
    pub(crate) fn on_forwarded(&mut self, path: &[StationId]) {
        self.notice(path, None);
    }

    /// Handles a message for another station.
    pub(crate) fn on_overheard_message(&mut self, from: StationId, message: &DsrMessage) {
        match message {
            DsrMessage::Request { .. } => {}
            DsrMessage::Reply { route, back } => {
                self.notice(route, None);
                self.notice(back, Some(from));
            }
            DsrMessage::Error { error, back } => {
                self.remove_link(error.from, error.to);
                self.notice(back, Some(from));
            }
        }
    }

    /// Handles a packet for another station: if it would come here later, its source is told that the stations between
    /// are not needed, once a second for each path (automatic route shortening, RFC 4728 §3.4.3).
    pub(crate) fn on_overheard_packet(&mut self, now: Time, from: StationId, path: &[StationId]) {
        if path[0] == self.me {
            return;
        }
        self.notice(path, Some(from));
        let place = |station| path.iter().position(|other| *other == station);
        let (Some(heard), Some(here)) = (place(from), place(self.me)) else { return };
        if here <= heard + 1 {
            return;
        }
        self.shortened.retain(|(_, at)| *at + SECOND > now);
        if self.shortened.iter().any(|(known, _)| known == path) {
            return;
        }
        self.shortened.push((path.to_vec(), now));
        let route = [&path[..=heard], &path[here..]].concat();
        let back = std::iter::once(self.me).chain(path[..=heard].iter().rev().copied()).collect();
        self.send_along(now, DsrMessage::Reply { route, back });
    }

    /// Ends all paths over a link.
    fn remove_link(&mut self, from: StationId, to: StationId) {
        self.cache.remove_link(from, to);
        self.flows.remove_link(from, to);
    }

    /// Handles a link failure: paths over it end.
    pub(super) fn on_link_failure(&mut self, neighbour: StationId) {
        self.remove_link(self.me, neighbour);
    }

    /// Tells the source of a packet that could not be forwarded along its path.
    pub(crate) fn send_error(&mut self, now: Time, route: &SourceRoute) {
        let Some(to) = route.next(self.me) else { return };
        let passed = route.path.iter().rev().skip_while(|station| **station != self.me);
        let back: Path = passed.copied().collect();
        if back.len() > 1 {
            self.send_along(now, DsrMessage::Error { error: LinkError { from: self.me, to }, back });
        }
    }

    /// Another path for a packet of another station that could not be forwarded (RFC 4728 §3.4.1).
    pub(crate) fn salvage(&self, route: &SourceRoute, to: StationId) -> Option<SourceRoute> {
        let path = self.cache.find(to).filter(|_| route.salvages < MAX_SALVAGES)?;
        Some(self.listed(path, route.salvages + 1))
    }
}
