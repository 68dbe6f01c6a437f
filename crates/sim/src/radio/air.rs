//! What the MACs of both standards have: the medium of a channel, the frames on it, and what they hand to the layer above.

use std::collections::VecDeque;

use tcp::units::Time;

use super::frame::Frames;
use super::medium::{Listener, Medium};
use super::messages::Messages;
use super::receiver::Obstacle;
use super::service::{MacIndication, Unanswered};
use crate::ids::StationId;

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

    /// Why a frame of `from` did not arrive: signals of `sensed` watts make its medium busy.
    pub(super) fn why(&mut self, obstacle: Obstacle, from: StationId, sensed: f64, now: Time) -> Unanswered {
        let Obstacle { transmitted, strongest } = obstacle;
        match strongest {
            _ if transmitted => Unanswered::ReceiverBusy,
            None => Unanswered::Weak,
            Some((_, other)) => {
                let mut listeners = std::mem::take(&mut self.listeners);
                let power = self.medium.power_between(other, from, now, &mut listeners);
                self.listeners = listeners;
                if power >= sensed || other == from { Unanswered::Collision } else { Unanswered::Hidden }
            }
        }
    }
}
