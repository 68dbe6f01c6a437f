//! Shortest paths to up to 64 destinations at once, a bit for each: what a search reads of the links serves all of them.
//!
//! A fat tree of 10⁶ hosts has 32,000 switches and 4 million links between them: one search for each destination would take minutes.

use std::ops::Range;

/// Destinations of one search.
pub(super) const AT_ONCE: usize = 64;

/// Some of the destinations of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destinations {
    pub(super) first: usize,
    pub(super) bits: u64,
}

impl Destinations {
    /// Their rows.
    pub(super) fn rows(self) -> impl Iterator<Item = usize> {
        let bits = (0..AT_ONCE).filter(move |bit| self.bits >> bit & 1 == 1);
        bits.map(move |bit| self.first + bit)
    }
}

/// Hops from every row to the destinations of the last search.
#[derive(Debug)]
pub(super) struct Search {
    /// By row: how many hops away which destinations are, from the nearest on.
    hops: Vec<Vec<(u32, u64)>>,
    seen: Vec<u64>,
    gained: Vec<u64>,
}

impl Search {
    pub(super) fn new(rows: usize) -> Search {
        Search { hops: vec![Vec::new(); rows], seen: vec![0; rows], gained: vec![0; rows] }
    }

    /// Searches for these destinations; `into` has by row the rows with a link to it.
    pub(super) fn find(&mut self, destinations: Range<usize>, into: &[Vec<u32>]) {
        self.hops.iter_mut().for_each(Vec::clear);
        self.seen.fill(0);
        let mut frontier: Vec<(usize, u64)> = destinations.enumerate().map(|(bit, row)| (row, 1 << bit)).collect();
        for hops in 0.. {
            for (row, bits) in &frontier {
                self.seen[*row] |= bits;
                self.hops[*row].push((hops, *bits));
            }
            let mut reached = Vec::new();
            for (row, bits) in frontier {
                for near in into[row].iter().map(|near| *near as usize) {
                    let new = bits & !self.seen[near];
                    if new != 0 && self.gained[near] == 0 {
                        reached.push(near);
                    }
                    self.gained[near] |= new;
                }
            }
            if reached.is_empty() {
                return;
            }
            frontier = reached.into_iter().map(|row| (row, std::mem::take(&mut self.gained[row]))).collect();
        }
    }

    /// The destinations that are closer to `to`, where a link from `from` leads: by one hop, since it is there.
    pub(super) fn closer(&self, from: usize, to: usize) -> u64 {
        let (mut bits, mut nearer) = (0, self.hops[to].iter().peekable());
        for (hops, far) in &self.hops[from] {
            while nearer.next_if(|(fewer, _)| fewer + 1 < *hops).is_some() {}
            bits |= nearer.peek().map_or(0, |(fewer, near)| if fewer + 1 == *hops { near & far } else { 0 });
        }
        bits
    }
}
