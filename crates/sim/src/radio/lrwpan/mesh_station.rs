//! What a station keeps for mesh-under flooding: frames to transmit, repetitions, and the numbers that it has seen.

use std::collections::VecDeque;

use tcp::units::{Bytes, Time};

use crate::ids::StationId;
use crate::radio::frame::{Fragment, MeshHeader};

/// Numbers that a station remembers of each originator.
const REMEMBERED: usize = 10;

/// A frame to transmit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct MeshFrame {
    pub(super) header: MeshHeader,
    pub(super) psdu: Bytes,
    pub(super) fragment: Fragment,
}

/// What a station knows of floods.
#[derive(Clone, Debug, Default)]
pub(super) struct MeshStation {
    pub(super) queue: VecDeque<MeshFrame>,
    /// Repetitions that wait, and until when.
    pub(super) repeats: Vec<(Time, MeshFrame)>,
    /// The last numbers of each originator.
    seen: Vec<(StationId, VecDeque<u8>)>,
    /// Number of its own last frame, modulo 256.
    pub(super) number: u8,
}

impl MeshStation {
    /// True if the frame is new; it is then remembered, and the oldest one forgotten.
    pub(super) fn remember(&mut self, originator: StationId, number: u8) -> bool {
        let known = self.seen.iter().position(|(station, _)| *station == originator);
        let index = known.unwrap_or_else(|| {
            self.seen.push((originator, VecDeque::new()));
            self.seen.len() - 1
        });
        let numbers = &mut self.seen[index].1;
        if numbers.contains(&number) {
            return false;
        }
        if numbers.len() == REMEMBERED {
            numbers.pop_front();
        }
        numbers.push_back(number);
        true
    }
}
