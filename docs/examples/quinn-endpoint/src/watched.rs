//! Congestion controls of quinn-proto, unmodified, and the newest RTT sample, which the stack shows to nobody else.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};

/// Bytes of a datagram in which the initial window is counted (`BASE_DATAGRAM_SIZE` of quinn-proto).
const DATAGRAM: u64 = 1200;

/// The factory of the word of option `cc`; a window of 0 is that of quinn-proto.
fn factory(cc: f64, initial_window: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
    let bytes = initial_window * DATAGRAM;
    macro_rules! configured {
        ($config:ty) => {{
            let mut config = <$config>::default();
            if bytes > 0 {
                config.initial_window(bytes);
            }
            Arc::new(config)
        }};
    }
    match cc as u32 {
        0 => configured!(CubicConfig),
        1 => configured!(NewRenoConfig),
        _ => configured!(BbrConfig),
    }
}

/// Makes the controller of a connection, and shares the RTT that it sees, in nanoseconds; 0 before the first.
pub struct Watching {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub latest_rtt_ns: Arc<AtomicU64>,
}

impl Watching {
    pub fn new(cc: f64, initial_window: f64) -> Watching {
        Watching { inner: factory(cc, initial_window as u64), latest_rtt_ns: Arc::default() }
    }
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, mtu);
        Box::new(Watched { inner, latest_rtt_ns: Arc::clone(&self.latest_rtt_ns), newest: None, largest: None })
    }
}

struct Watched {
    inner: Box<dyn Controller>,
    latest_rtt_ns: Arc<AtomicU64>,
    /// Time of the ACK that is read, and when the newest packet left of which it is the first.
    newest: Option<(Instant, Instant)>,
    largest: Option<u64>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, packet: u64) {
        self.inner.on_sent(now, bytes, packet);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.newest = self.newest.max(Some((now, sent)));
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        // A sample is of an ACK whose largest packet is new (RFC 9002 §5.1).
        if let Some((_, sent)) = self.newest.take().filter(|(at, _)| *at == now && largest != self.largest) {
            self.latest_rtt_ns.store((now - sent).as_nanos() as u64, Ordering::Relaxed);
        }
        self.largest = largest;
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let (inner, latest_rtt_ns) = (self.inner.clone_box(), Arc::clone(&self.latest_rtt_ns));
        Box::new(Watched { inner, latest_rtt_ns, newest: self.newest, largest: self.largest })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
