//! TCP segmentation offload, as far as the peer sees it: Linux hands several segments to the network card as one packet,
//! and the last of them has PSH (Linux 5.10 and later), which its receiver acknowledges at once. So the ACKs keep in step
//! with the sender: after a segment that was sent alone, the pair behind it brings an ACK for two segments and one for one.

use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// The most that one packet for the card carries.
const MAX_PACKET: u64 = 65_536;
/// What the queue of unsent data holds in one buffer; a packet for the card does not extend beyond it. In the packet logs
/// of Linux 6.1 and 6.18 segments are sent alone at multiples of 22 of 1448 B.
const BUFFER: Bytes = Bytes(32_768);

/// The packet for the network card under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TsoPacket {
    /// Segments of it that are still to be sent, all at this time.
    left: u64,
    at: Time,
}

/// What limits a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct TsoLimits {
    pub(super) mss: Bytes,
    pub(super) snd_nxt: SeqNo,
    /// Room in the windows of the sender and the receiver.
    pub(super) room: Bytes,
    /// Written and not yet sent.
    pub(super) unsent: Bytes,
    /// The default pacing rate.
    pub(super) rate: Option<Rate>,
    pub(super) min_rtt: Option<Span>,
}

impl TsoPacket {
    /// A full segment is sent as part of the packet under way, if there is one: true if it is the last.
    pub(super) fn continue_packet(&mut self, now: Time) -> Option<bool> {
        if self.left == 0 || self.at != now {
            return None;
        }
        self.left -= 1;
        Some(self.left == 0)
    }

    /// A full segment is sent as the first of a packet.
    pub(super) fn begin(&mut self, now: Time, limits: &TsoLimits) {
        *self = TsoPacket { left: limits.segments().saturating_sub(1), at: now };
    }
}

impl TsoLimits {
    /// Segments of the next packet.
    fn segments(&self) -> u64 {
        let per_buffer = BUFFER.segments(self.mss).max(1);
        let of_buffer = per_buffer - self.snd_nxt.0 / self.mss.0 % per_buffer;
        self.room.segments(self.mss).min(self.unsent.segments(self.mss)).min(of_buffer).min(self.full_packet())
    }

    /// Segments of a full packet: what the rate sends in 1/1024 s, more over short paths (a halving for each 512 us of
    /// RTT), at least two (tcp_tso_autosize).
    fn full_packet(&self) -> u64 {
        let by_rate = self.rate.map_or(0, |rate| rate.as_bps() / 8 / 1024);
        let halvings = self.min_rtt.map_or(64, |rtt| rtt.as_micros() / 512);
        let by_rtt = if halvings < 32 { MAX_PACKET >> halvings } else { 0 };
        Bytes((by_rate + by_rtt).min(MAX_PACKET)).segments(self.mss).max(2)
    }
}
