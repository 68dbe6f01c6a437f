//! Messages that leave a little later: jitter keeps neighbours from answering one event at one instant.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::Outgoing;

/// A station's messages on their way to the interface queue.
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

    /// The first message that is due.
    pub(super) fn pop(&mut self, now: Time) -> Option<Outgoing> {
        let due = self.next_due().filter(|due| *due <= now)?;
        let index = self.0.iter().position(|(at, _)| *at == due)?;
        Some(self.0.remove(index).1)
    }
}
