//! Loss recovery: detects loss, picks what to send again, and gives the window in force while an episode lasts.

mod descent;
mod dupack;
mod rack;
mod undo;

pub(crate) use descent::{Arrival, Way};
pub(crate) use dupack::{DupAck, Duplicate, Progress};
pub(crate) use rack::{Rack, Settling};
pub(crate) use undo::Undo;
