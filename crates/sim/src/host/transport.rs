//! The transport of a flow: the two sides of a connection, datagrams, or a library.

use std::sync::Arc;

use tcp::cc::Begin;
use tcp::settings::Headers;
use tcp::units::{Bytes, Time};
use tcp::{Connection, ConnectionState, TcpConfig};

use crate::host::app::command::End;
use crate::host::foreign::Foreign;
use crate::host::resume::Resuming;
use crate::packet::wire::TCP;

/// The transport of a flow.
#[derive(Debug)]
pub(crate) enum Transport {
    /// The two sides of a connection: source, sink.
    Tcp(Box<[Side; 2]>),
    /// Datagrams.
    Udp,
    /// A whole transport that is not ours.
    Foreign(Box<Foreign>),
}

/// What carries a flow of a workload.
#[derive(Debug)]
pub(crate) enum Carrier<'a> {
    /// Our TCP with these settings and this seed of random numbers.
    Tcp(&'a Arc<TcpConfig>, u64),
    /// A whole transport that is not ours.
    Foreign(Box<Foreign>),
}

impl Carrier<'_> {
    /// How its segments are counted, and the bytes that a write has a multiple of.
    pub(super) fn units(&self) -> (Headers, Bytes) {
        match self {
            Carrier::Tcp(config, _) => (config.headers(), config.write_unit()),
            Carrier::Foreign(_) => (Headers::Options, Bytes(1)),
        }
    }

    /// Its protocol number of IP.
    pub(crate) fn protocol(&self) -> u8 {
        match self {
            Carrier::Tcp(..) => TCP,
            Carrier::Foreign(foreign) => foreign.protocol(),
        }
    }

    /// The connection, which `client` opens, in place of one that is over.
    pub(super) fn connection_after(self, before: Transport, client: End) -> Transport {
        match self {
            Carrier::Tcp(config, seed) => Transport::connection_after(before, config, seed, client),
            Carrier::Foreign(foreign) => Transport::Foreign(foreign),
        }
    }
}

impl Transport {
    /// Both sides of a connection with these settings and this seed of random numbers, which the client opens.
    pub(crate) fn connection(config: &Arc<TcpConfig>, seed: u64, client: End) -> Transport {
        let side = |end| Side::new(config, seed, client == end);
        Transport::Tcp(Box::new([side(End::Source), side(End::Sink)]))
    }

    /// The two ends of a connection in place of one that is over, whose memory it takes.
    fn connection_after(before: Transport, config: &Arc<TcpConfig>, seed: u64, client: End) -> Transport {
        match before {
            Transport::Tcp(mut sides) => {
                for (side, end) in sides.iter_mut().zip([End::Source, End::Sink]) {
                    let memory = side.connection.take_memory();
                    *side = Side::new(config, seed, client == end);
                    side.connection.use_memory(memory);
                }
                Transport::Tcp(sides)
            }
            Transport::Udp | Transport::Foreign(_) => Transport::connection(config, seed, client),
        }
    }
}

/// One side of a TCP connection and its pending `Wake`, which is beside the hot fields of the connection.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Side {
    /// Time of the pending `Wake`; one at another time is stale.
    pub(crate) wake_at: Option<Time>,
    /// It begins with what an earlier connection has left.
    pub(crate) resuming: Option<Box<Resuming>>,
    pub(crate) connection: Connection,
    /// Its window may jump.
    pub(super) jumps: bool,
}

impl Side {
    /// The connection, which is told the time in doubles where that is kept.
    #[inline]
    pub(crate) fn at(&mut self, seconds: Option<f64>) -> &mut Connection {
        if let Some(seconds) = seconds {
            self.connection.compat_mut().into_iter().for_each(|clock| clock.set_seconds(seconds));
        }
        &mut self.connection
    }

    pub(super) fn is_closed(&self) -> bool {
        self.connection.state() == ConnectionState::Closed
    }

    fn new(config: &Arc<TcpConfig>, seed: u64, is_client: bool) -> Side {
        let open = if is_client { Connection::connect } else { Connection::listen };
        let jumps = config.start.as_ref().is_some_and(|start| start.begin != Begin::InitialWindow);
        let mut side = Side { connection: open(config.clone()), wake_at: None, jumps, resuming: Resuming::of(config) };
        side.connection.set_seed(seed);
        side
    }
}
