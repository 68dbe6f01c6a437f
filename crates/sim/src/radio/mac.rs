//! The medium of a channel with the MAC that its stations follow.

use tcp::units::Time;

use super::energy::Meter;
use super::lrwpan::Pan;
use super::propagation::Reach;
use super::queue::Request;
use crate::engine::context::Context;
use crate::ids::{FrameId, StationId};
use crate::mobility::{Point, Track};
use crate::radio::dcf::{Air, Counts, Upcall};
use crate::radio::messages::Messages;

/// A channel's medium.
#[derive(Debug)]
pub(crate) enum Mac {
    /// 802.11.
    Dcf(Box<Air>),
    /// 802.15.4.
    Lrwpan(Box<Pan>),
}

impl Mac {
    /// True for 802.15.4.
    pub(crate) fn is_lrwpan(&self) -> bool {
        matches!(self, Mac::Lrwpan(_))
    }

    /// The medium of 802.11, which alone has access points: [`crate::expand`] refuses those of 802.15.4.
    pub(crate) fn dcf(&mut self) -> &mut Air {
        match self {
            Mac::Dcf(air) => air,
            Mac::Lrwpan(_) => unreachable!("802.15.4 with access points is refused"),
        }
    }

    pub(crate) fn stations(&self) -> usize {
        match self {
            Mac::Dcf(air) => air.stations(),
            Mac::Lrwpan(pan) => pan.hearing.stations(),
        }
    }

    /// What the radio of a station has consumed up to now, if that is modelled.
    pub(crate) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut Meter> {
        match self {
            Mac::Dcf(air) => air.meter(station, now),
            Mac::Lrwpan(pan) => pan.meter(station, now),
        }
    }

    /// Where a station is; asked with times that never go back.
    pub(crate) fn place(&mut self, station: StationId, now: Time) -> Point {
        match self {
            Mac::Dcf(air) => air.place(station, now),
            Mac::Lrwpan(pan) => pan.hearing.place(station, now),
        }
    }

    /// Measurements begin.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        match self {
            Mac::Dcf(air) => air.on_warmup_end(now),
            Mac::Lrwpan(pan) => pan.on_warmup_end(now),
        }
    }

    /// What a station has done.
    pub(crate) fn counts(&self, station: StationId) -> Counts {
        match self {
            Mac::Dcf(air) => air.counts(station),
            Mac::Lrwpan(pan) => pan.counts(station),
        }
    }

    /// The ways of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        match self {
            Mac::Dcf(air) => air.tracks(),
            Mac::Lrwpan(pan) => pan.hearing.tracks(),
        }
    }

    /// True if some station moves.
    pub(crate) fn moves(&self) -> bool {
        match self {
            Mac::Dcf(air) => air.moves(),
            Mac::Lrwpan(pan) => pan.hearing.moves(),
        }
    }

    /// Who can read whom.
    pub(crate) fn data_reach(&self) -> Reach {
        match self {
            Mac::Dcf(air) => air.data_reach(),
            Mac::Lrwpan(pan) => {
                let propagation = pan.hearing.propagation.expect("only tests have a given relation");
                Reach::new(propagation, pan.least_power())
            }
        }
    }

    /// The stations that can read a frame of `station` at `now` if nothing disturbs it.
    pub(crate) fn neighbours(&mut self, station: StationId, now: Time) -> Vec<StationId> {
        match self {
            Mac::Dcf(air) => air.neighbours(station, now),
            Mac::Lrwpan(pan) => {
                let mut hearers = Vec::new();
                pan.hearing.of(station, now, &mut hearers);
                let least = pan.least_power();
                hearers.iter().filter(|hearer| hearer.power >= least).map(|hearer| hearer.station).collect()
            }
        }
    }

    /// Packets that a station holds.
    pub(crate) fn holds(&self, station: StationId) -> u64 {
        match self {
            Mac::Dcf(air) => air.holds(station),
            Mac::Lrwpan(pan) => pan.holds(station),
        }
    }

    /// The messages under way.
    pub(crate) fn messages(&mut self) -> &mut Messages {
        match self {
            Mac::Dcf(air) => &mut air.messages,
            Mac::Lrwpan(pan) => &mut pan.messages,
        }
    }

    /// What the network layer has not been told yet.
    pub(crate) fn pop_upcall(&mut self) -> Option<Upcall> {
        match self {
            Mac::Dcf(air) => air.upcalls.pop_front(),
            Mac::Lrwpan(pan) => pan.upcalls.pop_front(),
        }
    }

    /// Takes something to send.
    pub(crate) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: Request) {
        match self {
            Mac::Dcf(air) => air.enqueue(ctx, at, request),
            Mac::Lrwpan(pan) => pan.enqueue(ctx, at, request),
        }
    }

    /// Gives back a request that waits for `to`, the way there being gone.
    pub(crate) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<Request> {
        match self {
            Mac::Dcf(air) => air.withdraw(at, to),
            Mac::Lrwpan(pan) => pan.withdraw(at, to),
        }
    }

    pub(crate) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, frame: FrameId) {
        match self {
            Mac::Dcf(air) => air.on_frame_end(ctx, at, frame),
            Mac::Lrwpan(pan) => pan.on_frame_end(ctx, at, frame),
        }
    }

    pub(crate) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(air) => air.on_access(ctx, at),
            Mac::Lrwpan(pan) => pan.on_access(ctx, at),
        }
    }

    pub(crate) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(air) => air.on_respond(ctx, at),
            Mac::Lrwpan(pan) => pan.on_respond(ctx, at),
        }
    }

    pub(crate) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(air) => air.on_exchange_over(ctx, at),
            Mac::Lrwpan(pan) => pan.on_exchange_over(ctx, at),
        }
    }

    /// Fragments of 802.15.4 may have waited too long.
    pub(crate) fn on_forget(&mut self, ctx: &mut Context, at: StationId) {
        if let Mac::Lrwpan(pan) = self {
            pan.on_forget(ctx, at);
        }
    }
}
