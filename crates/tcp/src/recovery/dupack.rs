//! Recovery by duplicate ACKs: Tahoe, Reno (RFC 5681 §3.2) and NewReno (RFC 6582), with limited transmit (RFC 3042), and
//! ns-2's Vegas, where the age of the oldest segment counts too. What they mean; `sender/dupack_recovery.rs` acts on it.

use super::one_way::{OneWayAgent, TickClock};
use crate::cc::{Head, State};
use crate::config::TcpConfig;
use crate::scoreboard::Scoreboard;
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::units::{Bytes, Time};

/// What an advance of `snd_una` means for the episode under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// No episode, or a time-out's episode goes on.
    Nothing,
    /// NewReno's partial ACK; the impatient variant restarts the timer on the first only (RFC 6582 §3.2 step 3).
    Partial { restart_timer: bool },
    /// The episode is over.
    Done,
}

/// A duplicate ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate {
    pub(crate) state: State,
    pub(crate) snd_una: SeqNo,
    pub(crate) pipe: Bytes,
    /// The oldest segment is older than the algorithm's own time-out; always false but for Vegas.
    pub(crate) head_expired: bool,
}

/// Fast recovery of Reno and NewReno.
#[derive(Clone, Copy, Debug)]
struct FastRecovery {
    /// The inflated window.
    window: Bytes,
    /// A partial ACK has arrived.
    partial_seen: bool,
}

/// Recovery by duplicate ACKs.
#[derive(Clone, Debug)]
pub(crate) struct DupAckRecovery {
    kind: RecoveryKind,
    threshold: u32,
    limited_transmit: bool,
    impatient: bool,
    mss: Bytes,
    /// Duplicate ACKs since `snd_una` last moved.
    duplicates: u32,
    /// New data sent beyond cwnd on them (limited transmit).
    limited: Bytes,
    /// Where the episode ends: `snd_nxt` when it began. "recover" of RFC 6582 is the number before it. It outlives the
    /// episode, as there.
    recover: SeqNo,
    /// No fast retransmit before `snd_una` has passed this: until then duplicate ACKs answer go-back-N's own copies.
    fast_retransmit_guard: SeqNo,
    fast_recovery: Option<FastRecovery>,
    /// A retransmission that does not wait for the window is due: the episode's first, or that of a partial ACK.
    force_retransmit: bool,
    /// Vegas: how many of the next ACKs of new data still check the age of the oldest segment.
    vegas_checks_left: u32,
    /// Vegas: the pipe at the first duplicate ACKs, which release no data.
    withheld_pipe: Option<Bytes>,
    /// What one of ns-2's one-way agents has of its own.
    pub(crate) agent: Option<Box<OneWayAgent>>,
}

/// ACKs after a retransmission on which Vegas checks again.
const VEGAS_CHECKS: u32 = 2;

impl DupAckRecovery {
    pub(crate) fn new(config: &TcpConfig, kind: RecoveryKind, mss: Bytes) -> DupAckRecovery {
        DupAckRecovery {
            kind,
            threshold: config.dup_thresh,
            limited_transmit: config.limited_transmit,
            impatient: config.impatient,
            mss,
            duplicates: 0,
            limited: Bytes::ZERO,
            recover: SeqNo::default(),
            fast_retransmit_guard: SeqNo::default(),
            fast_recovery: None,
            force_retransmit: false,
            vegas_checks_left: 0,
            withheld_pipe: None,
            agent: (config.one_way_agent && config.recovery == kind).then(|| {
                let clock = TickClock::new(config.rto, config.tick_phase);
                Box::new(OneWayAgent::new(clock, mss, kind == RecoveryKind::Vegas))
            }),
        }
    }

    /// The oldest segment: as an agent's ring has it, or the scoreboard.
    pub(crate) fn head(&self, snd_una: SeqNo, board: &Scoreboard) -> Option<Head> {
        self.agent.as_ref().and_then(|agent| agent.head(snd_una)).or_else(|| board.head())
    }

    /// A burst is over, or the application has written: what a duplicate ACK has allowed or withheld no longer holds. Only
    /// ns-2's agents forget it.
    #[inline]
    pub(crate) fn on_burst_end(&mut self) {
        if let Some(agent) = &mut self.agent {
            agent.one_more = false;
            self.withheld_pipe = None;
        }
    }

    /// True if the age of the oldest segment counts.
    pub(crate) fn is_vegas(&self) -> bool {
        self.kind == RecoveryKind::Vegas
    }

