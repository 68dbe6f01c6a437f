//! What is counted at nodes.

/// Packets counted at a node, over the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeMetrics {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) forwarded: u64,
    pub(crate) no_route: u64,
}

impl NodeMetrics {
    /// Packets that it handled.
    pub(crate) fn handled(&self) -> u64 {
        self.sent + self.received + self.forwarded + self.no_route
    }
}
