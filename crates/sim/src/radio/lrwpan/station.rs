//! One station of a PAN: what it holds and where it is in sending it.

use crate::radio::queue::StationQueue;
use crate::radio::service::{MacCounters, MacRequest};
use tcp::rng::Rng;
use tcp::units::Time;

use super::reassembly::Reassembly;
use super::sixlowpan::FrameSizes;
use crate::ids::StationId;
use crate::radio::backoff::Backoff;
use crate::radio::receiver::{MacTiming, Receiver};

/// How an attempt at the medium stands (IEEE 802.15.4-2011 §5.1.1.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CsmaState {
    /// Assessments that found the medium busy.
    pub(super) busy: u32,
    /// The backoff exponent.
    pub(super) be: u32,
}

/// Where a station is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxState {
    /// Nothing to send.
    Idle,
    /// It backs off, or assesses the medium.
    Cca(CsmaState),
    /// The medium was idle; the radio turns to sending.
    Turnaround,
    AwaitsAck,
    /// It sends what nobody acknowledges.
    SendsUnacknowledged,
}

/// The datagram a station holds until it is through or given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentDatagram {
    pub(super) request: MacRequest,
    pub(super) sizes: FrameSizes,
    /// Its number at this station: the tag of its fragments.
    pub(super) tag: u32,
    /// Of the frame under way.
    pub(super) index: u32,
    /// Failed attempts at that.
    pub(super) attempts: u32,
    /// The receiver has it, though the sender may not know.
    pub(super) delivered: bool,
}

/// One station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    /// The receiver's counter of slots, which 802.15.4 does not have: never under way.
    pub(super) backoff: Backoff,
    /// Draws backoffs.
    pub(super) rng: Rng,
    pub(super) queue: StationQueue,
    pub(super) current: Option<CurrentDatagram>,
    pub(super) tx_state: TxState,
    /// When the pending `Access` is due; one at another time is stale.
    pub(super) csma_at: Option<Time>,
    /// When the wait for an ACK, or a frame without one, is over.
    pub(super) exchange_ends: Option<Time>,
    /// The space after the last frame is over.
    pub(super) next_frame_at: Time,
    /// The last ACK to send is out then.
    pub(super) responding_until: Time,
    /// An ACK that is due, and for whom.
    pub(super) response: Option<(Time, StationId)>,
    /// Of the last frame.
    pub(super) sequence: u32,
    pub(super) last_tag: u32,
    /// The last sequence number taken from each sender.
    pub(super) duplicate_cache: Vec<(StationId, u32)>,
    pub(super) reassembly: Reassembly,
    pub(super) counters: MacCounters,
}

impl Station {
    pub(super) fn advance_to(&mut self, now: Time, timing: &MacTiming) {
        self.receiver.advance_to(now, timing, &mut self.backoff);
    }

    /// Consumes energy for listening from `since` on, until it sends or `rests`.
    pub(super) fn begin_cca(&mut self, since: Time, timing: &MacTiming) {
        if self.receiver.meter.is_some() {
            self.advance_to(since, timing);
            self.receiver.read_meter(since);
            self.receiver.assessing = true;
        }
    }

    /// The radio has nothing to listen for any more; the station is settled.
    pub(super) fn end_cca(&mut self, now: Time) {
        self.receiver.read_meter(now);
        self.receiver.assessing = false;
    }
}
