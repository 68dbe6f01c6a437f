//! A downlink that all terminals of a satellite share: one queue and one transmitter, a propagation delay to each terminal.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};

use crate::ids::NodeId;
use crate::orbit::path::PropagationPath;

/// The terminals that a satellite ever serves.
#[derive(Debug, Default)]
pub(crate) struct SharedDownlink(BTreeMap<NodeId, Receiver>);

#[derive(Debug)]
struct Receiver {
    path: PropagationPath,
    last_arrival: Time,
}

impl SharedDownlink {
    /// Adds a terminal.
    pub(crate) fn add(&mut self, terminal: NodeId, path: PropagationPath) {
        self.0.insert(terminal, Receiver { path, last_arrival: Time::ZERO });
    }

    /// Propagation delay to a terminal now; zero if the satellite never serves it.
    pub(crate) fn delay(&self, terminal: NodeId, now: Time) -> Span {
        self.0.get(&terminal).map_or(Span::ZERO, |receiver| receiver.path.delay(now))
    }

    /// The terminals.
    pub(crate) fn terminals(&self) -> impl Iterator<Item = NodeId> {
        self.0.keys().copied()
    }

    /// A delay to whichever terminal that is never below up to `until`.
    pub(crate) fn least_delay(&self, until: Time) -> Span {
        self.0.values().map(|receiver| receiver.path.least_delay(until)).min().unwrap_or(Span::ZERO)
    }

    /// When a terminal has received the last bit of a transmission from `now` to `until`. Packets to one terminal stay in order;
    /// a near terminal receives its packet before a far one whose packet was sent earlier.
    pub(crate) fn arrival(&mut self, terminal: NodeId, now: Time, until: Time) -> Time {
        let receiver = self.0.get_mut(&terminal).expect("routes over a downlink lead to its terminals");
        receiver.last_arrival = receiver.last_arrival.max(until + receiver.path.delay(now));
        receiver.last_arrival
    }
}
