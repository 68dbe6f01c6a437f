//! A receiver that misleads its sender about what has arrived (Savage, Cardwell, Wetherall, Anderson 1999): it forges pure ACKs.
//! Segments with data, and the early ACKs of DCTCP's receiver, stay honest.

use std::collections::VecDeque;

use crate::segment::{Sack, Segment};
use crate::seq::SeqNo;
use crate::settings::Misbehaviour;
use crate::units::{Bytes, Span};

/// The forger of ACKs of a connection.
#[derive(Debug)]
pub(super) struct Forger {
    misbehaviour: Misbehaviour,
    /// The number that the last ACK stated.
    stated: SeqNo,
    /// The last honest ACK.
    last: Option<Segment>,
    /// An optimistic receiver is no further ahead than what has arrived beyond this number.
    trusted_from: SeqNo,
    /// Bytes that an optimistic receiver has passed over.
    undelivered: Bytes,
    /// ACKs to send before anything else.
    due: VecDeque<Segment>,
}

impl Forger {
    pub(super) fn new(misbehaviour: Misbehaviour) -> Forger {
        Forger {
            misbehaviour,
            stated: SeqNo::FIRST_DATA,
            last: None,
            trusted_from: SeqNo::FIRST_DATA,
            undelivered: Bytes::ZERO,
            due: VecDeque::new(),
        }
    }

    /// Bytes that an optimistic receiver has passed over; nothing of another.
    pub(super) fn undelivered(&self) -> Option<Bytes> {
        self.passes_over().then_some(self.undelivered)
    }

    /// True if a gap is not waited for: its bytes have been acknowledged, so that they will not come again.
    pub(super) fn passes_over(&self) -> bool {
        matches!(self.misbehaviour, Misbehaviour::Optimistic { .. })
    }

    /// A gap was passed over.
    pub(super) fn on_gap(&mut self, bytes: Bytes) {
        self.undelivered += bytes;
    }

    /// The next forged ACK.
    pub(super) fn poll(&mut self) -> Option<Segment> {
        self.due.pop_front()
    }

    /// What is sent in place of an honest ACK; the peer's segments have up to `size` bytes. Further ACKs may follow.
    pub(super) fn on_ack(&mut self, ack: Segment, size: u32) -> Segment {
        let stated = self.stated;
        self.stated = stated.max(ack.ack);
        let new = ack.ack.since(stated).0;
        self.last = Some(ack);
        match self.misbehaviour {
            Misbehaviour::AckDivision { parts } => self.divide(ack, stated, new, size, parts),
            Misbehaviour::Optimistic { ahead } => self.claim(ack, new == 0, ahead),
            Misbehaviour::DupAckSpoofing { .. } => ack,
        }
    }

    /// The first of the ACKs for parts of what is `new`.
    fn divide(&mut self, ack: Segment, stated: SeqNo, new: u64, size: u32, parts: u32) -> Segment {
        let acks = (new.div_ceil(u64::from(size.max(1))) * u64::from(parts)).min(new);
        let part = |i: u64| Segment { ack: stated + Bytes(new * i / acks), sack: Sack::default(), ..ack };
        self.due.extend((1..acks).map(part));
        self.due.push_back(ack);
        self.due.pop_front().unwrap_or(ack)
    }

    /// An ACK ahead of what has arrived. Its sender must have sent so much, or it ignores the ACK (RFC 9293 §3.10.7.4), and the
    /// receiver does not know how much that is: it claims no more than has arrived, for a sender whose window doubles in a
    /// round trip has sent that much more. What arrives again shows that it did not believe a claim: claims begin anew.
    fn claim(&mut self, ack: Segment, again: bool, ahead: Bytes) -> Segment {
        if again {
            self.trusted_from = ack.ack;
        }
        Segment { ack: ack.ack + ahead.min(ack.ack - self.trusted_from), sack: Sack::default(), ..ack }
    }

    /// Time between forged duplicates, if there are any to forge.
    pub(super) fn interval(&self) -> Option<Span> {
        match self.misbehaviour {
            Misbehaviour::DupAckSpoofing { every, .. } if self.stated > SeqNo::FIRST_DATA => Some(every),
            _ => None,
        }
    }

    /// It is time for duplicates.
    pub(super) fn on_timer(&mut self) {
        if let (Misbehaviour::DupAckSpoofing { copies, .. }, Some(last)) = (self.misbehaviour, self.last) {
            let duplicate = Segment { sack: Sack::default(), ..last };
            self.due.extend(std::iter::repeat_n(duplicate, copies as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(to: u64) -> Segment {
        Segment { ack: SeqNo(to), ..Segment::default() }
    }

    fn stated(forger: &mut Forger, first: Segment) -> Vec<u64> {
        let mut all = vec![first.ack.0];
        all.extend(std::iter::from_fn(|| forger.poll()).map(|segment| segment.ack.0));
        all
    }

    #[test]
    fn a_segment_is_acknowledged_in_equal_parts_and_a_duplicate_once() {
        let mut forger = Forger::new(Misbehaviour::AckDivision { parts: 4 });
        let first = forger.on_ack(ack(1001), 1000);
        assert_eq!(stated(&mut forger, first), [251, 501, 751, 1001]);
        // Two segments at once: eight ACKs.
        let first = forger.on_ack(ack(3001), 1000);
        assert_eq!(stated(&mut forger, first), [1251, 1501, 1751, 2001, 2251, 2501, 2751, 3001]);
        let first = forger.on_ack(ack(3001), 1000);
        assert_eq!(stated(&mut forger, first), [3001]);
        // No more ACKs than bytes.
        let first = forger.on_ack(ack(3003), 1000);
        assert_eq!(stated(&mut forger, first), [3002, 3003]);
    }

    #[test]
    fn an_optimistic_receiver_claims_as_much_again_as_has_come_and_starts_anew_when_it_is_not_believed() {
        let mut forger = Forger::new(Misbehaviour::Optimistic { ahead: Bytes(3000) });
        let mut claims =
            |numbers: &[u64]| numbers.iter().map(|to| forger.on_ack(ack(*to), 1000).ack.0).collect::<Vec<_>>();
        assert_eq!(claims(&[1, 1001, 3001, 5001, 9001]), [1, 2001, 6001, 8001, 12_001]);
        // The same again: a retransmission. It gets an honest answer.
        assert_eq!(claims(&[9001, 10_001, 12_001, 15_001]), [9001, 11_001, 15_001, 18_001]);
    }

    #[test]
    fn duplicates_repeat_the_last_number_once_data_has_come() {
        let every = Span::from_millis(10);
        let mut forger = Forger::new(Misbehaviour::DupAckSpoofing { copies: 3, every });
        let first = forger.on_ack(ack(1), 0);
        assert_eq!((stated(&mut forger, first), forger.interval()), (vec![1], None));
        let first = forger.on_ack(ack(1001), 1000);
        assert_eq!((stated(&mut forger, first), forger.interval()), (vec![1001], Some(every)));
        forger.on_timer();
        assert_eq!(std::iter::from_fn(|| forger.poll()).map(|segment| segment.ack.0).collect::<Vec<_>>(), [1001; 3]);
    }
}
