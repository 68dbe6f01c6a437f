//! What a routing agent decides about a packet.

use crate::ids::StationId;

/// Next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextHop {
    /// Forward to this station.
    Via(StationId),
    /// Buffer: a route may be found.
    Wait,
    /// Drop: there is no route.
    None,
}
