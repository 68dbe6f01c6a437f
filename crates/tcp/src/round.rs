//! Packet-timed rounds: a round ends when the data outstanding at its start has been acknowledged.

use crate::seq::SeqNo;

/// The round counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// Rounds completed.
    pub(crate) count: u64,
    end: SeqNo,
}

impl Round {
    /// Notes an advance of `snd_una`; true if it ends the round.
    pub(crate) fn on_advance(&mut self, snd_una: SeqNo, snd_nxt: SeqNo) -> bool {
        let ended = snd_una > self.end;
        if ended {
            self.count += 1;
            self.end = snd_nxt;
        }
        ended
    }
}
