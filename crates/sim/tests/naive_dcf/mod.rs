//! A DCF that is naive on purpose: an event for the start and the end of every signal at every station that hears it,
//! an event for every slot of every backoff, and states that change when the text of networks.md §5.3, §6.3 and §6.4 says
//! so. It shares nothing with the engine but the random numbers, the power of a signal at a distance and the survival of
//! bits. Both must send the same frames at the same nanoseconds (§15.3, §17).

mod ear;
mod exchange;
mod station;
mod world;

pub(crate) use ear::Ear;
pub(crate) use world::{AirFrame, Kind, Offer, Setup, Timing, Walk, World};
