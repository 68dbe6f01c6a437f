//! Radio: the shared medium and the MACs of 802.11 and 802.15.4.

pub(crate) mod build;
mod contention;
pub(crate) mod dcf;
pub(crate) mod energy;
pub(crate) mod errors;
pub(crate) mod frame;
mod grid;
pub(crate) mod hearing;
pub(crate) mod lrwpan;
pub(crate) mod mac;
pub(crate) mod messages;
mod neighbours;
pub(crate) mod phy;
pub(crate) mod propagation;
pub(crate) mod queue;
mod receiver;
#[cfg(test)]
mod reference_dcf;
#[cfg(test)]
mod tests;