    /// Duplicate ACKs since `snd_una` last moved.
    pub(crate) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Where the episode under way, or the last one, ends.
    pub(crate) fn recover(&self) -> SeqNo {
        self.recover
    }

    /// True if the next retransmission is sent whatever the window says.
    pub(crate) fn force_retransmit(&self) -> bool {
        self.force_retransmit
    }

    pub(crate) fn on_retransmission(&mut self, seq: SeqNo, now: Time) {
        self.force_retransmit = false;
        if let Some(agent) = &mut self.agent {
            agent.on_sent(seq, now);
        }
    }

    /// A new segment is about to be sent.
    pub(crate) fn on_agent_new_data(&mut self, seq: SeqNo, end: SeqNo, now: Time) {
        if let Some(agent) = &mut self.agent {
            agent.on_sent(seq, now);
            agent.clock.on_new_data(end, now);
        }
    }

    /// Data that limited transmit added to the flight: "MUST NOT be included" in FlightSize (RFC 5681 §3.2 step 2).
    pub(crate) fn limited_transmit_sent(&self) -> Bytes {
        self.limited
    }

    /// Notes `len` bytes of new data that bring the pipe to `pipe`.
    pub(crate) fn on_new_data(&mut self, state: State, len: Bytes, pipe: Bytes, cwnd: Bytes) {
        if matches!(state, State::Open | State::Disorder) && pipe > cwnd {
            self.limited += len;
        }
    }

    /// By how much limited transmit may exceed cwnd now.
    fn limited_transmit_allowance(&self, state: State) -> Bytes {
        let on = match &self.agent {
            // Also during go-back-N.
            Some(agent) => agent.one_more,
            None => matches!(state, State::Open | State::Disorder),
        };
        let on = on && self.limited_transmit && !self.is_vegas();
        // RFC 3042: one segment on each of the first two duplicate ACKs.
        if on { self.mss * u64::from(self.duplicates.min(2)) } else { Bytes::ZERO }
    }

