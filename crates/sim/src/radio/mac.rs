//! The MAC of a channel, by standard.

use tcp::units::Time;

use super::energy::EnergyMeter;
use super::lrwpan::LrWpanMac;
use super::propagation::RadioRange;
use crate::engine::context::Context;
use crate::ids::{FrameId, StationId};
use crate::mobility::{Point, Track};
use crate::radio::dcf::DcfMac;
use crate::radio::messages::Messages;
use crate::radio::service::{MacCounters, MacIndication, MacRequest};

/// The MAC of all stations of a channel.
#[derive(Debug)]
pub(crate) enum Mac {
    /// 802.11.
    Dcf(Box<DcfMac>),
    /// 802.15.4.
    Lrwpan(Box<LrWpanMac>),
}

impl Mac {
    /// True for 802.15.4.
    pub(crate) fn is_lrwpan(&self) -> bool {
        matches!(self, Mac::Lrwpan(_))
    }

    /// The MAC of 802.11, which alone has access points: scenarios with 802.15.4 access points are refused.
    pub(crate) fn dcf(&mut self) -> &mut DcfMac {
        match self {
            Mac::Dcf(dcf) => dcf,
            Mac::Lrwpan(_) => unreachable!("802.15.4 with access points is refused"),
        }
    }

    pub(crate) fn stations(&self) -> usize {
        match self {
            Mac::Dcf(dcf) => dcf.stations(),
            Mac::Lrwpan(lrwpan) => lrwpan.medium.stations(),
        }
    }

    /// Energy meter of a station's radio, read at `now`; `None` if energy is not modelled.
    pub(crate) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut EnergyMeter> {
        match self {
            Mac::Dcf(dcf) => dcf.meter(station, now),
            Mac::Lrwpan(lrwpan) => lrwpan.meter(station, now),
        }
    }

    /// Position of a station; `now` must not decrease from call to call.
    pub(crate) fn position(&mut self, station: StationId, now: Time) -> Point {
        match self {
            Mac::Dcf(dcf) => dcf.position(station, now),
            Mac::Lrwpan(lrwpan) => lrwpan.medium.position(station, now),
        }
    }

