//! Loss recovery: detects loss, picks what to send again, and gives the window in force while an episode lasts.

mod dupack;

pub(crate) use dupack::{DupAck, Progress};
