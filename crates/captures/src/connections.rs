//! The connections of a capture. A SYN with another initial number begins a new one on the same addresses and ports.

use std::collections::HashMap;

use crate::segment::{Ends, Segment};

/// So many are looked at.
pub const MAX_CONNECTIONS: usize = 500_000;
const SYN: u16 = 2;
const ACK: u16 = 16;

/// What is noted of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its place among the addresses and ports that were seen.
    pair: usize,
    /// Which connection of these addresses and ports it is, from 0.
    pub turn: u32,
    /// Payload, both directions.
    pub data_bytes: u64,
    /// Segments with data.
    pub segments: u64,
    /// Time of its earliest segment.
    pub first_ns: i64,
    /// Time of its latest segment.
    pub last_ns: i64,
}

/// Addresses and ports with what was seen of them.
#[derive(Debug, Default)]
struct Pair {
    current: Option<usize>,
    /// Numbers of the SYNs of both ends.
    initial: [Option<u32>; 2],
    turns: u32,
}

/// The connections that were found.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(crate) found: Vec<Connection>,
    places: HashMap<Ends, usize>,
    pairs: Vec<Pair>,
    last: Option<(Ends, usize)>,
    /// Segments of those beyond `MAX_CONNECTIONS`.
    pub(crate) left_out: u64,
}

impl Connections {
    /// Counts a segment, and returns the number of its connection; none for those of too many.
    pub(crate) fn note(&mut self, segment: &Segment<'_>) -> Option<usize> {
        let Some(place) = self.place(&segment.ends) else {
            self.left_out += 1;
            return None;
        };
        let pair = &mut self.pairs[place];
        if segment.flags & SYN != 0 {
            pair.syn(segment);
        }
        let number = match pair.current {
            Some(number) => number,
            None if self.found.len() >= MAX_CONNECTIONS => {
                self.left_out += 1;
                return None;
            }
            None => {
                let (turn, t_ns) = (pair.turns, segment.t_ns);
                pair.turns += 1;
                let one = Connection { pair: place, turn, data_bytes: 0, segments: 0, first_ns: t_ns, last_ns: t_ns };
                self.found.push(one);
                *pair.current.insert(self.found.len() - 1)
            }
        };
        let (one, data) = (&mut self.found[number], segment.length() as u64);
        one.data_bytes += data;
        one.segments += u64::from(data > 0);
        one.first_ns = one.first_ns.min(segment.t_ns);
        one.last_ns = one.last_ns.max(segment.t_ns);
        Some(number)
    }

    /// How many connections the addresses and ports of one had.
    pub(crate) fn turns(&self, one: &Connection) -> u32 {
        self.pairs[one.pair].turns
    }

    /// The place of addresses and ports among those seen; none if there are too many.
    fn place(&mut self, ends: &Ends) -> Option<usize> {
        if let Some((last, place)) = self.last
            && last == *ends
        {
            return Some(place);
        }
        let place = match self.places.get(ends) {
            Some(place) => *place,
            None if self.pairs.len() >= MAX_CONNECTIONS => return None,
            None => {
                self.pairs.push(Pair::default());
                self.places.insert(*ends, self.pairs.len() - 1);
                self.pairs.len() - 1
            }
        };
        self.last = Some((*ends, place));
        Some(place)
    }
}

impl Pair {
    /// Notes a SYN, which may begin another connection. An answer belongs to the SYN before it; where none was seen it begins
    /// something only if another answer came before.
    fn syn(&mut self, segment: &Segment<'_>) {
        let side = usize::from(segment.from_high);
        let known = self.initial[side];
        if known != Some(segment.seq) && (known.is_some() || segment.flags & ACK == 0) {
            self.current = None;
            self.initial = [None; 2];
        }
        self.initial[side] = Some(segment.seq);
    }
}
