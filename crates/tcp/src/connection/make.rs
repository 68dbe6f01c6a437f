//! The segments of a connection, made of what its parts have to say.

use super::Connection;
use crate::segment::{EcnBytes, Flags, Segment};
use crate::sender::Outgoing;
use crate::timers::Timer;
use crate::units::Time;

impl Connection {
    #[cold]
    #[inline(never)]
    pub(super) fn make_syn(&mut self, now: Time) -> Option<Segment> {
        let handshake = self.handshake.as_mut()?;
        let segment = handshake.make(now, &self.clock, self.receiver.window());
        // What a SYN offers is a promise too.
        self.receiver.on_ack_sent(segment.window);
        self.timers.arm(Timer::Rto, now + handshake.timeout());
        Some(segment)
    }

    pub(super) fn make_data(&mut self, now: Time, next: &Outgoing) -> Segment {
        let fin = if next.chunk.fin { Flags::FIN } else { Flags::default() };
        let push = if next.push { Flags::PSH } else { Flags::default() };
        let mut segment = self.make_header(now, None);
        segment.seq = next.chunk.seq;
        segment.len = next.chunk.len;
        segment.ecn = next.ecn;
        segment.flags = Flags::ACK.with(fin).with(push).with(self.echo.flags(next.cwr));
        segment
    }

    /// Not ECN-capable (RFC 3168 §6.1.4).
    pub(super) fn make_ack(&mut self, now: Time) -> Segment {
        let ecn_bytes = self.echo.option();
        let mut segment = self.make_header(now, ecn_bytes);
        segment.seq = self.snd_nxt();
        segment.flags = Flags::ACK.with(self.echo.flags(false));
        segment
    }

    /// What every segment says about what was received.
    #[inline]
    fn make_header(&mut self, now: Time, ecn_bytes: Option<EcnBytes>) -> Segment {
        let ack = self.receiver.rcv_nxt();
        let timestamps = self.clock.stamp(now, ack);
        let window = self.receiver.window();
        let mut segment = Segment { ack, window, timestamps, ecn_bytes, ..Segment::default() };
        if self.receiver.has_report() {
            segment.sack = self.receiver.report(segment.room_for_blocks());
        }
        segment
    }

    #[cold]
    #[inline(never)]
    pub(super) fn make_early_ack(&mut self, now: Time, ack: u64) -> Segment {
        Segment {
            seq: self.snd_nxt(),
            ack,
            flags: Flags::ACK.with(self.echo.flags_before()),
            window: self.receiver.window_at(ack),
            timestamps: self.clock.stamp(now, ack),
            ..Segment::default()
        }
    }
}
