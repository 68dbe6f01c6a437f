//! What may be sent now: the window's room, the receiver's, Nagle's rule, pacing; and whether the window was used.

use super::{Repair, Sender};
use crate::cc::{Sent, State};
use crate::options::Clock;
use crate::rate::Stamp;
use crate::scoreboard::Chunk;
use crate::segment::Ecn;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Rate, Span, Time};

/// A segment to send, as far as the sender decides on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    /// The stretch of the sequence space.
    pub(crate) chunk: Chunk,
    /// ECN field of the packet.
    pub(crate) ecn: Ecn,
    /// Tell the other side that the window has been reduced (RFC 3168 §6.1.2).
    pub(crate) cwr: bool,
    /// It ends a packet of several segments for the network card.
    pub(crate) push: bool,
}

impl Outgoing {
    /// Neither new data nor ECN-capable (RFC 3168 §6.1.4, §6.1.5).
    fn plain(chunk: Chunk) -> Outgoing {
        Outgoing { chunk, ecn: Ecn::NotEct, cwr: false, push: false }
    }
}

/// Whether the window was used, so that an unused one does not grow (Linux's rule).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    max_flight: Bytes,
    until: u64,
}

/// When the next segment may leave.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Pace {
    next_at: Time,
    /// What is leaving at once.
    bundle: Option<Bundle>,
    /// The connection paces although its algorithm does not ask for it.
    always: bool,
    /// Segments that leave as they come: the initial window.
    free: u32,
}

/// Segments that leave at once and are paid for together.
#[derive(Clone, Copy, Debug)]
struct Bundle {
    bytes: Bytes,
    /// It leaves so much later than it might have.
    late: Span,
}

impl Pace {
    pub(super) fn new(always: bool) -> Pace {
        Pace { always, next_at: Time::ZERO, free: 10, bundle: None }
    }

    /// Nothing leaves before.
    pub(super) fn until(&self) -> Time {
        self.next_at
    }

    /// True while nothing may leave.
    fn holds(&self, now: Time) -> bool {
        self.bundle.is_none() && now < self.next_at
    }

    /// A segment leaves. The bundle is complete when one more would make it larger than `quantum`; without one each
    /// segment is a bundle, and being late changes nothing.
    fn on_sent(&mut self, now: Time, bytes: Bytes, quantum: Option<Bytes>, rate: Rate) {
        if self.free > 0 {
            self.free -= 1;
            self.next_at = if quantum.is_some() { now } else { self.next_at };
            return;
        }
        let late = if quantum.is_some() { now.since(self.next_at) } else { Span::ZERO };
        let bundle = self.bundle.get_or_insert(Bundle { bytes: Bytes::ZERO, late });
        bundle.bytes += bytes;
        if quantum.is_none_or(|quantum| bundle.bytes.saturating_add(bytes) > quantum) {
            self.complete(now, rate);
        }
    }

    /// The pause after a bundle. As in Linux, one that left late shortens it by that, at most to half.
    fn complete(&mut self, now: Time, rate: Rate) {
        if let Some(Bundle { bytes, late }) = self.bundle.take() {
            let length = rate.transmission_time(bytes);
            self.next_at = self.next_at.max(now) + length.saturating_sub(late.min(length / 2));
        }
    }
}

impl Sender {
    /// The next stretch to send, lost ones first; `None` when nothing may be sent now.
    pub(crate) fn poll(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        if std::mem::take(&mut self.window_probe_due) {
            let chunk = Chunk { seq: self.snd_una - 1, len: 0, fin: false };
            return Some(Outgoing::plain(chunk));
        }
        if self.only_receives {
            return None;
        }
        if self.pacing_rate().is_some() && self.pace.holds(now) {
            timers.arm(Timer::Pacing, self.pace.next_at);
            self.burst_ended(now, timers);
            return None;
        }
        if let Some(probe) = self.poll_tail_probe(now, timers) {
            // A probe is no burst: it does not schedule the next one.
            self.last_sent_at = Some(now);
            return Some(probe);
        }
        let out = self.pick(now, timers);
        match &out {
            Some(out) => self.after_sending(now, out),
            None => self.burst_ended(now, timers),
        }
        out
    }

