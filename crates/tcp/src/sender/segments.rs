//! The segments that a sender makes: new data within the receiver's window and by Nagle's rule, and retransmissions.

use super::core::SenderCore;
use super::tso::{self, TsoLimits, Waiting};
use crate::cc::{Lost, Sent, State};
use crate::scoreboard::{Chunk, TxState};
use crate::segment::Ecn;
use crate::seq::SeqNo;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

/// A segment to send, as far as the sender decides on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    /// Its part of the sequence space.
    pub(crate) chunk: Chunk,
    /// ECN field of the packet.
    pub(crate) ecn: Ecn,
    /// CWR is set: the window has been reduced (RFC 3168 §6.1.2).
    pub(crate) cwr: bool,
    /// PSH is set: it ends what was written, or a packet of several segments for the network card.
    pub(crate) push: bool,
}

impl Outgoing {
    /// Neither new data nor ECN-capable (RFC 3168 §6.1.4, §6.1.5).
    pub(crate) fn plain(chunk: Chunk) -> Outgoing {
        Outgoing { chunk, ecn: Ecn::NotEct, cwr: false, push: false }
    }
}

/// New data that may be sent as far as the receiver and Nagle's rule are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewData {
    pub(crate) chunk: Chunk,
    /// It is not a full segment.
    pub(crate) small: bool,
    /// Nothing is outstanding.
    pub(crate) idle: bool,
    /// Room in the receiver's window.
    pub(crate) room: Bytes,
    /// It has waited long enough for its window or its rest.
    pub(crate) forced: bool,
}

/// Whether Nagle's rule holds back a segment that is not full: it does not for a tail loss probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nagle {
    Applies,
    Ignored,
}

/// How often a segment is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transmission {
    First,
    Again,
}

/// The number after the last byte of a segment, a FIN left out.
fn chunk_end(chunk: Chunk) -> SeqNo {
    chunk.seq + Bytes(u64::from(chunk.len))
}

impl SenderCore {
    /// The next new data.
    #[inline]
    pub(crate) fn next_new_data(&mut self, now: Time, nagle: Nagle, timers: &mut Timers) -> Option<NewData> {
        let unsent = self.end.since(self.snd_nxt);
        let fin_waits = self.fin && !self.fin_sent();
        if unsent == Bytes::ZERO && !fin_waits {
            return None;
        }
        let idle = self.board.is_empty();
        let window_end = self.snd_una + self.rwnd;
        let room = window_end.since(self.snd_nxt);
        let forced = std::mem::take(&mut self.override_due);
        let mut len = if forced { unsent.min(self.mss).min(room) } else { self.sendable(window_end) };
        if len == Bytes::ZERO && self.tso_packet.is_cut(now) {
            len = room.min(unsent);
        }
        // The FIN occupies a number of its own and stays within the window too, unless nothing is outstanding
        // (RFC 9293 §3.4).
        let fin = fin_waits && len == unsent && (room > len || (idle && len == Bytes::ZERO));
        if len == Bytes::ZERO && !fin {
            if idle && !timers.armed(Timer::Persist) {
                timers.arm(Timer::Persist, now + self.persist_interval());
            }
            return None;
        }
        let small = len < self.mss && !fin;
        if small && nagle == Nagle::Applies && !forced && self.holds_back(self.snd_nxt + len) {
            if idle && !timers.armed(Timer::Persist) {
                timers.arm(Timer::Persist, now + self.persist_interval());
            }
            return None;
        }
        if idle && self.last_sent_at != Timers::NEVER {
            self.report_idle(now, self.last_sent_at);
        }
        let chunk = Chunk { seq: self.snd_nxt, len: len.0 as u32, fin };
        Some(NewData { chunk, small, idle, room, forced })
    }

