//! ARP without timers: broadcast requests, unicast replies, one packet held per neighbour, and entries that never expire. Whoever
//! hears a message learns its sender; RFC 826 adds an entry only where one is asked, and else renews what it has.

use std::collections::BTreeMap;

use tcp::units::Bytes;

use crate::ids::StationId;
use crate::packet::message::{ArpMessage, Message};
use crate::radio::service::MacRequest;
use crate::routing::Outgoing;

/// Size of a request and of a reply.
pub(super) const SIZE: Bytes = Bytes(28);
/// The packet after this many requests without a reply is dropped, and the held one with it.
const MAX_REQUESTS: u32 = 3;

/// ARP entry of a neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    known: bool,
    requests: u32,
    held: Option<MacRequest>,
}

/// Result of an address resolution.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Resolution {
    /// The address is known.
    Known,
    /// The request is held until the reply; the one held before is dropped.
    Requested { message: Outgoing, dropped: Option<MacRequest> },
    /// The neighbour does not reply: the request and the one held are dropped.
    GivenUp { dropped: Option<MacRequest> },
}

/// ARP table of a station.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArpTable(BTreeMap<StationId, Neighbour>);

impl ArpTable {
    /// Resolves the address of `to` for a request.
    pub(crate) fn resolve(&mut self, to: StationId, request: MacRequest) -> Resolution {
        let neighbour = self.0.entry(to).or_default();
        if neighbour.known {
            return Resolution::Known;
        }
        if neighbour.requests >= MAX_REQUESTS {
            neighbour.requests = 0;
            return Resolution::GivenUp { dropped: neighbour.held.take() };
        }
        neighbour.requests += 1;
        let message = Outgoing { message: Message::Arp(ArpMessage::Request(to)), size: SIZE, to: None };
        Resolution::Requested { message, dropped: neighbour.held.replace(request) }
    }

    /// Handles an ARP message of a neighbour; returns the request held for it, and the reply, if it asks for `me`.
    pub(crate) fn on_message(
        &mut self,
        me: StationId,
        from: StationId,
        message: ArpMessage,
    ) -> (Option<MacRequest>, Option<Outgoing>) {
        let asked = message == ArpMessage::Request(me);
        let neighbour = self.0.entry(from).or_default();
        neighbour.known = true;
        let answer = Outgoing { message: Message::Arp(ArpMessage::Reply), size: SIZE, to: Some(from) };
        (neighbour.held.take(), asked.then_some(answer))
    }

    /// Requests held until a reply.
    pub(crate) fn held(&self) -> impl Iterator<Item = &MacRequest> {
        self.0.values().filter_map(|neighbour| neighbour.held.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::radio::frame::Content;
    use crate::radio::service::TrafficClass;
    use tcp::units::Time;

    fn frame(id: u32) -> MacRequest {
        let content = Content::Message(MessageId(id));
        MacRequest { content, to: Some(StationId(2)), size: Bytes(40), since: Time::ZERO, class: TrafficClass::Other }
    }

    /// One request is held; the fourth is dropped with the third, and the count restarts.
    #[test]
    fn one_frame_is_held_and_the_fourth_request_is_not_made() {
        let mut arp = ArpTable::default();
        let mut dropped = |id| match arp.resolve(StationId(2), frame(id)) {
            Resolution::Known => panic!("no reply has arrived"),
            Resolution::Requested { dropped, .. } => (true, dropped),
            Resolution::GivenUp { dropped } => (false, dropped),
        };
        assert_eq!(dropped(1), (true, None));
        assert_eq!(dropped(2), (true, Some(frame(1))));
        assert_eq!(dropped(3), (true, Some(frame(2))));
        assert_eq!(dropped(4), (false, Some(frame(3))));
        assert_eq!(dropped(5), (true, None));
    }

    #[test]
    fn a_request_teaches_the_receiver_and_a_reply_releases_the_frame() {
        let (mut expects_response, mut asked) = (ArpTable::default(), ArpTable::default());
        expects_response.resolve(StationId(2), frame(1));
        let (held, answer) = asked.on_message(StationId(2), StationId(1), ArpMessage::Request(StationId(2)));
        assert_eq!((held, answer.map(|answer| (answer.size, answer.to))), (None, Some((SIZE, Some(StationId(1))))));
        assert_eq!(asked.resolve(StationId(1), frame(9)), Resolution::Known);
        assert_eq!(expects_response.on_message(StationId(1), StationId(2), ArpMessage::Reply), (Some(frame(1)), None));
        assert_eq!(expects_response.resolve(StationId(2), frame(3)), Resolution::Known);
    }

    /// RFC 826 would not learn from it.
    #[test]
    fn a_request_for_another_teaches_too() {
        let mut bystander = ArpTable::default();
        let heard = bystander.on_message(StationId(1), StationId(5), ArpMessage::Request(StationId(7)));
        assert_eq!(heard, (None, None));
        assert_eq!(bystander.resolve(StationId(5), frame(1)), Resolution::Known);
    }
}
