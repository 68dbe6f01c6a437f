//! ns-2.35's one-way agents at work, and its Vegas beside a sender of the house (recovery `vegas`): recovery by duplicate ACKs, with
//! what they do otherwise before and after it. An agent keeps time in ticks, lets limited transmit last for one ACK, and answers
//! time-outs with nothing outstanding. Vegas goes by the age of the oldest segment.

use super::Agent;
use super::clock::SecondsClock;
use super::send_ring::SendRing;
use super::tick_timer::TickClock;
use crate::cc::{Cause, Head, RttSample, State};
use crate::config::TcpConfig;
use crate::recovery::{DupAckRecovery, Progress};
use crate::scoreboard::Chunk;
use crate::sender::ack_context::{AckContext, AckVerdict};
use crate::sender::core::{CongestionSign, HandshakeTiming, SenderCore};
use crate::sender::segments::{NewData, Outgoing};
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::told::LossTrigger;
use crate::units::{Bytes, Time};

/// ACKs of new data after a retransmission on which Vegas checks the oldest segment again.
const VEGAS_CHECKS: u32 = 2;

/// The recovery of a one-way agent, or Vegas' own.
#[derive(Debug)]
pub(crate) struct OneWay {
    pub(super) base: DupAckRecovery,
    mss: Bytes,
    /// The age of the oldest segment counts.
    vegas: bool,
    /// Vegas: how many of the next ACKs of new data still check the age of the oldest segment.
    checks_left: u32,
    /// Vegas: the pipe at the first duplicate ACKs, which release no data.
    withheld_pipe: Option<Bytes>,
    agent: Option<Box<OneWayAgent>>,
}

/// What an agent keeps of its own.
#[derive(Debug)]
struct OneWayAgent {
    clock: TickClock,
    seconds: SecondsClock,
    /// Vegas' notes of what it sent.
    ring: Option<SendRing>,
    /// The duplicate ACK just processed lets one segment go beyond cwnd, now or never.
    one_more: bool,
    /// The next segment is sent twice: once because Vegas found it too old, though the window does not count it as sent, and once
    /// more by the window.
    sends_twice: bool,
    /// The next new segment goes whatever the window says, written or not: nothing was outstanding when Vegas looked.
    sends_ahead: bool,
}

impl OneWayAgent {
    /// A segment is sent, for the first time or again.
    fn on_sent(&mut self, seq: SeqNo, now: Time) {
        self.one_more = false;
        let seconds = self.seconds.seconds(now);
        if let Some(ring) = &mut self.ring {
            ring.on_sent(seq, now, seconds);
        }
    }
}

impl OneWay {
    pub(crate) fn new(config: &TcpConfig, agent: Option<Agent>, mss: Bytes) -> OneWay {
        let vegas = config.recovery == RecoveryKind::Vegas;
        let agent = agent.map(|agent| {
            Box::new(OneWayAgent {
                clock: TickClock::new(config.rto, agent.tick_phase),
                seconds: SecondsClock::default(),
                ring: vegas.then(|| SendRing::new(mss)),
                one_more: false,
                sends_twice: false,
                sends_ahead: false,
            })
        });
        let base = DupAckRecovery::new(config, config.recovery, mss);
        OneWay { base, mss, vegas, checks_left: 0, withheld_pipe: None, agent }
    }

    /// The SYN is the first segment that is timed.
    pub(super) fn start(&mut self, core: &mut SenderCore, handshake: HandshakeTiming, now: Time) {
        let Some(agent) = &mut self.agent else { return };
        if handshake.rtt.is_some() || handshake.timeouts > 0 {
            agent.clock.after_handshake(handshake.rtt, handshake.timeouts, now);
        }
        core.rtt.impose(agent.clock.rto());
    }

    pub(super) fn clock_mut(&mut self) -> Option<&mut SecondsClock> {
        self.agent.as_mut().map(|agent| &mut agent.seconds)
    }

    /// Vegas' window may close.
    pub(super) fn window_may_close(&self) -> bool {
        self.vegas && self.agent.is_some()
    }

