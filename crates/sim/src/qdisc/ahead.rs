//! A discipline that cannot say what it would send without sending it, inside another one: the packet that was looked at waits
//! outside (Linux, `qdisc_peek_dequeued`).

use tcp::units::Bytes;

use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::{Dequeued, Qdisc};

/// A discipline and the packet that has left it ahead of its turn.
#[derive(Debug)]
pub(crate) struct Ahead {
    pub(super) inner: Qdisc,
    next: Option<QueuedPacket>,
}

impl Ahead {
    pub(super) fn new(inner: Qdisc) -> Ahead {
        Ahead { inner, next: None }
    }

    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let answer = self.dequeue(ctx);
        if let Dequeued::Ready(next) = answer {
            self.next = Some(next);
        }
        answer
    }

    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        match self.next.take() {
            Some(next) => Dequeued::Ready(next),
            None => self.inner.dequeue(ctx),
        }
    }

    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let mut taken = self.inner.take(wanted);
        taken.extend(self.next.take_if(|next| wanted(next)));
        taken
    }

    pub(super) fn packets(&self) -> u64 {
        self.inner.packets() + u64::from(self.next.is_some())
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.next.map_or(self.inner.bytes(), |next| self.inner.bytes() + next.size)
    }
}
