//! Radio: the shared medium, and the MACs of IEEE 802.11 and IEEE 802.15.4 upon it.

pub(crate) mod air;
mod airtime;
mod backoff;
pub(crate) mod build;
pub(crate) mod dcf;
pub(crate) mod energy;
pub(crate) mod errors;
pub(crate) mod frame;
#[cfg(test)]
mod frame_log;
mod grid;
mod legs;
pub(crate) mod lrwpan;
pub(crate) mod mac;
pub(crate) mod medium;
pub(crate) mod messages;
mod neighbours;
pub(crate) mod phy;
mod profiles;
pub(crate) mod propagation;
pub(crate) mod queue;
mod receiver;
#[cfg(test)]
mod reference_dcf;
#[cfg(test)]
mod reference_lrwpan;
pub(crate) mod service;
pub(crate) mod streams;
#[cfg(test)]
mod tests;
