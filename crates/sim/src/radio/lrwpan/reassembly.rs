//! Reassembly of datagrams (RFC 4944 §5.3).

use tcp::units::{Span, Time};

use crate::ids::{PacketId, StationId};
use crate::radio::frame::Fragment;

/// Reassembly timeout, from the first fragment (RFC 4944 §5.3).
pub(super) const TIMEOUT: Span = Span::from_millis(60_000);

#[derive(Clone, Copy, PartialEq, Debug)]
struct PartialDatagram {
    from: StationId,
    tag: u32,
    /// One bit per fragment received.
    received: u64,
    expires: Time,
    /// The packet, if the sender is done with it and only the receiver holds it.
    packet: Option<PacketId>,
}

/// The reassembly buffers of a station.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    partials: Vec<PartialDatagram>,
}

/// Result of a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// Fragments are missing; the timeout, if this was the first of its datagram.
    Incomplete(Option<Time>),
    /// The datagram is complete; the packet, if the sender is done with it.
    Complete(Option<PacketId>),
}

impl Reassembly {
    /// Adds a fragment.
    pub(super) fn add(&mut self, now: Time, from: StationId, fragment: Fragment) -> Progress {
        let known = self.partials.iter().position(|p| p.from == from && p.tag == fragment.tag);
        let index = known.unwrap_or(self.partials.len());
        if known.is_none() {
            let (tag, expires) = (fragment.tag, now + TIMEOUT);
            self.partials.push(PartialDatagram { from, tag, received: 0, expires, packet: None });
        }
        let partial = &mut self.partials[index];
        partial.received |= 1 << fragment.index;
        if partial.received.count_ones() == fragment.count {
            return Progress::Complete(self.partials.remove(index).packet);
        }
        Progress::Incomplete(known.is_none().then_some(self.partials[index].expires))
    }

    /// Takes over a packet that the sender is done with; false if no fragment of it is here.
    pub(super) fn adopt(&mut self, from: StationId, tag: u32, packet: PacketId) -> bool {
        let partial = self.partials.iter_mut().find(|p| p.from == from && p.tag == tag);
        partial.map(|partial| partial.packet = Some(packet)).is_some()
    }

    /// Discards the fragments of a datagram.
    pub(super) fn discard(&mut self, from: StationId, tag: u32) {
        self.partials.retain(|p| p.from != from || p.tag != tag);
    }

    /// Removes a datagram whose timeout is over; its packet, if the sender is done with it.
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<Option<PacketId>> {
        let index = self.partials.iter().position(|p| p.expires <= now)?;
        Some(self.partials.remove(index).packet)
    }

    /// Packets held here alone.
    pub(super) fn packets(&self) -> u64 {
        self.partials.iter().filter(|p| p.packet.is_some()).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(tag: u32, index: u32, count: u32) -> Fragment {
        Fragment { tag, index, count }
    }

    #[test]
    fn a_datagram_is_whole_when_every_fragment_is_there() {
        let mut buffers = Reassembly::default();
        let (now, from) = (Time::ZERO, StationId(3));
        assert_eq!(buffers.add(now, from, fragment(7, 0, 3)), Progress::Incomplete(Some(now + TIMEOUT)));
        assert_eq!(buffers.add(now, from, fragment(7, 2, 3)), Progress::Incomplete(None));
        assert_eq!(buffers.add(now, from, fragment(7, 2, 3)), Progress::Incomplete(None), "the same again");
        assert_eq!(
            buffers.add(now, StationId(4), fragment(7, 1, 3)),
            Progress::Incomplete(Some(now + TIMEOUT)),
            "another's"
        );
        assert_eq!(buffers.add(now, from, fragment(7, 1, 3)), Progress::Complete(None));
    }

    /// 60 s after the first fragment, whatever came later.
    #[test]
    fn reassembly_times_out_after_sixty_seconds() {
        let mut buffers = Reassembly::default();
        let at = |s: f64| Time::ZERO + Span::from_secs_f64(s);
        buffers.add(at(1.0), StationId(3), fragment(7, 0, 3));
        buffers.add(at(40.0), StationId(3), fragment(7, 1, 3));
        assert_eq!(buffers.pop_expired(at(60.999)), None);
        assert_eq!(buffers.pop_expired(at(61.0)), Some(None));
        assert_eq!(buffers.add(at(62.0), StationId(3), fragment(7, 2, 3)), Progress::Incomplete(Some(at(122.0))));
    }
}
