//! The struct that the engine looks for, and the functions in it.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null;
use std::slice;

use crate::End;
use crate::tonopah::{self, Datagram, Event, Setup, Stats, Transport, TransportOption};

/// The values of `OPTIONS`, in its order.
#[repr(C)]
pub struct Options {
    pub cc: f64,
    pub plain: f64,
    pub mtud: f64,
    pub initial_window: f64,
    pub initial_rtt_ms: f64,
    pub packet_threshold: f64,
    pub time_threshold: f64,
    pub persistent_congestion_threshold: f64,
    pub receive_window: f64,
}

/// The state behind the pointer that `create` gave.
unsafe fn end_of(end: *mut c_void) -> &'static mut End {
    // SAFETY: the engine passes what `create` has returned, until `destroy`.
    unsafe { &mut *end.cast::<End>() }
}

unsafe extern "C" fn create(setup: *const Setup, options: *const f64) -> *mut c_void {
    // SAFETY: the engine passes a setup, and as many options as there are.
    let (setup, options) = unsafe { (&*setup, &*options.cast::<Options>()) };
    Box::into_raw(Box::new(End::new(setup, options))).cast()
}

unsafe extern "C" fn destroy(end: *mut c_void) {
    // SAFETY: as for `end_of`; it is not used again.
    drop(unsafe { Box::from_raw(end.cast::<End>()) });
}

unsafe extern "C" fn on_datagram(end: *mut c_void, now: u64, bytes: *const u8, length: u64, ecn: u32) -> i32 {
    // SAFETY: the engine passes bytes of this length.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts(bytes, length as usize)) };
    end.on_datagram(now, bytes, ecn);
    0
}

unsafe extern "C" fn on_timeout(end: *mut c_void, now: u64) -> i32 {
    unsafe { end_of(end) }.on_timeout(now);
    0
}

unsafe extern "C" fn next_timeout(end: *mut c_void) -> u64 {
    unsafe { end_of(end) }.next_timeout()
}

unsafe extern "C" fn poll_transmit(
    end: *mut c_void,
    now: u64,
    bytes: *mut u8,
    capacity: u64,
    out: *mut Datagram,
) -> i32 {
    let Some((datagram, ecn)) = unsafe { end_of(end) }.poll_transmit(now) else { return 0 };
    if datagram.len() as u64 > capacity {
        return -1;
    }
    // SAFETY: the engine passes room for `capacity` bytes and for a datagram.
    unsafe {
        slice::from_raw_parts_mut(bytes, datagram.len()).copy_from_slice(datagram);
        *out = Datagram { depart_ns: now, length: datagram.len() as u64, ecn, flags: 0 };
    }
    1
}

unsafe extern "C" fn poll_event(end: *mut c_void, event: *mut Event) -> i32 {
    let Some(next) = unsafe { end_of(end) }.poll_event() else { return 0 };
    // SAFETY: the engine passes room for an event.
    unsafe { *event = next };
    1
}

unsafe extern "C" fn open(end: *mut c_void, _: u64, both_ways: u32) -> i64 {
    unsafe { end_of(end) }.open(both_ways != 0).map_or(-1, |stream| stream as i64)
}

unsafe extern "C" fn write(end: *mut c_void, _: u64, stream: u64, bytes: *const u8, length: u64, fin: u32) -> i64 {
    // SAFETY: the engine passes bytes of this length.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts(bytes, length as usize)) };
    end.write(stream, bytes, fin != 0) as i64
}

unsafe extern "C" fn read(end: *mut c_void, _: u64, stream: u64, bytes: *mut u8, capacity: u64, fin: *mut u32) -> i64 {
    // SAFETY: the engine passes room for so many bytes.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts_mut(bytes, capacity as usize)) };
    let (read, ended) = end.read(stream, bytes);
    unsafe { *fin = u32::from(ended) };
    read as i64
}

