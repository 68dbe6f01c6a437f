//! Routing: shortest paths over links, and the routing protocols of wireless stations.
//!
//! A protocol is one agent per station without clock or network: it is given each message with the time, and returns
//! the messages to send, its next timer, and the next hop of a packet.

mod answer;
mod aodv;
pub(crate) mod build;
mod dsdv;
mod dsr;
mod equal_paths;
mod order;
mod profiles;
mod route_buffer;
mod search;
mod shortest;

use tcp::units::Time;

use crate::ids::StationId;
use crate::packet::message::Message;
pub(crate) use answer::{NextHop, Outgoing};
pub(crate) use aodv::Aodv;
pub(crate) use dsdv::Dsdv;
pub(crate) use dsdv::prompt::PromptDsdv;
pub(crate) use dsdv::table::ENTRY_SIZE as DSDV_ENTRY_SIZE;
pub(crate) use dsr::{Dsr, SourceRoute};
pub(crate) use equal_paths::{EqualPaths, Flowlets, Spread};
pub(crate) use order::Order;
pub(crate) use route_buffer::RouteBuffer;
pub(crate) use shortest::{Edge, Routes};

/// The routing agent of a station.
#[derive(Clone, Debug)]
pub(crate) enum Agent {
    Dsdv(Dsdv),
    PromptDsdv(PromptDsdv),
    Aodv(Aodv),
    Dsr(Dsr),
}

impl Agent {
    /// Handles a message of a neighbour.
    pub(crate) fn on_message(&mut self, now: Time, from: StationId, message: &Message) {
        match (self, message) {
            (Agent::Dsdv(dsdv), Message::Dsdv(update)) => dsdv.on_update(now, from, update),
            (Agent::PromptDsdv(dsdv), Message::Dsdv(update)) => dsdv.on_update(now, from, update),
            (Agent::Aodv(aodv), Message::Aodv(message)) => aodv.on_message(now, from, message),
            (Agent::Dsr(dsr), Message::Dsr(message)) => dsr.on_message(now, message),
            _ => {}
        }
    }

    /// Handles the timer.
    pub(crate) fn on_timer(&mut self, now: Time) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.on_timer(now),
            Agent::PromptDsdv(dsdv) => dsdv.on_timer(now),
            Agent::Aodv(aodv) => aodv.on_timer(now),
            Agent::Dsr(dsr) => dsr.on_timer(now),
        }
    }

    /// Time of the next timer or message.
    pub(crate) fn next_timer(&mut self) -> Option<Time> {
        match self {
            Agent::Dsdv(dsdv) => dsdv.next_timer(),
            Agent::PromptDsdv(dsdv) => dsdv.next_timer(),
            Agent::Aodv(aodv) => aodv.next_timer(),
            Agent::Dsr(dsr) => dsr.next_timer(),
        }
    }

    /// The next due message.
    pub(crate) fn poll_message(&mut self, now: Time) -> Option<Outgoing> {
        match self {
            Agent::Dsdv(dsdv) => dsdv.outbox.pop(now),
            Agent::PromptDsdv(dsdv) => dsdv.outbox.pop(now),
            Agent::Aodv(aodv) => aodv.outbox.pop(now),
            Agent::Dsr(dsr) => dsr.outbox.pop(now),
        }
    }

    /// Next hop of a packet for `destination`.
    pub(crate) fn next_hop(&self, now: Time, destination: StationId) -> NextHop {
        match self {
            Agent::Dsdv(dsdv) => dsdv.next_hop(destination),
            Agent::PromptDsdv(dsdv) => dsdv.next_hop(destination),
            Agent::Aodv(aodv) => aodv.next_hop(now, destination),
            Agent::Dsr(dsr) => dsr.next_hop(now, destination),
        }
    }

    /// True if a proactive protocol has a route to a station.
    pub(crate) fn has_route(&self, destination: StationId) -> bool {
        match self {
            Agent::Dsdv(dsdv) => matches!(dsdv.next_hop(destination), NextHop::Via(_)),
            Agent::PromptDsdv(dsdv) => matches!(dsdv.next_hop(destination), NextHop::Via(_)),
            Agent::Aodv(_) | Agent::Dsr(_) => false,
        }
    }

    /// Starts a route discovery for a packet that originates here or enters the subnet here.
    pub(crate) fn discover(&mut self, now: Time, destination: StationId) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.discover(now, destination),
            Agent::PromptDsdv(_) => {}
            Agent::Aodv(aodv) => aodv.discover(now, destination),
            Agent::Dsr(dsr) => dsr.discover(now, destination),
        }
    }

    /// Handles a forwarded packet dropped for lack of a route.
    pub(crate) fn on_no_route(&mut self, now: Time, destination: StationId) {
        if let Agent::Aodv(aodv) = self {
            aodv.on_no_route(now, destination);
        }
    }

    /// Handles the use of a route; `previous` is the last hop of a forwarded packet.
    pub(crate) fn on_used(&mut self, now: Time, destination: StationId, previous: Option<StationId>) {
        match self {
            Agent::Aodv(aodv) => aodv.on_used(now, destination, previous),
            Agent::Dsr(dsr) => dsr.on_released(now),
            Agent::Dsdv(_) | Agent::PromptDsdv(_) => {}
        }
    }

    /// Handles a link failure reported by the MAC.
    pub(crate) fn on_link_failure(&mut self, now: Time, station: StationId) {
        match self {
            Agent::Dsdv(dsdv) => dsdv.on_link_failure(now, station),
            Agent::PromptDsdv(_) => {}
            Agent::Aodv(aodv) => aodv.on_neighbour_lost(now, station),
            Agent::Dsr(dsr) => dsr.on_link_failure(station),
        }
    }
}
