//! One run in several parts, each for a thread, with the bits of one part.
//!
//! Every part builds the whole world from the same scenario and simulates the nodes that are its own: their hosts, the queues and
//! transmitters of the links that leave them, and the arrivals of packets at them. Parts meet at links with a delay. A
//! packet that is put on such a link is due at its far end no earlier than this delay later, the *lookahead*. So all parts may
//! simulate a window of that length without each other, and exchange packets before the next one (conservative
//! synchronization: Chandy and Misra 1979; windows: Nicol 1993).
//!
//! The bits are those of one part because the order of events is: the event list sorts by time, by what happens, by when it was
//! scheduled and by link, so that it makes no difference when a packet from another part is put in
//! (`engine/event_list.rs`), and the events of one node have the order of insertion that they have in one part. What all parts
//! need to know at once, such as the end of the warm-up, each of them does. `tests/parallel.rs` proves it.
//!
//! No thread is here: the caller has one for each [`Part`], and a barrier.

mod flow_log;
mod groups;
mod join;
mod part;
mod plan;
mod replay;

pub use part::{Mail, Part};
pub use plan::Division;

/// Why a run is not divided: the end of a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undivided(pub String);

impl std::fmt::Display for Undivided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
