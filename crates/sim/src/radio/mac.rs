//! The MAC of a channel, by standard.

use tcp::units::Time;

use super::air::Air;
use super::energy::EnergyMeter;
use super::lrwpan::LrWpanMac;
use super::messages::Messages;
use super::propagation::RadioRange;
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::mobility::{Point, Track};
use crate::radio::dcf::DcfMac;
use crate::radio::service::{MacCounters, MacIndication, MacRequest};

/// The MAC of all stations of a channel.
#[derive(Debug)]
pub(crate) enum Mac {
    /// 802.11.
    Dcf(Box<DcfMac>),
    /// 802.15.4.
    Lrwpan(Box<LrWpanMac>),
}

/// What follows from the medium, for either standard.
impl Mac {
    fn air(&self) -> &Air {
        match self {
            Mac::Dcf(dcf) => &dcf.air,
            Mac::Lrwpan(lrwpan) => &lrwpan.air,
        }
    }

    fn air_mut(&mut self) -> &mut Air {
        match self {
            Mac::Dcf(dcf) => &mut dcf.air,
            Mac::Lrwpan(lrwpan) => &mut lrwpan.air,
        }
    }

    pub(crate) fn stations(&self) -> usize {
        self.air().medium.stations()
    }

    /// Position of a station; `now` must not decrease from call to call.
    pub(crate) fn position(&mut self, station: StationId, now: Time) -> Point {
        self.air_mut().medium.position(station, now)
    }

    /// Memory that the lists of listeners take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.air().medium.held_bytes()
    }

    /// Tracks of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        self.air().medium.tracks()
    }

    /// True if any station moves.
    pub(crate) fn is_mobile(&self) -> bool {
        self.air().medium.is_mobile()
    }

    /// The range within which data frames are readable.
    pub(crate) fn data_reach(&self) -> RadioRange {
        let propagation = self.air().medium.propagation.expect("only tests have a given relation");
        RadioRange::new(propagation, self.min_rx_power())
    }

    /// Stations that can receive a data frame of `station` at `now`, absent interference; with flooding, all.
    pub(crate) fn neighbours(&mut self, station: StationId, now: Time) -> Vec<StationId> {
        if matches!(self, Mac::Lrwpan(lrwpan) if lrwpan.floods()) {
            return (0..self.stations() as u32).map(StationId).filter(|other| *other != station).collect();
        }
        let min = self.min_rx_power();
        self.air_mut().medium.neighbours(station, now, min)
    }

    /// Messages in queues and on the air.
    pub(crate) fn messages(&mut self) -> &mut Messages {
        &mut self.air_mut().messages
    }

    /// The next indication to the layer above.
    pub(crate) fn pop_indication(&mut self) -> Option<MacIndication> {
        self.air_mut().indications.pop_front()
    }
}

/// What each standard does in its own way.
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

    /// Minimum power of readable data frames, absent interference.
    fn min_rx_power(&self) -> f64 {
        match self {
            Mac::Dcf(dcf) => dcf.min_rx_power(),
            Mac::Lrwpan(lrwpan) => lrwpan.min_rx_power(),
        }
    }

    /// Rates in bit/s with the metres within which data frames at them are readable, and the metres of carrier sense.
    pub(crate) fn ranges(&self) -> (Vec<(u64, f64)>, f64) {
        let (air, needed, sensed) = match self {
            Mac::Dcf(dcf) => (&dcf.air, dcf.needed_powers(), dcf.sensed_power()),
            Mac::Lrwpan(lrwpan) => {
                let rate = super::lrwpan::rules::rate().as_bps();
                (&lrwpan.air, vec![(rate, lrwpan.min_rx_power())], lrwpan.sensed_power())
            }
        };
        let range = |power| air.medium.propagation.map_or(0.0, |propagation| propagation.range_at(power));
        (needed.into_iter().map(|(rate, power)| (rate, range(power))).collect(), range(sensed))
    }

    /// Energy meter of a station's radio, read at `now`; `None` if energy is not modelled.
    pub(crate) fn meter(&mut self, station: StationId, now: Time) -> Option<&mut EnergyMeter> {
        match self {
            Mac::Dcf(dcf) => dcf.meter(station, now),
            Mac::Lrwpan(lrwpan) => lrwpan.meter(station, now),
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

    /// Time since which a station transmits nothing, if it has stalled.
    pub(crate) fn stalled_at(&self, station: StationId) -> Option<Time> {
        match self {
            Mac::Dcf(_) => None,
            Mac::Lrwpan(lrwpan) => lrwpan.stalled_at(station),
        }
    }

    /// Packets that a station holds.
    pub(crate) fn holds(&self, station: StationId) -> u64 {
        match self {
            Mac::Dcf(dcf) => dcf.holds(station),
            Mac::Lrwpan(lrwpan) => lrwpan.holds(station),
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

    /// Handles an event of a station.
    pub(crate) fn on_event(&mut self, ctx: &mut Context, event: RadioEvent) {
        match self {
            Mac::Dcf(dcf) => dcf.on_event(ctx, event),
            Mac::Lrwpan(lrwpan) => lrwpan.on_event(ctx, event),
        }
    }
}
