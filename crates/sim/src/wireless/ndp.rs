//! Neighbor Discovery for IPv6 (RFC 4861) in a host: address resolution, neighbor unreachability
//! detection, duplicate address detection (RFC 4862 §5.4) and solicitations of a router that does not exist (RFC 7559).

use std::collections::{BTreeMap, VecDeque};

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use crate::ids::StationId;
use crate::packet::message::{Message, NdpMessage};
use crate::radio::lrwpan::sixlowpan::IPV6_HEADER;
use crate::radio::service::MacRequest;
use crate::routing::Outgoing;

/// RetransTimer (RFC 4861 §10).
const RETRANS_TIMER: Span = Span::from_millis(1_000);
/// The first multicast solicitation is repeated three times; MAX_MULTICAST_SOLICIT of RFC 4861 is three in all.
const MULTICAST_SOLICITATIONS: u32 = 4;
/// MAX_UNICAST_SOLICIT.
const UNICAST_SOLICITATIONS: u32 = 3;
/// BaseReachableTime, which is not varied (a departure from §6.3.2), and begins anew with each use of the neighbor.
const REACHABLE_TIME: Span = Span::from_millis(30_000);
/// DELAY_FIRST_PROBE_TIME.
const DELAY_FIRST_PROBE_TIME: Span = Span::from_millis(5_000);
/// Packets held for each neighbor (RFC 4861 §7.2.2 asks for one at least).
const MAX_HELD: usize = 3;
/// A solicitation waits for a whole number of milliseconds below this.
const MAX_JITTER_MS: u64 = 10;
/// Addresses of a host: link-local and global.
const ADDRESSES: usize = 2;
/// First router solicitation, when duplicate address detection ends, and IRT, the first interval (RFC 7559 §2, which has 4 s).
const FIRST_ROUTER_SOLICITATION: Span = Span::from_millis(1_000);
const INITIAL_INTERVAL: Span = Span::from_millis(1_000);
/// MRT, the longest interval, and the part of it that varies (RFC 8415 §15).
const MAX_INTERVAL: Span = Span::from_millis(3_600_000);
const INTERVAL_VARIATION: f64 = 0.1;

/// Solicitation and advertisement of a neighbor, without options (RFC 4861 §4.3, §4.4); solicitation of a router (§4.1).
const NEIGHBOR_MESSAGE: Bytes = Bytes(24);
const ROUTER_SOLICITATION: Bytes = Bytes(8);

/// State of a neighbor cache entry (RFC 4861 §7.3.2).
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// So many solicitations are sent, and the next or the end is due.
    Incomplete {
        solicitations: u32,
        due: Time,
    },
    Reachable {
        until: Time,
    },
    Stale,
    Delay {
        until: Time,
    },
    Probe {
        solicitations: u32,
        due: Time,
    },
}

impl State {
    /// When its timer is due, if it has one.
    fn due(self) -> Option<Time> {
        match self {
            State::Incomplete { due, .. } | State::Delay { until: due } | State::Probe { due, .. } => Some(due),
            State::Reachable { .. } | State::Stale => None,
        }
    }
}

/// Neighbor cache entry.
#[derive(Clone, Debug)]
struct Neighbor {
    state: State,
    held: VecDeque<MacRequest>,
}

/// What a host does about a request to transmit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lookup {
    /// The address is known.
    Known,
    /// The request is held; the oldest one is dropped if there are too many.
    Held { dropped: Option<MacRequest> },
}

/// What a host does on a message or timer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    Send(Outgoing),
    /// Transmit a request that was held.
    Release(MacRequest),
    /// The neighbor does not answer: drop a request that was held.
    GiveUp(MacRequest),
}

/// Neighbor discovery of a station.
#[derive(Clone, Debug)]
pub(crate) struct NeighborDiscovery {
    me: StationId,
    /// Size of the option with the link-layer address.
    option: Bytes,
    rng: Rng,
    cache: BTreeMap<StationId, Neighbor>,
    /// Messages that wait for the end of their jitter.
    jittered: Vec<(Time, Outgoing)>,
    next_router_solicitation: Time,
    interval: Span,
}

impl NeighborDiscovery {
    /// A host whose addresses are tentative at the start of the run; `option` is the size of the option with its link-layer address.
    pub(crate) fn new(me: StationId, option: Bytes, mut rng: Rng) -> NeighborDiscovery {
        let first = Time::ZERO + FIRST_ROUTER_SOLICITATION + jitter(&mut rng);
        let mut host = NeighborDiscovery {
            me,
            option,
            rng,
            cache: BTreeMap::new(),
            jittered: Vec::new(),
            next_router_solicitation: first,
            interval: Span::ZERO,
        };
        for _ in 0..ADDRESSES {
            host.solicit(Time::ZERO, me, None);
        }
        host
    }

    /// Resolves the address of `to` for a request.
    pub(crate) fn resolve(&mut self, now: Time, to: StationId, request: MacRequest) -> Lookup {
        let mut is_new = false;
        let neighbor = self.cache.entry(to).or_insert_with(|| {
            is_new = true;
            let state = State::Incomplete { solicitations: 1, due: now + RETRANS_TIMER };
            Neighbor { state, held: VecDeque::new() }
        });
        neighbor.state = match neighbor.state {
            State::Reachable { until } if now < until => State::Reachable { until: now + REACHABLE_TIME },
            State::Reachable { .. } | State::Stale => State::Delay { until: now + DELAY_FIRST_PROBE_TIME },
            state @ State::Delay { .. } => state,
            // RFC 4861 §7.3.3 sends packets to a neighbor while it is probed; here they are held (a departure).
            State::Incomplete { .. } | State::Probe { .. } => {
                neighbor.held.push_back(request);
                let dropped = (neighbor.held.len() > MAX_HELD).then(|| neighbor.held.pop_front()).flatten();
                if is_new {
                    self.solicit(now, to, None);
                }
                return Lookup::Held { dropped };
            }
        };
        Lookup::Known
    }

