//! How large a world may be. What exceeds a limit is refused with a sentence instead of running out of memory or patience.

/// Nodes of a scenario. With the limit on flows, a world is built in a few seconds and takes less than two gigabytes.
pub(super) const MAX_NODES: u64 = 100_000;
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
