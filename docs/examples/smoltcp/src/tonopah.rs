//! `tonopah_transport.h` in Rust, version 1: the same file in each adapter, which uses a part of it.

#![allow(dead_code)]

use std::ffi::{c_char, c_void};

pub const ABI: u32 = 1;
pub const NEVER: u64 = u64::MAX;
pub const CLIENT: u32 = 0;
pub const CONNECTED: u32 = 1;
pub const OPENED: u32 = 2;
pub const READABLE: u32 = 3;
pub const WRITABLE: u32 = 4;
pub const CLOSED: u32 = 5;
pub const LOG_KEYS: u32 = 0;
pub const LOG_QLOG: u32 = 1;
pub const LOG_TEXT: u32 = 2;

#[repr(C)]
pub struct Host {
    pub size: u64,
    pub random: extern "C" fn(*mut c_void, *mut u8, u64),
    pub log: extern "C" fn(*mut c_void, u32, *const c_char, u64),
}

#[repr(C)]
pub struct Setup {
    pub size: u64,
    pub now_ns: u64,
    pub seed: u64,
    pub role: u32,
    pub mtu_bytes: u32,
    pub local_address: [u8; 4],
    pub remote_address: [u8; 4],
    pub local_port: u16,
    pub remote_port: u16,
    pub logs: u32,
    pub functions: *const Host,
    pub host: *mut c_void,
}

#[repr(C)]
pub struct Datagram {
    pub depart_ns: u64,
    pub length: u64,
    pub ecn: u32,
    pub flags: u32,
}

#[repr(C)]
pub struct Event {
    pub kind: u32,
    pub code: u32,
    pub stream: u64,
}

#[repr(C)]
pub struct Stats {
    pub state: f64,
    pub cwnd_bytes: f64,
    pub ssthresh_bytes: f64,
    pub in_flight_bytes: f64,
    pub pacing_rate_bps: f64,
    pub srtt_s: f64,
    pub latest_rtt_s: f64,
    pub min_rtt_s: f64,
    pub rttvar_s: f64,
    pub pto_count: f64,
    pub sent_packets: f64,
    pub lost_packets: f64,
    pub lost_bytes: f64,
    pub spurious_packets: f64,
    pub datagram_bytes: f64,
}

impl Stats {
    /// Nothing is known.
    pub const UNKNOWN: Stats = Stats {
        state: f64::NAN,
        cwnd_bytes: f64::NAN,
        ssthresh_bytes: f64::NAN,
        in_flight_bytes: f64::NAN,
        pacing_rate_bps: f64::NAN,
        srtt_s: f64::NAN,
        latest_rtt_s: f64::NAN,
        min_rtt_s: f64::NAN,
        rttvar_s: f64::NAN,
        pto_count: f64::NAN,
        sent_packets: f64::NAN,
        lost_packets: f64::NAN,
        lost_bytes: f64::NAN,
        spurious_packets: f64::NAN,
        datagram_bytes: f64::NAN,
    };
}

#[repr(C)]
pub struct TransportOption {
    pub name: *const c_char,
    pub standard: f64,
    pub min: f64,
    pub max: f64,
    pub unit: *const c_char,
    pub doc: *const c_char,
    /// Null, or the words and null after the last.
    pub words: *const *const c_char,
}

#[repr(C)]
pub struct Transport {
    pub abi: u32,
    pub size: u32,
    pub title: *const c_char,
    pub reference: *const c_char,
    pub protocol: u32,
    pub max_streams: u32,
    pub options: *const TransportOption,
    pub option_count: u64,
    pub states: *const *const c_char,
    pub state_count: u64,
    pub create: unsafe extern "C" fn(*const Setup, *const f64) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub on_datagram: unsafe extern "C" fn(*mut c_void, u64, *const u8, u64, u32) -> i32,
    pub on_timeout: unsafe extern "C" fn(*mut c_void, u64) -> i32,
    pub next_timeout: unsafe extern "C" fn(*mut c_void) -> u64,
    pub poll_transmit: unsafe extern "C" fn(*mut c_void, u64, *mut u8, u64, *mut Datagram) -> i32,
    pub poll_event: unsafe extern "C" fn(*mut c_void, *mut Event) -> i32,
    pub open: unsafe extern "C" fn(*mut c_void, u64, u32) -> i64,
    pub write: unsafe extern "C" fn(*mut c_void, u64, u64, *const u8, u64, u32) -> i64,
    pub read: unsafe extern "C" fn(*mut c_void, u64, u64, *mut u8, u64, *mut u32) -> i64,
    pub close: unsafe extern "C" fn(*mut c_void, u64) -> i32,
    pub stats: unsafe extern "C" fn(*mut c_void, *mut Stats),
    pub observe: *const c_void,
}

// SAFETY: it points at statics.
unsafe impl Sync for Transport {}
