//! Congestion control: the trait, the signals an algorithm receives, its description, and the algorithms, one file each.
//!
//! The algorithm owns cwnd and ssthresh; loss recovery has a window of its own, used during an episode. So cwnd is never
//! overwritten behind the algorithm's back. Adding an algorithm: one file, its `mod` here and its line in
//! [`ALGORITHMS`]. This file only lists and exports; algorithms import from the files it exports.

mod aimd;
pub(crate) mod algorithm;
pub mod answers;
mod backoff;
mod bbr;
mod bbr3;
mod bic;
mod cdg;
mod compound;
pub(crate) mod config;
pub(crate) mod controller;
mod copa;
pub(crate) mod cubic;
mod dctcp;
pub mod doubles;
#[cfg(test)]
pub(crate) mod driver;
mod filter;
mod highspeed;
mod htcp;
mod hybla;
pub(crate) mod hystart;
mod illinois;
pub(crate) mod jiffies;
mod ledbat;
mod lp;
mod nv;
pub(crate) mod parameters;
mod prague;
mod registry;
mod reno;
pub(crate) mod reno_window;
mod round_rtt;
mod scalable;
pub(crate) mod signals;
mod start;
#[cfg(test)]
pub(crate) mod vectors;
pub(crate) mod vegas;
mod veno;
mod vivace;
mod westwood;
pub(crate) mod window;
mod yeah;

pub use algorithm::{Algorithm, Build, Internal, Requirements, Setup};
pub use config::{CcConfig, CcConfigError};
pub use controller::{CongestionControl, Decision};
pub(crate) use ledbat::LedbatPlusPlus;
pub use parameters::{Param, ParamKind, ParamValues, Profile, Value};
pub use registry::{ALGORITHMS, find};
pub use signals::{Ack, Cause, Congestion, Head, Lost, RateSample, Resumption, RttSample, Saved, Sent, State, View};
pub use start::{Begin, Exit, Growth, ResumeConfig, SearchConfig, StartConfig};
pub use window::{Counter, IdleRule, Window};
