//! smoltcp 0.14 as a whole transport: one TCP socket on an interface of IP packets, unmodified from its crate.
//!
//! Its clock has microseconds: the time of a call and of the next time-out are rounded up. It builds IP packets, the engine wants what
//! is in them: the header of IPv4 is taken off here and put on there. The window of its congestion control is not public.

mod tonopah;

use std::collections::VecDeque;
use std::ffi::{c_char, c_void};
use std::ptr::null;
use std::slice;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use tonopah::{Datagram, Event, Setup, Stats, Transport, TransportOption};

const IP_HEADER: usize = 20;
const TCP: u8 = 6;

/// IP packets in and out.
struct Line {
    mtu: usize,
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);

struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut bytes = vec![0; length];
        let result = fill(&mut bytes);
        self.0.push_back(bytes);
        result
    }
}

impl Device for Line {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let bytes = self.incoming.pop_front()?;
        Some((Arrived(bytes), Leaving(&mut self.outgoing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        // The network has a header of its own.
        capabilities.checksum.ipv4 = Checksum::None;
        capabilities
    }
}

/// One end of a connection.
struct End {
    line: Line,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    ends: [[u8; 4]; 2],
    now: Instant,
    connected: bool,
    closed: bool,
    /// Its application is done.
    closes: bool,
    /// A write was cut short.
    blocked: bool,
    /// What was there to read when it was told, or when it was last read.
    told: Option<(usize, bool)>,
    fin_wanted: bool,
}

/// Microseconds, rounded up.
fn instant(now_ns: u64) -> Instant {
    Instant::from_micros(now_ns.div_ceil(1000) as i64)
}

impl End {
    fn new(setup: &Setup, cc: f64, buffer: f64) -> End {
        let mut line = Line { mtu: setup.mtu_bytes as usize, incoming: VecDeque::new(), outgoing: VecDeque::new() };
        let now = instant(setup.now_ns);
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = setup.seed;
        let mut interface = Interface::new(config, &mut line, now);
        let [local, remote] =
            [setup.local_address, setup.remote_address].map(|[a, b, c, d]| Ipv4Address::new(a, b, c, d));
        // All other hosts are on this line.
        interface.update_ip_addrs(|all| all.push(IpCidr::new(IpAddress::Ipv4(local), 8)).expect("the first address"));
        let memory = || SocketBuffer::new(vec![0; buffer as usize]);
        let mut socket = Socket::new(memory(), memory());
        socket.set_congestion_control(match cc as u32 {
            0 => CongestionControl::Cubic,
            1 => CongestionControl::Reno,
            _ => CongestionControl::None,
        });
        if setup.role == tonopah::CLIENT {
            let remote = (IpAddress::Ipv4(remote), setup.remote_port);
            socket.connect(interface.context(), remote, setup.local_port).expect("a socket that is closed");
        } else {
            socket.listen(setup.local_port).expect("a socket that is closed");
        }
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        let ends = [setup.remote_address, setup.local_address];
        let (connected, closed, closes, blocked, told, fin_wanted) = Default::default();
        let mut end =
            End { line, interface, sockets, handle, ends, now, connected, closed, closes, blocked, told, fin_wanted };
        end.poll(now);
        end
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.interface.poll(self.now, &mut self.line, &mut self.sockets);
    }

    /// Bytes that can be read, and whether no more will come.
    fn readable(&mut self) -> (usize, bool) {
        (self.socket().recv_queue(), self.connected && !self.socket().may_recv())
    }

    fn event(&mut self) -> Option<u32> {
        let (state, connected, blocked, told) = (self.socket().state(), self.connected, self.blocked, self.told);
        if !connected && !matches!(state, State::Closed | State::Listen | State::SynSent | State::SynReceived) {
            self.connected = true;
            return Some(tonopah::CONNECTED);
        }
        let there = self.readable();
        if told != Some(there) && (there.0 > 0 || there.1) {
            self.told = Some(there);
            return Some(tonopah::READABLE);
        }
        if blocked && self.socket().can_send() {
            self.blocked = false;
            return Some(tonopah::WRITABLE);
        }
        // The peer may have nothing to close with: its acknowledgment of the FIN is enough.
        let over = matches!(state, State::Closed | State::TimeWait) || self.closes && state == State::FinWait2;
        if connected && !self.closed && over {
            self.closed = true;
            return Some(tonopah::CLOSED);
        }
        None
    }
}

/// A packet of IPv4 around what has arrived.
fn packet([from, to]: [[u8; 4]; 2], payload: &[u8]) -> Vec<u8> {
    let length = (IP_HEADER + payload.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
    bytes.extend([from, to].concat());
    bytes.extend(payload);
    bytes
}

/// The state behind the pointer that `create` gave.
unsafe fn end_of(end: *mut c_void) -> &'static mut End {
    // SAFETY: the engine passes what `create` has returned, until `destroy`.
    unsafe { &mut *end.cast::<End>() }
}

unsafe extern "C" fn create(setup: *const Setup, options: *const f64) -> *mut c_void {
    // SAFETY: the engine passes a setup, and as many options as there are.
    let (setup, options) = unsafe { (&*setup, slice::from_raw_parts(options, 2)) };
    Box::into_raw(Box::new(End::new(setup, options[0], options[1]))).cast()
}

unsafe extern "C" fn destroy(end: *mut c_void) {
    // SAFETY: as for `end_of`; it is not used again.
    drop(unsafe { Box::from_raw(end.cast::<End>()) });
}

unsafe extern "C" fn on_datagram(end: *mut c_void, now: u64, bytes: *const u8, length: u64, _: u32) -> i32 {
    // SAFETY: the engine passes bytes of this length.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts(bytes, length as usize)) };
    end.line.incoming.push_back(packet(end.ends, bytes));
    end.poll(instant(now));
    0
}

unsafe extern "C" fn on_timeout(end: *mut c_void, now: u64) -> i32 {
    unsafe { end_of(end) }.poll(instant(now));
    0
}

unsafe extern "C" fn next_timeout(end: *mut c_void) -> u64 {
    let end = unsafe { end_of(end) };
    end.interface
        .poll_at(end.now, &end.sockets)
        .map_or(tonopah::NEVER, |at| at.max(end.now).total_micros() as u64 * 1000)
}

unsafe extern "C" fn poll_transmit(end: *mut c_void, now: u64, bytes: *mut u8, _: u64, out: *mut Datagram) -> i32 {
    let Some(packet) = unsafe { end_of(end) }.line.outgoing.pop_front() else { return 0 };
    let payload = &packet[IP_HEADER..];
    let datagram = Datagram { depart_ns: now, length: payload.len() as u64, ecn: 0, flags: 0 };
    // SAFETY: the capacity is that of the largest packet.
    unsafe {
        slice::from_raw_parts_mut(bytes, payload.len()).copy_from_slice(payload);
        *out = datagram;
    }
    1
}

unsafe extern "C" fn poll_event(end: *mut c_void, event: *mut Event) -> i32 {
    let Some(kind) = unsafe { end_of(end) }.event() else { return 0 };
    // SAFETY: the engine passes room for an event.
    unsafe { *event = Event { kind, code: 0, stream: 0 } };
    1
}

unsafe extern "C" fn open(_: *mut c_void, _: u64, _: u32) -> i64 {
    -1
}

unsafe extern "C" fn write(end: *mut c_void, now: u64, _: u64, bytes: *const u8, length: u64, fin: u32) -> i64 {
    // SAFETY: the engine passes bytes of this length.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts(bytes, length as usize)) };
    let taken = if bytes.is_empty() { 0 } else { end.socket().send_slice(bytes).unwrap_or(0) };
    end.blocked = taken < bytes.len();
    if fin != 0 && taken == bytes.len() {
        end.fin_wanted = true;
        end.socket().close();
    }
    end.poll(instant(now));
    taken as i64
}

unsafe extern "C" fn read(end: *mut c_void, now: u64, _: u64, bytes: *mut u8, capacity: u64, fin: *mut u32) -> i64 {
    // SAFETY: the engine passes room for so many bytes.
    let (end, bytes) = unsafe { (end_of(end), slice::from_raw_parts_mut(bytes, capacity as usize)) };
    let read = end.socket().recv_slice(bytes).unwrap_or(0);
    let (left, over) = end.readable();
    end.told = Some((left, over));
    unsafe { *fin = u32::from(over && left == 0) };
    // The window is open again.
    end.poll(instant(now));
    read as i64
}

unsafe extern "C" fn close(end: *mut c_void, now: u64) -> i32 {
    let end = unsafe { end_of(end) };
    end.closes = true;
    end.socket().close();
    end.poll(instant(now));
    0
}

unsafe extern "C" fn stats(end: *mut c_void, stats: *mut Stats) {
    let end = unsafe { end_of(end) };
    let state = u8::from(end.connected) + u8::from(end.fin_wanted);
    // SAFETY: the engine passes room for them.
    unsafe { *stats = Stats { state: state.into(), ..Stats::UNKNOWN } };
}

struct Fixed<T>(T);
// SAFETY: texts that nobody changes.
unsafe impl<T> Sync for Fixed<T> {}

static STATE_TEXTS: Fixed<[*const c_char; 3]> = Fixed([c"handshake".as_ptr(), c"open".as_ptr(), c"closing".as_ptr()]);
static CC: Fixed<[*const c_char; 4]> = Fixed([c"cubic".as_ptr(), c"reno".as_ptr(), c"none".as_ptr(), null()]);
static OPTIONS: Fixed<[TransportOption; 2]> = Fixed([
    TransportOption {
        name: c"cc".as_ptr(),
        standard: 0.0,
        min: 0.0,
        max: 2.0,
        unit: c"".as_ptr(),
        doc: c"congestion control".as_ptr(),
        words: CC.0.as_ptr(),
    },
    TransportOption {
        name: c"buffer".as_ptr(),
        standard: 1_048_576.0,
        min: 4096.0,
        max: 1_073_741_824.0,
        unit: c"B".as_ptr(),
        doc: c"send buffer, and receive buffer".as_ptr(),
        words: null(),
    },
]);

#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static tonopah_transport: Transport = Transport {
    abi: tonopah::ABI,
    size: size_of::<Transport>() as u32,
    title: c"smoltcp 0.14.0".as_ptr(),
    reference: c"smoltcp 0.14.0 (crates.io)".as_ptr(),
    protocol: TCP as u32,
    max_streams: 1,
    options: OPTIONS.0.as_ptr(),
    option_count: 2,
    states: STATE_TEXTS.0.as_ptr(),
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