    /// How much of the next segment may be sent into a window that ends at `window_end`. Silly-window avoidance (RFC 9293
    /// §3.8.6.2.1): a segment larger than the window waits, unless nothing is outstanding and half the largest window
    /// that the receiver has offered is free.
    #[inline]
    pub(crate) fn sendable(&self, window_end: SeqNo) -> Bytes {
        let wanted = self.end.since(self.snd_nxt).min(self.tso_packet.most(self.snd_nxt, self.mss));
        let room = window_end.since(self.snd_nxt);
        if room >= wanted {
            wanted
        } else if self.board.is_empty() && room >= self.max_rwnd / 2 {
            room
        } else {
            Bytes::ZERO
        }
    }

    /// A segment that is not full and ends at `end` waits.
    fn holds_back(&self, end: SeqNo) -> bool {
        // Nagle's rule with Minshall's refinement: one small segment at a time.
        let waits = self.cork || self.more || (self.nagle && self.small_end > self.snd_una);
        waits && end > self.pushed
    }

    #[cold]
    #[inline(never)]
    fn report_idle(&mut self, now: Time, last: Time) {
        let view = self.view(now);
        self.cc.on_idle(now.since(last), &view);
    }

    /// Reports to the algorithm what was newly marked lost.
    #[inline]
    pub(crate) fn report_losses(&mut self, now: Time) {
        if self.board.has_newly_lost() {
            self.report_newly_lost(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_newly_lost(&mut self, now: Time) {
        let view = self.view(now);
        for segment in self.board.take_newly_lost() {
            let lost = Lost {
                seq: segment.seq,
                bytes: segment.bytes,
                sent_at: segment.sent_at,
                tx_in_flight: segment.tx.in_flight(),
                lost_since: segment.lost_total.saturating_sub(segment.tx.lost),
                app_limited: segment.tx.app_limited(),
            };
            self.cc.on_lost(&lost, &view);
        }
    }

    #[inline]
    pub(crate) fn send_new(&mut self, now: Time, new: &NewData, timers: &mut Timers) -> Outgoing {
        let chunk = new.chunk;
        let tx = self.tx_state(now, Bytes(u64::from(chunk.len)));
        self.board.push(now, chunk, tx);
        self.report_sent(now, chunk, Transmission::First);
        self.snd_nxt += chunk.sequence_len();
        if new.small {
            self.small_end = self.snd_nxt;
        }
        // RFC 6298 §5.1. A pending probe gives way to the time-out until the burst has ended and it is scheduled anew.
        if new.idle {
            timers.stop(Timer::Persist);
        }
        if new.idle || timers.armed(Timer::Tlp) {
            self.restart_rto(now, timers);
        } else if !timers.any_armed(&Timers::OF_LOSS) {
            timers.arm_alone(Timer::Rto, now + self.rtt.rto());
        }
        // A FIN alone is no new data (Linux: `tcp_ecn_send`): as a retransmission it is ECN-capable only where all is.
        let ecn = if chunk.len == 0 { self.ecn_of_retransmissions } else { self.ecn };
        let cwr = ecn != Ecn::NotEct && std::mem::take(&mut self.cwr_due);
        let push = self.ends_write(chunk) || (new.forced && self.tso_psh);
        Outgoing { chunk, ecn, cwr, push }
    }

    /// A segment that the scoreboard has noted as retransmitted.
    #[inline]
    pub(crate) fn retransmit(&mut self, now: Time, chunk: Chunk) -> Outgoing {
        self.totals.retransmitted_segments += 1;
        self.report_sent(now, chunk, Transmission::Again);
        let push =
            self.ends_write(chunk) || self.earlier_ends.as_ref().is_some_and(|ends| ends.contains(&chunk_end(chunk)));
        Outgoing { ecn: self.ecn_of_retransmissions, push, ..Outgoing::plain(chunk) }
    }

    /// Data is appended: the write before ends where it did only if all of it has been sent (Linux takes PSH from data that
    /// waits when more is appended to it).
    #[inline]
    pub(crate) fn begin_write(&mut self) {
        let outstanding = self.snd_una < self.written_end && self.written_end <= self.snd_nxt;
        if outstanding && self.tso_psh {
            let ends = self.earlier_ends.get_or_insert_default();
            while ends.front().is_some_and(|end| *end <= self.snd_una) {
                ends.pop_front();
            }
            ends.push_back(self.written_end);
        }
    }

    /// It is the last segment of the last write, in a profile that sends PSH.
    #[inline]
    fn ends_write(&self, chunk: Chunk) -> bool {
        self.tso_psh && chunk.len > 0 && chunk_end(chunk) == self.written_end
    }

    /// What is remembered of the transmission of `bytes` now.
    #[inline]
    pub(crate) fn tx_state(&mut self, now: Time, bytes: Bytes) -> TxState {
        let in_flight = self.board.pipe() + bytes;
        self.sampler.on_sent(now, self.board.is_empty(), in_flight, self.board.lost_total())
    }

    /// Reports a segment to the algorithm once the scoreboard has noted it.
    #[inline]
    fn report_sent(&mut self, now: Time, chunk: Chunk, transmission: Transmission) {
        let (bytes, retransmission) = (Bytes(u64::from(chunk.len)), transmission == Transmission::Again);
        self.cc.on_sent(
            &Sent { now, seq: chunk.seq, bytes, pipe: self.board.pipe(), retransmission },
            self.board.flight(),
        );
    }

    /// A segment is about to be sent: true if it ends a packet of several segments for the network card, nothing if it
    /// waits so that the packet becomes larger.
    #[inline(never)]
    pub(crate) fn join_tso_packet(&mut self, now: Time, new: &NewData, send_window: Bytes) -> Option<bool> {
        if new.small {
            return Some(self.ends_cut_packet(now));
        }
        if let Some(last) = self.tso_packet.continue_packet(now) {
            return Some(last);
        }
        let Some(full) = self.full_packet() else { return Some(false) };
        let unsent = self.end.since(self.snd_nxt);
        let mut limits = TsoLimits {
            mss: self.mss,
            cwnd: send_window,
            cwnd_room: send_window.saturating_sub(self.board.pipe()),
            rwnd_room: new.room,
            unsent,
            buffered: unsent.min(self.tso_packet.left_in_buffer(self.snd_nxt, self.mss)),
            full,
        };
        if self.tso_fill {
            limits.fill();
        }
        // In recovery nothing waits.
        if self.tso_defer && self.state < State::Recovery && self.waits_for_room(now, &limits) {
            // What waits for the application to write more is not limited by a window.
            self.tso_packet.held = limits.cwnd_room < limits.rwnd_room && limits.cwnd_room <= limits.buffered;
            return None;
        }
        self.tso_packet.begin(now, &limits);
        Some(false)
    }

    /// Segments of a full packet; nothing if pacing is by the segment.
    fn full_packet(&self) -> Option<u64> {
        if self.pacing_rate().is_some() {
            return self.cc.send_quantum().map(|quantum| quantum.segments(self.mss).max(1));
        }
        Some(tso::full_packet(self.default_pacing_rate(), self.rtt.min(), self.mss))
    }

    fn waits_for_room(&self, now: Time, limits: &TsoLimits) -> bool {
        // A paced packet counts as sent when the next one may follow.
        let last = self.last_sent_at.max(self.pacer.until());
        limits.waits(&Waiting {
            rwnd: self.rwnd,
            since_last: now.since(last),
            head_age: self.board.head().map(|head| now.since(head.sent_at)),
            srtt: self.rtt.srtt().unwrap_or_default(),
            fin: self.fin,
        })
    }

    /// A segment that is not full is about to be sent: true if the receiver's window cut it off, behind full ones. The
    /// rest of its buffer is sent on its own, and Nagle's rule, which is about the last data written, does not apply to it.
    #[cold]
    fn ends_cut_packet(&mut self, now: Time) -> bool {
        let cut = self.tso_packet.is_cut(now);
        if cut {
            let buffer_end = self.tso_packet.end_cut(self.snd_nxt, self.mss);
            if buffer_end <= self.end {
                self.pushed = self.pushed.max(buffer_end);
            }
        }
        cut
    }
}