    /// The window in force.
    pub(crate) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        match self.fast_recovery {
            Some(FastRecovery { window, .. }) => window,
            // Vegas: the algorithm inflates cwnd itself, and the first duplicates release no data.
            None if self.is_vegas() => self.withheld_pipe.map_or(cwnd, |pipe| cwnd.min(pipe)),
            None => cwnd.saturating_add(self.limited_transmit_allowance(state)),
        }
    }

    /// Counts a duplicate ACK; true if it is the one that means loss.
    pub(crate) fn on_duplicate(&mut self, duplicate: &Duplicate) -> bool {
        self.duplicates += 1;
        self.withheld_pipe = (self.is_vegas() && self.duplicates < self.threshold).then_some(duplicate.pipe);
        if let Some(agent) = &mut self.agent {
            agent.one_more = self.duplicates < self.threshold;
        }
        let beyond_guard = duplicate.snd_una > self.fast_retransmit_guard;
        if let Some(fast_recovery) = &mut self.fast_recovery {
            // RFC 5681 §3.2 step 4: another segment has left the network.
            fast_recovery.window += self.mss;
            return false;
        }
        let by_age = self.is_vegas() && duplicate.head_expired;
        duplicate.state != State::Loss && (by_age || self.duplicates == self.threshold) && beyond_guard
    }

    /// Vegas retransmits the oldest segment, sent `transmissions` times so far. The first time counts as the third
    /// duplicate.
    pub(crate) fn retransmit_head(&mut self, transmissions: u32, board: &mut Scoreboard) {
        self.force_retransmit = true;
        board.mark_head_lost();
        if transmissions <= 1 {
            self.duplicates = self.threshold;
            self.withheld_pipe = None;
        }
    }

    /// Duplicate ACKs mean a loss to ns-2's Vegas although nothing is outstanding: the next segment takes the place of the lost
    /// one, written or not. Its place in the ring says that it was sent `transmissions` times.
    fn send_ahead(&mut self, transmissions: u32) -> State {
        if transmissions == 1 {
            self.expect_no_more_duplicates();
        }
        if let Some(agent) = &mut self.agent {
            (agent.sends_ahead, agent.sends_twice) = (true, true);
        }
        State::Open
    }

    /// As if the third duplicate ACK had been the last (ns-2's Vegas).
    pub(crate) fn expect_no_more_duplicates(&mut self) {
        self.duplicates = self.threshold;
        self.withheld_pipe = None;
    }

    /// Duplicate ACKs that mean a loss.
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Vegas, on an ACK of new data: true if the age of the new oldest segment is to be checked.
    pub(crate) fn takes_vegas_check(&mut self) -> bool {
        let any_left = self.vegas_checks_left > 0;
        self.vegas_checks_left = self.vegas_checks_left.saturating_sub(1);
        any_left
    }

    /// The oldest segment has not expired: the next ACKs do not check.
    pub(crate) fn end_vegas_checks(&mut self) {
        self.vegas_checks_left = 0;
    }

    /// Begins fast recovery, or Tahoe's slow start. `cwnd` is the algorithm's after its reduction.
    pub(crate) fn begin(&mut self, snd_una: SeqNo, snd_nxt: SeqNo, cwnd: Bytes, board: &mut Scoreboard) -> State {
        self.recover = snd_nxt;
        self.limited = Bytes::ZERO;
        if self.is_vegas() {
            self.vegas_checks_left = match &self.agent {
                Some(_) => VEGAS_CHECKS.min(board.pipe().segments(self.mss) as u32 + 1),
                None => VEGAS_CHECKS,
            };
            let transmissions = self.head(snd_una, board).map_or(0, |head| head.transmissions);
            if board.is_empty() {
                return self.send_ahead(transmissions);
            }
            self.retransmit_head(transmissions, board);
            return State::Recovery;
        }
        self.force_retransmit = true;
        if self.kind == RecoveryKind::Tahoe {
            self.fast_retransmit_guard = snd_nxt;
            self.force_retransmit &= !board.is_empty();
            board.mark_all_lost();
            return State::Loss;
        }
        if self.kind == RecoveryKind::NewReno {
            // RFC 6582 §3.2 step 2: a later fast retransmit must be for data sent after this episode.
            self.fast_retransmit_guard = snd_nxt;
        }
        // RFC 5681 §3.2 step 3: ssthresh plus the three segments that have left the network
        let window = cwnd + self.mss * u64::from(self.threshold);
        self.fast_recovery = Some(FastRecovery { window, partial_seen: false });
        board.mark_head_lost();
        State::Recovery
    }

    /// Begins a reduction on an ECN echo: nothing is to be sent again, and no second one before `snd_nxt`.
    pub(crate) fn begin_cwr(&mut self, snd_nxt: SeqNo) {
        self.recover = snd_nxt;
        self.limited = Bytes::ZERO;
    }

    /// Begins the episode of a time-out: everything is to be sent again (RFC 5681 §3.1, RFC 6582 §4).
    pub(crate) fn on_timeout(&mut self, snd_nxt: SeqNo, board: &mut Scoreboard) {
        if self.agent.is_none() || self.is_vegas() {
            self.duplicates = 0;
        }
        self.withheld_pipe = None;
        self.limited = Bytes::ZERO;
        self.recover = snd_nxt;
        self.fast_retransmit_guard = snd_nxt;
        self.fast_recovery = None;
        self.force_retransmit = false;
        board.mark_all_lost();
    }

    /// `snd_una` has moved by `acked`.
    pub(crate) fn on_advance(
        &mut self,
        state: State,
        snd_una: SeqNo,
        acked: Bytes,
        board: &mut Scoreboard,
    ) -> Progress {
        self.duplicates = 0;
        self.withheld_pipe = None;
        self.limited = Bytes::ZERO;
        let reached = snd_una >= self.recover;
        match self.fast_recovery.take() {
            Some(before) if !reached && self.kind == RecoveryKind::NewReno => self.on_partial_ack(before, acked, board),
            Some(_) => Progress::Done,
            None => match state {
                State::Loss if reached => Progress::Done,
                // RFC 3168 §6.1.2: something sent after the reduction must have been acknowledged.
                State::Cwr if snd_una > self.recover => Progress::Done,
                // Vegas
                State::Recovery => Progress::Done,
                State::Open | State::Disorder | State::Cwr | State::Loss => Progress::Nothing,
            },
        }
    }

    /// RFC 6582 §3.2 step 3: retransmit the new head, deflate by what was acknowledged, add back one segment if at least
    /// one was.
    fn on_partial_ack(&mut self, before: FastRecovery, acked: Bytes, board: &mut Scoreboard) -> Progress {
        board.mark_head_lost();
        self.force_retransmit = true;
        let add_back = if acked >= self.mss { self.mss } else { Bytes::ZERO };
        let window = before.window.saturating_sub(acked) + add_back;
        self.fast_recovery = Some(FastRecovery { window, partial_seen: true });
        Progress::Partial { restart_timer: !self.impatient || !before.partial_seen }
    }
}
