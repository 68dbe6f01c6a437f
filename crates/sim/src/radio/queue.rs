//! The interface queue in front of a station's MAC, the same for 802.11 and 802.15.4.

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use super::messages::Messages;
use crate::ids::StationId;
use crate::radio::service::{MacIndication, MacRequest, TrafficClass};

/// Discipline of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueueOrder {
    /// First in, first out; a request to a full queue is dropped.
    Fifo,
    /// Routing messages go to the head, and the tail is dropped when that fills the queue; a request that would
    /// fill it is dropped too, so that it holds one less than its limit.
    RoutingFirst,
    /// Routing messages, then acknowledgments, then all else, each first in, first out and
    /// with a limit of its own.
    ByClass,
}

/// The requests of a station that the MAC has not accepted yet.
#[derive(Clone, Debug)]
pub(super) struct StationQueue {
    requests: VecDeque<MacRequest>,
    limit: usize,
    order: QueueOrder,
    /// A request that waits longer is dropped.
    lifetime: Option<Span>,
}

impl StationQueue {
    pub(super) fn new(limit: usize, order: QueueOrder, lifetime: Option<Span>) -> StationQueue {
        StationQueue { requests: VecDeque::new(), limit, order, lifetime }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Packets in the queue.
    pub(super) fn packets(&self) -> u64 {
        self.requests.iter().filter(|request| request.content.is_packet()).count() as u64
    }

    /// Appends a request; one that is dropped for it is indicated to the layer above.
    pub(super) fn enqueue(
        &mut self,
        request: MacRequest,
        messages: &mut Messages,
        indications: &mut VecDeque<MacIndication>,
    ) {
        if let Some(request) = self.push(request) {
            messages.release(request.content);
            indications.push_back(MacIndication::QueueFull { request });
        }
    }

    /// Removes the next request for the MAC to transmit, and drops those whose lifetime is over.
    pub(super) fn next(
        &mut self,
        now: Time,
        messages: &mut Messages,
        indications: &mut VecDeque<MacIndication>,
    ) -> Option<MacRequest> {
        self.drop_expired(now, messages, indications);
        self.requests.pop_front()
    }

    /// Drops the requests whose lifetime is over.
    pub(super) fn drop_expired(
        &mut self,
        now: Time,
        messages: &mut Messages,
        indications: &mut VecDeque<MacIndication>,
    ) {
        while let Some(request) = self.pop_expired(now) {
            messages.release(request.content);
            indications.push_back(MacIndication::Expired { request });
        }
    }

    /// The next request for `to`.
    pub(super) fn first_to(&self, to: StationId) -> Option<&MacRequest> {
        self.requests.iter().find(|request| request.to == Some(to))
    }

    /// Removes the next request for `to`.
    pub(super) fn take_to(&mut self, to: StationId) -> Option<MacRequest> {
        let index = self.requests.iter().position(|request| request.to == Some(to))?;
        self.requests.remove(index)
    }

    /// Removes a request for `to`, to be routed again.
    pub(super) fn withdraw(&mut self, to: StationId, messages: &mut Messages) -> Option<MacRequest> {
        let request = self.take_to(to)?;
        messages.release(request.content);
        Some(request)
    }

    /// Appends a request; returns the one that is dropped for it, if any.
    fn push(&mut self, request: MacRequest) -> Option<MacRequest> {
        match self.order {
            QueueOrder::RoutingFirst if request.class == TrafficClass::Routing => {
                self.requests.push_front(request);
                if self.requests.len() >= self.limit { self.requests.pop_back() } else { None }
            }
            QueueOrder::RoutingFirst => self.insert(self.requests.len(), request, self.requests.len() + 1),
            QueueOrder::Fifo => self.insert(self.requests.len(), request, self.requests.len()),
            QueueOrder::ByClass => {
                let end = self.requests.partition_point(|other| other.class <= request.class);
                let same = self.requests.iter().filter(|other| other.class == request.class).count();
                self.insert(end, request, same)
            }
        }
    }

    /// Inserts a request unless `taken` places are all there are; returns it then.
    fn insert(&mut self, index: usize, request: MacRequest, taken: usize) -> Option<MacRequest> {
        if taken >= self.limit {
            return Some(request);
        }
        self.requests.insert(index, request);
        None
    }

    /// From now on requests are served by class.
    pub(super) fn serve_by_class(&mut self) {
        self.order = QueueOrder::ByClass;
    }

    /// Prepends a management frame, whatever the limit.
    pub(super) fn push_first(&mut self, request: MacRequest) {
        self.requests.push_front(request);
    }

    /// The next request.
    pub(super) fn first(&self) -> Option<&MacRequest> {
        self.requests.front()
    }

    /// Changes the receiver address of requests for `from` to `to`.
    pub(super) fn readdress(&mut self, from: StationId, to: StationId) {
        self.requests.iter_mut().filter(|request| request.to == Some(from)).for_each(|request| request.to = Some(to));
    }

    fn pop_expired(&mut self, now: Time) -> Option<MacRequest> {
        let lifetime = self.lifetime?;
        self.requests.pop_front_if(|request| request.since + lifetime < now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::packet::message::Message;
    use crate::radio::frame::Content;
    use tcp::units::Bytes;

    /// The messages at a station, each numbered in order of its request.
    fn requests(messages: &mut Messages) -> [MacRequest; 3] {
        [(); 3].map(|()| MacRequest {
            content: Content::Message(messages.insert(Message::Beacon)),
            to: None,
            size: Bytes(32),
            since: Time::ZERO,
            class: TrafficClass::Routing,
        })
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A routing message that fills a queue of three drops the tail.
    #[test]
    fn routing_goes_first_and_the_tail_makes_room() {
        let (mut messages, mut indications) = (Messages::default(), VecDeque::new());
        let mut queue = StationQueue::new(3, QueueOrder::RoutingFirst, None);
        let requests = requests(&mut messages);
        requests.iter().for_each(|request| queue.enqueue(*request, &mut messages, &mut indications));
        assert_eq!(indications, [MacIndication::QueueFull { request: requests[0] }]);
        let left = [(); 3].map(|()| queue.next(at(1), &mut messages, &mut indications));
        assert_eq!(left, [Some(requests[2]), Some(requests[1]), None]);
    }

    /// A limit of three leaves room for two.
    #[test]
    fn a_request_that_would_fill_a_queue_with_routing_first_is_dropped() {
        let (mut messages, mut indications) = (Messages::default(), VecDeque::new());
        let mut queue = StationQueue::new(3, QueueOrder::RoutingFirst, None);
        let requests = requests(&mut messages).map(|request| MacRequest { class: TrafficClass::Other, ..request });
        requests.iter().for_each(|request| queue.enqueue(*request, &mut messages, &mut indications));
        assert_eq!(indications, [MacIndication::QueueFull { request: requests[2] }]);
    }

    /// Two of each class have room, and each class keeps its order.
    #[test]
    fn classes_go_one_after_another_and_each_has_its_limit() {
        use TrafficClass::{Ack, Other, Routing};
        let (mut messages, mut indications) = (Messages::default(), VecDeque::new());
        let mut queue = StationQueue::new(2, QueueOrder::Fifo, None);
        queue.serve_by_class();
        let [first, second, third] = requests(&mut messages);
        let [of_first, of_second, of_third] =
            [first, second, third].map(|request| move |class| MacRequest { class, ..request });
        for request in
            [of_first(Other), of_first(Ack), of_first(Routing), of_second(Other), of_second(Routing), of_third(Other)]
        {
            queue.enqueue(request, &mut messages, &mut indications);
        }
        assert_eq!(indications, [MacIndication::QueueFull { request: of_third(Other) }]);
        let served: Vec<MacRequest> =
            std::iter::from_fn(|| queue.next(at(1), &mut messages, &mut indications)).collect();
        assert_eq!(served, [of_first(Routing), of_second(Routing), of_first(Ack), of_first(Other), of_second(Other)]);
    }

    /// Requests older than the lifetime are indicated, and their messages are released.
    #[test]
    fn old_requests_are_dropped_before_the_next_one() {
        let (mut messages, mut indications) = (Messages::default(), VecDeque::new());
        let mut queue = StationQueue::new(3, QueueOrder::Fifo, Some(Span::from_millis(500)));
        let [old, first, _] = requests(&mut messages);
        queue.enqueue(old, &mut messages, &mut indications);
        let young = MacRequest { since: at(1), to: Some(StationId(4)), ..first };
        queue.enqueue(young, &mut messages, &mut indications);
        assert_eq!(queue.next(at(501), &mut messages, &mut indications), Some(young));
        assert_eq!(indications, [MacIndication::Expired { request: old }]);
        assert_eq!(messages.insert(Message::Beacon), MessageId(0), "the place of the old message is free again");
        queue.enqueue(young, &mut messages, &mut indications);
        assert_eq!(queue.withdraw(StationId(4), &mut messages), Some(young));
        assert_eq!(queue.next(at(2), &mut messages, &mut indications), None);
    }
}