    fn pick(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        if self.new_data_goes_first() {
            if let Some(new) = self.poll_new(now, timers, false) {
                return Some(new);
            }
            if !self.give_up_frto_without_new_data() {
                return None;
            }
        }
        match self.board.next_lost() {
            Some(lost) => self.poll_lost(now, lost, timers),
            None => match self.poll_new(now, timers, false) {
                None if self.state == State::Recovery => self.poll_hole(now),
                new => new,
            },
        }
    }

    fn after_sending(&mut self, now: Time, out: &Outgoing) {
        self.last_sent_at = Some(now);
        self.sent_in_burst = true;
        if let Some(rate) = self.pacing_rate() {
            let quantum = self.cc.send_quantum();
            self.pace.on_sent(now, Bytes(u64::from(out.chunk.len)), quantum, rate);
        }
    }

    #[inline(never)]
    fn poll_lost(&mut self, now: Time, lost: Chunk, timers: &mut Timers) -> Option<Outgoing> {
        let fits = self.board.pipe() + Bytes(u64::from(lost.len)) <= self.send_window();
        let urgent = matches!(&self.repair, Repair::Classic(dupack) if dupack.urgent());
        if !fits && !urgent {
            return None;
        }
        let stamp = self.stamp(now, Bytes(u64::from(lost.len)));
        let oldest = self.board.resent(now, stamp);
        // RFC 6298 §5.1; RFC 8985 lets the repair of the oldest segment restart the timer, as Linux does.
        let restart = oldest && matches!(self.repair, Repair::Modern(_)) && !timers.armed(Timer::Reorder);
        if restart || !timers.any_armed(&Timers::OF_LOSS) {
            timers.arm_alone(Timer::Rto, now + self.rtt.rto());
        }
        Some(self.repeat(now, lost))
    }

    /// What the rate sampler notes of a segment of `bytes` that leaves now.
    pub(super) fn stamp(&mut self, now: Time, bytes: Bytes) -> Stamp {
        let pipe = self.board.pipe();
        self.sampler.on_sent(now, pipe, pipe + bytes, self.board.lost_in_all())
    }

    /// The board has taken note of a segment.
    fn tell_sent(&mut self, now: Time, chunk: Chunk, retransmission: bool) {
        let bytes = Bytes(u64::from(chunk.len));
        self.cc.on_sent(&Sent { now, seq: chunk.seq, bytes, pipe: self.board.pipe(), retransmission });
    }

    /// A segment that the board has noted leaves again.
    pub(super) fn repeat(&mut self, now: Time, chunk: Chunk) -> Outgoing {
        self.totals.retransmitted_segments += 1;
        self.tell_sent(now, chunk, true);
        let in_episode = self.state.in_cwnd_reduction();
        match &mut self.repair {
            Repair::Classic(dupack) => dupack.on_retransmitted(),
            Repair::Modern(modern) => {
                modern.undo.on_retransmission(Clock::at(now));
                if in_episode {
                    modern.way.on_sent(Bytes(chunk.sequence_len()));
                }
            }
        }
        Outgoing::plain(chunk)
    }

    /// New data, if window and receiver have room; `probe` leaves the window out of account.
    pub(super) fn poll_new(&mut self, now: Time, timers: &mut Timers, probe: bool) -> Option<Outgoing> {
        let unsent = self.end.saturating_sub(self.snd_nxt);
        let fin_waits = self.fin && !self.fin_sent();
        if unsent == 0 && !fin_waits {
            return None;
        }
        let idle = self.board.is_empty();
        let wanted = unsent.min(self.mss.0);
        let room = (self.snd_una + self.rwnd.0).saturating_sub(self.snd_nxt);
        // Silly-window avoidance (RFC 9293 §3.8.6.2.1): a window smaller than the segment waits, unless all is quiet.
        let len = if room >= wanted || idle { wanted.min(room) } else { 0 };
        // The FIN occupies a number of its own and stays within the window too, unless all is quiet (RFC 9293 §3.4).
        let fin = fin_waits && len == unsent && (room > len || (idle && len == 0));
        if len == 0 && !fin {
            if idle && !timers.armed(Timer::Persist) {
                timers.arm(Timer::Persist, now + self.persist_interval());
            }
            return None;
        }
        let small = len < self.mss.0 && !fin;
        // Nagle's rule with Minshall's refinement: one small segment at a time.
        if small && self.nagle && !probe && self.small_end > self.snd_una {
            return None;
        }
        if let Some(last) = self.last_sent_at.filter(|_| idle) {
            self.tell_idle(now, last);
        }
        if self.board.pipe() + Bytes(len) > self.send_window() && !idle && !probe {
            return None;
        }
        let push = self.bundles && !probe && !small && self.ends_bundle(now, room);
        let chunk = Chunk { seq: self.snd_nxt, len: len as u32, fin };
        Some(Outgoing { push, ..self.send_new(now, chunk, small, timers) })
    }

