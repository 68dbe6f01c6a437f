//! Radio: the shared medium and the MACs of 802.11 and 802.15.4.

pub(crate) mod air;
pub(crate) mod build;
mod contention;
pub(crate) mod energy;
pub(crate) mod errors;
pub(crate) mod frame;
mod grid;
pub(crate) mod hearing;
pub(crate) mod lrwpan;
pub(crate) mod mac;
pub(crate) mod message;
pub(crate) mod phy;
pub(crate) mod propagation;
pub(crate) mod queue;
pub(crate) mod rate_control;
mod receiver;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;
mod whereabouts;
