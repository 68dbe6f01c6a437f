//! How the window comes down to ssthresh while an episode lasts: at once (RFC 6675), in proportion to what arrives
//! (PRR: RFC 6937, RFC 9937), or by half of it (rate halving). Numbers only.

use crate::settings::CwndReductionKind;
use crate::units::Bytes;

/// What one ACK means for the descent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Reported for the first time by this ACK.
    pub(crate) delivered: Bytes,
    /// `snd_una` moved and nothing was newly marked lost: the ACK promises that the worst is over (RFC 9937 §6.2, safeACK).
    pub(crate) safe: bool,
    /// Believed in the network now.
    pub(crate) pipe: Bytes,
    /// Where the window is to end.
    pub(crate) ssthresh: Bytes,
}

/// The way down during one episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    kind: CwndReductionKind,
    mss: Bytes,
    /// The window that came down: RecoverFS of RFC 6937; Linux takes cwnd.
    from: Bytes,
    delivered: Bytes,
    sent: Bytes,
    window: Bytes,
    ssthresh: Bytes,
}

impl Way {
    /// Nothing has come down yet.
    pub(crate) fn new(kind: CwndReductionKind, mss: Bytes) -> Way {
        Way { kind, mss, from: mss, delivered: Bytes::ZERO, sent: Bytes::ZERO, window: mss, ssthresh: mss }
    }

    /// An episode begins: down to `ssthresh`, from `cwnd` or, as RFC 9937 has it, from what was `outstanding` and not
    /// reported before this ACK.
    pub(crate) fn begin(&mut self, cwnd: Bytes, outstanding: Bytes, ssthresh: Bytes) {
        let from = if self.kind == CwndReductionKind::Prr { outstanding } else { cwnd };
        let window = if self.kind == CwndReductionKind::Immediate { ssthresh } else { from };
        *self = Way { ssthresh, from: from.max(self.mss), delivered: Bytes::ZERO, sent: Bytes::ZERO, window, ..*self };
    }

    /// The window in force.
    pub(crate) fn window(&self) -> Bytes {
        self.window
    }

    /// So much was sent during the episode.
    pub(crate) fn on_sent(&mut self, bytes: Bytes) {
        self.sent += bytes;
        if self.kind == CwndReductionKind::Immediate {
            self.window = self.ssthresh;
        }
    }

    /// Linux's way, which also lets the ACK that ends the descent count for growth.
    pub(crate) fn is_linux(&self) -> bool {
        self.kind == CwndReductionKind::LinuxPrr
    }

    /// Takes an ACK into account.
    pub(crate) fn on_ack(&mut self, arrival: &Arrival) {
        if arrival.delivered == Bytes::ZERO {
            return;
        }
        self.delivered += arrival.delivered;
        self.window = match self.kind {
            // RFC 6675 §5 step 4.3: the fast retransmit leaves whatever is in the network.
            CwndReductionKind::Immediate if self.sent == Bytes::ZERO => arrival.ssthresh.max(arrival.pipe + self.mss),
            CwndReductionKind::Immediate => arrival.ssthresh,
            CwndReductionKind::Prr | CwndReductionKind::LinuxPrr => arrival.pipe + self.proportional(arrival),
            CwndReductionKind::RateHalving => self.halving(arrival),
        };
    }

    /// What may leave now (RFC 6937 §3), in whole segments.
    fn proportional(&self, arrival: &Arrival) -> Bytes {
        let Arrival { pipe, ssthresh, delivered, safe } = *arrival;
        let may_send = if pipe > ssthresh {
            // sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let due = u128::from(self.delivered.0) * u128::from(ssthresh.0);
            let segments = due.div_ceil(u128::from(self.from.0) * u128::from(self.mss.0));
            (self.mss * segments as u64).saturating_sub(self.sent)
        } else {
            // RFC 9937 §6.2: a segment more than arrived on an ACK that makes progress without new losses.
            let bonus = if safe { self.mss } else { Bytes::ZERO };
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + bonus;
            limit.min(ssthresh - pipe)
        };
        // The fast retransmit leaves whatever the count says.
        let first = if self.sent == Bytes::ZERO { self.mss } else { Bytes::ZERO };
        may_send.max(first)
    }

    /// Half of what arrives takes the window down until it has reached ssthresh.
    fn halving(&self, arrival: &Arrival) -> Bytes {
        let down = Bytes(self.delivered.0 / (2 * self.mss.0) * self.mss.0);
        self.from.saturating_sub(down).max(arrival.ssthresh).min(arrival.pipe + self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1000);

    /// Sends whatever the window allows after each of `acks` ACKs of one segment; gives what was sent in all.
    fn sent_after(acks: usize, ssthresh: u64) -> Vec<u64> {
        let mut way = Way::new(CwndReductionKind::Prr, MSS);
        way.begin(MSS * 20, MSS * 20, MSS * ssthresh);
        let mut pipe = MSS * 20;
        let mut sent = Vec::new();
        for _ in 0..acks {
            pipe -= MSS;
            way.on_ack(&Arrival { delivered: MSS, safe: false, pipe, ssthresh: MSS * ssthresh });
            while pipe + MSS <= way.window() {
                pipe += MSS;
                way.on_sent(MSS);
            }
            sent.push(way.sent.0 / MSS.0);
        }
        sent
    }

    #[test]
    fn prr_vectors_of_algorithms_7_3() {
        assert_eq!(sent_after(8, 10), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(sent_after(10, 14), [1, 2, 3, 3, 4, 5, 5, 6, 7, 7]);
    }

    #[test]
    fn below_ssthresh_what_arrives_may_leave_and_one_more_on_progress() {
        for (safe, more) in [(false, 1), (true, 2)] {
            let mut way = Way::new(CwndReductionKind::Prr, MSS);
            way.begin(MSS * 20, MSS * 20, MSS * 10);
            way.on_sent(MSS);
            way.delivered = MSS;
            way.on_ack(&Arrival { delivered: MSS, safe, pipe: MSS * 5, ssthresh: MSS * 10 });
            assert_eq!(way.window(), MSS * (5 + more));
        }
    }

    #[test]
    fn never_beyond_ssthresh() {
        let mut way = Way::new(CwndReductionKind::Prr, MSS);
        way.begin(MSS * 20, MSS * 20, MSS * 10);
        way.on_sent(MSS);
        way.on_ack(&Arrival { delivered: MSS * 9, safe: true, pipe: MSS * 8, ssthresh: MSS * 10 });
        assert_eq!(way.window(), MSS * 10);
    }

    #[test]
    fn halving_sends_one_for_two() {
        let mut way = Way::new(CwndReductionKind::RateHalving, MSS);
        way.begin(MSS * 20, MSS * 20, MSS * 10);
        let windows: Vec<u64> = (1..=24)
            .map(|n: u64| {
                way.on_ack(&Arrival { delivered: MSS, safe: false, pipe: MSS * 19, ssthresh: MSS * 10 });
                assert!(n < 20 || way.window() == MSS * 10);
                way.window().0 / MSS.0
            })
            .collect();
        assert_eq!(windows[..6], [20, 19, 19, 18, 18, 17]);
    }

    #[test]
    fn at_once_is_ssthresh_from_the_first_moment() {
        let mut way = Way::new(CwndReductionKind::Immediate, MSS);
        way.begin(MSS * 20, MSS * 20, MSS * 10);
        assert_eq!(way.window(), MSS * 10);
    }
}
