//! A congestion controller of `quinn-proto`, unmodified from its crate, as a library for Tonopah: CUBIC or NewReno, by the parameter
//! `cubic`. `tonopah.rs` is the interface of tonopah.h, this file what QUIC means by each of its events.
//!
//! QUIC tells a controller of every acknowledged packet when it was sent; TCP acknowledges bytes. So the packets in flight are kept
//! here, and bytes that an ACK delivers are taken from the oldest ones. A retransmission counts as sent when it is: QUIC gives it a
//! new packet. A time-out of TCP is told as persistent congestion (RFC 9002 section 7.6), which QUIC finds by other means.

mod tonopah;

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};

use tonopah::{ABI, Ack, Algorithm, Answers, CAUSE_TIMEOUT, Congestion, Kind, Parameter, Sent, Setup, View, wants};

/// One end of a connection.
struct State {
    controller: Box<dyn Controller>,
    /// What stands for the start of the run: only differences of times matter.
    epoch: Instant,
    /// Time and bytes of what is in flight, oldest first.
    sent: VecDeque<(Instant, u64)>,
    ssthresh: Option<u64>,
}

/// The estimate of the RTT that a controller is shown.
///
/// The crate makes one only inside a connection. It consists of four durations, latest, smoothed, variance and minimum, and all are
/// the SRTT here. CUBIC reads the smoothed one, NewReno none; BBR would need the minimum and is not offered. The sizes are compared
/// when this is compiled, the values in `create`.
fn estimate(srtt: Duration) -> RttEstimator {
    // SAFETY: four durations in any order, one of them optional, whose absence is a value of the nanoseconds that no duration has.
    unsafe { std::mem::transmute::<[Duration; 4], RttEstimator>([srtt; 4]) }
}

impl State {
    fn at(&self, seconds: f64) -> Instant {
        self.epoch + Duration::from_secs_f64(seconds)
    }

    fn on_sent(&mut self, sent: &Sent) {
        let at = self.at(sent.now_s);
        self.sent.push_back((at, sent.len_bytes as u64));
        self.controller.on_sent(at, sent.len_bytes as u64, 0);
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let (now, rtt) = (self.at(view.now_s), estimate(Duration::from_secs_f64(view.srtt_s.max(0.0))));
        let mut left = ack.acked_bytes as u64;
        while left > 0 {
            let Some((at, bytes)) = self.sent.front_mut() else { break };
            let (at, part) = (*at, left.min(*bytes));
            *bytes -= part;
            left -= part;
            if *bytes == 0 {
                self.sent.pop_front();
            }
            self.controller.on_ack(now, at, part, view.cwnd_limited == 0.0, &rtt);
        }
        self.controller.on_end_acks(now, view.flight_bytes as u64, view.cwnd_limited == 0.0, None);
        // What was lost leaves the list with what stays in flight.
        let (flight, mut kept) = (view.flight_bytes as u64, self.sent.iter().map(|(_, bytes)| bytes).sum::<u64>());
        while kept > flight {
            let Some((_, bytes)) = self.sent.pop_front() else { break };
            kept -= bytes;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let now = self.at(view.now_s);
        let lost = if event.head_sent_at_s.is_nan() { now } else { self.at(event.head_sent_at_s) };
        self.controller.on_congestion_event(now, lost, event.cause == CAUSE_TIMEOUT, view.lost_bytes as u64);
        self.ssthresh = self.controller.metrics().ssthresh;
    }
}

unsafe extern "C" fn create(setup: *const Setup, parameters: *const f64) -> *mut c_void {
    // SAFETY: the caller promises both for the time of the call; there is one parameter.
    let (setup, cubic) = unsafe { (&*setup, *parameters != 0.0) };
    let probe = Duration::from_millis(7);
    if estimate(probe).get() != probe || estimate(probe).min() != probe {
        return std::ptr::null_mut();
    }
    let (epoch, mtu, window) = (Instant::now(), setup.mss_bytes as u16, setup.initial_window_bytes as u64);
    let factory: Arc<dyn ControllerFactory> = if cubic {
        let mut config = CubicConfig::default();
        config.initial_window(window);
        Arc::new(config)
    } else {
        let mut config = NewRenoConfig::default();
        config.initial_window(window);
        Arc::new(config)
    };
    let now = epoch + Duration::from_secs_f64(setup.now_s);
    let controller = factory.build(now, mtu);
    Box::into_raw(Box::new(State { controller, epoch, sent: VecDeque::new(), ssthresh: None })).cast()
}

unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: what `create` made, once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

unsafe extern "C" fn event(
    kind: i32,
    state: *mut c_void,
    signal: *const c_void,
    view: *const View,
    answers: *mut Answers,
) {
    // SAFETY: what `create` made, and what belongs to the kind of event (tonopah.h).
    let (state, answers) = unsafe { (&mut *state.cast::<State>(), &mut *answers) };
    unsafe {
        match kind {
            Kind::ON_SENT => state.on_sent(&*signal.cast()),
            Kind::ON_ACK => state.on_ack(&*signal.cast(), &*view),
            Kind::ON_CONGESTION => state.on_congestion(&*signal.cast(), &*view),
            _ => {}
        }
    }
    answers.cwnd_bytes = state.controller.window() as f64;
    answers.ssthresh_bytes = state.ssthresh.map_or(f64::NAN, |bytes| bytes as f64);
}

static PARAMETERS: [Parameter; 1] = [Parameter {
    name: c"cubic".as_ptr(),
    standard: 1.0,
    min: 0.0,
    max: 1.0,
    unit: std::ptr::null(),
    doc: c"1: CUBIC, 0: NewReno".as_ptr(),
}];

/// What Tonopah looks for in the library.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static tonopah_algorithm: Algorithm = Algorithm {
    abi: ABI,
    wanted: wants(Kind::ON_SENT) | wants(Kind::ON_ACK) | wants(Kind::ON_CONGESTION),
    title: c"a congestion controller of quinn-proto 0.11.19".as_ptr(),
    reference: c"RFC 9002, RFC 9438".as_ptr(),
    ecn: std::ptr::null(),
    owns_window: 0,
    timestamps: 0,
    parameters: PARAMETERS.as_ptr(),
    parameter_count: 1,
    create,
    destroy,
    event,
};
