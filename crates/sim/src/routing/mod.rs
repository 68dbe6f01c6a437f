//! How packets find their way: shortest paths over wires, and the protocols of stations that find routes by messages.
//!
//! A protocol is an agent per station without clock or network: it is told what arrives and what time it is, and says
//! what to send, when to be asked again, and where a packet goes.

mod aodv;
pub(crate) mod build;
mod dsdv;
mod outbox;
mod route_buffer;
mod shortest;

use tcp::units::{Bytes, Time};

use crate::ids::StationId;
use crate::packet::message::Message;
pub(crate) use aodv::Aodv;
pub(crate) use dsdv::ns3::DsdvNs3;
pub(crate) use dsdv::{Dsdv, ENTRY_SIZE as DSDV_ENTRY_SIZE};
pub(crate) use route_buffer::RouteBuffer;
pub(crate) use shortest::{Edge, Routes};

/// What a station does with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextHop {
    /// It goes to this station.
    Via(StationId),
    /// There may be a route soon.
    Wait,
    /// There is no route.
    None,
}

/// A message to send.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: Message,
    /// Size at the network layer.
    pub(crate) size: Bytes,
    /// `None` for all that hear it.
    pub(crate) to: Option<StationId>,
}

/// The routing protocol of one station.
#[derive(Clone, Debug)]
pub(crate) enum Agent {
    Dsdv(Dsdv),
    DsdvNs3(DsdvNs3),
    Aodv(Aodv),
}

impl Agent {
    /// A message has come from a neighbour.
    pub(crate) fn on_message(&mut self, now: Time, from: StationId, message: &Message) {
        match (self, message) {
            (Agent::Dsdv(dsdv), Message::Dsdv(update)) => dsdv.on_update(now, from, update),
            (Agent::DsdvNs3(dsdv), Message::Dsdv(update)) => dsdv.on_update(now, from, update),
            (Agent::Aodv(aodv), Message::Aodv(message)) => aodv.on_message(now, from, message),
            _ => {}
        }
    }

    /// The time that `next_timer` named may have come.
    pub(crate) fn on_timer(&mut self, now: Time) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.on_timer(now),
            Agent::DsdvNs3(dsdv) => dsdv.on_timer(now),
            Agent::Aodv(aodv) => aodv.on_timer(now),
        }
    }

    /// When the agent has something to do or to send next.
    pub(crate) fn next_timer(&mut self) -> Option<Time> {
        match self {
            Agent::Dsdv(dsdv) => dsdv.next_timer(),
            Agent::DsdvNs3(dsdv) => dsdv.next_timer(),
            Agent::Aodv(aodv) => aodv.next_timer(),
        }
    }

    /// The next message that is due.
    pub(crate) fn poll_message(&mut self, now: Time) -> Option<Outgoing> {
        match self {
            Agent::Dsdv(dsdv) => dsdv.outbox.pop(now),
            Agent::DsdvNs3(dsdv) => dsdv.outbox.pop(now),
            Agent::Aodv(aodv) => aodv.outbox.pop(now),
        }
    }

    /// Where a packet for `destination` goes now.
    pub(crate) fn next_hop(&self, now: Time, destination: StationId) -> NextHop {
        match self {
            Agent::Dsdv(dsdv) => dsdv.next_hop(destination),
            Agent::DsdvNs3(dsdv) => dsdv.next_hop(destination),
            Agent::Aodv(aodv) => aodv.next_hop(now, destination),
        }
    }

    /// True if it has a route to a station without asking for one.
    pub(crate) fn has_route(&self, destination: StationId) -> bool {
        match self {
            Agent::Dsdv(dsdv) => matches!(dsdv.next_hop(destination), NextHop::Via(_)),
            Agent::DsdvNs3(dsdv) => matches!(dsdv.next_hop(destination), NextHop::Via(_)),
            Agent::Aodv(_) => false,
        }
    }

    /// A packet of this station, or from beyond the channel, wants a route that there is not.
    pub(crate) fn discover(&mut self, now: Time, destination: StationId) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.discover(now, destination),
            Agent::DsdvNs3(_) => {}
            Agent::Aodv(aodv) => aodv.discover(now, destination),
        }
    }

    /// A packet that only passes is given up for want of a route.
    pub(crate) fn on_no_route(&mut self, now: Time, destination: StationId) {
        if let Agent::Aodv(aodv) = self {
            aodv.on_no_route(now, destination);
        }
    }

    /// A packet goes to `destination`; it came from `previous`, if it only passes.
    pub(crate) fn on_used(&mut self, now: Time, destination: StationId, previous: Option<StationId>) {
        if let Agent::Aodv(aodv) = self {
            aodv.on_used(now, destination, previous);
        }
    }

    /// The MAC has given up a frame to `station`.
    pub(crate) fn on_link_failure(&mut self, now: Time, station: StationId) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.on_link_failure(now, station),
            Agent::DsdvNs3(_) => {}
            Agent::Aodv(aodv) => aodv.on_neighbour_lost(now, station),
        }
    }
}
