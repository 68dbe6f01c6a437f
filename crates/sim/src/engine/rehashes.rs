//! The hashes that senders give their packets.

use std::collections::BTreeMap;

use tcp::units::Time;

use crate::ids::EndpointId;

/// When the senders have drawn another hash for their packets: Linux does so at each retransmission time-out
/// (sk_rethink_txhash).
#[derive(Debug, Default)]
pub(crate) struct Rehashes {
    /// By the endpoint that the packets are for, with the serial number of its flow.
    times: BTreeMap<EndpointId, Vec<Time>>,
}

impl Rehashes {
    /// What is sent to `to` has another hash from `now` on.
    pub(crate) fn add(&mut self, to: EndpointId, now: Time) {
        self.times.entry(to).or_default().push(now);
    }

    /// True if what is sent to `to` has another hash since `now`, the time of the last change of all.
    pub(crate) fn has_changed(&self, to: EndpointId, now: Time) -> bool {
        self.times.get(&to).and_then(|times| times.last()) == Some(&now)
    }

    /// How often the hash of a packet to `to` had changed when it was sent.
    pub(crate) fn before(&self, to: EndpointId, sent_at: Time) -> u64 {
        self.times.get(&to).map_or(0, |times| times.partition_point(|at| *at <= sent_at) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    #[test]
    fn a_packet_keeps_the_hash_that_it_was_sent_with() {
        let (to, ms) = (FlowId(3).sink(), |ms| Time::ZERO + tcp::units::Span::from_millis(ms));
        let mut rehashes = Rehashes::default();
        rehashes.add(to, ms(200));
        rehashes.add(to, ms(600));
        assert_eq!([0, 199, 200, 599, 600].map(|at| rehashes.before(to, ms(at))), [0, 0, 1, 1, 2]);
        assert_eq!(rehashes.before(to.peer(), ms(600)), 0);
    }
}
