//! Recovery from duplicate ACKs: Tahoe, Reno (RFC 5681 §3.2) and NewReno (RFC 6582), with limited transmit (RFC 3042), and
//! ns-2's Vegas, where the age of the oldest segment counts too.

use crate::cc::State;
use crate::config::TcpConfig;
use crate::scoreboard::Scoreboard;
use crate::settings::RecoveryKind;
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

/// A duplicate ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate {
    pub(crate) state: State,
    pub(crate) snd_una: u64,
    pub(crate) pipe: Bytes,
    /// The oldest segment is older than the algorithm's own time-out; always false but for Vegas.
    pub(crate) head_expired: bool,
}

/// Duplicate-ACK recovery.
#[derive(Clone, Debug)]
pub(crate) struct DupAck {
    kind: RecoveryKind,
    threshold: u32,
    limited_transmit: bool,
    impatient: bool,
    mss: Bytes,
    /// Duplicate ACKs since `snd_una` last moved.
    count: u32,
    /// New data sent beyond cwnd on them.
    limited: Bytes,
    /// Where the episode ends: `snd_nxt` when it began. "recover" of RFC 6582 is the number before it.
    point: u64,
    /// No fast retransmit while `snd_una` has not passed this: those duplicate ACKs answer go-back-N's own copies.
    guard: u64,
    /// The inflated window of fast recovery.
    window: Bytes,
    /// A retransmission that may not wait for the window: the episode's first, and each partial ACK's.
    urgent: bool,
    partial_seen: bool,
    /// Vegas: how many of the next ACKs of new data still look at the age of the oldest segment.
    worried: u32,
    /// Vegas: the pipe on the duplicate ACKs that let nothing go.
    held: Option<Bytes>,
}

/// Vegas looks again on so many ACKs after a retransmission.
const WORRIES: u32 = 2;

impl DupAck {
    pub(crate) fn new(config: &TcpConfig, kind: RecoveryKind, mss: Bytes) -> DupAck {
        DupAck {
            kind,
            threshold: config.dup_thresh,
            limited_transmit: config.limited_transmit,
            impatient: config.impatient,
            mss,
            count: 0,
            limited: Bytes::ZERO,
            point: 0,
            guard: 0,
            window: Bytes::ZERO,
            urgent: false,
            partial_seen: false,
            worried: 0,
            held: None,
        }
    }

    /// True if the age of the oldest segment counts.
    pub(crate) fn is_vegas(&self) -> bool {
        self.kind == RecoveryKind::Vegas
    }

    /// Duplicate ACKs since `snd_una` last moved.
    pub(crate) fn duplicates(&self) -> u32 {
        self.count
    }

    /// Where the episode under way ends.
    pub(crate) fn point(&self) -> u64 {
        self.point
    }

    /// True if the next retransmission leaves whatever the window says. Asking does not use it up; sending does.
    pub(crate) fn urgent(&self) -> bool {
        self.urgent
    }

    pub(crate) fn on_retransmitted(&mut self) {
        self.urgent = false;
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
        let on = self.limited_transmit && !self.is_vegas() && matches!(state, State::Open | State::Disorder);
        // RFC 3042: one segment on each of the first two duplicate ACKs.
        if on { self.mss * u64::from(self.count.min(2)) } else { Bytes::ZERO }
    }

    /// The window in force.
    pub(crate) fn window(&self, state: State, cwnd: Bytes) -> Bytes {
        match state {
            // Vegas: the algorithm inflates cwnd itself, and nothing leaves on the first duplicates.
            _ if self.is_vegas() => self.held.map_or(cwnd, |held| cwnd.min(held)),
            State::Recovery => self.window,
            _ => cwnd.saturating_add(self.limited_transmit_allowance(state)),
        }
    }

    /// Counts a duplicate ACK; true if it is the one that means loss.
    pub(crate) fn on_duplicate(&mut self, duplicate: &Duplicate) -> bool {
        self.count += 1;
        self.held = (self.is_vegas() && self.count < self.threshold).then_some(duplicate.pipe);
        let beyond_guard = duplicate.snd_una > self.guard;
        match duplicate.state {
            State::Loss => false,
            _ if self.is_vegas() => (duplicate.head_expired || self.count == self.threshold) && beyond_guard,
            State::Recovery => {
                // RFC 5681 §3.2 step 4: another segment has left the network.
                self.window += self.mss;
                false
            }
            State::Open | State::Disorder | State::Cwr => self.count == self.threshold && beyond_guard,
        }
    }