    /// Handles a message of a neighbor.
    pub(crate) fn on_message(&mut self, now: Time, from: StationId, message: NdpMessage) -> Vec<Action> {
        match message {
            NdpMessage::Solicitation { target, .. } if target != self.me => Vec::new(),
            NdpMessage::Solicitation { .. } => {
                let mut actions = self.learn(from);
                actions.push(Action::Send(Outgoing {
                    message: Message::Ndp(NdpMessage::Advertisement),
                    size: self.neighbor_message(),
                    to: Some(from),
                }));
                actions
            }
            NdpMessage::Advertisement => {
                let Some(neighbor) = self.cache.get_mut(&from) else { return Vec::new() };
                neighbor.state = State::Reachable { until: now + REACHABLE_TIME };
                neighbor.held.drain(..).map(Action::Release).collect()
            }
            // Hosts do not answer.
            NdpMessage::RouterSolicitation => Vec::new(),
        }
    }

    /// Learns the address of a station that solicits this one (RFC 4861 §7.2.3).
    fn learn(&mut self, from: StationId) -> Vec<Action> {
        let new = Neighbor { state: State::Stale, held: VecDeque::new() };
        let neighbor = self.cache.entry(from).or_insert(new);
        let State::Incomplete { .. } = neighbor.state else { return Vec::new() };
        neighbor.state = State::Stale;
        neighbor.held.drain(..).map(Action::Release).collect()
    }

    /// The instant of the next timer.
    pub(crate) fn next_timer(&self) -> Time {
        let due = self.cache.values().filter_map(|neighbor| neighbor.state.due());
        let jittered = self.jittered.iter().map(|(at, _)| *at);
        due.chain(jittered).fold(self.next_router_solicitation, Time::min)
    }

    /// Handles the timers that are due.
    pub(crate) fn on_timer(&mut self, now: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        for to in self.due(now) {
            let neighbor = self.cache.get_mut(&to).expect("the entry exists");
            let next = after_timer(neighbor.state, now + RETRANS_TIMER);
            if let Some(state) = next {
                neighbor.state = state;
                self.solicit(now, to, matches!(state, State::Probe { .. }).then_some(to));
            } else {
                actions.extend(neighbor.held.drain(..).map(Action::GiveUp));
                self.cache.remove(&to);
            }
        }
        if self.next_router_solicitation <= now {
            actions.push(Action::Send(self.solicit_router(now)));
        }
        actions.extend(self.jittered.extract_if(.., |(at, _)| *at <= now).map(|(_, message)| Action::Send(message)));
        actions
    }

    /// Neighbors whose timer is due.
    fn due(&self, now: Time) -> Vec<StationId> {
        let is_due = |neighbor: &Neighbor| neighbor.state.due().is_some_and(|due| due <= now);
        self.cache.iter().filter(|(_, neighbor)| is_due(neighbor)).map(|(to, _)| *to).collect()
    }

    /// A router solicitation, and when the next one is due: the interval doubles (RFC 8415 §15).
    fn solicit_router(&mut self, now: Time) -> Outgoing {
        let variation = INTERVAL_VARIATION * (2.0 * self.rng.uniform() - 1.0);
        let varied = |interval: Span, factor: f64| Span::from_secs_f64(interval.as_secs_f64() * (factor + variation));
        self.interval = match self.interval {
            Span::ZERO => varied(INITIAL_INTERVAL, 1.0),
            interval if interval * 2 > MAX_INTERVAL => varied(MAX_INTERVAL, 1.0),
            interval => varied(interval, 2.0),
        };
        self.next_router_solicitation = now + self.interval;
        let size = IPV6_HEADER + ROUTER_SOLICITATION + self.option;
        Outgoing { message: Message::Ndp(NdpMessage::RouterSolicitation), size, to: None }
    }

    /// Sends a solicitation after a jitter: to all, or to the neighbor alone.
    fn solicit(&mut self, now: Time, target: StationId, to: Option<StationId>) {
        let message = Message::Ndp(NdpMessage::Solicitation { target, is_tentative: target == self.me });
        let outgoing = Outgoing { message, size: self.neighbor_message(), to };
        self.jittered.push((now + jitter(&mut self.rng), outgoing));
    }

    fn neighbor_message(&self) -> Bytes {
        IPV6_HEADER + NEIGHBOR_MESSAGE + self.option
    }

    /// Requests that are held.
    pub(crate) fn held(&self) -> impl Iterator<Item = &MacRequest> {
        self.cache.values().flat_map(|neighbor| &neighbor.held)
    }
}

/// The state in which another solicitation has been sent, whose timer is `due`; `None` if enough of them were.
fn after_timer(state: State, due: Time) -> Option<State> {
    match state {
        State::Incomplete { solicitations, .. } if solicitations < MULTICAST_SOLICITATIONS => {
            Some(State::Incomplete { solicitations: solicitations + 1, due })
        }
        State::Delay { .. } => Some(State::Probe { solicitations: 1, due }),
        State::Probe { solicitations, .. } if solicitations < UNICAST_SOLICITATIONS => {
            Some(State::Probe { solicitations: solicitations + 1, due })
        }
        _ => None,
    }
}

fn jitter(rng: &mut Rng) -> Span {
    Span::from_millis(rng.below(MAX_JITTER_MS))
}

#[cfg(test)]
mod tests;
