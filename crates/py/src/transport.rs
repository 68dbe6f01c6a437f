//! A whole transport in a shared library behind `sim::foreign`: the functions of `struct tonopah_transport`
//! (`include/tonopah_transport.h`), called with bytes and nanoseconds. What they may call is in `transport_host.rs`.
//!
//! Unsafe here are the calls of these functions, and the page in which the last call is noted. What the functions
//! may do is the interface's promise: to read and write what they are given, within its length and during the call only.

use std::net::SocketAddrV4;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::foreign::{
    ForeignDatagram, ForeignEnd, ForeignEvent, ForeignRole, ForeignSetup, ForeignStats, StreamRead, StreamWrite, Ways,
};
use tcp::Ecn;
use tcp::units::Time;

use crate::exception::AlgorithmException;
use crate::floating;
use crate::transport_host::{Host, log, random};
use crate::transport_layout::{HostFunctions, RawDatagram, RawEvent, Setup, State, Table, ecn_number, ecn_of};

/// Largest packet of IPv4 (RFC 791 §3.1).
const LARGEST_PACKET: usize = 65_535;
/// `TONOPAH_NEVER`
const NEVER: u64 = u64::MAX;
/// `TONOPAH_RETRANSMISSION`
const RETRANSMISSION: u32 = 1;

static FUNCTIONS: HostFunctions = HostFunctions { size: size_of::<HostFunctions>() as u64, random, log };

/// The page that the parent of this process reads when this one has ended: number of calls, place of the last call among `CALLS` or 0,
/// its time, length and text of the place of its end.
#[repr(C)]
struct Page {
    calls: u64,
    call: u64,
    now_ns: u64,
    length: u64,
    place: [u8; 64],
    /// What a transport may call, for `crates/virtual`.
    host: *mut Host,
    random: unsafe extern "C" fn(*mut Host, *mut u8, u64),
}

pub(crate) const PAGE_BYTES: usize = size_of::<Page>();

static PAGE: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());

/// Calls by their number in the page.
pub(crate) const CALLS: [&str; 14] = [
    "",
    "create",
    "destroy",
    "on_datagram",
    "on_timeout",
    "next_timeout",
    "poll_transmit",
    "poll_event",
    "open",
    "write",
    "read",
    "close",
    "stats",
    "event",
];
const CREATE: usize = 1;
const DESTROY: usize = 2;
const ON_DATAGRAM: usize = 3;
const ON_TIMEOUT: usize = 4;
const NEXT_TIMEOUT: usize = 5;
const POLL_TRANSMIT: usize = 6;
const POLL_EVENT: usize = 7;
const OPEN: usize = 8;
const WRITE: usize = 9;
const READ: usize = 10;
const CLOSE: usize = 11;
const STATS: usize = 12;
/// Of a congestion control in a library.
pub(crate) const EVENT: usize = 13;

/// A call begins.
pub(crate) fn note_call(call: usize, now: Time, place: &str, host: *mut Host) {
    let page = PAGE.load(Ordering::Relaxed);
    if page.is_null() {
        return;
    }
    let length = place.len().min(64);
    // SAFETY: `watch_calls` was given a page of this size that is there as long as the process; one thread makes such calls.
    unsafe {
        (*page).calls = (*page).calls.wrapping_add(1);
        (*page).now_ns = now.as_nanos();
        (*page).length = length as u64;
        ((*page).host, (*page).random) = (host, random);
        ptr::copy_nonoverlapping(place.as_ptr(), (&raw mut (*page).place).cast::<u8>(), length);
        ptr::write_volatile(&raw mut (*page).call, call as u64);
    }
}

/// It has returned.
pub(crate) fn note_return() {
    let page = PAGE.load(Ordering::Relaxed);
    if !page.is_null() {
        // SAFETY: as for `note_call`.
        unsafe { ptr::write_volatile(&raw mut (*page).call, 0) };
    }
}

/// Notes calls of libraries in the page at this address from now on; it has `PAGE_BYTES` and is never unmapped.
#[pyfunction]
pub(crate) fn watch_calls(address: usize) {
    PAGE.store(ptr::with_exposed_provenance_mut(address), Ordering::Relaxed);
}

/// A library, open or known by its description.
#[derive(Clone, Copy)]
pub(crate) struct Library {
    pub(crate) name: &'static str,
    /// Address of its struct; 0 if it is not open here.
    pub(crate) address: usize,
}

