//! What an application and its transport say to each other: an [`Input`] has happened, a [`Command`] is to be done.

use tcp::units::{Bytes, Time};

use crate::ids::{EndpointId, FlowId};

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At the node `from`.
    Source,
    /// At the node `to`.
    Sink,
}

impl End {
    /// The end that this endpoint is.
    pub(crate) fn of(endpoint: EndpointId) -> End {
        if endpoint.is_source() { End::Source } else { End::Sink }
    }

    /// The other end.
    pub(crate) fn peer(self) -> End {
        if self == End::Source { End::Sink } else { End::Source }
    }

    /// The endpoint of a flow at this end.
    pub(crate) fn endpoint(self, flow: FlowId) -> EndpointId {
        if self == End::Source { flow.source() } else { flow.sink() }
    }
}

/// The end that asks, where one asks and the other answers: data goes from `from` to `to`.
pub(super) const CLIENT: End = End::Sink;
/// The end that answers.
pub(super) const SERVER: End = End::Source;

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Open a connection of this number.
    Open(usize),
    /// Send a message, or a datagram.
    Send { connection: usize, end: End, bytes: Bytes },
    /// What was sent so far goes to the network, as far as it may, before more is written.
    Push { connection: usize, end: End },
    /// Close a connection once all that was sent has been taken.
    Close(usize),
    /// Say when this time has come.
    Wake(Time),
    /// Say once when an end of a connection has little left that it has not sent.
    TellRoom { connection: usize, end: End },
}

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// The flow starts.
    Start,
    /// The time of a `Wake` has come.
    Due,
    /// A connection is open, as its client sees it.
    Connected(usize),
    /// `reader` has read the last byte of a message.
    Message { connection: usize, reader: End },
    /// The end of a connection, of which this was asked, has little left to send.
    Room { connection: usize, end: End },
    /// `reader` has received a datagram, the number `number` of those sent to it, from 0.
    Datagram { reader: End, number: u64, sent_at: Time },
}

/// What only its transport knows of a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransportCounts {
    /// Retransmission time-outs of all its connections.
    pub(crate) timeouts: u64,
    /// Mean cwnd of the server when it began an answer.
    pub(crate) answer_cwnd_bytes: Option<f64>,
}
