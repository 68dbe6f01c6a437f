//! The sending half of a connection, and the application's side of it.
//!
//! A sender is a core (`core.rs`: its variables, what it measures, its algorithm) and one of three loss recoveries
//! (`loss_recovery.rs`): by duplicate ACKs, by SACK and time, or an agent of another simulator. `ack.rs` has the order of work on an
//! ACK, `timeouts.rs` on a deadline, `transmit.rs` on a poll.

mod ack;
pub(crate) mod ack_context;
mod cc_state;
pub(crate) mod core;
mod cwnd_usage;
mod dupack_recovery;
mod limits;
mod loss_recovery;
mod observer;
mod pacer;
mod rto;
mod sack_recovery;
pub(crate) mod segments;
mod timeouts;
mod transmit;
mod tso;
mod validation;

use self::core::SenderCore;
pub use self::core::Totals;
pub(crate) use self::core::{HandshakeTiming, Own};
pub use self::limits::Limit;
use self::loss_recovery::LossRecovery;
pub(crate) use self::segments::Outgoing;
use crate::cc::{Resumption, Saved, State, Window};
use crate::compat::SecondsClock;
use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::seq::SeqNo;
use crate::settings::RtoBounds;
use crate::told::Told;
use crate::units::{Bytes, Rate, Span, Time};

/// What a trace shows of a sender.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// cwnd and ssthresh of the algorithm.
    pub window: Window,
    /// What the sender may use now: cwnd, or recovery's window during an episode.
    pub send_window: Bytes,
    /// Smoothed RTT.
    pub srtt: Option<Span>,
    /// RTT variation.
    pub rttvar: Span,
    /// Newest RTT sample.
    pub latest_rtt: Option<Span>,
    /// Least RTT.
    pub min_rtt: Option<Span>,
    /// Retransmission time-out in force.
    pub rto: Span,
    /// FlightSize (RFC 5681).
    pub flight: Bytes,
    /// Estimated to be in the network (RFC 6675).
    pub pipe: Bytes,
    /// Reported or presumed to have arrived beyond a gap.
    pub sacked: Bytes,
    /// Considered lost, retransmitted or not.
    pub lost: Bytes,
    /// State.
    pub state: State,
    /// Oldest unacknowledged sequence number.
    pub snd_una: SeqNo,
    /// Next sequence number to send.
    pub snd_nxt: SeqNo,
    /// The receiver's window.
    pub rwnd: Bytes,
    /// Retransmissions believed in the network.
    pub retransmitted: Bytes,
    /// Written and not yet sent.
    pub unsent: Bytes,
    /// Payload of a full segment to the peer.
    pub mss: Bytes,
    /// Segments by which something may be out of order without being lost.
    pub reordering: u64,
    /// Probes of a closed window since it last had room.
    pub window_probes: u32,
    /// Retransmission time-outs since data was last acknowledged.
    pub timeouts_in_a_row: u32,
    /// The rate at which it paces, if it does.
    pub pacing_rate: Option<Rate>,
    /// Newest sample of the delivery rate.
    pub delivery_rate: Option<Rate>,
    /// What keeps it from sending more; absent once all of it is over.
    pub limit: Option<Limit>,
}

/// What the peer has not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Unanswered {
    /// Retransmission time-outs since `snd_una` last moved.
    pub(crate) timeouts: u32,
    /// Probes of its closed window since it closed.
    pub(crate) probes: u32,
}

/// The sending half of a connection whose handshake is done.
// Hot fields first; see connection.rs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    core: SenderCore,
    recovery: LossRecovery,
}

impl Sender {
    /// A sender of data from number 1 on.
    #[inline]
    pub(crate) fn new(
        config: &TcpConfig,
        own: Own,
        agreed: Agreed,
        now: Time,
        handshake: HandshakeTiming,
        rwnd: Bytes,
    ) -> Sender {
        let mut core = SenderCore::new(config, own, agreed, now, handshake, rwnd);
        let mut recovery = LossRecovery::new(config, agreed);
        core.tso_psh &= recovery.forms_tso_packets();
        recovery.start(&mut core, handshake, now);
        Sender { core, recovery }
    }

    /// Takes the memory of a sender that is over.
    pub(crate) fn take_memory(&mut self, before: &mut Sender) {
        self.core.board.take_memory(&mut before.core.board);
    }

    /// Bytes written and not yet acknowledged.
    pub(crate) fn buffered(&self) -> Bytes {
        self.core.end.since(self.core.snd_una)
    }

