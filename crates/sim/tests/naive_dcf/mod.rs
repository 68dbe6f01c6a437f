//! A DCF that is naive on purpose: an event for the start and the end of every signal at every station that hears it,
//! an event for every slot of every backoff, and states that change when the text of the standard (IEEE 802.11-2016
//! §10.3), or of ns-2, says so. It shares nothing with the engine but the random numbers, the power of a signal at a
//! distance and the survival of bits. Both must send the same frames at the same nanoseconds.

mod ear;
mod exchange;
mod station;
mod world;

pub(crate) use ear::Ear;
pub(crate) use world::{AirFrame, Kind, Offer, Setup, Timing, Walk, World};