impl Library {
    fn table(self) -> &'static Table {
        // SAFETY: `Transport::new` was given the address of such a struct of an open library, which is never closed.
        unsafe { &*ptr::with_exposed_provenance::<Table>(self.address) }
    }

    fn fail(self, call: &'static str, now: Time, text: &str) -> ! {
        self.end(call, now, format!("{}: {text}", self.name))
    }

    /// Ends the run with a sentence.
    fn end(self, call: &'static str, now: Time, sentence: String) -> ! {
        let error = PyValueError::new_err(sentence);
        resume_unwind(Box::new(AlgorithmException {
            algorithm: self.name,
            method: call,
            at: now,
            error,
            is_whole: true,
        }))
    }

    pub(crate) fn create(self, setup: &ForeignSetup, options: &[f64]) -> Box<dyn ForeignEnd> {
        if self.address == 0 {
            self.fail("create", setup.now, "its code is not loaded here: a library runs in a process of its own");
        }
        let mut host = Box::new(Host::new(setup.seed, &setup.label));
        let raw = Setup { logs: host.wanted, ..raw_setup(setup, &raw mut *host) };
        let before = threads();
        note_call(CREATE, setup.now, &setup.place, &raw mut *host);
        // SAFETY: see the head of this file.
        let state = unsafe { (self.table().create)(&raw const raw, options.as_ptr()) };
        note_return();
        floating::set_default();
        if state.is_null() {
            let role = if setup.role == ForeignRole::Client { "client" } else { "server" };
            self.fail("create", setup.now, &format!("create gave NULL for a {role}"));
        }
        let started = threads().saturating_sub(before);
        if started > 0 {
            let plural = if started == 1 { "thread" } else { "threads" };
            let text =
                format!("{} has started {started} {plural}: what it does would depend on the machine", self.name);
            self.end("create", setup.now, text);
        }
        let headers = if self.table().protocol[0] == 17 { 28 } else { 20 };
        let (place, buffer) = (setup.place.clone(), vec![0; LARGEST_PACKET - headers].into_boxed_slice());
        Box::new(LibraryEnd { library: self, state: state.expose_provenance(), host, place, buffer })
    }
}

fn raw_setup(setup: &ForeignSetup, host: *mut Host) -> Setup {
    let address = |socket: SocketAddrV4| socket.ip().octets();
    Setup {
        size: size_of::<Setup>() as u64,
        now_ns: setup.now.as_nanos(),
        seed: setup.seed,
        role: u32::from(setup.role == ForeignRole::Server),
        mtu_bytes: setup.mtu.0 as u32,
        local_address: address(setup.local),
        remote_address: address(setup.remote),
        local_port: setup.local.port(),
        remote_port: setup.remote.port(),
        logs: 0,
        functions: &raw const FUNCTIONS,
        host,
    }
}

/// Threads of this process, where the system tells.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// One end of a connection, whose state the library keeps.
struct LibraryEnd {
    library: Library,
    state: usize,
    host: Box<Host>,
    place: String,
    /// Room for the largest datagram that IP carries.
    buffer: Box<[u8]>,
}

impl std::fmt::Debug for LibraryEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.library.name, self.place)
    }
}

impl Drop for LibraryEnd {
    fn drop(&mut self) {
        note_call(DESTROY, Time::ZERO, &self.place, ptr::null_mut());
        // SAFETY: see the head of this file; the state is not used again.
        unsafe { (self.library.table().destroy)(ptr::with_exposed_provenance_mut(self.state)) };
        note_return();
    }
}

impl LibraryEnd {
    /// Calls a function of the library with the state of this end.
    fn call<T>(&self, call: usize, now: Time, function: impl FnOnce(&Table, State) -> T) -> T {
        note_call(call, now, &self.place, (&raw const *self.host).cast_mut());
        let answer = function(self.library.table(), ptr::with_exposed_provenance_mut(self.state));
        note_return();
        floating::set_default();
        if let Some(failure) = &self.host.failure {
            self.fail(now, failure);
        }
        answer
    }

    /// Ends the run if a call has failed.
    fn check(&self, call: usize, now: Time, answer: i64) -> i64 {
        if answer < 0 {
            let line = &self.host.last_line;
            let said = if line.is_empty() { String::new() } else { format!(": {line}") };
            let text = format!("{} failed at {} s{said}", CALLS[call], now.as_secs_f64());
            self.library.fail(CALLS[call], now, &text);
        }
        answer
    }

    /// Ends the run for what a call has answered.
    fn wrong(&self, call: usize, now: Time, what: &str) -> ! {
        self.fail(now, &format!("{} failed at {} s: {what}", CALLS[call], now.as_secs_f64()))
    }
}

impl ForeignEnd for LibraryEnd {
    fn on_datagram(&mut self, now: Time, bytes: &[u8], ecn: Ecn) {
        // SAFETY: see the head of this file.
        let answer = self.call(ON_DATAGRAM, now, |table, state| unsafe {
            (table.on_datagram)(state, now.as_nanos(), bytes.as_ptr(), bytes.len() as u64, ecn_number(ecn))
        });
        self.check(ON_DATAGRAM, now, answer.into());
    }

