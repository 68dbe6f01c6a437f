//! How long a packet and its ACK, and a transfer, would take alone: the base RTT, and the denominator of slowdown.

use std::cell::Cell;

use tcp::units::{Bytes, Span, Time};

use super::Network;
use crate::ids::{FlowId, NodeId};
use crate::link::Link;

/// What of a transfer does not depend on its path and size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdealTransfer {
    /// Payload of a full segment.
    pub(crate) mss: Bytes,
    /// Bytes of headers of a segment with data.
    pub(crate) header: Bytes,
    /// A connection is opened first.
    pub(crate) handshake: bool,
}

impl Network {
    /// RTT of a data packet of 1500 bytes and its ACK of 40 over the links of time 0 while nothing else is sent; nothing if
    /// there is no path of links alone.
    pub(crate) fn base_rtt(&self, source: NodeId, sink: NodeId, flow: FlowId) -> Option<Span> {
        let time = |size, to| move |link: &Link| link.transmission_time(size) + link.delay(Time::ZERO, to);
        let forth = self.sum_over_path(source, sink, flow.sink(), time(Bytes(1500), sink))?;
        Some(forth + self.sum_over_path(sink, source, flow.source(), time(Bytes(40), source))?)
    }

    /// Completion time of a transfer of `size` alone and without slow start, on the path of now: a round of propagation delays
    /// for the handshake, the first segment over all links, then the others over the one that takes longest. Nothing if there is
    /// no path over links alone.
    pub(crate) fn ideal_completion(
        &self,
        now: Time,
        flow: FlowId,
        [from, to]: [NodeId; 2],
        size: Bytes,
        transfer: &IdealTransfer,
    ) -> Option<Span> {
        let IdealTransfer { mss, header, handshake } = *transfer;
        let packets = size.0.div_ceil(mss.0).max(1);
        let first = size.min(mss);
        let last = size.saturating_sub(mss * (packets - 1)) + header;
        let (slowest, delays) = (Cell::new(Span::ZERO), Cell::new(Span::ZERO));
        let first_passes = |link: &Link| {
            if packets > 1 {
                slowest.set(slowest.get().max(link.train_time(mss + header, packets - 2, last)));
            }
            let delay = link.delay(now, to);
            delays.set(delays.get() + delay);
            delay + link.transmission_time(first + header)
        };
        let first_time = self.sum_over_path(from, to, flow.sink(), first_passes)?;
        if !handshake {
            return Some(first_time + slowest.get());
        }
        let opens = delays.get() + self.path_delay(now, to, from, flow.source())?;
        Some(opens + first_time + slowest.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    fn ideal(network: &str, size: u64, handshake: bool) -> Option<f64> {
        let text =
            format!(r#"{{"duration": "1s", "network": {network}, "flow": [{{"from": "left0", "to": "right0"}}]}}"#);
        let run = Simulation::new(&Scenario::from_json(&text).unwrap(), 1).unwrap();
        let (from, to) = run.ends()[0];
        let transfer = IdealTransfer { mss: Bytes(1460), header: Bytes(40), handshake };
        let time = run.world.network.ideal_completion(Time::ZERO, FlowId(0), [from, to], Bytes(size), &transfer);
        time.map(|time| time.as_nanos() as f64 / 1e6)
    }

    #[test]
    fn a_transfer_alone_takes_its_handshake_its_first_segment_and_its_train() {
        let dumbbell = r#"{"kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "1ms"},
                           "bottleneck": {"rate": "10Mbps", "delay": "18ms"}}"#;
        assert_eq!(ideal(dumbbell, 14_600, true), Some(72.024));
        assert_eq!(ideal(dumbbell, 14_600, false), Some(32.024));
        // 41 B: 20 ms, twice 0.328 us and 32.8 us.
        assert_eq!(ideal(dumbbell, 1, false).map(|ms| (ms * 1e4).round()), Some(200_335.0));
    }

    #[test]
    fn framing_counts_where_it_is() {
        let framed = r#"{"kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "0ms"},
                         "bottleneck": {"rate": "8Mbps", "delay": "0ms", "overhead": "100B"}}"#;
        // Ten packets of 1600 B at 1 B/us, and twice 12 us for the first.
        assert_eq!(ideal(framed, 14_600, true), Some(16.024));
    }
}
