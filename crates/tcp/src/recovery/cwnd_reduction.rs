//! How the window comes down to ssthresh during an episode: at once (RFC 6675), in proportion to what is delivered
//! (PRR: RFC 6937, RFC 9937), or by half of it (rate halving). Numbers only.

use crate::settings::CwndReductionKind;
use crate::units::Bytes;

/// What one ACK contributes (RFC 9937 §6.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrInput {
    /// DeliveredData: reported for the first time by this ACK.
    pub(crate) delivered_data: Bytes,
    /// SafeACK: `snd_una` moved and nothing was newly marked lost.
    pub(crate) safe_ack: bool,
    /// Estimated to be in the network now.
    pub(crate) in_flight: Bytes,
    /// The target of the reduction.
    pub(crate) ssthresh: Bytes,
}

/// The reduction of the window during one episode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CwndReduction {
    kind: CwndReductionKind,
    mss: Bytes,
    /// RecoverFS of RFC 9937; Linux takes cwnd.
    recover_fs: Bytes,
    prr_delivered: Bytes,
    prr_out: Bytes,
    window: Bytes,
    ssthresh: Bytes,
    /// The first segment is sent whatever the count says.
    forces_first: bool,
}

/// What a reduction starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReductionStart {
    /// The window before.
    pub(crate) cwnd: Bytes,
    /// Outstanding and not reported before the ACK that starts it.
    pub(crate) outstanding: Bytes,
    /// The target.
    pub(crate) ssthresh: Bytes,
    /// Something is to be sent again.
    pub(crate) retransmits: bool,
}

impl CwndReduction {
    /// An episode begins. RFC 9937 counts from what is outstanding, the others from cwnd.
    pub(crate) fn new(kind: CwndReductionKind, mss: Bytes, start: &ReductionStart) -> CwndReduction {
        let ReductionStart { cwnd, outstanding, ssthresh, retransmits } = *start;
        let from = if kind == CwndReductionKind::Prr { outstanding } else { cwnd };
        let window = if kind == CwndReductionKind::Immediate { ssthresh } else { from };
        let (prr_delivered, prr_out) = (Bytes::ZERO, Bytes::ZERO);
        // RFC 9937 §6.2 and RFC 6675 §5 step 4.3 force the fast retransmit. Linux forces a segment in CWR too, where it is
        // new data.
        let forces_first = retransmits || kind == CwndReductionKind::LinuxPrr;
        CwndReduction { kind, mss, recover_fs: from.max(mss), prr_delivered, prr_out, window, ssthresh, forces_first }
    }

    /// This reduction once something is to be sent again.
    pub(crate) fn with_retransmission(&self) -> CwndReduction {
        CwndReduction { forces_first: true, ..*self }
    }

    /// True until the segment that is sent whatever the count says has been.
    fn forces(&self) -> bool {
        self.forces_first && self.prr_out == Bytes::ZERO
    }

    /// The target has been lowered.
    pub(crate) fn lower(&mut self, ssthresh: Bytes) {
        self.ssthresh = ssthresh;
    }

    /// The window in force.
    pub(crate) fn window(&self) -> Bytes {
        self.window
    }

    /// Notes bytes sent during the episode.
    pub(crate) fn on_sent(&mut self, bytes: Bytes) {
        self.prr_out += bytes;
        if self.kind == CwndReductionKind::Immediate {
            self.window = self.ssthresh;
        }
    }

    /// Takes an ACK into account.
    pub(crate) fn on_ack(&mut self, ack: &PrrInput) {
        if ack.delivered_data == Bytes::ZERO {
            return;
        }
        self.prr_delivered += ack.delivered_data;
        self.window = match self.kind {
            // RFC 6675 §5 step 4.3: the fast retransmit is sent whatever is in the network.
            CwndReductionKind::Immediate if self.forces() => ack.ssthresh.max(ack.in_flight + self.mss),
            CwndReductionKind::Immediate => ack.ssthresh,
            CwndReductionKind::Prr | CwndReductionKind::LinuxPrr => ack.in_flight + self.proportional(ack),
            CwndReductionKind::RateHalving => self.halving(ack),
        };
    }

