//! quinn-proto 0.11.19 as a whole transport, unmodified from its crate: QUIC with TLS, or without cryptography.
//!
//! Connection IDs, tokens and the random numbers of the stack come from the seed of the run; those of TLS and of BBR from the system, which
//! `virtual.so` answers. Its bytes in flight are not public.

mod host;
mod plain;
mod table;
mod tonopah;
mod watched;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use host::Engine;
use plain::Plain;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, QlogConfig, ServerConfig, StreamEvent, StreamId,
    TransportConfig, VarInt,
};
use table::Options;
use tonopah::{Setup, Stats};
use watched::Watching;

/// Headers of IPv4 and UDP.
const HEADERS: u32 = 28;
/// `code` of a connection that was lost without a number of QUIC: reset, timed out, no version in common.
const LOST: u32 = 0x1_0000;

/// One end of a connection.
pub struct End {
    engine: Engine,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    remote: SocketAddr,
    /// What the clock of the process showed at time 0 of the run: only differences count.
    start: Instant,
    latest_rtt_ns: Arc<AtomicU64>,
    /// What the endpoint answers by itself.
    answers: VecDeque<Vec<u8>>,
    events: VecDeque<tonopah::Event>,
    /// Room of the datagram that is written.
    room: Vec<u8>,
    state: f64,
}

