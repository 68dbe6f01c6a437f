//! Packets: header and payload (`ip`, `header`), their bytes on the wire (`wire`), messages of stations (`message`), why packets are dropped (`drop_reason`), and
//! the packets that exist (`store`).

mod drop_reason;
pub(crate) mod header;
mod ip;
pub(crate) mod message;
mod store;
pub(crate) mod wire;

pub use drop_reason::DropReason;
pub(crate) use header::{IP_HEADER, PacketHeader, TTL, UDP_HEADER};
pub use ip::{Datagram, Packet, Payload};
pub(crate) use store::{ForwardingHeader, MovedPacket, PacketStore};
