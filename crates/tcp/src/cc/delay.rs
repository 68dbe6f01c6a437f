//! The RTT per round as the Vegas family in Linux measures it: least of all, least of the round, how many.
//! Microseconds, one added, so that nothing is ever divided by zero.

use super::signals::{Ack, State, View};

/// The samples of one connection.
#[derive(Debug, Default)]
pub(super) struct Delay {
    /// Least sample; absent before the first and after silence.
    pub(super) base: Option<u64>,
    /// Least sample of the round.
    pub(super) least: Option<u64>,
    /// Samples of the round.
    pub(super) samples: u64,
    /// The round is over when more than this has been acknowledged.
    end: u64,
    /// The last ACK did not leave the sender in state Open.
    disturbed: bool,
}

impl Delay {
    /// Takes the sample of an ACK.
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let Some(sample) = ack.rtt else { return };
        let rtt = sample.latest.as_micros() + 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    /// True if this ACK brings the sender back to state Open, which is where measuring starts anew.
    pub(super) fn calms_down(&mut self, view: &View) -> bool {
        let disturbed = std::mem::replace(&mut self.disturbed, view.state != State::Open);
        disturbed && !self.disturbed
    }

    /// True on the ACK that ends the round.
    pub(super) fn round_ends(&self, view: &View) -> bool {
        view.snd_una > self.end
    }

    /// Where the round ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self, view: &View) {
        (self.least, self.samples, self.end) = (None, 0, view.snd_nxt);
    }

    /// After silence nothing is known.
    pub(super) fn forget(&mut self, view: &View) {
        self.base = None;
        self.begin_round(view);
    }
}

/// True if Linux would ask the algorithm about growth on this ACK, whether or not the window is used (`may_grow` needs
/// that too): something new is acknowledged and the window is not coming down.
pub(super) fn is_asked(ack: &Ack, view: &View) -> bool {
    view.may_grow || (ack.cumulative_segments > 0 && !view.state.in_cwnd_reduction())
}