impl End {
    pub fn new(setup: &Setup, options: &Options) -> End {
        let engine = Engine::new(setup);
        let now = Instant::now();
        let start = now - Duration::from_nanos(setup.now_ns);
        let (transport, latest_rtt_ns) = transport_config(setup, options, engine, start);
        let hmac = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &engine.random::<32>());
        let mut config = EndpointConfig::new(Arc::new(hmac));
        config.rng_seed(Some(engine.random())).cid_generator(move || Box::new(engine));
        config.max_udp_payload_size((setup.mtu_bytes - HEADERS).max(1200) as u16).expect("at least 1200 bytes");
        let client = setup.role == tonopah::CLIENT;
        let server = (!client).then(|| Arc::new(server_config(options, engine, &transport)));
        let mut endpoint = Endpoint::new(Arc::new(config), server, true, None);
        let remote = SocketAddr::from((Ipv4Addr::from(setup.remote_address), setup.remote_port));
        let connection = client.then(|| {
            let config = client_config(options, engine, transport);
            endpoint.connect(now, config, remote, "tonopah").expect("a configuration that fits")
        });
        let (answers, events, room, state) = Default::default();
        End { engine, endpoint, connection, remote, start, latest_rtt_ns, answers, events, room, state }
    }

    fn at(&self, now_ns: u64) -> Instant {
        self.start + Duration::from_nanos(now_ns)
    }

    /// The connection, if there is one.
    fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    pub fn on_datagram(&mut self, now_ns: u64, bytes: &[u8], ecn: u32) {
        let (now, ecn) = (self.at(now_ns), EcnCodepoint::from_bits(ecn as u8));
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.remote, None, ecn, BytesMut::from(bytes), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = self.connection() {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(refused) => self.answer(answer, refused.response.map(|sent| sent.size)),
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(sent)) => self.answer(answer, Some(sent.size)),
            None => {}
        }
        self.settle();
    }

    fn answer(&mut self, mut bytes: Vec<u8>, size: Option<usize>) {
        if let Some(size) = size {
            bytes.truncate(size);
            self.answers.push_back(bytes);
        }
    }

    pub fn on_timeout(&mut self, now_ns: u64) {
        let now = self.at(now_ns);
        if let Some(connection) = self.connection() {
            connection.handle_timeout(now);
        }
        self.settle();
    }

    pub fn next_timeout(&mut self) -> u64 {
        let start = self.start;
        let timeout = self.connection().and_then(Connection::poll_timeout);
        timeout.map_or(tonopah::NEVER, |at| (at - start).as_nanos() as u64)
    }

    /// Carries events between endpoint and connection, and takes what the application is to know.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            let (kind, code, stream) = match event {
                Event::Connected => (tonopah::CONNECTED, 0, 0),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    // What came with it is not told of again.
                    while let Some(stream) = connection.streams().accept(dir) {
                        for kind in [tonopah::OPENED, tonopah::READABLE] {
                            self.events.push_back(tonopah::Event { kind, code: 0, stream: stream.into() });
                        }
                    }
                    continue;
                }
                Event::Stream(StreamEvent::Readable { id }) => (tonopah::READABLE, 0, id.into()),
                Event::Stream(StreamEvent::Writable { id }) => (tonopah::WRITABLE, 0, id.into()),
                Event::ConnectionLost { reason } => {
                    self.engine.log(tonopah::LOG_TEXT, format!("{reason}\n").as_bytes());
                    (tonopah::CLOSED, code_of(&reason), 0)
                }
                _ => continue,
            };
            self.state = match kind {
                tonopah::CONNECTED => 1.0,
                tonopah::CLOSED => 2.0,
                _ => self.state,
            };
            self.events.push_back(tonopah::Event { kind, code, stream });
        }
    }

    /// The next datagram, and the ECN field of its packet.
    pub fn poll_transmit(&mut self, now_ns: u64) -> Option<(&[u8], u32)> {
        self.room.clear();
        if let Some(answer) = self.answers.pop_front() {
            self.room = answer;
            return Some((&self.room, 0));
        }
        let now = self.at(now_ns);
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(now, 1, &mut self.room)?;
        Some((&self.room[..sent.size], sent.ecn.map_or(0, |ecn| ecn as u32)))
    }

    pub fn poll_event(&mut self) -> Option<tonopah::Event> {
        self.events.pop_front()
    }

    pub fn open(&mut self, both_ways: bool) -> Option<u64> {
        let dir = if both_ways { Dir::Bi } else { Dir::Uni };
        self.connection()?.streams().open(dir).map(u64::from)
    }

    /// How much of it was taken; nothing where the peer wants no more, or the stream has ended.
    pub fn write(&mut self, stream: u64, bytes: &[u8], fin: bool) -> usize {
        let Some(connection) = self.connection() else { return 0 };
        let mut stream = connection.send_stream(stream_id(stream));
        // Until it is refused: only then does the stack tell when there is room again.
        let mut taken = 0;
        while taken < bytes.len() {
            let Ok(more) = stream.write(&bytes[taken..]) else { break };
            taken += more;
        }
        if fin && taken == bytes.len() {
            // An error here is a stream that has ended already.
            let _ = stream.finish();
        }
        taken
    }

    /// Bytes that were read, and whether the stream has ended.
    pub fn read(&mut self, stream: u64, into: &mut [u8]) -> (usize, bool) {
        let Some(connection) = self.connection() else { return (0, false) };
        let mut stream = connection.recv_stream(stream_id(stream));
        let Ok(mut chunks) = stream.read(true) else { return (0, false) };
        let (mut read, mut fin) = (0, false);
        while read < into.len() {
            match chunks.next(into.len() - read) {
                Ok(Some(chunk)) => {
                    into[read..read + chunk.bytes.len()].copy_from_slice(&chunk.bytes);
                    read += chunk.bytes.len();
                }
                Ok(None) => {
                    fin = true;
                    break;
                }
                Err(_) => break,
            }
        }
        // That credit has to be sent is asked of `poll_transmit` in any case.
        let _ = chunks.finalize();
        (read, fin)
    }

    pub fn close(&mut self, now_ns: u64) {
        let now = self.at(now_ns);
        if let Some(connection) = self.connection().filter(|connection| !connection.is_closed()) {
            connection.close(now, VarInt::from_u32(0), bytes::Bytes::new());
            self.state = 2.0;
            self.events.push_back(tonopah::Event { kind: tonopah::CLOSED, code: 0, stream: 0 });
        }
        self.settle();
    }

    pub fn stats(&self) -> Stats {
        let mut stats = Stats { state: self.state, ..Stats::UNKNOWN };
        let Some((_, connection)) = &self.connection else { return stats };
        let (path, metrics) = (connection.stats().path, connection.congestion_state().metrics());
        let known = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
        stats.cwnd_bytes = metrics.congestion_window as f64;
        // No threshold is 2^64 - 1.
        stats.ssthresh_bytes = known(metrics.ssthresh.filter(|bytes| *bytes != u64::MAX));
        stats.pacing_rate_bps = known(metrics.pacing_rate);
        let latest = self.latest_rtt_ns.load(Ordering::Relaxed);
        if latest > 0 {
            stats.latest_rtt_s = latest as f64 / 1e9;
            stats.srtt_s = connection.rtt().as_secs_f64();
            stats.min_rtt_s = connection.min_rtt().as_secs_f64();
        }
        stats.sent_packets = path.sent_packets as f64;
        stats.lost_packets = path.lost_packets as f64;
        stats.lost_bytes = path.lost_bytes as f64;
        stats.datagram_bytes = path.current_mtu.into();
        stats
    }
}