    /// What may be sent now (RFC 6937 §3), in whole segments.
    fn proportional(&self, ack: &PrrInput) -> Bytes {
        let PrrInput { in_flight, ssthresh, delivered_data, safe_ack } = *ack;
        let may_send = if in_flight > ssthresh {
            // sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let due = u128::from(self.prr_delivered.0) * u128::from(ssthresh.0);
            let segments = due.div_ceil(u128::from(self.recover_fs.0) * u128::from(self.mss.0));
            (self.mss * segments as u64).saturating_sub(self.prr_out)
        } else {
            // RFC 9937 §6.2: one segment more than was delivered on an ACK that makes progress without new losses.
            let bonus = if safe_ack { self.mss } else { Bytes::ZERO };
            let limit = self.prr_delivered.saturating_sub(self.prr_out).max(delivered_data) + bonus;
            limit.min(ssthresh - in_flight)
        };
        let first = if self.forces() { self.mss } else { Bytes::ZERO };
        may_send.max(first)
    }

    /// The window falls by half of what is delivered, and to a segment more than is in flight, until it has reached ssthresh.
    /// It is never below: what is missing there would leave in one burst at the end.
    fn halving(&self, ack: &PrrInput) -> Bytes {
        let down = Bytes(self.prr_delivered.0 / (2 * self.mss.0) * self.mss.0);
        self.recover_fs.saturating_sub(down).min(ack.in_flight + self.mss).max(ack.ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1000);

    /// From 20 segments down to `ssthresh`.
    fn begun(kind: CwndReductionKind, ssthresh: Bytes) -> CwndReduction {
        let start = ReductionStart { cwnd: MSS * 20, outstanding: MSS * 20, ssthresh, retransmits: true };
        CwndReduction::new(kind, MSS, &start)
    }

    /// Sends whatever the window allows after each of `acks` ACKs of one segment; gives what was sent in all.
    fn sent_after(acks: usize, ssthresh: u64) -> Vec<u64> {
        let mut reduction = begun(CwndReductionKind::Prr, MSS * ssthresh);
        let mut pipe = MSS * 20;
        let mut sent = Vec::new();
        for _ in 0..acks {
            pipe -= MSS;
            reduction.on_ack(&PrrInput {
                delivered_data: MSS,
                safe_ack: false,
                in_flight: pipe,
                ssthresh: MSS * ssthresh,
            });
            while pipe + MSS <= reduction.window() {
                pipe += MSS;
                reduction.on_sent(MSS);
            }
            sent.push(reduction.prr_out.0 / MSS.0);
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
            let mut reduction = begun(CwndReductionKind::Prr, MSS * 10);
            reduction.on_sent(MSS);
            reduction.prr_delivered = MSS;
            reduction.on_ack(&PrrInput { delivered_data: MSS, safe_ack: safe, in_flight: MSS * 5, ssthresh: MSS * 10 });
            assert_eq!(reduction.window(), MSS * (5 + more));
        }
    }

    #[test]
    fn never_beyond_ssthresh() {
        let mut reduction = begun(CwndReductionKind::Prr, MSS * 10);
        reduction.on_sent(MSS);
        reduction.on_ack(&PrrInput { delivered_data: MSS * 9, safe_ack: true, in_flight: MSS * 8, ssthresh: MSS * 10 });
        assert_eq!(reduction.window(), MSS * 10);
    }

    #[test]
    fn halving_sends_one_for_two() {
        let mut reduction = begun(CwndReductionKind::RateHalving, MSS * 10);
        let windows: Vec<u64> = (1..=24)
            .map(|n: u64| {
                reduction.on_ack(&PrrInput {
                    delivered_data: MSS,
                    safe_ack: false,
                    in_flight: MSS * 19,
                    ssthresh: MSS * 10,
                });
                assert!(n < 20 || reduction.window() == MSS * 10);
                reduction.window().0 / MSS.0
            })
            .collect();
        assert_eq!(windows[..6], [20, 19, 19, 18, 18, 17]);
    }

    #[test]
    fn halving_holds_the_window_at_ssthresh_when_losses_empty_the_network() {
        let mut reduction = begun(CwndReductionKind::RateHalving, MSS * 15);
        // ns-2.35's TCP-Linux: one segment leaves while 17 and 15 are in flight, two at 13.
        let sent = [17, 15, 13].map(|in_flight: u64| {
            let in_flight = MSS * in_flight;
            reduction.on_ack(&PrrInput { delivered_data: MSS, safe_ack: false, in_flight, ssthresh: MSS * 15 });
            reduction.window().saturating_sub(in_flight).0 / MSS.0
        });
        assert_eq!(sent, [1, 1, 2]);
    }

    #[test]
    fn immediate_is_ssthresh_from_the_start() {
        let reduction = begun(CwndReductionKind::Immediate, MSS * 10);
        assert_eq!(reduction.window(), MSS * 10);
    }
}
