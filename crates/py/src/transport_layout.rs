//! The structs of `include/tonopah_transport.h` as Rust sees them, field by field. Part of the interface of version 1: who changes them raises that.

use std::ffi::{c_char, c_void};

use sim::foreign::ForeignStats;
use tcp::Ecn;

use crate::transport_host::Host;

/// `struct tonopah_host`
#[repr(C)]
pub(crate) struct HostFunctions {
    pub(crate) size: u64,
    pub(crate) random: unsafe extern "C" fn(*mut Host, *mut u8, u64),
    pub(crate) log: unsafe extern "C" fn(*mut Host, u32, *const c_char, u64),
}

/// `struct tonopah_transport_setup`
#[repr(C)]
pub(crate) struct Setup {
    pub(crate) size: u64,
    pub(crate) now_ns: u64,
    pub(crate) seed: u64,
    pub(crate) role: u32,
    pub(crate) mtu_bytes: u32,
    pub(crate) local_address: [u8; 4],
    pub(crate) remote_address: [u8; 4],
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) logs: u32,
    pub(crate) functions: *const HostFunctions,
    pub(crate) host: *mut Host,
}

/// `struct tonopah_datagram`
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawDatagram {
    pub(crate) depart_ns: u64,
    pub(crate) length: u64,
    pub(crate) ecn: u32,
    pub(crate) flags: u32,
}

/// `struct tonopah_event`
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawEvent {
    pub(crate) kind: u32,
    pub(crate) code: u32,
    pub(crate) stream: u64,
}

/// What an end keeps.
pub(crate) type State = *mut c_void;

/// `struct tonopah_transport`; Python has checked version, size and that the functions are there.
#[repr(C)]
pub(crate) struct Table {
    pub(crate) numbers: [u32; 2],
    pub(crate) texts: [*const c_char; 2],
    pub(crate) protocol: [u32; 2],
    pub(crate) lists: [u64; 4],
    pub(crate) create: unsafe extern "C" fn(*const Setup, *const f64) -> State,
    pub(crate) destroy: unsafe extern "C" fn(State),
    pub(crate) on_datagram: unsafe extern "C" fn(State, u64, *const u8, u64, u32) -> i32,
    pub(crate) on_timeout: unsafe extern "C" fn(State, u64) -> i32,
    pub(crate) next_timeout: unsafe extern "C" fn(State) -> u64,
    pub(crate) poll_transmit: unsafe extern "C" fn(State, u64, *mut u8, u64, *mut RawDatagram) -> i32,
    pub(crate) poll_event: unsafe extern "C" fn(State, *mut RawEvent) -> i32,
    pub(crate) open: unsafe extern "C" fn(State, u64, u32) -> i64,
    pub(crate) write: unsafe extern "C" fn(State, u64, u64, *const u8, u64, u32) -> i64,
    pub(crate) read: unsafe extern "C" fn(State, u64, u64, *mut u8, u64, *mut u32) -> i64,
    pub(crate) close: unsafe extern "C" fn(State, u64) -> i32,
    pub(crate) stats: unsafe extern "C" fn(State, *mut ForeignStats),
}

/// `TONOPAH_NOT_ECT` and the others: the ECN field of IP (RFC 3168 §5).
pub(crate) fn ecn_number(ecn: Ecn) -> u32 {
    ecn.field().into()
}

/// The ECN field that a number stands for; none if it is more than two bits.
pub(crate) fn ecn_of(number: u32) -> Option<Ecn> {
    u8::try_from(number).ok().filter(|field| *field <= Ecn::Ce.field()).map(Ecn::of_field)
}
