//! Captures as other programs write them: from the bytes of a pcap or pcapng file to the segments of its TCP connections.
//!
//! - `file.rs`: a file part by part; `pcap.rs`, `pcapng.rs`: records and blocks of the two forms; `frame.rs`: what they share
//! - `layers.rs`: to the TCP segment in a frame, through tags, labels, tunnels and extension headers; `segment.rs`: what is in it
//! - `connections.rs`: the connection that a segment belongs to
//! - `reader.rs`: all of it, part by part of a file
//!
//! Captures come from anywhere, so nothing in them is believed: every length is held against what is left, and memory is taken by
//! what is there, not by what a file says. It does not open files, and does not depend on the engine.

#![forbid(unsafe_code)]

mod connections;
mod file;
mod frame;
mod layers;
mod pcap;
mod pcapng;
mod reader;
mod segment;

pub use connections::{Connection, MAX_CONNECTIONS};
pub use frame::{Frame, Wrong};
pub use layers::Why;
pub use reader::{Packet, Reader, Wanted, packets_of};
pub use segment::{Ends, Options};
