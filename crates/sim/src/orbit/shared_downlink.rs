//! A downlink that all terminals of a satellite share: one queue and one transmitter, heard at as many distances.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};

use crate::ids::NodeId;
use crate::orbit::path::Flight;

/// Who can ever hear a satellite.
#[derive(Debug, Default)]
pub(crate) struct Beam(BTreeMap<NodeId, Listener>);

#[derive(Debug)]
struct Listener {
    flight: Flight,
    last_arrival: Time,
}

impl Beam {
    /// A further terminal.
    pub(crate) fn add(&mut self, terminal: NodeId, flight: Flight) {
        self.0.insert(terminal, Listener { flight, last_arrival: Time::ZERO });
    }

    /// Propagation delay to a terminal of what would start now; nothing to one that does not listen.
    pub(crate) fn delay(&self, terminal: NodeId, now: Time) -> Span {
        self.0.get(&terminal).map_or(Span::ZERO, |listener| listener.flight.delay(now))
    }

    /// When the last bit of a transmission from `now` to `until` is at a terminal. What goes to one terminal stays in
    /// order; a near one hears it before a far one that was served earlier.
    pub(crate) fn arrival(&mut self, terminal: NodeId, now: Time, until: Time) -> Time {
        let listener = self.0.get_mut(&terminal).expect("routes over a downlink lead to its terminals");
        listener.last_arrival = listener.last_arrival.max(until + listener.flight.delay(now));
        listener.last_arrival
    }
}
