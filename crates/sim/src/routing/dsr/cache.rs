//! The route cache: paths that were answered to the station itself, and paths that it has seen in use.

use std::collections::VecDeque;

use crate::ids::StationId;

/// Paths of each kind that a cache holds; the oldest makes room.
const OWN: usize = 30;
const OVERHEARD: usize = 64;

/// Stations of a path at most (RFC 4728 §9: MAX_SALVAGE_COUNT is 15).
pub(super) const MAX_PATH: usize = 16;

/// A path, both ends included.
pub(crate) type Path = Vec<StationId>;

/// The paths from one station.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteCache {
    own: VecDeque<Path>,
    overheard: VecDeque<Path>,
}

impl RouteCache {
    /// Adds a path that a reply to this station has brought.
    pub(super) fn add_own(&mut self, path: &[StationId]) {
        add(&mut self.own, OWN, path);
    }

    /// Adds a path that was seen.
    pub(super) fn add_overheard(&mut self, path: &[StationId]) {
        add(&mut self.overheard, OVERHEARD, path);
    }

    /// The shortest path to a station; of several the station's own, then the oldest.
    pub(super) fn find(&self, to: StationId) -> Option<Path> {
        let prefix = |path: &'_ Path| path.iter().position(|station| *station == to).map(|end| path[..=end].to_vec());
        self.own.iter().chain(&self.overheard).filter_map(prefix).min_by_key(Vec::len)
    }

    /// Ends all paths before a link.
    pub(super) fn remove_link(&mut self, from: StationId, to: StationId) {
        for paths in [&mut self.own, &mut self.overheard] {
            for path in paths.iter_mut() {
                if let Some(index) = path.windows(2).position(|link| link == [from, to]) {
                    path.truncate(index + 1);
                }
            }
            paths.retain(|path| path.len() > 1);
        }
    }
}

/// Adds a path unless it is the beginning of a known one; it replaces one that it continues.
fn add(paths: &mut VecDeque<Path>, limit: usize, path: &[StationId]) {
    if path.len() < 2 || paths.iter().any(|known| known.starts_with(path)) {
        return;
    }
    if let Some(shorter) = paths.iter_mut().find(|known| path.starts_with(known)) {
        *shorter = path.to_vec();
        return;
    }
    if paths.len() == limit {
        paths.pop_front();
    }
    paths.push_back(path.to_vec());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path<const N: usize>(stations: [u32; N]) -> Path {
        stations.map(StationId).to_vec()
    }

    #[test]
    fn the_shortest_path_is_found_and_broken_links_end_paths() {
        let mut cache = RouteCache::default();
        cache.add_own(&path([0, 1, 2, 3]));
        cache.add_overheard(&path([0, 4, 3, 5]));
        assert_eq!(cache.find(StationId(3)), Some(path([0, 4, 3])));
        assert_eq!(cache.find(StationId(2)), Some(path([0, 1, 2])));
        cache.remove_link(StationId(4), StationId(3));
        assert_eq!(cache.find(StationId(3)), Some(path([0, 1, 2, 3])));
        assert_eq!(cache.find(StationId(5)), None);
        cache.remove_link(StationId(3), StationId(2));
        assert_eq!(cache.find(StationId(3)), Some(path([0, 1, 2, 3])), "links have a direction");
        cache.remove_link(StationId(0), StationId(1));
        assert_eq!(cache.find(StationId(2)), None);
        assert_eq!(cache.find(StationId(4)), Some(path([0, 4])));
    }

    #[test]
    fn the_oldest_path_makes_room() {
        let mut cache = RouteCache::default();
        (1..=31).for_each(|station| cache.add_own(&path([0, station])));
        (1..=65).for_each(|station| cache.add_overheard(&path([0, 100 + station])));
        for gone in [1, 101] {
            assert_eq!(cache.find(StationId(gone)), None);
            assert!(cache.find(StationId(gone + 1)).is_some());
        }
    }
}
