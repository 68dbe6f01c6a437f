//! Linux's packets for the network card: several segments that leave at one instant, the last of which has PSH (Linux
//! 5.10 and later), which its receiver acknowledges at once. So the ACKs keep in step with the sender: after a segment
//! that left alone, the pair behind it brings an ACK for two segments and one for one.

use super::{Repair, Sender};
use crate::cc::State;
use crate::units::{Bytes, Time};

/// The most that one packet for the card carries.
const CARD: u64 = 65_536;
/// What the queue of unsent data holds in one piece; a packet for the card does not reach beyond it. In the packet logs
/// of Linux 6.1 and 6.18 segments leave alone at multiples of 22 of 1448 B.
const PIECE: Bytes = Bytes(32_768);

/// The packet under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bundle {
    /// Segments of it that are still to leave, all at this instant.
    left: u64,
    at: Time,
}

impl Sender {
    /// Where segments are bundled: takes note of a full segment about to leave; true if it is the last of several.
    #[inline(never)]
    pub(super) fn ends_bundle(&mut self, now: Time, room: u64) -> bool {
        let modern = matches!(self.repair, Repair::Modern(_));
        // A paced sender has bundles of its own; in recovery segments leave one by one.
        if !modern || self.state >= State::Recovery || self.pacing_rate().is_some() {
            return false;
        }
        if self.bundle.left > 0 && self.bundle.at == now {
            self.bundle.left -= 1;
            return self.bundle.left == 0;
        }
        let free = self.send_window().saturating_sub(self.board.pipe()).min(Bytes(room)).segments(self.mss);
        let unsent = Bytes(self.end.saturating_sub(self.snd_nxt)).segments(self.mss);
        let piece = PIECE.segments(self.mss).max(1);
        let of_piece = piece - self.snd_nxt / self.mss.0 % piece;
        let segments = free.min(unsent).min(of_piece).min(self.full_bundle());
        self.bundle = Bundle { left: segments.saturating_sub(1), at: now };
        false
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
