//! What a routing agent answers: the next hop of a packet, and messages, delayed by jitter so that neighbours do not respond to one
//! event at the same instant.

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use crate::ids::StationId;
use crate::packet::message::Message;

/// Next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextHop {
    /// Forward to this station.
    Via(StationId),
    /// Buffer: a route may be found.
    Wait,
    /// Drop: there is no route.
    None,
}

/// A message for transmission.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: Message,
    /// Size at the network layer.
    pub(crate) size: Bytes,
    /// Next hop; `None` for broadcast.
    pub(crate) to: Option<StationId>,
}

/// Messages of an agent with the times at which they are due.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(Vec<(Time, Outgoing)>);

/// Uniform from zero to `max`.
pub(super) fn jitter(rng: &mut Rng, max: Span) -> Span {
    Span::from_nanos((rng.uniform() * max.as_nanos() as f64) as u64)
}

impl Outbox {
    pub(super) fn push(&mut self, due: Time, message: Outgoing) {
        self.0.push((due, message));
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.0.iter().map(|(due, _)| *due).min()
    }

    /// Removes the first due message.
    pub(super) fn pop(&mut self, now: Time) -> Option<Outgoing> {
        let due = self.next_due().filter(|due| *due <= now)?;
        let index = self.0.iter().position(|(at, _)| *at == due)?;
        Some(self.0.remove(index).1)
    }
}
