//! Loss recovery, its parts: what duplicate ACKs mean, RACK's state, the reduction of the window, undo. They know the
//! scoreboard and no sender; `sender/` puts them to work.

mod cwnd_reduction;
mod dupack;
mod rack;
mod undo;

pub(crate) use cwnd_reduction::{CwndReduction, PrrInput, ReductionStart};
pub(crate) use dupack::{DupAckRecovery, Progress};
pub(crate) use rack::{Rack, ReoWndInput};
pub(crate) use undo::Undo;
