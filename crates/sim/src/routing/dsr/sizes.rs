//! Sizes of messages and of source routes.

use tcp::units::Bytes;

use crate::packet::message::DsrMessage;

/// The fixed header (RFC 4728 §6.1), the options without addresses (§6.2, §6.3, §6.4, §6.7), and an address.
const FIXED_HEADER: Bytes = Bytes(4);
const REQUEST: Bytes = Bytes(8);
const REPLY: Bytes = Bytes(3);
const ERROR: Bytes = Bytes(16);
const SOURCE_ROUTE: Bytes = Bytes(4);
const ADDRESS: Bytes = Bytes(4);
/// A reply whose sizes grow, filled up to whole words.
const WHOLE_REPLY: Bytes = Bytes(8);

/// How source routes and messages are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sizes {
    /// RFC 4728: a source route lists neither end.
    Rfc,
    /// A source route leaves one station out and has no option, and a request gets another header at each station.
    Growing,
}

fn addresses(count: usize) -> Bytes {
    ADDRESS * count as u64
}

impl Sizes {
    /// Bytes that a source route adds to a packet.
    pub(super) fn source_route(self, stations: usize) -> Bytes {
        match self {
            Sizes::Rfc => FIXED_HEADER + SOURCE_ROUTE + addresses(stations.saturating_sub(2)),
            Sizes::Growing => FIXED_HEADER + addresses(stations.saturating_sub(1)),
        }
    }

    /// Bytes of a message behind the IP header.
    pub(super) fn message(self, message: &DsrMessage) -> Bytes {
        match message {
            DsrMessage::Request { path, error, .. } => {
                let error = if error.is_some() { ERROR } else { Bytes::ZERO };
                self.request(path.len(), error)
            }
            DsrMessage::Reply { route, back } => self.source_route(back.len()) + self.reply(route.len()),
            DsrMessage::Error { back, .. } => self.source_route(back.len()) + ERROR,
        }
    }

    fn request(self, stations: usize, error: Bytes) -> Bytes {
        match self {
            // The target stands in the option itself, the originator in the IP header.
            Sizes::Rfc => FIXED_HEADER + REQUEST + addresses(stations - 1) + error,
            Sizes::Growing => {
                (1..=stations).fold(Bytes::ZERO, |sum, passed| sum + self.source_route(passed) + REQUEST + error)
            }
        }
    }

    fn reply(self, stations: usize) -> Bytes {
        match self {
            Sizes::Rfc => REPLY + addresses(stations - 1),
            Sizes::Growing => WHOLE_REPLY + addresses(stations),
        }
    }
}
