//! ARP as in ns-3.37: a request waits for a whole number of milliseconds, three packets are held per neighbour, and only replies
//! teach. RFC 826 learns from requests too, so that whoever is asked need not ask.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::arp::SIZE;
use super::ndp::{Action, Lookup};
use crate::ids::StationId;
use crate::packet::message::{ArpMessage, Message};
use crate::radio::service::MacRequest;
use crate::routing::Outgoing;

/// A request waits for a whole number of milliseconds below this (RequestJitter); its repetitions do not.
const MAX_JITTER_MS: u64 = 10;
/// Packets held for each neighbour (PendingQueueSize); what comes then is dropped.
const MAX_HELD: usize = 3;
/// From the first packet, or from a repetition, to the next one (WaitReplyTimeout).
const WAIT_REPLY: Span = Span::from_millis(1_000);
/// Repetitions (MaxRetries).
const RETRIES: u32 = 3;
/// How long an address counts (AliveTimeout), and how long a neighbour that has not replied is not asked again (DeadTimeout).
const ALIVE: Span = Span::from_millis(120_000);
const DEAD: Span = Span::from_millis(100_000);

/// State of an entry.
#[derive(Clone, Debug)]
enum Entry {
    /// A request is, or will be, on its way; so many repetitions were sent.
    Waiting {
        retries: u32,
        due: Time,
        held: Vec<MacRequest>,
    },
    Alive {
        until: Time,
    },
    Dead {
        until: Time,
    },
}

/// ARP cache of a station.
#[derive(Clone, Debug)]
pub(crate) struct ArpCache {
    rng: Rng,
    entries: BTreeMap<StationId, Entry>,
    /// Requests that wait for the end of their jitter.
    jittered: Vec<(Time, StationId)>,
}

impl ArpCache {
    pub(crate) fn new(rng: Rng) -> ArpCache {
        ArpCache { rng, entries: BTreeMap::new(), jittered: Vec::new() }
    }

    /// Resolves the address of `to` for a request.
    pub(crate) fn resolve(&mut self, now: Time, to: StationId, request: MacRequest) -> Lookup {
        match self.entries.get_mut(&to) {
            Some(Entry::Alive { until }) if now < *until => return Lookup::Known,
            Some(Entry::Dead { until }) if now < *until => return Lookup::Held { dropped: Some(request) },
            Some(Entry::Waiting { held, .. }) => {
                let full = held.len() >= MAX_HELD;
                if !full {
                    held.push(request);
                }
                return Lookup::Held { dropped: full.then_some(request) };
            }
            _ => {}
        }
        self.entries.insert(to, Entry::Waiting { retries: 0, due: now + WAIT_REPLY, held: vec![request] });
        self.jittered.push((now + Span::from_millis(self.rng.below(MAX_JITTER_MS)), to));
        Lookup::Held { dropped: None }
    }

    /// Handles an ARP message of a neighbour.
    pub(crate) fn on_message(&mut self, now: Time, me: StationId, from: StationId, message: ArpMessage) -> Vec<Action> {
        match message {
            ArpMessage::Request(target) if target == me => {
                let message = Message::Arp(ArpMessage::Reply);
                vec![Action::Send(Outgoing { message, size: SIZE, to: Some(from) })]
            }
            ArpMessage::Request(_) => Vec::new(),
            ArpMessage::Reply => {
                let Some(entry) = self.entries.get_mut(&from) else { return Vec::new() };
                let Entry::Waiting { held, .. } = std::mem::replace(entry, Entry::Alive { until: now + ALIVE }) else {
                    return Vec::new();
                };
                // Its lifetime in the queue of the MAC begins here.
                held.into_iter().map(|request| Action::Release(MacRequest { since: now, ..request })).collect()
            }
        }
    }

    /// The instant of the next timer, if there is one.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        let due = self.entries.values().filter_map(|entry| match entry {
            Entry::Waiting { due, .. } => Some(*due),
            Entry::Alive { .. } | Entry::Dead { .. } => None,
        });
        due.chain(self.jittered.iter().map(|(at, _)| *at)).min()
    }

    /// Handles the timers that are due.
    pub(crate) fn on_timer(&mut self, now: Time) -> Vec<Action> {
        let jittered = self.jittered.extract_if(.., |(at, _)| *at <= now).map(|(_, to)| request(to));
        let mut actions: Vec<Action> = jittered.collect();
        for (to, entry) in &mut self.entries {
            let Entry::Waiting { retries, due, held } = entry else { continue };
            if *due > now {
                continue;
            }
            if *retries < RETRIES {
                *retries += 1;
                *due = now + WAIT_REPLY;
                actions.push(request(*to));
            } else {
                actions.extend(held.drain(..).map(Action::GiveUp));
                *entry = Entry::Dead { until: now + DEAD };
            }
        }
        actions
    }

    /// Requests that are held.
    pub(crate) fn held(&self) -> impl Iterator<Item = &MacRequest> {
        self.entries.values().flat_map(|entry| match entry {
            Entry::Waiting { held, .. } => held.as_slice(),
            Entry::Alive { .. } | Entry::Dead { .. } => &[],
        })
    }
}