    pub(super) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        match (&self.agent, self.base.inflated_window()) {
            // The algorithm inflates cwnd itself, and the first duplicates release no data.
            _ if self.vegas => self.withheld_pipe.map_or(cwnd, |pipe| cwnd.min(pipe)),
            // Limited transmit is for one ACK, also during go-back-N.
            (Some(agent), None) if agent.one_more => cwnd.saturating_add(self.base.limited_transmit_allowance()),
            (Some(_), None) => cwnd,
            _ => self.base.window(state, cwnd),
        }
    }

    #[inline(never)]
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        let before = core.state;
        // An agent of Tahoe or Vegas counts duplicates although nothing is outstanding.
        let counts_idle = self.agent.is_some() && (self.vegas || self.base.is_tahoe());
        let duplicate = ack.duplicate || (ack.repeats && counts_idle);
        let ack = &self.as_timed(core, AckContext { duplicate, ..*ack });
        let mut verdict = AckVerdict::default();
        if ack.advances {
            self.on_new_ack(core, ack, &mut verdict, timers);
        } else if ack.duplicate {
            self.on_duplicate_ack(core, ack.now, timers);
            verdict.duplicate = self.base.duplicates();
        }
        self.base.finish_ack(core, ack, before, verdict, self.ring_head(core));
        if ack.advances && self.checks_left > 0 {
            self.checks_left -= 1;
            self.check_head_again(core, ack.now);
        }
    }

    /// Takes the time of an ACK of new data for the time-out. For Vegas the ACK has the RTT of the newest segment.
    fn as_timed<'a>(&mut self, core: &mut SenderCore, ack: AckContext<'a>) -> AckContext<'a> {
        let Some(agent) = self.agent.as_mut().filter(|_| ack.advances) else { return ack };
        agent.clock.on_advance(core.snd_una, ack.now);
        let seconds = agent.seconds.seconds(ack.now);
        let (from, to) = (ack.prior.snd_una, core.snd_una);
        let sample = agent.ring.as_mut().and_then(|ring| ring.on_advance(from, to, ack.now, seconds));
        core.rtt.impose(agent.clock.rto());
        if let Some(algorithm) = core.cc.agent() {
            algorithm.on_seconds(seconds, sample.map(|sample| sample.seconds));
        }
        let rtt = sample.map(|sample| RttSample { latest: sample.rtt, oldest: sample.rtt });
        if self.vegas { AckContext { rtt, ..ack } } else { ack }
    }

    /// `snd_una` has moved. An agent's timer never stops.
    fn on_new_ack(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict, timers: &mut Timers) {
        let progress = self.base.on_new_ack(core, ack, verdict);
        self.withheld_pipe = None;
        if self.agent.is_none() {
            self.base.restart_rto(core, ack.now, progress, timers);
        } else if progress != (Progress::Partial { restart_timer: false }) {
            timers.arm(Timer::Rto, ack.now + core.rtt.rto());
        }
    }

    fn on_duplicate_ack(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if self.vegas {
            return self.on_duplicate_ack_of_vegas(core, now, timers);
        }
        let means_loss = self.base.on_duplicate_ack(core, now);
        if let Some(agent) = &mut self.agent {
            agent.one_more = self.base.duplicates() < self.base.threshold();
        }
        if means_loss {
            self.restart_clock(core);
            timers.arm(Timer::Rto, now + core.rtt.rto());
        }
    }

    /// A loss shows by the third duplicate, or by the first that finds the oldest segment too old. The retransmission restarts
    /// the timer.
    fn on_duplicate_ack_of_vegas(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        let (state, pipe, expired) = (core.state, core.board.pipe(), self.expired_head(core, now));
        let third = self.base.on_duplicate(state, core.snd_una);
        self.withheld_pipe = (self.base.duplicates() < self.base.threshold()).then_some(pipe);
        if third || (expired.is_some() && self.base.may_begin(state, core.snd_una)) {
            core.totals.recoveries += u32::from(state != State::Recovery);
            let (cause, trigger) = match expired {
                Some(_) => (Cause::HeadTimeout, LossTrigger::TimeThreshold),
                None => (Cause::DupAck, LossTrigger::ReorderingThreshold),
            };
            if state != State::Cwr {
                core.report_congestion(now, &self.sign(core, cause));
            }
            if let Some(agent) = &mut self.agent {
                agent.clock.back_off();
            }
            self.restart_clock(core);
            timers.arm(Timer::Rto, now + core.rtt.rto());
            core.state = self.begin(core, trigger);
            return;
        }
        if let (Some(head), Some(_)) = (expired, &self.agent) {
            // Go-back-N is under way.
            core.cc.agent().into_iter().for_each(|algorithm| algorithm.on_expired_head(now.since(head.sent_at)));
        }
        if core.state == State::Open {
            core.state = State::Disorder;
        }
    }

    /// Begins an episode of Vegas. With nothing outstanding the next segment takes the place of the lost one, written or not; its
    /// place in the ring says how often it was sent.
    fn begin(&mut self, core: &mut SenderCore, trigger: LossTrigger) -> State {
        self.base.begin_cwr(core.snd_nxt);
        self.checks_left = match &self.agent {
            Some(_) => VEGAS_CHECKS.min(core.board.pipe().segments(self.mss) as u32 + 1),
            None => VEGAS_CHECKS,
        };
        let transmissions = self.head(core).map_or(0, |head| head.transmissions);
        if !core.board.is_empty() {
            self.retransmit_head(core, transmissions, trigger);
            return State::Recovery;
        }
        if transmissions == 1 {
            self.expect_no_more_duplicates();
        }
        if let Some(agent) = &mut self.agent {
            (agent.sends_ahead, agent.sends_twice) = (true, true);
        }
        State::Open
    }

    /// Vegas retransmits the oldest segment, sent `transmissions` times so far. The first time counts as the third duplicate.
    fn retransmit_head(&mut self, core: &mut SenderCore, transmissions: u32, trigger: LossTrigger) {
        self.base.retransmit_head(&mut core.board, trigger);
        if transmissions <= 1 {
            self.expect_no_more_duplicates();
        }
    }

    /// As if the third duplicate ACK had been the last.
    fn expect_no_more_duplicates(&mut self) {
        self.base.set_duplicates(self.base.threshold());
        self.withheld_pipe = None;
    }

    /// After a retransmission more may be missing. The window has been reduced for that already. An agent sends the oldest segment
    /// whatever the window says, also if it is new or not written yet: ns-2.35's `vegas_expire` names the number after the last that
    /// was acknowledged, and `output` sends it.
    fn check_head_again(&mut self, core: &mut SenderCore, now: Time) {
        let Some(head) = self.expired_head(core, now) else {
            self.checks_left = 0;
            return;
        };
        core.report_congestion(now, &CongestionSign { first: false, ..self.sign(core, Cause::HeadTimeout) });
        let mut transmissions = head.transmissions;
        if let Some(agent) = &mut self.agent {
            // The window does not count it, and is about to send it as well.
            agent.sends_twice = core.board.pipe() == Bytes::ZERO;
            agent.sends_ahead = core.board.is_empty();
            transmissions = 0;
            self.expect_no_more_duplicates();
            if core.board.is_empty() {
                return;
            }
        }
        self.retransmit_head(core, transmissions, LossTrigger::TimeThreshold);
        if core.state != State::Loss {
            core.state = State::Recovery;
        }
    }

    /// The oldest segment if it is older than the algorithm lets it become; Vegas asks.
    fn expired_head(&self, core: &mut SenderCore, now: Time) -> Option<Head> {
        let limit = core.cc.agent().and_then(|algorithm| algorithm.head_timeout()).filter(|_| self.vegas)?;
        self.head(core).filter(|head| now.since(head.sent_at) >= limit)
    }

    /// The oldest segment as an agent's ring has it.
    fn ring_head(&self, core: &SenderCore) -> Option<Head> {
        self.agent.as_ref().and_then(|agent| agent.ring.as_ref()).map(|ring| ring.head(core.snd_una))
    }

    /// The oldest segment: as an agent's ring has it, or the scoreboard.
    fn head(&self, core: &SenderCore) -> Option<Head> {
        self.ring_head(core).or_else(|| core.board.head())
    }

    fn sign(&self, core: &SenderCore, cause: Cause) -> CongestionSign {
        CongestionSign { head: self.ring_head(core), ..self.base.sign(core, cause) }
    }

    /// A loss: an agent times nothing until it sends new data.
    fn restart_clock(&mut self, core: &mut SenderCore) {
        if let Some(agent) = &mut self.agent {
            agent.clock.abandon();
            core.rtt.impose(agent.clock.rto());
        }
    }

    /// Everything is to be sent again. Only an agent of Vegas forgets its duplicates.
    fn begin_go_back_n(&mut self, core: &mut SenderCore) {
        let duplicates = self.base.duplicates();
        self.base.on_timeout(core.snd_nxt, &mut core.board);
        if !self.vegas {
            self.base.set_duplicates(duplicates);
        }
        self.withheld_pipe = None;
    }

    /// The timer expired. Each time-out lowers an agent's ssthresh.
    pub(super) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        if self.agent.is_none() {
            self.withheld_pipe = None;
            return self.base.on_rto(core, now);
        }
        core.report_congestion(now, &self.sign(core, Cause::Timeout));
        self.begin_go_back_n(core);
        core.state = State::Loss;
    }

    pub(super) fn after_rto(&mut self, core: &mut SenderCore) {
        if let Some(agent) = &mut self.agent {
            agent.clock.back_off();
        }
        self.restart_clock(core);
    }

    /// An agent's timer expired with nothing outstanding: Tahoe's window is one segment again, and Vegas takes it for a loss.
    pub(super) fn on_idle_rto(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if self.agent.is_none() {
            return;
        }
        core.report_congestion(now, &CongestionSign { first: self.vegas, ..self.sign(core, Cause::Timeout) });
        self.begin_go_back_n(core);
        if let Some(agent) = self.agent.as_mut().filter(|_| self.vegas) {
            agent.clock.back_off();
        }
        self.restart_clock(core);
        timers.arm_alone(Timer::Rto, now + core.rtt.rto());
    }

    /// A burst is over, or the application has written: what a duplicate ACK has allowed or withheld no longer holds. Only
    /// agents forget it.
    pub(super) fn on_burst_end(&mut self) {
        if let Some(agent) = &mut self.agent {
            agent.one_more = false;
            self.withheld_pipe = None;
        }
    }

    /// The segment that was not sent before and goes now whatever the window says, if there is one.
    pub(super) fn take_ahead(&mut self, core: &SenderCore) -> Option<NewData> {
        let agent = self.agent.as_mut().filter(|agent| agent.sends_ahead)?;
        let unsent = core.end.since(core.snd_nxt);
        let len = if unsent > Bytes::ZERO { unsent.min(core.mss) } else { core.mss };
        let room = (core.snd_una + core.rwnd).since(core.snd_nxt);
        // A message of an end that also receives data could be read before it is written.
        let one_way = core.snd_wl1 <= SeqNo::FIRST_DATA;
        let sends = room >= len && (unsent > Bytes::ZERO || (one_way && !core.fin));
        agent.sends_ahead = false;
        agent.sends_twice &= sends;
        let chunk = Chunk { seq: core.snd_nxt, len: len.0 as u32, fin: false };
        sends.then(|| NewData { chunk, small: len < core.mss, idle: core.board.is_empty(), room, forced: false })
    }

    /// Sends new data. Vegas lets a timer that is running run on.
    pub(super) fn send_new(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        new: &NewData,
        timers: &mut Timers,
    ) -> Outgoing {
        let bytes = Bytes(u64::from(new.chunk.len));
        self.base.on_new_data(core.state, bytes, core.board.pipe() + bytes, core.cc.window().cwnd);
        if let Some(agent) = &mut self.agent {
            agent.on_sent(new.chunk.seq, now);
            agent.clock.on_new_data(new.chunk.seq + bytes, now);
        }
        let rto_at = timers.deadline(Timer::Rto);
        let out = core.send_new(now, new, timers);
        if self.window_may_close() && rto_at != Timers::NEVER {
            timers.arm(Timer::Rto, rto_at);
        }
        self.send_twice(core);
        out
    }

    pub(super) fn on_retransmission(&mut self, core: &mut SenderCore, now: Time, chunk: Chunk) {
        self.base.on_retransmission();
        if let Some(agent) = &mut self.agent {
            agent.on_sent(chunk.seq, now);
        }
        self.send_twice(core);
    }

    /// What Vegas has sent ahead of its time the window sends once more. What was sent unwritten it sends once it is written,
    /// unless that has been acknowledged.
    fn send_twice(&mut self, core: &mut SenderCore) {
        let Some(agent) = &mut self.agent else { return };
        if std::mem::take(&mut agent.sends_twice) || (!core.fin && core.snd_nxt > core.end) {
            core.board.mark_head_lost(LossTrigger::TimeThreshold);
        }
    }
}
