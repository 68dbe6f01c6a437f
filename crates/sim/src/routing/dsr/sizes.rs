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
/// A reply of ns-2, filled up to whole words.
const NS2_REPLY: Bytes = Bytes(8);

/// Bytes that a source route adds to a packet. The RFC lists neither end; ns-2 leaves one station out and has no option.
pub(super) fn source_route(stations: usize, ns2: bool) -> Bytes {
    if ns2 {
        FIXED_HEADER + addresses(stations.saturating_sub(1))
    } else {
        FIXED_HEADER + SOURCE_ROUTE + addresses(stations.saturating_sub(2))
    }
}

fn addresses(count: usize) -> Bytes {
    ADDRESS * count as u64
}

/// Bytes of a message behind the IP header.
pub(super) fn message(message: &DsrMessage, ns2: bool) -> Bytes {
    match message {
        DsrMessage::Request { path, error, .. } => {
            let error = if error.is_some() { ERROR } else { Bytes::ZERO };
            if !ns2 {
                // The target stands in the option itself, the originator in the IP header.
                return FIXED_HEADER + REQUEST + addresses(path.len() - 1) + error;
            }
            // ns-2 adds the header at each station and does not take the old one off.
            (1..=path.len()).fold(Bytes::ZERO, |sum, passed| sum + source_route(passed, true) + REQUEST + error)
        }
        DsrMessage::Reply { route, back } if ns2 => source_route(back.len(), true) + NS2_REPLY + addresses(route.len()),
        DsrMessage::Reply { route, back } => source_route(back.len(), false) + REPLY + addresses(route.len() - 1),
        DsrMessage::Error { back, .. } => source_route(back.len(), ns2) + ERROR,
    }
}
