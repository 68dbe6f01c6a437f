//! ns-2.35's one-way agents at work: where they differ from recovery by duplicate ACKs. Nothing of it acts for another sender.

use super::ack_context::AckContext;
use super::core::{HandshakeTiming, SenderCore};
use super::segments::NewData;
use crate::cc::{Cause, RttSample, State};
use crate::recovery::DupAckRecovery;
use crate::scoreboard::Chunk;
use crate::seq::SeqNo;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

impl DupAckRecovery {
    /// The SYN is the first segment that is timed.
    pub(super) fn start_agent(&mut self, core: &mut SenderCore, handshake: HandshakeTiming, now: Time) {
        core.counts_idle_duplicates = self.is_vegas();
        let Some(agent) = &mut self.agent else { return };
        if handshake.rtt.is_some() || handshake.timeouts > 0 {
            agent.clock.after_handshake(handshake.rtt, handshake.timeouts, now);
        }
        core.rtt.impose(agent.clock.rto());
    }

    /// Time an agent takes for its time-out; for Vegas the ACK as it sees it, whose RTT is that of the newest segment.
    pub(super) fn on_agent_ack<'a>(&mut self, core: &mut SenderCore, ack: &AckContext<'a>) -> Option<AckContext<'a>> {
        let agent = self.agent.as_mut().filter(|_| ack.advances)?;
        let sample = agent.on_advance(ack.prior.snd_una, core.snd_una, ack.now);
        core.rtt.impose(agent.clock.rto());
        core.cc.on_seconds(agent.now_s(ack.now), sample.map(|sample| sample.seconds));
        let rtt = sample.map(|sample| RttSample { latest: sample.rtt, oldest: sample.rtt });
        self.is_vegas().then_some(AckContext { rtt, ..*ack })
    }

    /// Duplicate ACKs mean a loss. Vegas backs off, Tahoe does not.
    pub(super) fn on_agent_loss(&mut self, core: &mut SenderCore) {
        let vegas = self.is_vegas();
        let Some(agent) = &mut self.agent else { return };
        if vegas {
            agent.clock.back_off();
        }
        agent.clock.abandon();
        core.rtt.impose(agent.clock.rto());
    }

    /// A duplicate ACK found the head too old, and go-back-N is under way.
    pub(super) fn report_expired_head(&self, core: &mut SenderCore, now: Time) {
        if let Some(head) = self.head(core.snd_una, &core.board) {
            core.cc.on_expired_head(now.since(head.sent_at));
        }
    }

    /// Vegas looks at the oldest segment again and finds it too old: it is sent whatever the window says, also if it is new or
    /// not written yet (ns-2.35's `vegas_expire` names the number after the last that was acknowledged, and `output` sends it).
    pub(super) fn retransmit_agent_head(&mut self, core: &mut SenderCore) {
        self.expect_no_more_duplicates();
        let outstanding = !core.board.is_empty();
        if let Some(agent) = &mut self.agent {
            // The window does not count it, and is about to send it as well.
            agent.sends_twice = core.board.pipe() == Bytes::ZERO;
            agent.sends_ahead = !outstanding;
        }
        if !outstanding {
            return;
        }
        self.retransmit_head(0, &mut core.board);
        if core.state != State::Loss {
            core.state = State::Recovery;
        }
    }

    /// The segment that was not sent before and goes now whatever the window says, if there is one.
    pub(super) fn take_ahead(&mut self, core: &SenderCore) -> Option<NewData> {
        let agent = self.agent.as_mut().filter(|agent| agent.sends_ahead)?;
        let unsent = core.end.since(core.snd_nxt);
        let len = if unsent > Bytes::ZERO { unsent.min(core.mss) } else { core.mss };
        let room = (core.snd_una + core.rwnd).since(core.snd_nxt);
        // Who also receives data could have a message read before it is written.
        let one_way = core.snd_wl1 <= SeqNo::FIRST_DATA;
        let sends = room >= len && (unsent > Bytes::ZERO || (one_way && !core.fin));
        agent.sends_ahead = false;
        agent.sends_twice &= sends;
        let chunk = Chunk { seq: core.snd_nxt, len: len.0 as u32, fin: false };
        sends.then(|| NewData { chunk, small: len < core.mss, idle: core.board.is_empty(), room, forced: false })
    }

    /// A new segment was sent, before which the timer was set to `rto_at`: Vegas lets it run on.
    pub(super) fn after_new_data(&mut self, core: &mut SenderCore, rto_at: Time, timers: &mut Timers) {
        if self.is_vegas() && rto_at != Timers::NEVER {
            timers.arm(Timer::Rto, rto_at);
        }
        self.send_twice(core);
    }

    /// What Vegas sends ahead of its time the window sends once more; what is not written, once it is and unless it has been
    /// acknowledged.
    pub(super) fn send_twice(&mut self, core: &mut SenderCore) {
        let twice = self.agent.as_mut().is_some_and(|agent| std::mem::take(&mut agent.sends_twice));
        if twice || (!core.fin && core.snd_nxt > core.end) {
            core.board.mark_head_lost();
        }
    }

    /// The timer, which never stops, expired. Each time-out lowers ssthresh. With nothing outstanding Tahoe's window is one
    /// segment again, and Vegas takes it for a loss.
    pub(super) fn on_agent_rto(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        let (idle, vegas) = (core.board.is_empty(), self.is_vegas());
        self.report_congestion(core, now, Cause::Timeout, vegas || !idle);
        self.on_timeout(core.snd_nxt, &mut core.board);
        if !idle {
            core.totals.timeouts += 1;
            core.timeouts_in_a_row += 1;
            core.state = State::Loss;
        }
        if let Some(agent) = &mut self.agent {
            if vegas || !idle {
                agent.clock.back_off();
            }
            agent.clock.abandon();
            core.rtt.impose(agent.clock.rto());
        }
        timers.arm_alone(Timer::Rto, now + core.rtt.rto());
    }
}
