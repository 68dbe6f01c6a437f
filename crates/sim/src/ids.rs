//! The indices by which components refer to each other.

/// Index of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// Index of a simplex link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// Index of a flow, in the order of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// One side of a flow: the source's is even, the sink's odd.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EndpointId(pub u32);

/// Index of a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ChannelId(pub(crate) u16);

/// Index of a station: a node's radio.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StationId(pub(crate) u32);

/// Index of a message of routing or address resolution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct MessageId(pub(crate) u32);

/// Index of a frame in its store; reused after the frame is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FrameId(pub(crate) u32);

/// Index of a packet in the store; reused after the packet is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PacketId(pub(crate) u32);

impl FlowId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The side that sends data.
    pub fn source(self) -> EndpointId {
        EndpointId(self.0 * 2)
    }

    /// The side that receives data.
    pub fn sink(self) -> EndpointId {
        EndpointId(self.0 * 2 + 1)
    }
}

impl EndpointId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The flow it belongs to.
    pub fn flow(self) -> FlowId {
        FlowId(self.0 / 2)
    }

    /// True for the side that sends data.
    pub fn is_source(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The other side.
    pub fn peer(self) -> EndpointId {
        EndpointId(self.0 ^ 1)
    }
}

impl NodeId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ChannelId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl StationId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
