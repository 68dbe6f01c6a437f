//! One station of a PAN: what it holds and where it is in sending it.

use tcp::rng::Rng;
use tcp::units::Time;

use super::reassembly::Reassembly;
use super::sixlowpan::FrameSizes;
use crate::ids::StationId;
use crate::radio::contention::Contention;
use crate::radio::dcf::Counts;
use crate::radio::queue::{InterfaceQueue, Request};
use crate::radio::receiver::{Receiver, Waits};

/// How an attempt at the medium stands (IEEE 802.15.4-2011 §5.1.1.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Attempt {
    /// Assessments that found the medium busy.
    pub(super) busy: u32,
    /// The backoff exponent.
    pub(super) exponent: u32,
}

/// Where a station is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Nothing to send.
    Idle,
    /// It backs off, or assesses the medium.
    Assesses(Attempt),
    /// The medium was idle; the radio turns to sending.
    Turns,
    AwaitsAck,
    /// It sends what nobody acknowledges.
    Sends,
}

/// The datagram a station holds until it is through or given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) sizes: FrameSizes,
    /// Its number at this station: the tag of its fragments.
    pub(super) datagram: u32,
    /// Of the frame under way.
    pub(super) index: u32,
    /// Failed attempts at that.
    pub(super) attempts: u32,
    /// The receiver has it, though the sender may not know.
    pub(super) handed_over: bool,
}

/// One station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) receiver: Receiver,
    /// The receiver's counter of slots, which 802.15.4 does not have: never under way.
    pub(super) contention: Contention,
    /// Draws backoffs.
    pub(super) draws: Rng,
    pub(super) queue: InterfaceQueue,
    pub(super) job: Option<Job>,
    pub(super) phase: Phase,
    /// When the pending `Access` is due; one at another time is stale.
    pub(super) step_at: Option<Time>,
    /// When the wait for an ACK, or a frame without one, is over.
    pub(super) over_at: Option<Time>,
    /// The space after the last frame is over.
    pub(super) ready_at: Time,
    /// The last ACK to send is out then.
    pub(super) engaged_until: Time,
    /// An ACK that is due, and for whom.
    pub(super) response: Option<(Time, StationId)>,
    /// Of the last frame.
    pub(super) sequence: u32,
    pub(super) datagrams: u32,
    /// The last sequence number taken from each sender.
    pub(super) taken: Vec<(StationId, u32)>,
    pub(super) reassembly: Reassembly,
    pub(super) counts: Counts,
}

impl Station {
    pub(super) fn settle(&mut self, now: Time, waits: &Waits) {
        self.receiver.settle(now, waits, &mut self.contention);
    }

    /// Consumes energy for listening from `since` on, until it sends or `rests`.
    pub(super) fn listens(&mut self, since: Time, waits: &Waits) {
        if self.receiver.meter.is_some() {
            self.settle(since, waits);
            self.receiver.read_meter(since);
            self.receiver.listens = true;
        }
    }

    /// The radio has nothing to listen for any more; the station is settled.
    pub(super) fn rests(&mut self, now: Time) {
        self.receiver.read_meter(now);
        self.receiver.listens = false;
    }
}
