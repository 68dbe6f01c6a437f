//! State of one station.

use tcp::rng::Rng;
use tcp::units::Time;

use super::mesh_station::{MeshFrame, MeshStation};
use super::reassembly::Reassembly;
use super::sampled_cca::Sampled;
use super::sixlowpan::FrameSizes;
use crate::ids::StationId;
use crate::radio::backoff::Backoff;
use crate::radio::queue::StationQueue;
use crate::radio::receiver::{MacTiming, Receiver};
use crate::radio::service::{MacCounters, MacRequest};

/// State of CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CsmaState {
    /// NB: CCAs that found the medium busy.
    pub(super) nb: u32,
    /// BE: the backoff exponent.
    pub(super) be: u32,
}

/// State of a station in the transmission of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxState {
    /// No datagram to transmit.
    Idle,
    /// Backoff, or CCA.
    Cca(CsmaState),
    /// After the sample, with `Access::SampledCca`.
    Sampled(Sampled),
    /// The medium was idle; the radio turns from reception to transmission.
    Turnaround,
    AwaitsAck,
    /// Transmitting an unacknowledged frame.
    SendsUnacknowledged,
}

/// The datagram that a station transmits until it is delivered or dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentDatagram {
    pub(super) request: MacRequest,
    pub(super) sizes: FrameSizes,
    /// Datagram tag of its fragments.
    pub(super) tag: u32,
    /// Index of the current frame.
    pub(super) index: u32,
    /// Failed attempts to transmit that frame.
    pub(super) attempts: u32,
    /// That frame has its sequence number.
    pub(super) numbered: bool,
    /// Attempts that a frame from the addressee made count no longer, with `Access::SampledCca`.
    pub(super) forgiven: u32,
    /// The receiver has it, though the ACK may not have arrived.
    pub(super) delivered: bool,
    /// The frame, if it is flooded; the datagram then has no other.
    pub(super) mesh: Option<MeshFrame>,
}

/// A station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    /// Backoff counter of the receiver; 802.15.4 counts no slots, so it never runs.
    pub(super) backoff: Backoff,
    /// Draws backoff periods.
    pub(super) rng: Rng,
    pub(super) queue: StationQueue,
    pub(super) current: Option<CurrentDatagram>,
    pub(super) tx_state: TxState,
    /// Time of the pending `ChannelAccess`; events at other times are stale.
    pub(super) csma_at: Option<Time>,
    /// ACK timeout, or end of an unacknowledged frame.
    pub(super) exchange_ends: Option<Time>,
    /// End of the interframe space after the last frame.
    pub(super) next_frame_at: Time,
    /// End of the last ACK that the station transmits.
    pub(super) responding_until: Time,
    /// A due ACK and its receiver.
    pub(super) response: Option<(Time, StationId)>,
    /// Sequence number of the last frame.
    pub(super) sequence: u32,
    pub(super) last_tag: u32,
    /// Last sequence number received from each transmitter.
    pub(super) duplicate_cache: Vec<(StationId, u32)>,
    pub(super) reassembly: Reassembly,
    pub(super) mesh: MeshStation,
    pub(super) counters: MacCounters,
}

impl Station {
    pub(super) fn advance_to(&mut self, now: Time, timing: &MacTiming) {
        self.receiver.advance_to(now, timing, &mut self.backoff);
    }

    /// Starts a CCA at `since`, which consumes as much as reception.
    pub(super) fn begin_cca(&mut self, since: Time, timing: &MacTiming) {
        if self.receiver.meter.is_some() {
            self.advance_to(since, timing);
            self.receiver.read_meter(since);
            self.receiver.assessing = true;
        }
    }

    /// Ends a CCA; the receiver is advanced.
    pub(super) fn end_cca(&mut self, now: Time) {
        self.receiver.read_meter(now);
        self.receiver.assessing = false;
    }
}