    /// More data to send.
    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.core.fin, "data after close");
        self.core.end += Bytes(bytes);
        self.recovery.on_burst_end();
        self.core.begin_write();
        self.core.written_end = self.core.end;
        self.core.more = false;
        self.update_pure_receiver();
    }

    /// Data that more will follow soon.
    pub(crate) fn write_more(&mut self, bytes: u64) {
        self.write(bytes);
        self.core.written_end = SeqNo::default();
        self.core.more = true;
    }

    /// Forgets what was written and never sent.
    pub(crate) fn abandon_unsent(&mut self) {
        self.core.end = self.core.end.min(self.core.snd_nxt);
        self.update_pure_receiver();
    }

    /// Switches Nagle's rule; without it what has been written leaves at once, corked or not (Linux's TCP_NODELAY).
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.core.nagle = nagle;
        if !nagle {
            self.core.pushed = self.core.end;
        }
        self.core.more = false;
    }

    /// Holds segments back that are not full, or no longer (TCP_CORK).
    pub(crate) fn set_cork(&mut self, cork: bool) {
        self.core.cork = cork;
        self.core.more = false;
    }

    /// The clock of an agent of another simulator, if the sender is one.
    pub(crate) fn compat_mut(&mut self) -> Option<&mut SecondsClock> {
        self.recovery.compat_mut()
    }

    /// No more data follows.
    pub(crate) fn close(&mut self) {
        if !std::mem::replace(&mut self.core.fin, true) {
            // What an agent has sent unwritten stands before the FIN.
            self.core.end = self.core.end.max(self.core.snd_nxt);
        }
        self.update_pure_receiver();
    }

    /// What there is to send has changed, or the send loop has run dry for the first time. Nothing was ever written on
    /// the side of a connection that only receives: segments of the other side bring it nothing but a window.
    fn update_pure_receiver(&mut self) {
        let core = &mut self.core;
        core.pure_receiver =
            core.ran_dry && core.end == SeqNo::FIRST_DATA && core.snd_nxt == SeqNo::FIRST_DATA && !core.fin;
    }

    /// True once the FIN has been sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.core.fin_sent()
    }

    /// True once the FIN has been acknowledged.
    pub(crate) fn fin_acked(&self) -> bool {
        self.core.fin && self.core.snd_una > self.core.end
    }

    /// What the peer has not answered.
    pub(crate) fn unanswered(&self) -> Unanswered {
        Unanswered { timeouts: self.core.timeouts_in_a_row, probes: self.core.window_probes }
    }

    pub(crate) fn rto_bounds(&self) -> RtoBounds {
        self.core.rtt.bounds()
    }

    pub(crate) fn totals(&self) -> Totals {
        self.core.totals
    }

    #[inline]
    pub(crate) fn timeouts(&self) -> u32 {
        self.core.totals.timeouts
    }

    pub(crate) fn snd_nxt(&self) -> SeqNo {
        self.core.snd_nxt
    }

    pub(crate) fn window(&self) -> Window {
        self.core.cc.window()
    }

    /// Where the episode under way, or the last one, ends.
    pub(crate) fn recovery_point(&self) -> SeqNo {
        self.recovery.recover()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let core = &self.core;
        Snapshot {
            window: core.cc.window(),
            send_window: self.send_window(),
            srtt: core.rtt.srtt(),
            rttvar: core.rtt.rttvar(),
            latest_rtt: core.rtt.latest(),
            min_rtt: core.rtt.min(),
            rto: core.rtt.rto(),
            flight: core.board.flight(),
            pipe: core.board.pipe(),
            sacked: core.board.sacked(),
            lost: core.board.lost(),
            state: core.state,
            snd_una: core.snd_una,
            snd_nxt: core.snd_nxt,
            rwnd: core.rwnd,
            retransmitted: core.board.retransmitted(),
            unsent: core.end.since(core.snd_nxt),
            mss: core.mss,
            reordering: self.recovery.reordering(),
            window_probes: core.window_probes,
            timeouts_in_a_row: core.timeouts_in_a_row,
            pacing_rate: core.pacing_rate(),
            delivery_rate: core.sampler.latest(),
            limit: core.limits.limit(),
        }
    }

    /// Passes the internal variables of the algorithm to `put`.
    pub(crate) fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.core.cc.observe(put);
    }

    /// What it has found out since the last call, for a log; nothing is kept before the first.
    pub(crate) fn take_told(&mut self) -> Vec<Told> {
        self.core.board.take_told()
    }

    /// What has become of a window that was saved, if one was.
    pub(crate) fn resumption(&self) -> Option<Resumption> {
        self.core.cc.resumption()
    }

    /// What it leaves to the next connection of its pair of nodes.
    pub(crate) fn saved(&self, now: Time) -> Option<Saved> {
        self.core.cc.saved(&self.core.view(now))
    }

    /// How long each [`Limit`] has kept it from sending more.
    pub(crate) fn limited(&self, now: Time) -> [Span; Limit::COUNT] {
        self.core.limits.held_until(now)
    }

    /// These times begin anew.
    pub(crate) fn restart_limits(&mut self, now: Time) {
        self.core.limits.restart(now);
    }

    /// The newest RTT sample, once.
    #[inline]
    pub(crate) fn take_rtt_sample(&mut self) -> Option<Span> {
        self.core.rtt.take_latest()
    }

    /// How much may be in the network now.
    fn send_window(&self) -> Bytes {
        self.recovery.send_window(&self.core)
    }
}
