//! RTT samples per round as in Linux's Vegas family: minimum so far, minimum of the round, number of samples. In
//! microseconds plus one, which avoids division by zero.

use super::signals::{Ack, State, View};
use crate::seq::SeqNo;

/// The samples of one connection.
#[derive(Debug, Default)]
pub(super) struct RoundRtt {
    /// Minimum sample; absent before the first and after an idle period.
    pub(super) base: Option<u64>,
    /// Minimum sample of the round.
    pub(super) least: Option<u64>,
    /// Samples of the round.
    pub(super) samples: u64,
    /// The round is over when more than this has been acknowledged.
    end: SeqNo,
    /// The sender was not in state Open after the last ACK.
    disturbed: bool,
}

impl RoundRtt {
    /// Adds the sample of an ACK.
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = ack.rtt else { return };
        let rtt = sample.latest.as_micros() + 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// True if this ACK returns the sender to state Open, where measuring starts anew.
    pub(super) fn returns_to_open(&mut self, view: &View) -> bool {
        let disturbed = std::mem::replace(&mut self.disturbed, view.state != State::Open);
        disturbed && !self.disturbed
    }

    /// True on the ACK that ends the round.
    pub(super) fn round_ends(&self, view: &View) -> bool {
        view.snd_una > self.end
    }

    /// Where the round ends.
    pub(super) fn end(&self) -> SeqNo {
        self.end
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self, view: &View) {
        (self.least, self.samples, self.end) = (None, 0, view.snd_nxt);
    }

    /// Discards all samples after an idle period.
    pub(super) fn reset(&mut self, view: &View) {
        self.base = None;
        self.begin_round(view);
    }
}

/// True if Linux would call the algorithm's cong_avoid on this ACK: new data is acknowledged and no reduction is in
/// progress. Unlike `may_grow` this does not require that cwnd limits the sender.
pub(super) fn is_cong_avoid_called(ack: &Ack, view: &View) -> bool {
    view.may_grow || (ack.cumulative_segments > 0 && !view.state.in_cwnd_reduction())
}
