//! Telling that an episode was spurious: by timestamps (Eifel, RFC 3522) or by reports of duplicates (RFC 3708).
//! F-RTO (RFC 5682) is the sender's, since it decides what to send.

use crate::cc::Window;

/// What is remembered of the episode under way, to take it back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// `snd_una` when the episode began; absent if there is nothing to take back.
    marker: Option<u64>,
    /// Retransmissions that no duplicate report has explained yet; absent before the first.
    unexplained: Option<u32>,
    /// The window to return to; absent if the network itself reported congestion.
    before: Option<Window>,
    /// Timestamp of the episode's first retransmission.
    first_retransmission: Option<u32>,
}

impl Undo {
    /// An episode begins. `retransmitted` segments are still out from an earlier one.
    pub(crate) fn begin(&mut self, snd_una: u64, retransmitted: u32, before: Option<Window>) {
        self.marker = Some(snd_una);
        self.unexplained = (retransmitted > 0).then_some(retransmitted);
        self.before = before;
    }

    /// The reduction stands.
    pub(crate) fn forget(&mut self) {
        self.marker = None;
    }

    /// No retransmission is outstanding.
    pub(crate) fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// A segment was sent again at `timestamp`.
    pub(crate) fn on_retransmission(&mut self, timestamp: u32) {
        self.unexplained = Some(self.unexplained.unwrap_or(0) + 1);
        self.first_retransmission.get_or_insert(timestamp);
    }

    /// The receiver reports that it had `[start, end)` already.
    pub(crate) fn on_duplicate_report(&mut self, end: u64, prior_una: u64) {
        if let (Some(marker), Some(unexplained)) = (self.marker, &mut self.unexplained)
            && end <= prior_una
            && end > marker
        {
            *unexplained = unexplained.saturating_sub(1);
        }
    }

    /// Every retransmission turned out to be a duplicate.
    pub(crate) fn all_were_duplicates(&self) -> bool {
        self.marker.is_some() && self.unexplained == Some(0)
    }

    /// What arrived now was sent before the first retransmission, if `echo` is the timestamp that it carried.
    pub(crate) fn original_arrived(&self, echo: Option<u32>) -> bool {
        self.marker.is_some()
            && self.first_retransmission.zip(echo).is_some_and(|(retransmitted, echo)| echo < retransmitted)
    }

    /// Either sign.
    pub(crate) fn is_spurious(&self, echo: Option<u32>) -> bool {
        self.all_were_duplicates() || self.original_arrived(echo)
    }

    /// Takes the episode back: the window to return to.
    pub(crate) fn take(&mut self) -> Option<Window> {
        self.marker = None;
        self.before.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn begun() -> Undo {
        let mut undo = Undo::default();
        let before = Window { cwnd: Bytes(1000), ssthresh: Bytes::MAX };
        undo.begin(100, 0, Some(before));
        undo
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_is_spurious() {
        let mut undo = begun();
        assert!(!undo.is_spurious(Some(4)), "nothing was sent again yet");
        undo.on_retransmission(5);
        undo.on_retransmission(9);
        assert!(undo.is_spurious(Some(4)) && !undo.is_spurious(Some(5)) && !undo.is_spurious(None));
    }

    #[test]
    fn every_retransmission_must_be_reported_as_a_duplicate() {
        let mut undo = begun();
        undo.on_retransmission(5);
        undo.on_retransmission(5);
        undo.on_duplicate_report(200, 300);
        assert!(!undo.is_spurious(None));
        undo.on_duplicate_report(100, 300);
        assert!(!undo.is_spurious(None), "a report from before the episode");
        undo.on_duplicate_report(300, 300);
        assert!(undo.is_spurious(None));
        assert!(undo.take().is_some() && !undo.is_spurious(Some(4)));
    }
}
