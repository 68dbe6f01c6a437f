//! What the MACs of both standards have: the medium of a channel, the frames on it, and what they hand to the layer above.

use std::collections::VecDeque;

use super::frame::Frames;
use super::medium::{Listener, Medium};
use super::messages::Messages;
use super::service::MacIndication;

/// The medium of a channel, and what is on it.
#[derive(Debug)]
pub(crate) struct Air {
    pub(crate) medium: Medium,
    pub(super) frames: Frames,
    /// Number of the last transmission.
    pub(super) last_number: u64,
    /// Buffer for the listeners of a frame.
    pub(super) listeners: Vec<Listener>,
    /// Messages in queues and on the air.
    pub(crate) messages: Messages,
    /// What the layer above has not seen yet.
    pub(crate) indications: VecDeque<MacIndication>,
}

impl Air {
    pub(super) fn new(medium: Medium) -> Air {
        Air {
            medium,
            frames: Frames::default(),
            last_number: 0,
            listeners: Vec::new(),
            messages: Messages::default(),
            indications: VecDeque::new(),
        }
    }
}
