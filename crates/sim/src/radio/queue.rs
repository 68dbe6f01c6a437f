//! What waits in front of a station's MAC.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use super::frame::Content;
use crate::ids::StationId;

/// Something to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Request {
    pub(crate) content: Content,
    /// The next station; `None` for all that hear it.
    pub(crate) to: Option<StationId>,
    /// Size of the network-layer packet.
    pub(crate) size: Bytes,
    pub(crate) since: Time,
    /// It belongs to a routing protocol.
    pub(crate) is_routing: bool,
}

/// How the queue keeps order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// First in, first out; what comes to a full queue is dropped.
    Fifo,
    /// ns-2's PriQueue: routing messages go to the head, and the tail is dropped when that fills the queue.
    RoutingFirst,
}

/// The interface queue.
#[derive(Clone, Debug)]
pub(super) struct InterfaceQueue {
    waiting: VecDeque<Request>,
    limit: usize,
    order: Order,
    /// What waited longer is dropped (ns-3: 500 ms).
    lifetime: Option<Span>,
}

impl InterfaceQueue {
    pub(super) fn new(limit: usize, order: Order, lifetime: Option<Span>) -> InterfaceQueue {
        InterfaceQueue { waiting: VecDeque::new(), limit, order, lifetime }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a request in; gives the one that is dropped for it, if any.
    pub(super) fn push(&mut self, request: Request) -> Option<Request> {
        if self.order == Order::RoutingFirst && request.is_routing {
            self.waiting.push_front(request);
            return if self.waiting.len() >= self.limit { self.waiting.pop_back() } else { None };
        }
        if self.waiting.len() >= self.limit {
            return Some(request);
        }
        self.waiting.push_back(request);
        None
    }

    /// Takes a frame of management in, before all others and whatever the limit.
    pub(super) fn push_first(&mut self, request: Request) {
        self.waiting.push_front(request);
    }

    /// The request that is next.
    pub(super) fn first(&self) -> Option<&Request> {
        self.waiting.front()
    }

    /// What waits for `from` goes to `to` instead.
    pub(super) fn readdress(&mut self, from: StationId, to: StationId) {
        self.waiting.iter_mut().filter(|request| request.to == Some(from)).for_each(|request| request.to = Some(to));
    }

    /// What has waited too long, one by one.
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<Request> {
        let lifetime = self.lifetime?;
        self.waiting.pop_front_if(|request| request.since + lifetime < now)
    }

    pub(super) fn pop(&mut self) -> Option<Request> {
        self.waiting.pop_front()
    }

    /// Takes out a request for `to`, when the way there is gone.
    pub(super) fn take_for(&mut self, to: StationId) -> Option<Request> {
        let index = self.waiting.iter().position(|request| request.to == Some(to))?;
        self.waiting.remove(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;

    fn message(id: u32) -> Request {
        Request {
            content: Content::Message(MessageId(id)),
            to: None,
            size: Bytes(32),
            since: Time::ZERO,
            is_routing: true,
        }
    }

    /// A routing message that fills a queue of three drops the tail.
    #[test]
    fn routing_goes_first_and_the_tail_makes_room() {
        let mut queue = InterfaceQueue::new(3, Order::RoutingFirst, None);
        queue.push(message(2));
        queue.push(message(1));
        let dropped = queue.push(message(9)).map(|request| request.content);
        assert_eq!(dropped, Some(Content::Message(MessageId(2))));
        let left: Vec<Content> = std::iter::from_fn(|| queue.pop()).map(|request| request.content).collect();
        assert_eq!(left, [9, 1].map(|id| Content::Message(MessageId(id))));
    }
}
