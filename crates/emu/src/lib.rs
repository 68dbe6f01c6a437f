//! The network of a scenario in real time: the simulation's own links, queues, services and changes carry packets of real programs.
//!
//! - `emulator.rs`: packets in and out by a clock that is handed in
//! - `flows.rs`: five-tuples become flows, `packet.rs`: headers, `store.rs`: the bytes of packets on their way
//! - `realtime.rs`: the loop by the clock of the machine, `lateness.rs`: how late it is
//! - `capture.rs`: pcapng files, `sys.rs`: file descriptors of the caller, the only `unsafe`
//!
//! Empty on other systems than Linux.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

mod capture;
mod emulator;
mod flows;
mod lateness;
mod packet;
mod realtime;
mod store;
mod sys;

pub use capture::Capture;
pub use emulator::{Carried, Counts, Emulator, Host, Outgoing, Settings};
pub use flows::{Ends, Program};
pub use lateness::Lateness;
pub use packet::Tuple;
pub use realtime::{Device, Run, run};
pub use sys::{take, take_file};
