//! Version 1 of the interface of tonopah.h, as far as this library uses it. The fields are described there.

use std::ffi::{c_char, c_void};

pub const ABI: u32 = 2;
pub const CAUSE_TIMEOUT: f64 = 12.0;

pub struct Kind;

impl Kind {
    pub const ON_ACK: i32 = 1;
    pub const ON_CONGESTION: i32 = 2;
    pub const ON_SENT: i32 = 5;
}

pub const fn wants(kind: i32) -> u32 {
    1 << kind
}

#[repr(C)]
pub struct Setup {
    pub now_s: f64,
    pub mss_bytes: f64,
    pub initial_window_bytes: f64,
    pub initial_ssthresh_bytes: f64,
    pub handshake_rtt_s: f64,
    pub paced: f64,
    pub seed: u64,
}

#[repr(C)]
pub struct View {
    pub now_s: f64,
    pub mss_bytes: f64,
    pub state: f64,
    pub snd_una: f64,
    pub snd_nxt: f64,
    pub flight_bytes: f64,
    pub pipe_bytes: f64,
    pub rwnd_bytes: f64,
    pub srtt_s: f64,
    pub rttvar_s: f64,
    pub min_rtt_s: f64,
    pub rto_s: f64,
    pub lost_bytes: f64,
    pub retransmitted_bytes: f64,
    pub lost_total_bytes: f64,
    pub delivered_bytes: f64,
    pub delivered_ce_bytes: f64,
    pub round: f64,
    pub round_start: f64,
    pub cwnd_limited: f64,
    pub app_limited: f64,
    pub slow_start_after_idle: f64,
    pub may_grow: f64,
}

#[repr(C)]
pub struct Ack {
    pub acked_bytes: f64,
    pub acked_segments: f64,
    pub cumulative_segments: f64,
    pub lost_bytes: f64,
    pub duplicate: f64,
    pub partial: f64,
    pub rtt_s: f64,
    pub rtt_oldest_s: f64,
    pub one_way_s: f64,
    pub prior_flight_bytes: f64,
    pub prior_pipe_bytes: f64,
    pub echo: f64,
    pub ce_bytes: f64,
    pub rate_rate_bps: f64,
    pub rate_delivered_bytes: f64,
    pub rate_prior_delivered_bytes: f64,
    pub rate_interval_s: f64,
    pub rate_sent_at_s: f64,
    pub rate_tx_in_flight_bytes: f64,
    pub rate_lost_bytes: f64,
    pub rate_app_limited: f64,
}

#[repr(C)]
pub struct Congestion {
    pub cause: f64,
    pub state_before: f64,
    pub flight_bytes: f64,
    pub first: f64,
    pub loss_window_bytes: f64,
    pub head_sent_at_s: f64,
    pub head_transmissions: f64,
}

#[repr(C)]
pub struct Sent {
    pub now_s: f64,
    pub seq: f64,
    pub len_bytes: f64,
    pub pipe_bytes: f64,
    pub retransmission: f64,
}

#[repr(C)]
pub struct Answers {
    pub cwnd_bytes: f64,
    pub ssthresh_bytes: f64,
    pub next_timer_s: f64,
    pub pacing_rate_bps: f64,
}

#[repr(C)]
pub struct Parameter {
    pub name: *const c_char,
    pub standard: f64,
    pub min: f64,
    pub max: f64,
    pub unit: *const c_char,
    pub doc: *const c_char,
}

#[repr(C)]
pub struct Algorithm {
    pub abi: u32,
    pub wanted: u32,
    pub title: *const c_char,
    pub reference: *const c_char,
    pub ecn: *const c_char,
    pub owns_window: u32,
    pub timestamps: u32,
    pub parameters: *const Parameter,
    pub parameter_count: u64,
    pub create: unsafe extern "C" fn(*const Setup, *const f64) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub event: unsafe extern "C" fn(i32, *mut c_void, *const c_void, *const View, *mut Answers),
}

// SAFETY: all pointers are to what lives as long as the library and never changes.
unsafe impl Sync for Parameter {}
unsafe impl Sync for Algorithm {}