    /// Vegas sends the oldest segment again; `transmissions` so far. A first repetition counts as the third duplicate.
    pub(crate) fn send_head_again(&mut self, transmissions: u32, board: &mut Scoreboard) {
        self.urgent = true;
        board.mark_head_lost();
        if transmissions <= 1 {
            self.count = self.threshold;
            self.held = None;
        }
    }

    /// Vegas, on an ACK of new data: true if the age of the new oldest segment is still to be looked at.
    pub(crate) fn worries(&mut self) -> bool {
        let worries = self.worried > 0;
        self.worried = self.worried.saturating_sub(1);
        worries
    }

    /// The oldest segment is young enough: no reason to worry any more.
    pub(crate) fn calm_down(&mut self) {
        self.worried = 0;
    }

    /// Begins fast recovery, or Tahoe's slow start. `cwnd` is what the algorithm came down to.
    pub(crate) fn begin(&mut self, snd_nxt: u64, cwnd: Bytes, board: &mut Scoreboard) -> State {
        self.point = snd_nxt;
        self.limited = Bytes::ZERO;
        if self.is_vegas() {
            self.worried = WORRIES;
            let transmissions = board.head().map_or(0, |head| head.transmissions);
            self.send_head_again(transmissions, board);
            return State::Recovery;
        }
        self.urgent = true;
        self.partial_seen = false;
        if self.kind == RecoveryKind::Tahoe {
            self.guard = snd_nxt;
            board.mark_all_lost();
            return State::Loss;
        }
        if self.kind == RecoveryKind::NewReno {
            // RFC 6582 §3.2 step 2: a later fast retransmit must be for data sent after this episode.
            self.guard = snd_nxt;
        }
        // RFC 5681 §3.2 step 3: ssthresh plus the three segments that have left the network
        self.window = cwnd + self.mss * u64::from(self.threshold);
        board.mark_head_lost();
        State::Recovery
    }

    /// Begins a reduction on an ECN echo: nothing is to be sent again, and no second one before `snd_nxt`.
    pub(crate) fn begin_cwr(&mut self, snd_nxt: u64) {
        self.point = snd_nxt;
        self.limited = Bytes::ZERO;
    }

    /// Begins the episode of a time-out: everything is to be sent again (RFC 5681 §3.1, RFC 6582 §4).
    pub(crate) fn on_timeout(&mut self, snd_nxt: u64, board: &mut Scoreboard) {
        self.count = 0;
        self.held = None;
        self.limited = Bytes::ZERO;
        self.point = snd_nxt;
        self.guard = snd_nxt;
        self.urgent = false;
        board.mark_all_lost();
    }

    /// `snd_una` has moved by `acked`.
    pub(crate) fn on_advance(&mut self, state: State, snd_una: u64, acked: Bytes, board: &mut Scoreboard) -> Progress {
        self.count = 0;
        self.held = None;
        self.limited = Bytes::ZERO;
        let reached = snd_una >= self.point;
        match state {
            State::Open | State::Disorder => Progress::Nothing,
            State::Loss if reached => Progress::Done,
            // RFC 3168 §6.1.2: something sent after the reduction must have been acknowledged.
            State::Cwr if snd_una > self.point => Progress::Done,
            State::Loss | State::Cwr => Progress::Nothing,
            State::Recovery if reached || self.kind != RecoveryKind::NewReno => Progress::Done,
            State::Recovery => {
                // RFC 6582 §3.2 step 3, partial ACK: retransmit the new head, deflate by what was acknowledged,
                // add back one segment if at least one was.
                board.mark_head_lost();
                self.urgent = true;
                let add_back = if acked >= self.mss { self.mss } else { Bytes::ZERO };
                self.window = self.window.saturating_sub(acked) + add_back;
                let restart_timer = !self.impatient || !self.partial_seen;
                self.partial_seen = true;
                Progress::Partial { restart_timer }
            }
        }
    }
}
