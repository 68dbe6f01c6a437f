//! What a flow knows of the conversation that it is a connection of.

use std::collections::VecDeque;

use tcp::units::{Bytes, Time};

use super::command::End;

/// The part of a flow in a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) session: usize,
    pub(crate) connection: usize,
    /// The end that connects.
    pub(crate) client: End,
    /// The conversation comes to an end by itself.
    pub(crate) ends: bool,
    /// It has.
    pub(crate) completed: bool,
    /// Messages are filled up to a multiple of this.
    pub(crate) unit: Bytes,
    /// What the source sends, and what the sink sends.
    pub(crate) streams: [Stream; 2],
    /// An answer has been written, whose window is to be looked at.
    pub(crate) answering: bool,
    /// The conversation asks to be told when the source, or the sink, has little left to send.
    pub(crate) wants_room: [bool; 2],
}

impl Member {
    pub(crate) fn new(session: usize, connection: usize, client: End, ends: bool) -> Member {
        let (completed, unit, streams) = (false, Bytes(1), Default::default());
        let (answering, wants_room) = (false, [false; 2]);
        Member { session, connection, client, ends, completed, unit, streams, answering, wants_room }
    }
}

/// The messages that an end sends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Stream offset after the last message; of datagrams their number.
    pub(crate) written: u64,
    /// Stream offset after what the send buffer has taken.
    pub(crate) taken: u64,
    /// Stream offset after what the other end has read.
    pub(crate) read: u64,
    /// Messages in transit: stream offset of the end, time of the write.
    pub(crate) messages: VecDeque<(u64, Time)>,
    /// Close after the last message.
    pub(crate) closing: bool,
}
