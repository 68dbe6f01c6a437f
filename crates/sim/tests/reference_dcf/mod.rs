//! A reference DCF, naive on purpose: an event for the start and the end of every signal at every station that it
//! reaches, an event for every slot of every backoff, and states that change as the text of the standard (IEEE
//! 802.11-2016 §10.3), or of ns-2, prescribes. It shares with the engine only random numbers, path loss and bit error
//! models. Both must transmit the same frames at the same nanoseconds. Comments number its rules 1 to 12 and a to c.

mod exchange;
mod reception;
mod simulation;
mod station;

pub(crate) use reception::ReceptionModel;
pub(crate) use simulation::{AirFrame, Kind, ReferenceDcf, Request, Setup, Timing};
pub(crate) use station::Motion;
