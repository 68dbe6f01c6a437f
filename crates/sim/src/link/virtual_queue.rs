//! The queue of a link with lookahead: the packets queued and in flight, whose times are known beforehand.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use crate::engine::event::{Event, EventKey};
use crate::ids::PacketId;
use crate::qdisc::Limit;

/// A packet in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) starts: Time,
    pub(super) since: Time,
    pub(super) size: Bytes,
}

/// A packet in transmission or propagation.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) departure: Departure,
    pub(super) id: PacketId,
}

/// The queue of a link as far as lookahead needs it. The order of the fields matters for the same reason as in `Link`.
#[derive(Debug)]
#[repr(C)]
pub(super) struct VirtualQueue {
    pub(super) limit: Limit,
    /// The size of the last packet, and its transmission time.
    pub(super) last: (Bytes, Span),
    pub(super) delay: Span,
    /// Bytes of `waiting`.
    pub(super) bytes: Bytes,
    /// The packets in the queue; those at the head may have left it since the last `advance_to`.
    pub(super) waiting: VecDeque<Queued>,
    /// The packets in flight, in the order of arrival, but for the first, whose arrival is an event: the event list holds
    /// no more arrivals than there are links.
    pub(super) in_flight: VecDeque<InFlight>,
}

/// What is known of a packet as soon as a link has accepted it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// The key of the event at which its transmission begins: an arrival that is forwarded at once, a transmitter that becomes
    /// free, or a host that sends.
    pub(crate) starts: EventKey,
    pub(crate) arrives: Time,
}

impl VirtualQueue {
    /// An empty queue before a transmitter with this propagation delay.
    pub(super) fn new(limit: Limit, delay: Span) -> VirtualQueue {
        let (waiting, in_flight) = (VecDeque::new(), VecDeque::new());
        VirtualQueue { limit, last: (Bytes::ZERO, Span::ZERO), delay, bytes: Bytes::ZERO, waiting, in_flight }
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Reserves the transmitter, which is free at `free_at`, for a packet that arrives now; `None` if the queue is full. The queue
    /// is advanced only if its length may exceed the limit or its maxima so far.
    #[inline]
    pub(super) fn reserve(
        &mut self,
        now: EventKey,
        size: Bytes,
        free_at: Time,
        [most, most_bytes]: [&mut u64; 2],
    ) -> Option<EventKey> {
        let time = now.time();
        if time >= free_at {
            self.clear();
            return (!self.limit.is_exceeded(1, size)).then_some(now);
        }
        let ahead = self.waiting.len() as u64;
        let after = self.bytes + size;
        if ahead >= *most || after.0 > *most_bytes || self.limit.is_exceeded(ahead + 1, after) {
            self.advance_to(now);
            let length = self.waiting.len() as u64 + 1;
            if self.limit.is_exceeded(length, self.bytes + size) {
                return None;
            }
            *most = length.max(*most);
            *most_bytes = (self.bytes + size).0.max(*most_bytes);
        }
        self.waiting.push_back(Queued { starts: free_at, since: time, size });
        self.bytes += size;
        Some(EventKey::new(free_at, Event::LINK_READY))
    }

    /// Removes the packets whose transmission has begun. At an instant arrivals come first, then transmitters, then
    /// everything else.
    #[inline]
    pub(super) fn advance_to(&mut self, now: EventKey) {
        while let Some(left) = self.waiting.pop_front_if(|first| EventKey::new(first.starts, Event::LINK_READY) <= now)
        {
            self.bytes -= left.size;
        }
    }

    /// Empties the queue: the transmitter is free. (No packet is without bytes.)
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.bytes > Bytes::ZERO {
            self.waiting.clear();
            self.bytes = Bytes::ZERO;
        }
    }

    /// The packets in the queue and their transmission times: one transmission begins as soon as the one before it ends.
    #[inline]
    pub(super) fn scheduled(&self, free_at: Time) -> impl Iterator<Item = (Queued, Span)> {
        let ends = self.waiting.iter().skip(1).map(|next| next.starts).chain([free_at]);
        self.waiting.iter().zip(ends).map(|(queued, ends)| (*queued, ends.since(queued.starts)))
    }
}
