//! A TCP endpoint without input or output: it is handed segments and the time, and says what to send and when to be
//! woken. Congestion control sits behind the one trait [`cc::CongestionControl`].
//!
//! This crate knows no network. An algorithm sees what a real sender sees and nothing else; the compiler guarantees it.

#![forbid(unsafe_code)]

pub mod cc;
pub mod compat;
pub mod config;
mod connection;
mod ecn;
mod event;
mod options;
mod rate;
mod receiver;
mod recovery;
pub mod rng;
mod round;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod seq;
pub mod settings;
mod timers;
mod told;
pub mod units;

pub use config::TcpConfig;
pub use connection::{Connection, ConnectionState, Memory};
pub use event::Event;
pub use segment::{Ecn, EcnBytes, Flags, Sack, Segment, SynOptions, Timestamps};
pub use sender::{Limit, Snapshot, Totals};
pub use seq::{SeqNo, SeqRange};
pub use told::{LossTrigger, Told};
