//! TCP segmentation offload, as far as the peer sees it: Linux hands several segments to the network card as one packet,
//! and the last of them has PSH (Linux 5.10 and later), which its receiver acknowledges at once. So the ACKs keep in step
//! with the sender: after a segment that was sent alone, the pair behind it brings an ACK for two segments and one for one.
//! A packet that could be larger waits for the next ACK if that is near, and one at the edge of the receiver's window ends
//! with what there is room for.

use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// The most that one packet for the card carries.
const MAX_PACKET: u64 = 65_536;
/// What the queue of unsent data holds in one buffer; a packet for the card does not extend beyond it. In the packet logs
/// of Linux 6.1 and 6.18 segments are sent alone at multiples of 22 of 1448 B behind the initial window.
const BUFFER: Bytes = Bytes(32_768);
/// A packet waits neither longer after the last transmission nor for an ACK that is due later (tcp_tso_should_defer).
const MAX_WAIT: Span = Span::from_millis(1);
/// A packet of this part of the window does not wait (tcp_tso_win_divisor).
const LARGE_PART: u64 = 3;

/// The packet for the network card under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TsoPacket {
    /// Segments of it that are still to be sent, all at this time; at most 64 KiB.
    left: u32,
    at: Time,
    /// It ends with what the receiver's window has room for, less than a segment.
    cut: bool,
    /// Where a buffer began: behind what the first burst took out of the first one, which is still being filled then, and
    /// wherever all had been sent. The SYN's number before the first burst.
    buffers_from: SeqNo,
    /// Up to here segments are out of step with the buffers, after a cut: the last one in the buffer is short.
    short_until: SeqNo,
    /// A packet waits although the congestion window has room.
    pub(crate) held: bool,
}

/// What limits a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TsoLimits {
    pub(crate) mss: Bytes,
    pub(crate) cwnd: Bytes,
    /// Room in the sender's window.
    pub(crate) cwnd_room: Bytes,
    /// Room in the receiver's window.
    pub(crate) rwnd_room: Bytes,
    /// Written and not yet sent.
    pub(crate) unsent: Bytes,
    /// Of this in the first buffer.
    pub(crate) buffered: Bytes,
    /// Segments of a full packet.
    pub(crate) full: u64,
}

/// What decides whether a packet waits for more room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) rwnd: Bytes,
    /// Since the last transmission.
    pub(crate) since_last: Span,
    /// Since the oldest outstanding segment was sent.
    pub(crate) head_age: Option<Span>,
    pub(crate) srtt: Span,
    /// A FIN follows what is unsent.
    pub(crate) fin: bool,
}

impl TsoPacket {
    /// A full segment is sent as part of the packet under way, if there is one: true if it is the last.
    pub(crate) fn continue_packet(&mut self, now: Time) -> Option<bool> {
        if self.left == 0 || self.at != now {
            return None;
        }
        self.left -= 1;
        Some(self.left == 0 && !self.cut)
    }

    /// A full segment is sent as the first of a packet.
    pub(crate) fn begin(&mut self, now: Time, limits: &TsoLimits) {
        *self = TsoPacket { left: (limits.segments() - 1) as u32, at: now, cut: limits.is_cut(), held: false, ..*self };
    }

    /// The packet under way has been sent.
    #[inline]
    pub(crate) fn is_complete(&self, now: Time) -> bool {
        self.left == 0 && self.at == now
    }

    /// True if the packet under way ends with a part of a segment.
    pub(crate) fn is_cut(&self, now: Time) -> bool {
        self.cut && self.left == 0 && self.at == now
    }

    /// That part is sent from `snd_nxt` on: where the buffer ends that it was cut from.
    pub(crate) fn end_cut(&mut self, snd_nxt: SeqNo, mss: Bytes) -> SeqNo {
        self.cut = false;
        self.short_until = snd_nxt + self.left_in_buffer(snd_nxt, mss);
        self.short_until
    }