unsafe extern "C" fn close(end: *mut c_void, now: u64) -> i32 {
    unsafe { end_of(end) }.close(now);
    0
}

unsafe extern "C" fn stats(end: *mut c_void, stats: *mut Stats) {
    // SAFETY: the engine passes room for them.
    unsafe { *stats = end_of(end).stats() };
}

struct Fixed<T>(T);
// SAFETY: texts that nobody changes.
unsafe impl<T> Sync for Fixed<T> {}

static STATES: Fixed<[*const c_char; 3]> = Fixed([c"handshake".as_ptr(), c"open".as_ptr(), c"closed".as_ptr()]);
static CC: Fixed<[*const c_char; 4]> = Fixed([c"cubic".as_ptr(), c"newreno".as_ptr(), c"bbr".as_ptr(), null()]);
static CRYPTO: Fixed<[*const c_char; 3]> = Fixed([c"tls".as_ptr(), c"none".as_ptr(), null()]);

const fn word(name: &CStr, standard: f64, words: *const *const c_char, max: f64, doc: &CStr) -> TransportOption {
    let unit = c"".as_ptr();
    TransportOption { name: name.as_ptr(), standard, min: 0.0, max, unit, doc: doc.as_ptr(), words }
}

const fn number(name: &CStr, standard: f64, range: [f64; 2], unit: &CStr, doc: &CStr) -> TransportOption {
    let [min, max] = range;
    TransportOption { name: name.as_ptr(), standard, min, max, unit: unit.as_ptr(), doc: doc.as_ptr(), words: null() }
}

static OPTIONS: Fixed<[TransportOption; 9]> = Fixed([
    word(c"cc", 0.0, &raw const CC.0[0], 2.0, c"congestion control"),
    word(c"crypto", 0.0, &raw const CRYPTO.0[0], 1.0, c"TLS 1.3 (rustls with ring), or keys that change nothing"),
    number(c"mtud", 1.0, [0.0, 1.0], c"", c"1: path MTU discovery (RFC 8899); 0: datagrams of 1200 B"),
    number(
        c"initial_window",
        0.0,
        [0.0, 10_000.0],
        c"",
        c"datagrams of 1200 B; 0: 10, of bbr 200, as quinn-proto has it",
    ),
    number(c"initial_rtt_ms", 333.0, [1.0, 60_000.0], c"ms", c"RTT before the first sample (RFC 9002 6.2.2)"),
    number(c"packet_threshold", 3.0, [1.0, 1000.0], c"", c"reordering that is taken for loss (RFC 9002 6.1.1)"),
    number(c"time_threshold", 1.125, [1.0, 100.0], c"", c"RTTs after which a packet is lost (RFC 9002 6.1.2)"),
    number(
        c"persistent_congestion_threshold",
        3.0,
        [1.0, 1000.0],
        c"",
        c"probe time-outs of persistent congestion (RFC 9002 7.6.1)",
    ),
    number(
        c"receive_window",
        67_108_864.0,
        [16_384.0, 1_099_511_627_776.0],
        c"B",
        c"what a stream may have unread (RFC 9000 4.1); quinn-proto has 1250000, which is 100 Mb/s over 100 ms",
    ),
]);

#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static tonopah_transport: Transport = Transport {
    abi: tonopah::ABI,
    size: size_of::<Transport>() as u32,
    title: c"quinn-proto 0.11.19".as_ptr(),
    reference: c"quinn-proto 0.11.19 (crates.io), RFC 9000, RFC 9002".as_ptr(),
    protocol: 17,
    max_streams: 100,
    options: OPTIONS.0.as_ptr(),
    option_count: 9,
    states: STATES.0.as_ptr(),
    state_count: 3,
    create,
    destroy,
    on_datagram,
    on_timeout,
    next_timeout,
    poll_transmit,
    poll_event,
    open,
    write,
    read,
    close,
    stats,
    observe: null(),
};
