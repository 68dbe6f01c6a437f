//! Detecting that an episode was spurious: by timestamps (Eifel, RFC 3522) or by DSACKs (RFC 3708).
//! F-RTO (RFC 5682) is the sender's, since it decides what to send. The names are Linux's.

use crate::cc::Window;
use crate::seq::SeqNo;

/// What undoing the last episode needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// `snd_una` when the episode began; absent if there is nothing to undo.
    undo_marker: Option<SeqNo>,
    /// Retransmissions that no DSACK has reported yet; absent before the first.
    undo_retrans: Option<u32>,
    /// The window to return to; absent if the network itself reported congestion.
    prior_window: Option<Window>,
    /// Timestamp of the episode's first retransmission.
    retrans_stamp: Option<u32>,
}

impl Undo {
    /// An episode begins. `retransmitted` segments are still out from an earlier one.
    pub(crate) fn begin(&mut self, snd_una: SeqNo, retransmitted: u32, prior_window: Option<Window>) {
        self.undo_marker = Some(snd_una);
        self.undo_retrans = (retransmitted > 0).then_some(retransmitted);
        self.prior_window = prior_window;
    }

    /// The reduction stands.
    pub(crate) fn forget(&mut self) {
        self.undo_marker = None;
    }

    /// No retransmission is outstanding.
    pub(crate) fn forget_retransmissions(&mut self) {
        self.retrans_stamp = None;
    }

    /// A segment was sent again at `timestamp`.
    pub(crate) fn on_retransmission(&mut self, timestamp: u32) {
        self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + 1);
        self.retrans_stamp.get_or_insert(timestamp);
    }

    /// A DSACK reports `segments` retransmissions whose last ends at `end`.
    pub(crate) fn on_dsack(&mut self, end: SeqNo, segments: u32) {
        if let (Some(undo_marker), Some(undo_retrans)) = (self.undo_marker, &mut self.undo_retrans)
            && end > undo_marker
        {
            *undo_retrans = undo_retrans.saturating_sub(segments);
        }
    }

    /// True if a DSACK reported every retransmission.
    pub(crate) fn all_retransmissions_dsacked(&self) -> bool {
        self.undo_marker.is_some() && self.undo_retrans == Some(0)
    }

    /// True if what was delivered was sent before the first retransmission, given the timestamp that the ACK echoes.
    pub(crate) fn original_arrived(&self, echo: Option<u32>) -> bool {
        self.undo_marker.is_some()
            && self.retrans_stamp.zip(echo).is_some_and(|(retransmitted, echo)| echo < retransmitted)
    }

    /// True by either sign.
    pub(crate) fn is_spurious(&self, echo: Option<u32>) -> bool {
        self.all_retransmissions_dsacked() || self.original_arrived(echo)
    }

    /// Undoes the episode: the window to return to.
    pub(crate) fn take(&mut self) -> Option<Window> {
        self.undo_marker = None;
        self.prior_window.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn begun() -> Undo {
        let mut undo = Undo::default();
        let before = Window { cwnd: Bytes(1000), ssthresh: Bytes::MAX };
        undo.begin(SeqNo(100), 0, Some(before));
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
    fn every_retransmission_must_be_dsacked() {
        let mut undo = begun();
        undo.on_retransmission(5);
        undo.on_retransmission(5);
        undo.on_dsack(SeqNo(200), 1);
        assert!(!undo.is_spurious(None));
        undo.on_dsack(SeqNo(100), 1);
        assert!(!undo.is_spurious(None), "a DSACK from before the episode");
        undo.on_dsack(SeqNo(300), 1);
        assert!(undo.is_spurious(None));
        assert!(undo.take().is_some() && !undo.is_spurious(Some(4)));
    }
}
