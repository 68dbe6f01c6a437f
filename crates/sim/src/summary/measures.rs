//! The metrics of a flow, or of all flows together.

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use crate::metrics::{Delays, Direction, IntervalMetrics, RttSamples, ratio};
use crate::packet::DropReason;

/// Data packets dropped, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Drops {
    /// The queue was full.
    pub queue: u64,
    /// The medium lost them.
    pub loss: u64,
    /// The link was down.
    pub link_down: u64,
    /// No route.
    pub no_route: u64,
    /// Active queue management dropped them.
    pub aqm: u64,
    /// The MAC reached its retry limit.
    pub retry: u64,
    /// Their lifetime in the queue of a station expired.
    pub expired: u64,
    /// Their TTL expired.
    pub ttl: u64,
    /// They waited for a route: too long, or with too many others.
    pub route_wait: u64,
    /// They waited for address resolution of the next hop.
    pub arp: u64,
    /// They waited at an access point for a station that has joined another.
    pub reassociation: u64,
    /// Channel access failure: every CCA found the medium busy (IEEE 802.15.4).
    pub access: u64,
    /// They did not fit into a frame, or into the fragments that the link allows.
    pub too_long: u64,
    /// Their reassembly timed out.
    pub reassembly: u64,
    /// A policer found that they do not conform.
    pub policer: u64,
    /// A link had damaged them; their destination dropped them.
    pub corrupt: u64,
    /// Pure ACKs that a later one made superfluous.
    pub ack_filter: u64,
}

impl Drops {
    pub(super) fn of(counts: [u64; DropReason::ALL.len()]) -> Drops {
        let [queue, loss, link_down, no_route, aqm, retry, expired, ttl, route_wait, arp, rest @ ..] = counts;
        let [reassociation, access, too_long, reassembly, policer, corrupt, ack_filter] = rest;
        Drops {
            queue,
            loss,
            link_down,
            no_route,
            aqm,
            retry,
            expired,
            ttl,
            route_wait,
            arp,
            reassociation,
            access,
            too_long,
            reassembly,
            policer,
            corrupt,
            ack_filter,
        }
    }
}

/// The forward direction of a flow (RFC 5103 §2), as a monitor at the IP layer sees it: all packets from the source to the sink,
/// those of the handshake included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Forward {
    /// When the first packet was sent.
    pub first_sent_s: Option<f64>,
    /// When the last packet was received.
    pub last_received_s: Option<f64>,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Bytes of IP received, headers included.
    pub received_bytes: u64,
}

impl Forward {
    fn of(direction: &Direction) -> Forward {
        Forward {
            first_sent_s: direction.first_sent.map(Time::as_secs_f64),
            last_received_s: direction.last_received.map(Time::as_secs_f64),
            sent_packets: direction.sent,
            received_packets: direction.received,
            dropped_packets: direction.dropped,
            received_bytes: direction.received_ip_bytes.0,
        }
    }
}

