//! Packets in flight over a link with a service and without effects, which arrive in their order. Where many leave at one instant,
//! an event for each arrival would make the event list sort them all: only the first has one, as on the fast path.

use std::collections::VecDeque;

use tcp::units::Time;

use super::virtual_queue::InFlight;

/// The packets in flight behind one whose arrival is an event.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    waiting: VecDeque<InFlight>,
    /// No packet in flight arrives later.
    last_arrival: Time,
}

impl InOrder {
    /// Keeps a packet until those before it have arrived; false if its arrival has to be an event now, as for the `only` one in flight and
    /// for one that overtakes another on a new path.
    pub(super) fn keep(&mut self, flight: InFlight, only: bool) -> bool {
        let arrives = flight.departure.arrives;
        if !only && arrives < self.last_arrival {
            return false;
        }
        self.last_arrival = arrives;
        if !only {
            self.waiting.push_back(flight);
        }
        !only
    }

    /// A packet has arrived: the next, if it was kept.
    pub(super) fn next(&mut self) -> Option<InFlight> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use tcp::units::Span;

    use super::super::virtual_queue::Departure;
    use super::*;
    use crate::engine::event::EventKey;
    use crate::ids::PacketId;

    #[test]
    fn a_packet_that_overtakes_has_an_event_of_its_own() {
        let mut in_order = InOrder::default();
        let mut keep = |id: u32, ms: u64, only: bool| {
            let departure = Departure { starts: EventKey::default(), arrives: Time::ZERO + Span::from_millis(ms) };
            in_order.keep(InFlight { departure, id: PacketId(id) }, only)
        };
        let kept = [keep(0, 10, true), keep(1, 12, false), keep(2, 11, false), keep(3, 12, false), keep(4, 13, false)];
        assert_eq!(kept, [false, true, false, true, true]);
        let next: Vec<_> = std::iter::from_fn(|| in_order.next()).map(|flight| flight.id).collect();
        assert_eq!(next, [PacketId(1), PacketId(3), PacketId(4)]);
    }
}