fn request(to: StationId) -> Action {
    Action::Send(to_all(ArpMessage::Request(to)))
}

/// A broadcast.
pub(super) fn to_all(message: ArpMessage) -> Outgoing {
    Outgoing { message: Message::Arp(message), size: SIZE, to: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::radio::frame::Content;
    use crate::radio::service::TrafficClass;
    use tcp::units::Bytes;

    const ME: StationId = StationId(1);
    const PEER: StationId = StationId(2);

    fn cache() -> ArpCache {
        ArpCache::new(Rng::stream(1, "test"))
    }

    fn frame(id: u32) -> MacRequest {
        let content = Content::Message(MessageId(id));
        MacRequest { content, to: Some(PEER), size: Bytes(40), since: Time::ZERO, class: TrafficClass::Other }
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(seconds)
    }

    /// When requests were sent, and when which frames were given up, up to an instant.
    fn run(cache: &mut ArpCache, until: Time) -> (Vec<f64>, Vec<(f64, MacRequest)>) {
        let (mut asked, mut given_up) = (Vec::new(), Vec::new());
        while let Some(now) = cache.next_timer().filter(|next| *next <= until) {
            for action in cache.on_timer(now) {
                match action {
                    Action::Send(_) => asked.push(now.as_secs_f64()),
                    Action::GiveUp(frame) => given_up.push((now.as_secs_f64(), frame)),
                    Action::Release(_) => panic!("nobody replies"),
                }
            }
        }
        (asked, given_up)
    }

    /// The first request comes after whole milliseconds, three follow a second apart, and then the neighbour is left alone for 100 s.
    #[test]
    fn nobody_replies() {
        let mut cache = cache();
        for id in 0..4 {
            let dropped = (id == 3).then(|| frame(3));
            assert_eq!(cache.resolve(at(1.0), PEER, frame(id)), Lookup::Held { dropped });
        }
        assert_eq!(cache.held().count(), 3);
        let (asked, given_up) = run(&mut cache, at(90.0));
        let jitter_ms = (asked[0] - 1.0) * 1e3;
        assert!((0.0..10.0).contains(&jitter_ms) && (jitter_ms - jitter_ms.round()).abs() < 1e-6, "{jitter_ms}");
        assert_eq!(asked[1..], [2.0, 3.0, 4.0]);
        assert_eq!(given_up, [(5.0, frame(0)), (5.0, frame(1)), (5.0, frame(2))]);
        assert_eq!(cache.resolve(at(104.9), PEER, frame(5)), Lookup::Held { dropped: Some(frame(5)) });
        assert_eq!(cache.resolve(at(105.0), PEER, frame(6)), Lookup::Held { dropped: None });
        assert_eq!(run(&mut cache, at(105.5)).0.len(), 1);
    }

    /// A reply releases what is held; the address counts for 120 s.
    #[test]
    fn a_reply_teaches() {
        let mut cache = cache();
        cache.resolve(at(1.0), PEER, frame(0));
        cache.resolve(at(1.0), PEER, frame(1));
        run(&mut cache, at(1.01));
        let released = [0, 1].map(|id| Action::Release(MacRequest { since: at(1.02), ..frame(id) }));
        assert_eq!(cache.on_message(at(1.02), ME, PEER, ArpMessage::Reply), released);
        assert_eq!(cache.resolve(at(121.0), PEER, frame(2)), Lookup::Known);
        assert_eq!(cache.next_timer(), None);
        assert_eq!(cache.resolve(at(121.02), PEER, frame(3)), Lookup::Held { dropped: None });
    }

    /// Whoever is asked replies, but must ask itself.
    #[test]
    fn a_request_does_not_teach() {
        let mut cache = cache();
        assert_eq!(cache.on_message(at(1.0), ME, PEER, ArpMessage::Request(StationId(3))), []);
        let reply = Outgoing { message: Message::Arp(ArpMessage::Reply), size: SIZE, to: Some(PEER) };
        assert_eq!(cache.on_message(at(1.0), ME, PEER, ArpMessage::Request(ME)), [Action::Send(reply)]);
        assert_eq!(cache.resolve(at(1.0), PEER, frame(0)), Lookup::Held { dropped: None });
    }
}
