//! Metrics by the definitions of other tools, beside the canonical ones.

use serde::Serialize;
use tcp::units::Span;

use super::{Delays, IntervalMetrics};

/// awk scripts over ns-2 traces.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Ns2Awk {
    /// 8 x sum(size - 20) of received data packets / (last reception - first transmission); counts 20 B of header each.
    pub throughput_bps: Option<f64>,
    /// Mean over received data packets of reception - transmission of that copy.
    pub delay_s: Option<f64>,
    /// Received / sent data packets.
    pub delivery_ratio: Option<f64>,
    /// Dropped / sent data packets.
    pub drop_ratio: Option<f64>,
}

/// ns-3's FlowMonitor on the direction of the data, handshake included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct FlowMonitor {
    /// 8 x received IP bytes / (last reception - first transmission).
    pub throughput_bps: Option<f64>,
    /// Mean one-way delay of data packets at the IP layer.
    pub delay_s: Option<f64>,
    /// Mean absolute difference of consecutive delays.
    pub jitter_s: Option<f64>,
    /// Received / sent packets.
    pub delivery_ratio: Option<f64>,
    /// Lost / sent packets.
    pub drop_ratio: Option<f64>,
}

/// NetSim's application metrics.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct NetSim {
    /// 8 x payload received in order / measured time.
    pub throughput_bps: Option<f64>,
    /// Mean of application generation to application delivery.
    pub delay_s: Option<f64>,
    /// Mean absolute difference of consecutive application delays.
    pub jitter_s: Option<f64>,
}

/// `part / whole`, absent for an empty whole.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// First transmission to last reception of the data direction, in seconds.
fn active_s(interval: &IntervalMetrics) -> f64 {
    let direction = &interval.forward;
    direction.first_sent.zip(direction.last_received).map_or(0.0, |(first, last)| last.since(first).as_secs_f64())
}

impl Ns2Awk {
    pub(crate) fn of(interval: &IntervalMetrics) -> Ns2Awk {
        let counted = interval.received_bytes.as_f64() + 20.0 * interval.received as f64;
        Ns2Awk {
            throughput_bps: ratio(8.0 * counted, active_s(interval)),
            delay_s: interval.delays.mean_s(),
            delivery_ratio: ratio(interval.received as f64, interval.sent as f64),
            drop_ratio: ratio(interval.dropped() as f64, interval.sent as f64),
        }
    }
}

impl FlowMonitor {
    pub(crate) fn of(interval: &IntervalMetrics) -> FlowMonitor {
        let forward = &interval.forward;
        FlowMonitor {
            throughput_bps: ratio(8.0 * forward.received_ip_bytes.as_f64(), active_s(interval)),
            delay_s: interval.delays.mean_s(),
            jitter_s: interval.delays.jitter_s(),
            delivery_ratio: ratio(forward.received as f64, forward.sent as f64),
            drop_ratio: ratio(forward.dropped as f64, forward.sent as f64),
        }
    }
}

impl NetSim {
    pub(crate) fn of(interval: &IntervalMetrics, measured: Span) -> NetSim {
        NetSim {
            throughput_bps: ratio(8.0 * interval.delivered_bytes.as_f64(), measured.as_secs_f64()),
            delay_s: interval.app_delay(Delays::mean_s),
            jitter_s: interval.app_delay(Delays::jitter_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::units::Bytes;

    #[test]
    fn vectors_of_networks_14_3() {
        let window = IntervalMetrics { sent: 43556, received: 43480, ..IntervalMetrics::default() };
        let delivery = Ns2Awk::of(&window).delivery_ratio.unwrap();
        assert!((delivery * 100.0 - 99.8255).abs() < 5e-5);
        let window = IntervalMetrics { delivered_bytes: Bytes(9_101_640), ..IntervalMetrics::default() };
        let netsim = NetSim::of(&window, Span::from_millis(10_000));
        assert!((netsim.throughput_bps.unwrap() - 7_281_312.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_received_is_undefined_not_zero() {
        let nothing = FlowMonitor::of(&IntervalMetrics::default());
        assert_eq!((nothing.delay_s, nothing.throughput_bps, nothing.delivery_ratio), (None, None, None));
    }
}
