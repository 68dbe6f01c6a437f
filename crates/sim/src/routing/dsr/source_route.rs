//! The source route of a packet: the path that it follows.

use tcp::units::Bytes;

use super::cache::Path;
use crate::ids::StationId;

/// The source route of a packet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SourceRoute {
    pub(crate) path: Path,
    pub(crate) salvages: u32,
    /// The packet lists it, so that others learn from it; else the stations on it know the flow.
    pub(crate) is_listed: bool,
    /// Bytes that it adds to the packet.
    pub(crate) header: Bytes,
}

impl SourceRoute {
    /// The station after this one.
    pub(crate) fn next(&self, at: StationId) -> Option<StationId> {
        next(&self.path, at)
    }
}

/// The station after this one on a path, which passes it once.
pub(super) fn next(path: &[StationId], at: StationId) -> Option<StationId> {
    let here = path.iter().position(|station| *station == at)?;
    path.get(here + 1).copied()
}