    #[cold]
    #[inline(never)]
    fn tell_idle(&mut self, now: Time, last: Time) {
        let view = self.view(now, false);
        self.cc.on_idle(now.since(last), &view);
    }

    fn send_new(&mut self, now: Time, chunk: Chunk, small: bool, timers: &mut Timers) -> Outgoing {
        let bytes = Bytes(u64::from(chunk.len));
        let pipe = self.board.pipe();
        let in_episode = self.state.in_cwnd_reduction();
        match &mut self.repair {
            Repair::Classic(dupack) => dupack.on_new_data(self.state, bytes, pipe + bytes, self.cc.window().cwnd),
            Repair::Modern(modern) if in_episode => modern.way.on_sent(Bytes(chunk.sequence_len())),
            Repair::Modern(modern) if self.state == State::Disorder => modern.limited += bytes,
            Repair::Modern(_) => {}
        }
        let stamp = self.stamp(now, bytes);
        let idle = self.board.is_empty();
        self.board.push(now, chunk, stamp);
        self.tell_sent(now, chunk, false);
        self.snd_nxt += chunk.sequence_len();
        if small {
            self.small_end = self.snd_nxt;
        }
        // RFC 6298 §5.1. A pending probe gives way to the time-out until the burst has ended and it is set anew.
        if idle || timers.armed(Timer::Tlp) {
            self.restart_rto(now, timers);
        } else if !timers.any_armed(&Timers::OF_LOSS) {
            timers.arm_alone(Timer::Rto, now + self.rtt.rto());
        }
        let cwr = self.ecn != Ecn::NotEct && std::mem::take(&mut self.cwr_due);
        Outgoing { chunk, ecn: self.ecn, cwr, push: false }
    }

    /// The send loop ran dry.
    fn burst_ended(&mut self, now: Time, timers: &mut Timers) {
        if !std::mem::replace(&mut self.looked_in_vain, true) {
            self.note_use();
        }
        if let Some(rate) = self.pacing_rate() {
            self.pace.complete(now, rate);
        }
        let window = self.send_window();
        let limited = self.board.pipe() + self.mss > window;
        let sent = std::mem::take(&mut self.sent_in_burst);
        if sent || limited {
            let flight = self.board.flight();
            let stale = self.snd_una >= self.usage.until;
            if stale || limited || (!self.usage.limited && flight > self.usage.max_flight) {
                self.usage = Usage { limited, max_flight: flight, until: self.snd_nxt };
            }
        }
        if !limited && self.end <= self.snd_nxt && self.board.lost() <= self.board.retransmitted() {
            self.sampler.mark_app_limited(self.board.pipe());
        }
        if sent {
            self.schedule_tail_probe(now, false, timers);
            self.arm_algorithm_timer(timers);
        }
    }

    /// Linux's tcp_is_cwnd_limited, in words: the window was full, or in slow start at least half of it was.
    pub(super) fn cwnd_limited(&self) -> bool {
        let window = self.cc.window();
        self.usage.limited || (window.in_slow_start() && window.cwnd < self.usage.max_flight * 2)
    }

    /// The rate to send at, if the connection or its algorithm paces.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.cc.pacing_rate() {
            return Some(rate);
        }
        if self.pace.always { self.usual_rate() } else { None }
    }

    /// The rate of an algorithm that asks for none.
    pub(super) fn usual_rate(&self) -> Option<Rate> {
        // Linux's pace: twice cwnd/srtt below half of ssthresh, 1.2 times above
        let window = self.cc.window();
        let percent = if window.cwnd.0 < window.ssthresh.0 / 2 { 200 } else { 120 };
        let bytes = Bytes(window.cwnd.max(self.board.flight()).0.saturating_mul(percent) / 100);
        self.rtt.rate_of(bytes)
    }
}