    /// A burst ends at `snd_nxt`; `all_sent`: nothing is left.
    pub(crate) fn on_burst_end(&mut self, snd_nxt: SeqNo, all_sent: bool) {
        if all_sent || self.buffers_from < SeqNo::FIRST_DATA {
            self.buffers_from = snd_nxt;
        }
    }

    /// From `snd_nxt` to the end of its buffer.
    pub(crate) fn left_in_buffer(&self, snd_nxt: SeqNo, mss: Bytes) -> Bytes {
        let size = buffer_size(mss);
        let from = if self.buffers_from < SeqNo::FIRST_DATA { snd_nxt } else { self.buffers_from };
        Bytes(size.0 - snd_nxt.since(from).0 % size.0)
    }

    /// The most that a segment from `snd_nxt` on carries.
    #[inline]
    pub(crate) fn most(&self, snd_nxt: SeqNo, mss: Bytes) -> Bytes {
        if snd_nxt < self.short_until { mss.min(self.short_until.since(snd_nxt)) } else { mss }
    }
}

/// What a buffer of unsent data holds: full segments.
fn buffer_size(mss: Bytes) -> Bytes {
    mss * BUFFER.segments(mss).max(1)
}

/// Segments of a full packet: what the rate sends in 1/1024 s, more over short paths (a halving for each 512 us of
/// RTT), at least two (tcp_tso_autosize).
pub(crate) fn full_packet(rate: Option<Rate>, min_rtt: Option<Span>, mss: Bytes) -> u64 {
    let by_rate = rate.map_or(0, |rate| rate.as_bps() / 8 / 1024);
    let halvings = min_rtt.map_or(64, |rtt| rtt.as_micros() / 512);
    let by_rtt = if halvings < 32 { MAX_PACKET >> halvings } else { 0 };
    Bytes((by_rate + by_rtt).min(MAX_PACKET)).segments(mss).max(2)
}

impl TsoLimits {
    /// Segments that the next packet may have.
    fn quota(&self) -> u64 {
        // Half of the window at most, so that two packets are under way.
        let half = (self.cwnd.segments(self.mss) / 2).max(1);
        self.cwnd_room.segments(self.mss).min(half).min(self.full)
    }

    /// Full segments of the next packet.
    fn segments(&self) -> u64 {
        let bytes = self.rwnd_room.min(self.buffered);
        self.quota().min(bytes.segments(self.mss)).max(1)
    }

    /// True if the receiver's window ends within a segment of the packet.
    fn is_cut(&self) -> bool {
        let room = self.rwnd_room;
        room < self.buffered && !room.0.is_multiple_of(self.mss.0) && room < self.mss * self.quota()
    }

    /// What the packet lacks is taken from the next buffer (tcp_grow_skb).
    pub(crate) fn fill(&mut self) {
        let next = self.unsent.min(self.buffered + buffer_size(self.mss));
        self.buffered = self.buffered.max(next.min(self.mss * self.quota()));
    }

    /// True if the packet waits for the next ACK, which may make it larger (tcp_tso_should_defer): something was sent just
    /// now, the packet is neither full nor a good part of the window nor the rest of a buffer, and the ACK is near.
    pub(crate) fn waits(&self, waiting: &Waiting) -> bool {
        let buffered = self.buffered;
        if waiting.since_last >= MAX_WAIT || buffered <= self.mss {
            return false;
        }
        let room = self.cwnd_room.min(self.rwnd_room);
        let rest_of_buffer = self.unsent > buffered && room >= buffered;
        let large = waiting.rwnd.min(self.cwnd) / LARGE_PART;
        if rest_of_buffer || room >= large || room >= self.mss * self.full {
            return false;
        }
        let Some(age) = waiting.head_age else { return false };
        if waiting.srtt > age + MAX_WAIT.min(waiting.srtt / 2) {
            return false;
        }
        // Nothing will make the last packet larger.
        let all = room > buffered && self.unsent == buffered;
        !(waiting.fin && all)
    }
}

#[cfg(test)]
mod tests;
