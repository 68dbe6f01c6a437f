//! What may be sent now: the window's room, pacing, and what goes first.

use super::Sender;
use super::core::SenderCore;
use super::limits::{self, Limit};
use super::segments::{Nagle, Outgoing};
use crate::cc::State;
use crate::scoreboard::Chunk;
use crate::seq::SeqNo;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

impl Sender {
    /// The next segment to send, lost ones first; `None` when nothing may be sent now.
    pub(crate) fn poll(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let core = &mut self.core;
        if std::mem::take(&mut core.window_probe_due) {
            let chunk = Chunk { seq: SeqNo(core.snd_una.0 - 1), len: 0, fin: false };
            return Some(Outgoing::plain(chunk));
        }
        if core.pure_receiver || (core.feedback.waits && timers.armed(Timer::Rto)) {
            return None;
        }
        if core.pacing_rate().is_some() && core.pacer.blocks(now) {
            timers.arm(Timer::Pacing, core.pacer.until());
            self.on_burst_end(now, timers);
            return None;
        }
        if let Some(probe) = self.recovery.poll_first(core, now, timers) {
            // A probe is no burst: it does not schedule the next one.
            core.last_sent_at = now;
            return Some(probe);
        }
        let out = self.pick(now, timers);
        match &out {
            Some(out) => self.after_sending(now, out),
            None => self.on_burst_end(now, timers),
        }
        out
    }

    fn pick(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        if self.recovery.new_data_goes_first() {
            let new = self.poll_new(now, timers);
            if new.is_some() || self.recovery.continue_frto(self.core.snd_nxt) {
                return new;
            }
        }
        match self.core.board.next_lost() {
            Some(lost) => self.poll_lost(now, lost, timers),
            None => match self.poll_new(now, timers) {
                None if self.core.state == State::Recovery => self.recovery.poll_hole(&mut self.core, now),
                new => new,
            },
        }
    }

    fn after_sending(&mut self, now: Time, out: &Outgoing) {
        let core = &mut self.core;
        core.last_sent_at = now;
        core.sent_in_burst = true;
        if let Some(rate) = core.pacing_rate() {
            let quantum = core.cc.send_quantum();
            if core.cc.start_paces() {
                core.pacer.end_initial_window();
            }
            core.pacer.on_sent(now, Bytes(u64::from(out.chunk.len)), quantum, rate);
            // Also a packet that a buffer's end or a window has cut short is paid for.
            if quantum.is_some() && core.tso_psh && core.tso_packet.is_complete(now) {
                core.pacer.complete(now, rate);
            }
        }
    }

    #[inline(never)]
    fn poll_lost(&mut self, now: Time, lost: Chunk, timers: &mut Timers) -> Option<Outgoing> {
        let bytes = Bytes(u64::from(lost.len));
        // An agent may have sent what was not written; the window does not send it again before it is.
        let written = lost.seq + bytes <= self.core.end;
        let fits = written && self.core.board.pipe() + bytes <= self.send_window();
        if !fits && !self.recovery.forces_retransmit() {
            return None;
        }
        let core = &mut self.core;
        let tx = core.tx_state(now, bytes);
        let oldest = core.board.resent(now, tx);
        let restart = oldest && self.recovery.retransmission_restarts_rto() && !timers.armed(Timer::Reorder);
        if restart || !timers.any_armed(&Timers::OF_LOSS) {
            timers.arm_alone(Timer::Rto, now + core.rtt.rto());
        }
        self.recovery.on_retransmission(core, now, lost);
        Some(core.retransmit(now, lost))
    }

    /// New data, if the windows have room.
    fn poll_new(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let ahead = self.recovery.take_ahead(&self.core);
        let new = match ahead {
            Some(new) => new,
            None => self.core.next_new_data(now, Nagle::Applies, timers)?,
        };
        let window = self.send_window();
        let core = &mut self.core;
        // Something is sent when nothing is outstanding, whatever the window.
        let goes = ahead.is_some() || (new.idle && !self.recovery.window_may_close());
        if !goes && core.board.pipe() + Bytes(u64::from(new.chunk.len)) > window {
            return None;
        }
        let push = if core.tso_psh { core.join_tso_packet(now, &new, window)? } else { false };
        let out = self.recovery.send_new(core, now, &new, timers);
        Some(Outgoing { push: push || out.push, ..out })
    }

    /// The send loop ran dry.
    fn on_burst_end(&mut self, now: Time, timers: &mut Timers) {
        if !std::mem::replace(&mut self.core.ran_dry, true) {
            self.update_pure_receiver();
        }
        let window = self.send_window();
        self.recovery.on_burst_end();
        let core = &mut self.core;
        if let Some(rate) = core.pacing_rate() {
            core.pacer.complete(now, rate);
        }
        let limited = std::mem::take(&mut core.tso_packet.held) || core.board.pipe() + core.mss > window;
        let sent = std::mem::take(&mut core.sent_in_burst);
        if sent || limited {
            core.usage.on_burst_end(limited, core.board.flight(), core.snd_una, core.snd_nxt);
        }
        let all_sent = core.end <= core.snd_nxt && core.board.lost() <= core.board.retransmitted();
        if !limited && all_sent {
            core.sampler.mark_app_limited(core.board.pipe());
        }
        core.note_limit(now, limited, all_sent);
        if sent {
            if core.tso_psh {
                core.tso_packet.on_burst_end(core.snd_nxt, core.end <= core.snd_nxt);
            }
            self.recovery.after_burst(core, now, timers);
            core.arm_algorithm_timer(timers);
        }
    }
}

impl SenderCore {
    /// Notes what has made the send loop run dry.
    #[inline]
    fn note_limit(&mut self, now: Time, window_full: bool, all_sent: bool) {
        let limit = if all_sent {
            Limit::Application
        } else if self.pacer.blocks(now) && self.pacing_rate().is_some() {
            Limit::Pacing
        } else if window_full {
            Limit::Cwnd
        } else if self.snd_nxt + self.mss > self.snd_una + self.rwnd {
            Limit::Rwnd
        } else {
            Limit::Application
        };
        let over = all_sent && self.fin && self.snd_una > self.end;
        self.limits.set(now, (!over).then(|| limits::in_state(self.state, limit)));
    }
}