fn stream_id(stream: u64) -> StreamId {
    VarInt::from_u64(stream).expect("a number that this end gave").into()
}

/// 0 if an end has closed the connection, else the number of the error in QUIC.
fn code_of(reason: &ConnectionError) -> u32 {
    match reason {
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed => 0,
        ConnectionError::TransportError(error) => u64::from(error.code) as u32,
        ConnectionError::ConnectionClosed(close) => u64::from(close.error_code) as u32,
        _ => LOST,
    }
}

fn transport_config(
    setup: &Setup,
    options: &Options,
    engine: Engine,
    start: Instant,
) -> (Arc<TransportConfig>, Arc<AtomicU64>) {
    let mut config = TransportConfig::default();
    let watching = Watching::new(options.cc, options.initial_window);
    let latest_rtt_ns = Arc::clone(&watching.latest_rtt_ns);
    config
        .congestion_controller_factory(Arc::new(watching))
        .stream_receive_window(VarInt::from_u64(options.receive_window as u64).expect("a range that fits"))
        .send_window(8 * options.receive_window as u64)
        .enable_segmentation_offload(false)
        .initial_rtt(Duration::from_secs_f64(options.initial_rtt_ms / 1000.0))
        .packet_threshold(options.packet_threshold as u32)
        .time_threshold(options.time_threshold as f32)
        .persistent_congestion_threshold(options.persistent_congestion_threshold as u32);
    config.mtu_discovery_config((options.mtud > 0.0).then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        // No larger than what comes with it, 1452 bytes, unless the first link takes more.
        if setup.mtu_bytes > 1500 {
            discovery.upper_bound((setup.mtu_bytes - HEADERS) as u16);
        }
        discovery
    }));
    if engine.wants(tonopah::LOG_QLOG) {
        let mut qlog = QlogConfig::default();
        qlog.writer(Box::new(engine)).start_time(start);
        config.qlog_stream(qlog.into_stream());
    }
    (Arc::new(config), latest_rtt_ns)
}

fn client_config(options: &Options, engine: Engine, transport: Arc<TransportConfig>) -> ClientConfig {
    let mut config = if options.plain > 0.0 {
        ClientConfig::new(Arc::new(Plain))
    } else {
        ClientConfig::new(Arc::new(host::tls_client(engine)))
    };
    config.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&engine.random::<20>())));
    config.transport_config(transport);
    config
}

fn server_config(options: &Options, engine: Engine, transport: &Arc<TransportConfig>) -> ServerConfig {
    let key = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&engine.random::<32>());
    let mut config = if options.plain > 0.0 {
        ServerConfig::new(Arc::new(Plain), Arc::new(key))
    } else {
        ServerConfig::new(Arc::new(host::tls_server(engine)), Arc::new(key))
    };
    config.transport_config(Arc::clone(transport));
    config
}
