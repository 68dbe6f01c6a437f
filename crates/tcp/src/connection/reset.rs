//! Resets, sent and received (RFC 9293 §3.5.2, §3.10.7), challenge ACKs (RFC 5961), and the ways in which an application
//! leaves a connection other than by shutting down its sending direction (RFC 9293 §3.10.4, §3.10.5), and a peer that does not answer
//! (§3.8.3: R2 and the user time-out).

use super::exceptional::Exceptional;
use super::{Connection, ConnectionState};
use crate::segment::{Flags, Segment};
use crate::sender::Unanswered;
use crate::seq::SeqNo;
use crate::settings::RtoBounds;
use crate::timers::Timer;
use crate::units::{Bytes, Span, Time};

/// At most one challenge ACK in this time (RFC 5961 §7; Linux's tcp_invalid_ratelimit).
const CHALLENGE_INTERVAL: Span = Span::from_millis(500);

impl Connection {
    /// The application receives no more (SHUT_RD). Alone this changes nothing for the peer; after
    /// [`Connection::shutdown_write`] new data of the peer is answered with a reset (RFC 1122 §4.2.2.13).
    pub fn shutdown_read(&mut self) {
        self.read_closed = true;
    }

    /// The application is gone (RFC 9293 §3.10.4, RFC 1122 §4.2.2.13). An attempt to connect is given up; data not read
    /// resets the connection (RFC 2525 §2.17), and so does new data that arrives later. Otherwise a FIN follows what was written.
    pub fn close(&mut self, now: Time) {
        match self.state {
            ConnectionState::Closed | ConnectionState::TimeWait => self.close_requested = true,
            ConnectionState::Listen | ConnectionState::SynSent => self.abort(now),
            _ if self.receiver.unread() > Bytes::ZERO => self.abort(now),
            _ => {
                self.read_closed = true;
                self.detached = true;
                self.shutdown_write();
                self.limit_fin_wait_2(now);
            }
        }
    }

    /// Ends the connection at once; the peer is told by a reset if it may still hold the connection open (RFC 9293 §3.10.5).
    pub fn abort(&mut self, now: Time) {
        self.close_requested = true;
        match self.state {
            ConnectionState::Closed => return,
            ConnectionState::Listen
            | ConnectionState::SynSent
            | ConnectionState::Closing
            | ConnectionState::LastAck
            | ConnectionState::TimeWait => {}
            ConnectionState::SynReceived
            | ConnectionState::Established
            | ConnectionState::FinWait1
            | ConnectionState::FinWait2
            | ConnectionState::CloseWait => self.send_reset(now),
        }
        // Nobody is left to read.
        self.receiver.discard();
        self.pending.peer_closed = false;
        self.enter_closed();
    }

    /// The peer has not answered for too long. It is not told (RFC 9293 §3.10.8).
    #[cold]
    #[inline(never)]
    pub(super) fn give_up(&mut self) {
        self.pending.aborted = true;
        self.enter_closed();
    }

    /// Nobody waits for the FIN of the peer, so FIN-WAIT-2 ends by itself (Linux's tcp_fin_timeout).
    pub(super) fn limit_fin_wait_2(&mut self, now: Time) {
        if self.detached && self.state == ConnectionState::FinWait2 {
            self.timers.arm(Timer::TimeWait, now + self.time_wait);
        }
    }

    /// The reset that goes with an abort. Like every segment of a synchronized connection it has ACK (RFC 9293 §3.1).
    fn send_reset(&mut self, now: Time) {
        self.send_first(now, Flags::RST.with(Flags::ACK));
    }

    /// A segment with nothing but these flags goes before all others.
    fn send_first(&mut self, now: Time, flags: Flags) {
        let ack = self.receiver.rcv_nxt();
        let bare = Segment {
            seq: self.snd_nxt().max(SeqNo::FIRST_DATA),
            ack,
            flags,
            window: self.receiver.window(),
            timestamps: self.clock.stamp(now, ack),
            ..Segment::default()
        };
        self.exceptional().first = Some(bare);
    }

