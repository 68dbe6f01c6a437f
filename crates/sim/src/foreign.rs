//! A whole transport that is not ours, such as a QUIC stack in a shared library: what the engine asks of one (docs/transport.md).
//! `host/foreign.rs` calls it with what happens, `crates/py` passes that on to libraries.

use std::fmt::{self, Debug, Formatter};
use std::net::SocketAddrV4;

use tcp::Ecn;
use tcp::units::{Bytes, Time};

/// A transport.
pub struct ForeignKind {
    /// The file that it is from.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Protocol number of IP. 17: it sends the payload of UDP; any other: the payload of IP.
    pub protocol: u8,
    /// Streams that may be open at a time; 1: stream 0, both ways, open from the start.
    pub max_streams: u32,
    /// What a scenario may set.
    pub options: Vec<ForeignOption>,
    /// Makes one end of a connection, with the options in their order.
    pub create: Box<CreateForeign>,
}

/// Makes an end.
pub type CreateForeign = dyn Fn(&ForeignSetup, &[f64]) -> Box<dyn ForeignEnd> + Send + Sync;

impl Debug for ForeignKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignKind({})", self.name)
    }
}

impl PartialEq for ForeignKind {
    fn eq(&self, other: &ForeignKind) -> bool {
        std::ptr::eq(self, other)
    }
}

/// An option of a transport.
#[derive(Clone, PartialEq, Debug)]
pub struct ForeignOption {
    /// Its name in a scenario.
    pub name: String,
    /// Its value unless the scenario says another; of an option with words the place of one.
    pub standard: f64,
    /// The least value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// In what it counts, such as `ms`.
    pub unit: String,
    /// What a scenario writes instead of 0, 1, 2, …; empty if it writes a number.
    pub words: Vec<String>,
}

/// What an end is told when it is made.
#[derive(Clone, Debug)]
pub struct ForeignSetup {
    /// The time.
    pub now: Time,
    /// Of all that it draws; another for each end.
    pub seed: u64,
    /// Its part.
    pub role: ForeignRole,
    /// The largest IP packet that the first link takes.
    pub mtu: Bytes,
    /// Its address and port.
    pub local: SocketAddrV4,
    /// Those of the other end.
    pub remote: SocketAddrV4,
    /// The node that it is at.
    pub place: String,
    /// What its logs are called, `flow0-source`.
    pub label: String,
}

/// The part of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForeignRole {
    /// It connects.
    Client,
    /// It is connected to.
    Server,
}

/// What an end hands to the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignDatagram {
    /// When it enters the network.
    pub depart: Time,
    /// What the network carries.
    pub bytes: Box<[u8]>,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// It carries nothing that was not sent before.
    pub retransmission: bool,
}

/// What an end reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForeignEvent {
    /// The handshake is complete, as this end sees it.
    Connected,
    /// The peer has opened a stream.
    Opened(u64),
    /// A stream has data, or its end, to read.
    Readable(u64),
    /// A stream takes more now.
    Writable(u64),
    /// The connection is over; 0 if one of the ends has closed it.
    Closed(u32),
}

/// Data for a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamWrite<'a> {
    /// The stream.
    pub stream: u64,
    /// The data.
    pub bytes: &'a [u8],
    /// It ends the stream, if all of it is taken.
    pub fin: bool,
}

/// What was read of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamRead {
    /// Bytes read.
    pub bytes: usize,
    /// The stream has ended with them.
    pub fin: bool,
}

/// Which ways a stream goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ways {
    /// From the end that opens it.
    One,
    /// Both.
    Both,
}

/// What an end says of its sending half; NaN where it does not know.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct ForeignStats {
    /// Place among the states of its transport.
    pub state: f64,
    /// Congestion window.
    pub cwnd_bytes: f64,
    /// Slow-start threshold.
    pub ssthresh_bytes: f64,
    /// Sent, and neither acknowledged nor taken for lost.
    pub in_flight_bytes: f64,
    /// Its pacing rate.
    pub pacing_rate_bps: f64,
    /// Smoothed RTT.
    pub srtt_s: f64,
    /// Newest RTT.
    pub latest_rtt_s: f64,
    /// Least RTT.
    pub min_rtt_s: f64,
    /// RTT variation.
    pub rttvar_s: f64,
    /// Probe time-outs in a row.
    pub pto_count: f64,
    /// Packets sent.
    pub sent_packets: f64,
    /// Packets that it has taken for lost.
    pub lost_packets: f64,
    /// Their bytes.
    pub lost_bytes: f64,
    /// Packets that it has taken for lost and that had not been.
    pub spurious_packets: f64,
    /// Size of its datagrams.
    pub datagram_bytes: f64,
}

impl ForeignStats {
    /// Nothing is known.
    pub const UNKNOWN: ForeignStats = ForeignStats {
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

/// One end of a connection: it is handed datagrams and asked for datagrams, at times that the engine names and that never go back.
pub trait ForeignEnd: Debug + Send {
    /// A datagram has arrived.
    fn on_datagram(&mut self, now: Time, bytes: &[u8], ecn: Ecn);
    /// The time of `next_timeout` has come.
    fn on_timeout(&mut self, now: Time);
    /// When it wants to be called, if at all.
    fn next_timeout(&mut self, now: Time) -> Option<Time>;
    /// The next datagram to send, if there is one.
    fn poll_transmit(&mut self, now: Time) -> Option<ForeignDatagram>;
    /// The next event, if there is one.
    fn poll_event(&mut self, now: Time) -> Option<ForeignEvent>;
    /// Opens a stream, if one can be opened now.
    fn open(&mut self, now: Time, ways: Ways) -> Option<u64>;
    /// Writes to a stream; returns how many bytes it has taken.
    fn write(&mut self, now: Time, write: StreamWrite<'_>) -> usize;
    /// Reads from a stream.
    fn read(&mut self, now: Time, stream: u64, bytes: &mut [u8]) -> StreamRead;
    /// Closes the connection.
    fn close(&mut self, now: Time);
    /// What it says of its sending half.
    fn stats(&self, now: Time) -> ForeignStats;
    /// Ends the run: it has broken the contract.
    fn fail(&self, now: Time, what: &str) -> !;
}