    fn on_timeout(&mut self, now: Time) {
        // SAFETY: see the head of this file.
        let answer = self.call(ON_TIMEOUT, now, |table, state| unsafe { (table.on_timeout)(state, now.as_nanos()) });
        self.check(ON_TIMEOUT, now, answer.into());
    }

    fn next_timeout(&mut self, now: Time) -> Option<Time> {
        // SAFETY: see the head of this file.
        let at = self.call(NEXT_TIMEOUT, now, |table, state| unsafe { (table.next_timeout)(state) });
        // Later than any run lasts is never.
        (at != NEVER && at < 1 << 62).then(|| Time::from_nanos(at))
    }

    fn poll_transmit(&mut self, now: Time) -> Option<ForeignDatagram> {
        let mut datagram = RawDatagram { depart_ns: now.as_nanos(), ..RawDatagram::default() };
        let (bytes, capacity) = (self.buffer.as_mut_ptr(), self.buffer.len() as u64);
        // SAFETY: see the head of this file.
        let answer = self.call(POLL_TRANSMIT, now, |table, state| unsafe {
            (table.poll_transmit)(state, now.as_nanos(), bytes, capacity, &raw mut datagram)
        });
        if self.check(POLL_TRANSMIT, now, answer.into()) == 0 {
            return None;
        }
        let RawDatagram { depart_ns, length, ecn, flags } = datagram;
        let Some(ecn) = ecn_of(ecn) else { self.wrong(POLL_TRANSMIT, now, &format!("ecn = {ecn}")) };
        if length > capacity {
            let text = format!("a datagram has {length} bytes, the capacity is {capacity}");
            self.wrong(POLL_TRANSMIT, now, &text);
        }
        Some(ForeignDatagram {
            depart: Time::from_nanos(depart_ns.min(1 << 61)),
            bytes: self.buffer[..length as usize].into(),
            ecn,
            retransmission: flags & RETRANSMISSION != 0,
        })
    }

    fn poll_event(&mut self, now: Time) -> Option<ForeignEvent> {
        let mut event = RawEvent::default();
        // SAFETY: see the head of this file.
        let answer = self.call(POLL_EVENT, now, |table, state| unsafe { (table.poll_event)(state, &raw mut event) });
        if self.check(POLL_EVENT, now, answer.into()) == 0 {
            return None;
        }
        Some(match event.kind {
            1 => ForeignEvent::Connected,
            2 => ForeignEvent::Opened(event.stream),
            3 => ForeignEvent::Readable(event.stream),
            4 => ForeignEvent::Writable(event.stream),
            5 => ForeignEvent::Closed(event.code),
            kind => self.wrong(POLL_EVENT, now, &format!("an event of kind {kind}")),
        })
    }

    fn open(&mut self, now: Time, ways: Ways) -> Option<u64> {
        let both = u32::from(ways == Ways::Both);
        // SAFETY: see the head of this file.
        let stream = self.call(OPEN, now, |table, state| unsafe { (table.open)(state, now.as_nanos(), both) });
        u64::try_from(stream).ok()
    }

    fn write(&mut self, now: Time, write: StreamWrite<'_>) -> usize {
        let StreamWrite { stream, bytes, fin } = write;
        // SAFETY: see the head of this file.
        let taken = self.call(WRITE, now, |table, state| unsafe {
            (table.write)(state, now.as_nanos(), stream, bytes.as_ptr(), bytes.len() as u64, fin.into())
        });
        let taken = self.check(WRITE, now, taken) as usize;
        if taken > bytes.len() {
            self.wrong(WRITE, now, &format!("{taken} bytes taken of {}", bytes.len()));
        }
        taken
    }

    fn read(&mut self, now: Time, stream: u64, bytes: &mut [u8]) -> StreamRead {
        let mut fin = 0;
        // SAFETY: see the head of this file.
        let read = self.call(READ, now, |table, state| unsafe {
            (table.read)(state, now.as_nanos(), stream, bytes.as_mut_ptr(), bytes.len() as u64, &raw mut fin)
        });
        let read = self.check(READ, now, read) as usize;
        if read > bytes.len() {
            self.wrong(READ, now, &format!("{read} bytes read, {} fit", bytes.len()));
        }
        StreamRead { bytes: read, fin: fin != 0 }
    }

    fn close(&mut self, now: Time) {
        // SAFETY: see the head of this file.
        let answer = self.call(CLOSE, now, |table, state| unsafe { (table.close)(state, now.as_nanos()) });
        self.check(CLOSE, now, answer.into());
    }

    fn stats(&self, now: Time) -> ForeignStats {
        let mut stats = ForeignStats::UNKNOWN;
        // SAFETY: see the head of this file.
        self.call(STATS, now, |table, state| unsafe { (table.stats)(state, &raw mut stats) });
        stats
    }

    fn fail(&self, now: Time, what: &str) -> ! {
        self.library.fail("", now, what)
    }
}
