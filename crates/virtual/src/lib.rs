//! `tonopah/virtual.so`: preloaded into the processes of runs (docs/transport.md). While a call into a library with a transport is under
//! way, clocks show the time of the run and random numbers are those of its end; at any other time all is as the system has it.
//!
//! What is under way stands in the page in which `crates/py/src/transport.rs` notes each call. Linux with glibc.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::ptr::{null_mut, read_volatile};
use std::sync::atomic::{AtomicPtr, Ordering};

/// As in `crates/py/src/transport.rs`.
#[repr(C)]
struct Page {
    calls: u64,
    call: u64,
    now_ns: u64,
    length: u64,
    place: [u8; 64],
    host: *mut c_void,
    random: Option<unsafe extern "C" fn(*mut c_void, *mut u8, u64)>,
}

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanos: i64,
}

const NANOS: u64 = 1_000_000_000;
/// 2026-01-01, and what the clocks that count from a start show at the start of a run.
const REAL_START: u64 = 1_767_225_600 * NANOS;
const MONOTONIC_START: u64 = 1_000 * NANOS;
/// `CLOCK_…` of Linux: both real times; monotonic, raw, coarse and since boot.
const REAL: [c_int; 2] = [0, 5];
const MONOTONIC: [c_int; 4] = [1, 4, 6, 7];
const SYS_GETRANDOM: c_long = if cfg!(target_arch = "x86_64") { 318 } else { 278 };
/// `RTLD_NEXT`
const NEXT: *mut c_void = usize::MAX as *mut c_void;

static PAGE: AtomicPtr<Page> = AtomicPtr::new(null_mut());

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Follows the calls that are noted in this page from now on.
#[unsafe(no_mangle)]
extern "C" fn tonopah_virtual_watch(page: *mut Page) {
    PAGE.store(page, Ordering::Relaxed);
}

/// Time of the run, and what draws, if a call into a transport is under way.
fn under_way() -> Option<(u64, *mut c_void, unsafe extern "C" fn(*mut c_void, *mut u8, u64))> {
    let page = PAGE.load(Ordering::Relaxed);
    // SAFETY: the page stays mapped as long as the process.
    unsafe {
        if page.is_null() || read_volatile(&raw const (*page).call) == 0 || (*page).host.is_null() {
            return None;
        }
        Some(((*page).now_ns, (*page).host, (*page).random?))
    }
}

/// Fills bytes if a call is under way.
fn draw(bytes: *mut c_void, length: usize) -> bool {
    let Some((_, host, random)) = under_way() else { return false };
    // SAFETY: `host` is that of the call under way; the caller promises the bytes.
    unsafe { random(host, bytes.cast(), length as u64) };
    true
}

/// What a clock shows in nanoseconds, if a call is under way and the clock is one of these.
fn shown(clock: c_int) -> Option<u64> {
    let (now_ns, ..) = under_way()?;
    let real = REAL.contains(&clock).then_some(REAL_START + now_ns);
    real.or(MONOTONIC.contains(&clock).then_some(MONOTONIC_START + now_ns))
}

/// Passes a call on to the function of the system, the next one with this name.
macro_rules! pass_on {
    ($name:literal, $type:ty, $($argument:expr),*) => {
        // SAFETY: a name that ends; glibc has the function, it has this type, and is called as this one was.
        unsafe { std::mem::transmute::<*mut c_void, $type>(dlsym(NEXT, CStr::as_ptr($name)))($($argument),*) }
    };
}

#[unsafe(no_mangle)]
extern "C" fn getrandom(bytes: *mut c_void, length: usize, flags: c_uint) -> isize {
    if draw(bytes, length) {
        return length as isize;
    }
    pass_on!(c"getrandom", unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize, bytes, length, flags)
}

#[unsafe(no_mangle)]
extern "C" fn getentropy(bytes: *mut c_void, length: usize) -> c_int {
    if draw(bytes, length) {
        return 0;
    }
    pass_on!(c"getentropy", unsafe extern "C" fn(*mut c_void, usize) -> c_int, bytes, length)
}

/// Variadic in C, where each argument is a word: at most six.
#[unsafe(no_mangle)]
extern "C" fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    if number == SYS_GETRANDOM && draw(a as *mut c_void, b) {
        return b as c_long;
    }
    type Syscall = unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    pass_on!(c"syscall", Syscall, number, a, b, c, d, e, f)
}

#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    let Some(nanos) = shown(clock) else {
        return pass_on!(c"clock_gettime", unsafe extern "C" fn(c_int, *mut TimeSpec) -> c_int, clock, time);
    };
    // SAFETY: the caller promises a time.
    unsafe { *time = TimeSpec { seconds: (nanos / NANOS) as i64, nanos: (nanos % NANOS) as i64 } };
    0
}

#[unsafe(no_mangle)]
extern "C" fn gettimeofday(time: *mut TimeSpec, zone: *mut c_void) -> c_int {
    let Some(nanos) = shown(REAL[0]).filter(|_| !time.is_null()) else {
        return pass_on!(c"gettimeofday", unsafe extern "C" fn(*mut TimeSpec, *mut c_void) -> c_int, time, zone);
    };
    // SAFETY: the caller promises a time, of seconds and microseconds.
    unsafe { *time = TimeSpec { seconds: (nanos / NANOS) as i64, nanos: (nanos % NANOS / 1000) as i64 } };
    0
}

#[unsafe(no_mangle)]
extern "C" fn time(at: *mut i64) -> i64 {
    let Some(nanos) = shown(REAL[0]) else {
        return pass_on!(c"time", unsafe extern "C" fn(*mut i64) -> i64, at);
    };
    if !at.is_null() {
        // SAFETY: the caller promises a time.
        unsafe { *at = (nanos / NANOS) as i64 };
    }
    (nanos / NANOS) as i64
}