/// Metrics of a flow, and of all flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measures {
    /// New in-order payload read by the application: of a flow per second of its lifetime, 0 if it was over before the
    /// measurement interval; of all flows together per second of the interval.
    pub goodput_bps: f64,
    /// All payload received by the transport, duplicates included, per second of the same time.
    pub throughput_bps: f64,
    /// What the application wrote; absent for an endless transfer.
    pub offered_bps: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, duplicates included.
    pub received_packets: u64,
    /// Data packets dropped.
    pub dropped_packets: u64,
    /// Data packets retransmitted; absent of a whole transport that does not say.
    pub retransmitted_packets: Option<u64>,
    /// Packets from the sinks: acknowledgments and handshakes.
    pub ack_packets: u64,
    /// Data packets dropped, by reason.
    pub drops: Drops,
    /// Data packets that a queue marked CE.
    pub marked_packets: u64,
    /// Data packets that the network delivered after one that was sent later.
    pub reordered_packets: u64,
    /// Received / sent data packets.
    pub delivery_ratio: Option<f64>,
    /// Dropped / sent data packets.
    pub loss_ratio: Option<f64>,
    /// Payload delivered in order / payload sent for the first time.
    pub segment_delivery_ratio: Option<f64>,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Payload received by the transport, duplicates included.
    pub received_bytes: u64,
    /// Network delay of data packets: last transmission to reception. Mean.
    pub delay_s: Option<f64>,
    /// Minimum network delay.
    pub delay_min_s: Option<f64>,
    /// Maximum network delay.
    pub delay_max_s: Option<f64>,
    /// Latency under load less idle: the median network delay less the least one.
    pub delay_added_p50_s: Option<f64>,
    /// The same of the 95th percentile.
    pub delay_added_p95_s: Option<f64>,
    /// Median network delay.
    pub delay_p50_s: Option<f64>,
    /// 95th percentile of the network delay.
    pub delay_p95_s: Option<f64>,
    /// 99th percentile of the network delay.
    pub delay_p99_s: Option<f64>,
    /// Application delay of messages: write to in-order read. Mean.
    pub app_delay_s: Option<f64>,
    /// 95th percentile of the application delay.
    pub app_delay_p95_s: Option<f64>,
    /// Mean absolute difference of consecutive application delays.
    pub app_jitter_s: Option<f64>,
    /// RTT samples of the sender: that of the newest segment of each acknowledgment. Mean.
    pub rtt_s: Option<f64>,
    /// Median RTT.
    pub rtt_p50_s: Option<f64>,
    /// 95th percentile of the RTT.
    pub rtt_p95_s: Option<f64>,
    /// 99th percentile of the RTT.
    pub rtt_p99_s: Option<f64>,
    /// Mean absolute difference of consecutive network delays.
    pub jitter_s: Option<f64>,
    /// Interarrival jitter (RFC 3550).
    pub jitter_rfc3550_s: Option<f64>,
    /// All packets from the source.
    pub forward: Forward,
}

impl Measures {
    /// Rates are per second of `lifetime`.
    pub(super) fn of(interval: &IntervalMetrics, lifetime: Span, offered: bool) -> Measures {
        let per_second = |bytes: Bytes| ratio(8.0 * bytes.as_f64(), lifetime.as_secs_f64()).unwrap_or_default();
        let delays = &interval.delays;
        let added = |q| delays.quantile_s(q).zip(delays.min_s()).map(|(loaded, idle)| loaded - idle);
        Measures {
            goodput_bps: per_second(interval.delivered_bytes),
            throughput_bps: per_second(interval.received_bytes),
            offered_bps: offered.then(|| per_second(interval.offered_bytes)),
            sent_packets: interval.sent,
            received_packets: interval.received,
            dropped_packets: interval.dropped(),
            retransmitted_packets: Some(interval.retransmitted),
            ack_packets: interval.reverse.sent,
            drops: Drops::of(interval.drops()),
            marked_packets: interval.marked,
            reordered_packets: interval.reordered,
            delivery_ratio: ratio(interval.received as f64, interval.sent as f64),
            loss_ratio: ratio(interval.dropped() as f64, interval.sent as f64),
            segment_delivery_ratio: ratio(interval.delivered_bytes.as_f64(), interval.unique_sent_bytes.as_f64()),
            delivered_bytes: interval.delivered_bytes.0,
            received_bytes: interval.received_bytes.0,
            delay_s: delays.mean_s(),
            delay_min_s: delays.min_s(),
            delay_max_s: delays.max_s(),
            delay_added_p50_s: added(0.50),
            delay_added_p95_s: added(0.95),
            delay_p50_s: delays.quantile_s(0.50),
            delay_p95_s: delays.quantile_s(0.95),
            delay_p99_s: delays.quantile_s(0.99),
            app_delay_s: interval.app_delay(Delays::mean_s),
            app_delay_p95_s: interval.app_delay(|delays| delays.quantile_s(0.95)),
            app_jitter_s: interval.app_delay(Delays::jitter_s),
            rtt_s: interval.rtt(RttSamples::mean_s),
            rtt_p50_s: interval.rtt(|rtts| rtts.quantile_s(0.50)),
            rtt_p95_s: interval.rtt(|rtts| rtts.quantile_s(0.95)),
            rtt_p99_s: interval.rtt(|rtts| rtts.quantile_s(0.99)),
            jitter_s: delays.jitter_s(),
            jitter_rfc3550_s: delays.jitter_rfc3550_s(),
            forward: Forward::of(&interval.forward),
        }
    }
}
