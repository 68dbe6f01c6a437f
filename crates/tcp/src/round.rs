//! Packet-timed rounds: a round ends when the data outstanding at its start has been acknowledged.

/// The round counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// Rounds completed.
    pub(crate) count: u64,
    end: u64,
}

impl Round {
    /// Notes an advance of `snd_una`; true if it ends the round.
    pub(crate) fn on_advance(&mut self, snd_una: u64, snd_nxt: u64) -> bool {
        let ended = snd_una > self.end;
        if ended {
            self.count += 1;
            self.end = snd_nxt;
        }
        ended
    }
}