    /// RFC 9293 §3.10.7.1: the reset that answers a segment which no connection expects. A reset is never answered.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let answer = if segment.flags.contains(Flags::ACK) {
            Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
        } else {
            Segment { ack: segment.end(), flags: Flags::RST.with(Flags::ACK), ..Segment::default() }
        };
        self.exceptional().first = Some(answer);
    }

    /// RFC 1122 §4.2.2.13: data for an application that has closed resets the connection. True if it has.
    #[cold]
    #[inline(never)]
    pub(super) fn refuses_data(&mut self, segment: &Segment) -> bool {
        let new = segment.len > 0 && segment.seq + Bytes(u64::from(segment.len)) > self.receiver.rcv_nxt();
        let refuses = new && self.close_requested && self.sender.is_some() && !self.receiver.fin_received();
        if refuses {
            self.refuse(segment);
            self.enter_closed();
        }
        refuses
    }

    /// RFC 9293 §3.10.7.3, §3.10.7.4 with RFC 5961 §3.2: a reset is obeyed if it acknowledges our SYN or has the very number
    /// that is expected; elsewhere in the window it may be forged, and is answered with a challenge ACK.
    #[cold]
    #[inline(never)]
    pub(super) fn on_reset(&mut self, now: Time, segment: &Segment) {
        let obeyed = match self.state {
            ConnectionState::Closed | ConnectionState::Listen => return,
            ConnectionState::SynSent => segment.flags.contains(Flags::ACK) && segment.ack == SeqNo::FIRST_DATA,
            _ => segment.seq == self.receiver.rcv_nxt(),
        };
        if obeyed {
            // RFC 9293 §3.10.7.4: in these states the application has nothing to lose any more.
            let over =
                matches!(self.state, ConnectionState::Closing | ConnectionState::LastAck | ConnectionState::TimeWait);
            self.pending.reset |= !over;
            self.enter_closed();
        } else if self.receiver.is_in_window(segment.seq) {
            self.challenge(now);
        }
    }

    /// RFC 5961 §3.2, §4.2, §5.2: an ACK asks the peer whether it meant this; if it did, its answer has the right number.
    #[cold]
    #[inline(never)]
    pub(super) fn challenge(&mut self, now: Time) {
        let last = self.exceptional.as_ref().and_then(|exceptional| exceptional.challenged_at);
        let allowed = last.is_none_or(|last| now.since(last) >= CHALLENGE_INTERVAL);
        if !allowed {
            return;
        }
        self.exceptional().challenged_at = Some(now);
        if self.sender.is_some() {
            self.ack_pending = true;
        } else {
            // In SYN-RECEIVED (RFC 9293 §3.10.7.4, first and second).
            self.send_first(now, Flags::ACK);
        }
    }

    /// What only a connection in trouble needs, made if it is the first time.
    pub(super) fn exceptional(&mut self) -> &mut Exceptional {
        self.exceptional.get_or_insert_default()
    }

    /// A retransmission timed out, or a probe of a closed window is due. True if the connection is to be given up.
    #[cold]
    #[inline(never)]
    pub(super) fn on_no_answer(&mut self, now: Time, unanswered: Unanswered, rto: RtoBounds) -> bool {
        let retries = u32::from(self.retries2);
        let timers = &mut self.timers;
        let waiting = self.exceptional.get_or_insert_default();
        if unanswered.timeouts + unanswered.probes == 1 {
            waiting.since = now;
            if waiting.user_timeout > Span::ZERO {
                timers.arm(Timer::UserTimeout, now + waiting.user_timeout);
            }
        }
        // RFC 9293 §3.8.6.1: while probes are answered the connection stays open.
        if std::mem::take(&mut waiting.answered) || unanswered.probes == 0 {
            waiting.probes = 0;
        }
        waiting.probes += u32::from(unanswered.probes > 0);
        let timed_out = unanswered.timeouts > 1 && now.since(waiting.since) >= time_of(retries, rto);
        retries > 0 && (timed_out || waiting.probes > retries)
    }
}

/// The time that so many retransmissions take if the first time-out is the least, and each the double of the one before up to
/// the greatest. Like Linux's, R2 is a time: a connection with a longer time-out makes fewer attempts.
fn time_of(retries: u32, rto: RtoBounds) -> Span {
    let mut timeout = rto.min.max(rto.granularity).max(Span::from_millis(1));
    let mut total = Span::ZERO;
    for _ in 0..=retries.min(10_000) {
        total += timeout;
        timeout = timeout.saturating_mul(2).min(rto.max);
    }
    total
}
