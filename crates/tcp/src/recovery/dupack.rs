//! Recovery by duplicate ACKs: Tahoe, Reno (RFC 5681 §3.2) and NewReno (RFC 6582), with limited transmit (RFC 3042). This file
//! says what duplicate ACKs mean; `sender/dupack_recovery.rs` acts on it.

use crate::cc::State;
use crate::config::TcpConfig;
use crate::scoreboard::Scoreboard;
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::told::LossTrigger;
use crate::units::Bytes;

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
}

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
        }
    }

    /// Whether a loss means slow start, with everything sent again.
    pub(crate) fn is_tahoe(&self) -> bool {
        self.kind == RecoveryKind::Tahoe
    }

    /// Duplicate ACKs since `snd_una` last moved.
    pub(crate) fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Counts `duplicates` from here on.
    pub(crate) fn set_duplicates(&mut self, duplicates: u32) {
        self.duplicates = duplicates;
    }

    /// Where the episode under way, or the last one, ends.
    pub(crate) fn recover(&self) -> SeqNo {
        self.recover
    }

    /// True if the next retransmission is sent whatever the window says.
    pub(crate) fn force_retransmit(&self) -> bool {
        self.force_retransmit
    }

    pub(crate) fn on_retransmission(&mut self) {
        self.force_retransmit = false;
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

    /// By how much limited transmit may exceed cwnd (RFC 3042): one segment on each of the first two duplicate ACKs.
    pub(crate) fn limited_transmit_allowance(&self) -> Bytes {
        if self.limited_transmit { self.mss * u64::from(self.duplicates.min(2)) } else { Bytes::ZERO }
    }

    /// The window of fast recovery, if it is under way.
    pub(crate) fn inflated_window(&self) -> Option<Bytes> {
        self.fast_recovery.map(|fast_recovery| fast_recovery.window)
    }

    /// The window in force.
    pub(crate) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        match self.inflated_window() {
            Some(window) => window,
            None if matches!(state, State::Open | State::Disorder) => {
                cwnd.saturating_add(self.limited_transmit_allowance())
            }
            None => cwnd,
        }
    }

    /// Counts a duplicate ACK; true if it is the one that means loss.
    pub(crate) fn on_duplicate(&mut self, state: State, snd_una: SeqNo) -> bool {
        self.duplicates += 1;
        if let Some(fast_recovery) = &mut self.fast_recovery {
            // RFC 5681 §3.2 step 4: another segment has left the network.
            fast_recovery.window += self.mss;
            return false;
        }
        self.duplicates == self.threshold && self.may_begin(state, snd_una)
    }

    /// True if a loss found now begins an episode, instead of belonging to go-back-N.
    pub(crate) fn may_begin(&self, state: State, snd_una: SeqNo) -> bool {
        state != State::Loss && snd_una > self.fast_retransmit_guard
    }

    /// Retransmits the oldest segment whatever the window says.
    pub(crate) fn retransmit_head(&mut self, board: &mut Scoreboard, trigger: LossTrigger) {
        self.force_retransmit = true;
        board.mark_head_lost(trigger);
    }

    /// Duplicate ACKs that mean a loss.
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Begins fast recovery, or Tahoe's slow start. `cwnd` is the algorithm's after its reduction.
    pub(crate) fn begin(&mut self, snd_nxt: SeqNo, cwnd: Bytes, board: &mut Scoreboard) -> State {
        self.recover = snd_nxt;
        self.limited = Bytes::ZERO;
        self.force_retransmit = true;
        if self.kind == RecoveryKind::Tahoe {
            self.fast_retransmit_guard = snd_nxt;
            self.force_retransmit &= !board.is_empty();
            board.mark_all_lost(LossTrigger::ReorderingThreshold);
            return State::Loss;
        }
        if self.kind == RecoveryKind::NewReno {
            // RFC 6582 §3.2 step 2: a later fast retransmit must be for data sent after this episode.
            self.fast_retransmit_guard = snd_nxt;
        }
        // RFC 5681 §3.2 step 3: ssthresh plus the three segments that have left the network
        let window = cwnd + self.mss * u64::from(self.threshold);
        self.fast_recovery = Some(FastRecovery { window, partial_seen: false });
        board.mark_head_lost(LossTrigger::ReorderingThreshold);
        State::Recovery
    }

    /// Begins a reduction with nothing to be sent again; no second one before `snd_nxt`.
    pub(crate) fn begin_cwr(&mut self, snd_nxt: SeqNo) {
        self.recover = snd_nxt;
        self.limited = Bytes::ZERO;
    }

    /// Begins the episode of a time-out: everything is to be sent again (RFC 5681 §3.1, RFC 6582 §4).
    pub(crate) fn on_timeout(&mut self, snd_nxt: SeqNo, board: &mut Scoreboard) {
        self.duplicates = 0;
        self.limited = Bytes::ZERO;
        self.recover = snd_nxt;
        self.fast_retransmit_guard = snd_nxt;
        self.fast_recovery = None;
        self.force_retransmit = false;
        board.mark_all_lost(LossTrigger::PtoExpired);
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
        self.limited = Bytes::ZERO;
        let reached = snd_una >= self.recover;
        match self.fast_recovery.take() {
            Some(before) if !reached && self.kind == RecoveryKind::NewReno => self.on_partial_ack(before, acked, board),
            Some(_) => Progress::Done,
            None => match state {
                State::Loss if reached => Progress::Done,
                // RFC 3168 §6.1.2: something sent after the reduction must have been acknowledged.
                State::Cwr if snd_una > self.recover => Progress::Done,
                // Without a window of its own an episode ends with the first such ACK.
                State::Recovery => Progress::Done,
                State::Open | State::Disorder | State::Cwr | State::Loss => Progress::Nothing,
            },
        }
    }

    /// RFC 6582 §3.2 step 3: retransmit the new head, deflate by what was acknowledged, add back one segment if at least
    /// one was.
    fn on_partial_ack(&mut self, before: FastRecovery, acked: Bytes, board: &mut Scoreboard) -> Progress {
        self.retransmit_head(board, LossTrigger::ReorderingThreshold);
        let add_back = if acked >= self.mss { self.mss } else { Bytes::ZERO };
        let window = before.window.saturating_sub(acked) + add_back;
        self.fast_recovery = Some(FastRecovery { window, partial_seen: true });
        Progress::Partial { restart_timer: !self.impatient || !before.partial_seen }
    }
}