    /// Starts the measurement interval.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        match self {
            Mac::Dcf(dcf) => dcf.on_warmup_end(now),
            Mac::Lrwpan(lrwpan) => lrwpan.on_warmup_end(now),
        }
    }

    /// Counters of a station.
    pub(crate) fn counters(&self, station: StationId) -> MacCounters {
        match self {
            Mac::Dcf(dcf) => dcf.counters(station),
            Mac::Lrwpan(lrwpan) => lrwpan.counters(station),
        }
    }

    /// Time since which a station transmits nothing for a fault that its MAC is to have, if it does.
    pub(crate) fn stalled_at(&self, station: StationId) -> Option<Time> {
        match self {
            Mac::Dcf(_) => None,
            Mac::Lrwpan(lrwpan) => lrwpan.stalled_at(station),
        }
    }

    /// Memory that the lists of listeners take.
    pub(crate) fn held_bytes(&self) -> u64 {
        match self {
            Mac::Dcf(dcf) => dcf.held_bytes(),
            Mac::Lrwpan(lrwpan) => lrwpan.medium.held_bytes(),
        }
    }

    /// Tracks of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        match self {
            Mac::Dcf(dcf) => dcf.tracks(),
            Mac::Lrwpan(lrwpan) => lrwpan.medium.tracks(),
        }
    }

    /// True if any station moves.
    pub(crate) fn is_mobile(&self) -> bool {
        match self {
            Mac::Dcf(dcf) => dcf.is_mobile(),
            Mac::Lrwpan(lrwpan) => lrwpan.medium.is_mobile(),
        }
    }

    /// The range within which data frames are readable.
    pub(crate) fn data_reach(&self) -> RadioRange {
        match self {
            Mac::Dcf(dcf) => dcf.data_reach(),
            Mac::Lrwpan(lrwpan) => {
                let propagation = lrwpan.medium.propagation.expect("only tests have a given relation");
                RadioRange::new(propagation, lrwpan.min_rx_power())
            }
        }
    }

    /// Stations that can receive a data frame of `station` at `now`, absent interference; with flooding, all.
    pub(crate) fn neighbours(&mut self, station: StationId, now: Time) -> Vec<StationId> {
        match self {
            Mac::Dcf(dcf) => dcf.neighbours(station, now),
            Mac::Lrwpan(lrwpan) if lrwpan.floods() => {
                (0..lrwpan.medium.stations() as u32).map(StationId).filter(|other| *other != station).collect()
            }
            Mac::Lrwpan(lrwpan) => {
                let mut listeners = Vec::new();
                lrwpan.medium.listeners_of(station, now, &mut listeners);
                let min = lrwpan.min_rx_power();
                listeners.iter().filter(|listener| listener.power >= min).map(|listener| listener.station).collect()
            }
        }
    }

    /// Packets that a station holds.
    pub(crate) fn holds(&self, station: StationId) -> u64 {
        match self {
            Mac::Dcf(dcf) => dcf.holds(station),
            Mac::Lrwpan(lrwpan) => lrwpan.holds(station),
        }
    }

    /// Messages in queues and on the air.
    pub(crate) fn messages(&mut self) -> &mut Messages {
        match self {
            Mac::Dcf(dcf) => &mut dcf.messages,
            Mac::Lrwpan(lrwpan) => &mut lrwpan.messages,
        }
    }

    /// The next indication to the layer above.
    pub(crate) fn pop_indication(&mut self) -> Option<MacIndication> {
        match self {
            Mac::Dcf(dcf) => dcf.indications.pop_front(),
            Mac::Lrwpan(lrwpan) => lrwpan.indications.pop_front(),
        }
    }

    /// Accepts a request to transmit.
    pub(crate) fn enqueue(&mut self, ctx: &mut Context, at: StationId, request: MacRequest) {
        match self {
            Mac::Dcf(dcf) => dcf.enqueue(ctx, at, request),
            Mac::Lrwpan(lrwpan) => lrwpan.enqueue(ctx, at, request),
        }
    }

    /// Removes a queued request for `to`, to be routed again.
    pub(crate) fn withdraw(&mut self, at: StationId, to: StationId) -> Option<MacRequest> {
        match self {
            Mac::Dcf(dcf) => dcf.withdraw(at, to),
            Mac::Lrwpan(lrwpan) => lrwpan.withdraw(at, to),
        }
    }

    pub(crate) fn on_frame_end(&mut self, ctx: &mut Context, at: StationId, frame: FrameId) {
        match self {
            Mac::Dcf(dcf) => dcf.on_frame_end(ctx, at, frame),
            Mac::Lrwpan(lrwpan) => lrwpan.on_frame_end(ctx, at, frame),
        }
    }

    pub(crate) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(dcf) => dcf.on_access(ctx, at),
            Mac::Lrwpan(lrwpan) => lrwpan.on_access(ctx, at),
        }
    }

    pub(crate) fn on_respond(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(dcf) => dcf.on_respond(ctx, at),
            Mac::Lrwpan(lrwpan) => lrwpan.on_respond(ctx, at),
        }
    }

    pub(crate) fn on_exchange_over(&mut self, ctx: &mut Context, at: StationId) {
        match self {
            Mac::Dcf(dcf) => dcf.on_exchange_over(ctx, at),
            Mac::Lrwpan(lrwpan) => lrwpan.on_exchange_over(ctx, at),
        }
    }

    /// Queues the flooded frames that a station repeats now (802.15.4).
    pub(crate) fn on_repeat(&mut self, ctx: &mut Context, at: StationId) {
        if let Mac::Lrwpan(lrwpan) = self {
            lrwpan.on_repeat(ctx, at);
        }
    }

    /// Handles the reassembly timeout of a station (802.15.4).
    pub(crate) fn on_reassembly_timeout(&mut self, ctx: &mut Context, at: StationId) {
        if let Mac::Lrwpan(lrwpan) = self {
            lrwpan.on_reassembly_timeout(ctx, at);
        }
    }
}
