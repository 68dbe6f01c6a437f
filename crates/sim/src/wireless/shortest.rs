//! Shortest paths between stations in range of each other.

use std::cell::OnceCell;
use std::collections::VecDeque;

use crate::ids::StationId;

/// Next hops by destination, found when the first packet for it is sent: of 10,000 stations few are destinations.
#[derive(Clone, Debug)]
pub(crate) struct ShortestPaths {
    neighbours: Vec<Vec<StationId>>,
    /// By destination and station.
    next: Vec<OnceCell<Box<[Option<StationId>]>>>,
}

impl ShortestPaths {
    pub(crate) fn new(neighbours: Vec<Vec<StationId>>) -> ShortestPaths {
        let next = vec![OnceCell::new(); neighbours.len()];
        ShortestPaths { neighbours, next }
    }

    /// The neighbour by which `to` is nearest in hops, ties to the lowest.
    pub(crate) fn next(&self, at: StationId, to: StationId) -> Option<StationId> {
        self.next[to.index()].get_or_init(|| self.towards(to))[at.index()]
    }

    /// Memory of the neighbours and of the next hops that have been found.
    pub(super) fn held_bytes(&self) -> u64 {
        let rows = self.next.iter().filter(|row| row.get().is_some()).count();
        let neighbours: usize = self.neighbours.iter().map(Vec::len).sum();
        (rows * self.next.len() * size_of::<Option<StationId>>() + neighbours * size_of::<StationId>()) as u64
    }

    fn towards(&self, to: StationId) -> Box<[Option<StationId>]> {
        let mut hops: Vec<Option<u32>> = vec![None; self.neighbours.len()];
        hops[to.index()] = Some(0);
        let mut frontier = VecDeque::from([to]);
        while let Some(here) = frontier.pop_front() {
            for neighbour in &self.neighbours[here.index()] {
                if hops[neighbour.index()].is_none() {
                    hops[neighbour.index()] = hops[here.index()].map(|hops| hops + 1);
                    frontier.push_back(*neighbour);
                }
            }
        }
        let step = |(neighbours, far): (&Vec<StationId>, &Option<u32>)| {
            let far = (*far)?;
            neighbours.iter().find(|next| hops[next.index()].is_some_and(|near| near < far)).copied()
        };
        self.neighbours.iter().zip(&hops).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_lowest_neighbour_and_what_nothing_reaches_has_no_next_hop() {
        // A square 0-1-3-2-0, and 4 alone.
        let of = |ids: &[u32]| ids.iter().map(|id| StationId(*id)).collect();
        let paths = ShortestPaths::new(vec![of(&[1, 2]), of(&[0, 3]), of(&[0, 3]), of(&[1, 2]), of(&[])]);
        let next = |at, to| paths.next(StationId(at), StationId(to)).map(|station| station.0);
        assert_eq!([next(0, 3), next(3, 0), next(0, 2)], [Some(1), Some(1), Some(2)]);
        assert_eq!([next(0, 0), next(0, 4), next(4, 0)], [None; 3]);
    }
}
