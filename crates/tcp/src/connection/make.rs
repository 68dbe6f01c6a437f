//! The segments of a connection: SYN, data, ACK.

use super::{Connection, ConnectionState, NO_ACK};
use crate::segment::{Flags, Sack, Segment};
use crate::sender::Outgoing;
use crate::seq::SeqNo;
use crate::timers::Timer;
use crate::units::Time;

impl Connection {
    /// The next segment to send now; call until it returns `None`.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if let Some(first) = self.exceptional.as_mut().and_then(|exceptional| exceptional.poll()) {
            return Some(first);
        }
        if self.handshake.as_ref().is_some_and(|handshake| handshake.syn_due) && !self.opens_without_syn(now) {
            return self.make_syn(now);
        }
        let sender = self.sender.as_mut()?;
        if self.early_ack != NO_ACK {
            let ack = std::mem::replace(&mut self.early_ack, NO_ACK);
            return Some(self.make_early_ack(now, ack));
        }
        // CLOSED sends no data; a final ACK may still be pending.
        let without_data = std::mem::take(&mut self.ack_alone) || self.state == ConnectionState::Closed;
        let next = if without_data { None } else { sender.poll(now, &mut self.timers) };
        if next.is_none() && !self.ack_pending {
            return None;
        }
        if next.is_none() && self.exceptional.is_some() {
            return Some(self.make_exceptional_ack(now));
        }
        Some(self.make_segment(now, next))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn make_syn(&mut self, now: Time) -> Option<Segment> {
        let handshake = self.handshake.as_mut()?;
        let segment = handshake.make(now, &self.clock, self.receiver.window());
        // The window of a SYN counts as advertised too.
        self.receiver.on_ack_sent(segment.window);
        self.timers.arm(Timer::Rto, now + handshake.timeout());
        Some(segment)
    }

    /// The segment that carries `next`, or a pure ACK. It acknowledges everything
    /// received, so no ACK is pending afterwards. It is built in the last expression, which spares a copy.
    #[inline]
    pub(super) fn make_segment(&mut self, now: Time, next: Option<Outgoing>) -> Segment {
        let (seq, len, ecn, flags, ecn_bytes) = match next {
            Some(Outgoing { chunk, ecn, cwr, push }) => {
                let fin = if chunk.fin { Flags::FIN } else { Flags::default() };
                let cwr = if cwr { Flags::CWR } else { Flags::default() };
                let push = if push { Flags::PSH } else { Flags::default() };
                let flags = self.echo.flags_of_data(cwr).with(fin).with(push);
                (chunk.seq, chunk.len, ecn, flags, self.echo.option_of_data())
            }
            None => (self.snd_nxt(), 0, self.echo.of_acks, self.echo.flags_of_ack(), self.echo.option()),
        };
        let ack = self.receiver.rcv_nxt();
        let timestamps = self.clock.stamp(now, ack);
        let window = self.receiver.window();
        let sack = if self.receiver.has_sack() {
            let options = Segment { timestamps, ecn_bytes, ..Segment::default() };
            self.receiver.sack_option(options.max_sack_blocks())
        } else {
            Sack::default()
        };
        self.ack_pending = false;
        if len > 0 {
            self.receiver.on_data_sent(now);
        }
        self.timers.stop(Timer::DelayedAck);
        self.timers.stop(Timer::CompressedAck);
        self.receiver.on_ack_sent(window);
        self.echo.on_ack_sent();
        if flags.contains(Flags::FIN) {
            self.update_closing_state(now);
        }
        Segment { seq, ack, len, flags: flags.with(Flags::ACK), ecn, window, timestamps, sack, syn: None, ecn_bytes }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn make_early_ack(&mut self, now: Time, ack: SeqNo) -> Segment {
        let early = Segment {
            seq: self.snd_nxt(),
            ack,
            window: self.receiver.window_at(ack),
            timestamps: self.clock.stamp(now, ack),
            ecn: self.echo.of_acks,
            ..Segment::default()
        };
        let Some(released) = self.receiver.take_released() else {
            return Segment { flags: Flags::ACK.with(self.echo.previous_flags()), ..early };
        };
        let early =
            Segment { flags: Flags::ACK.with(self.echo.flags_of_ack()), ecn_bytes: self.echo.option(), ..early };
        Segment { sack: released.first(early.max_sack_blocks()), ..early }
    }
}
