//! How large a world may be. What exceeds a limit is refused with a sentence instead of running out of memory or patience.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nodes of a scenario. With the limit on flows, a world is built in a few seconds and takes less than two gigabytes.
pub(super) const MAX_NODES: u64 = 100_000;
/// Hosts of a data centre, whose memory is known before they are built, and nodes that a graph lists.
pub(super) const MAX_WIRED_NODES: u64 = 1_100_000;
/// Flows of a scenario.
pub(crate) const MAX_FLOWS: u64 = 100_000;
/// Routers: routing tables hold an entry for each pair of them.
pub(super) const MAX_ROUTERS: u64 = 2_000;
/// Nodes of a graph with two links or more: tables hold the number of a link in two bytes for each pair of them.
pub(super) const MAX_FORWARDING: u64 = 65_535;
/// Links of a random network: paths are searched from every router over every link, and drawn links must be rare among all
/// pairs to be found.
pub(super) const MAX_RANDOM_LINKS: f64 = 20_000.0;
/// Stations of a channel, which keeps a list of neighbours for each.
pub(super) const MAX_STATIONS: u64 = 10_000;
/// Pairs of stations in range of one another: this number takes seconds and a gigabyte.
pub(super) const MAX_PAIRS: u64 = 2_000_000;
/// Satellites of a constellation: routes are found among all of them.
pub(super) const MAX_SATELLITES: u64 = 5_000;
/// Terminals of a constellation: routes lead to each from every satellite.
pub(super) const MAX_TERMINALS: u64 = 1000;

/// Bytes that a world may take before anything moves in it.
static LARGEST_WORLD: AtomicU64 = AtomicU64::new(4_000_000_000);

/// Allows worlds that take up to so many bytes before anything moves in them, in all of this process; 4 GB always are.
pub fn allow_worlds(bytes: u64) {
    LARGEST_WORLD.fetch_max(bytes, Ordering::Relaxed);
}

/// Bytes that a world may take before anything moves in it: see [`allow_worlds`].
pub(crate) fn largest_world() -> u64 {
    LARGEST_WORLD.load(Ordering::Relaxed)
}

/// Bytes in a unit that leaves a few digits.
pub fn size(bytes: u64) -> String {
    if bytes < 10_000_000 {
        format!("{} kB", bytes.div_ceil(1_000))
    } else {
        format!("{} MB", bytes.div_ceil(1_000_000))
    }
}
