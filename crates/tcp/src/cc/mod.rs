//! Congestion control: the trait, the signals an algorithm receives, its description, and the algorithms, one file each.
//!
//! The algorithm owns cwnd and ssthresh; loss recovery has a window of its own, used during an episode. So cwnd is never
//! overwritten behind the algorithm's back. Adding an algorithm: one file, its `mod` here and its line in
//! [`ALGORITHMS`]. This file only lists and exports; algorithms import from the files it exports.

mod aimd;
mod algorithm;
mod asran;
mod bbr;
mod bbr3;
mod bic;
mod cdg;
mod compound;
mod config;
mod controller;
mod copa;
mod cubic;
mod dctcp;
#[cfg(test)]
mod driver;
mod ewphcc;
mod filter;
mod fr;
mod highspeed;
mod htcp;
mod hybla;
mod hystart;
mod illinois;
mod jiffies;
mod ledbat;
mod lp;
mod nv;
mod parameters;
mod prague;
mod registry;
mod reno;
mod reno_window;
mod round_rtt;
mod scalable;
mod signals;
mod vegas;
mod veno;
mod vivace;
mod westwood;
mod window;
mod yeah;

pub use algorithm::{Algorithm, Build, Requirements, Setup};
pub use config::{CcConfig, CcConfigError};
pub use controller::{CongestionControl, Decision};
pub use parameters::{Param, ParamKind, ParamValues, Profile, Value};
pub use registry::{ALGORITHMS, find};
pub use signals::{Ack, Cause, Congestion, Head, Lost, RateSample, RttSample, Sent, State, View};
pub use window::{Counter, IdleRule, Window};
