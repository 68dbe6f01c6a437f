//! Linux's wait for a packet of several segments for the network card (tcp_tso_should_defer): what an ACK allows is kept
//! back for up to a millisecond, until about a millisecond's worth at the pacing rate can leave together.

use super::{Repair, Sender};
use crate::cc::State;
use crate::units::{Bytes, Span, Time};

/// After so long a silence nothing is kept back.
const PATIENCE: Span = Span::from_millis(1);
/// The most that one packet for the card carries.
const CARD: u64 = 65_536;

/// What is being bundled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bundle {
    /// Segments of the packet under way that are still to leave.
    left: u64,
    /// The burst under way followed the one before within [`PATIENCE`]. Told once per burst: at 10 Mb/s, where bursts are
    /// 2.4 ms apart, Linux 6.1 has all of its window outstanding, at 50 Mb/s up to four segments less.
    in_a_row: bool,
    /// Something is kept back; the window counts as used up.
    pub(super) waits: bool,
}

impl Sender {
    /// Whether new data, of which the receiver takes `room`, is kept back until more of it can leave.
    pub(super) fn waits_for_bundle(&mut self, now: Time, room: u64) -> bool {
        let modern = matches!(self.repair, Repair::Modern(_));
        // A paced sender spreads its segments: bundles would have to be paced as a whole, which is left out.
        if !self.bundles || !modern || self.pacing_rate().is_some() || self.state >= State::Recovery {
            return false;
        }
        if self.bundle.left > 0 {
            self.bundle.left -= 1;
            return false;
        }
        if !self.sent_in_burst {
            self.bundle.in_a_row = self.last_sent_at.is_some_and(|at| now.since(at) <= PATIENCE);
        }
        let window = self.send_window();
        let free = window.saturating_sub(self.board.pipe()).min(Bytes(room)).segments(self.mss);
        let full = self.full_bundle();
        // A third of the window is enough (tcp_tso_win_divisor).
        let enough = full.min((window.min(self.rwnd) / 3).segments(self.mss));
        // The next ACK is far while the oldest segment is younger than half an RTT.
        let far = match (self.board.head_sent_at(), self.rtt.srtt()) {
            (Some(at), Some(srtt)) => now.since(at) < srtt / 2,
            _ => true,
        };
        self.bundle.waits = self.bundle.in_a_row && free < enough && !far;
        if !self.bundle.waits {
            self.bundle.left = free.min(full).saturating_sub(1);
        }
        self.bundle.waits
    }

    /// Segments of a full packet: a 1024th of a second at the usual pacing rate, more over short paths (a halving for each
    /// 512 us of RTT), at least two (tcp_tso_autosize).
    fn full_bundle(&self) -> u64 {
        let by_rate = self.usual_rate().map_or(0, |rate| rate.as_bps() / 8 / 1024);
        let halvings = self.rtt.min().map_or(64, |rtt| rtt.as_micros() / 512);
        let by_rtt = if halvings < 32 { CARD >> halvings } else { 0 };
        Bytes((by_rate + by_rtt).min(CARD)).segments(self.mss).max(2)
    }
}
