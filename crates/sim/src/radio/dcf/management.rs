//! What the MAC does for the layers above: signal strengths, management frames and readdressing of queued frames for
//! access points, and promiscuous listening for source routing.

use tcp::units::{Bytes, Time};

use super::DcfMac;
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::radio::service::MacRequest;

impl DcfMac {
    /// By station, the access point with the strongest signal at time zero; the first if no signal reaches it.
    pub(crate) fn initial_access_points(&mut self, access_points: &[StationId]) -> Vec<StationId> {
        let mut best: Vec<(f64, StationId)> = vec![(0.0, access_points[0]); self.stations.len()];
        let mut listeners = Vec::new();
        for access_point in access_points {
            self.air.medium.listeners_of(*access_point, Time::ZERO, &mut listeners);
            for listener in &listeners {
                let best = &mut best[listener.station.index()];
                if listener.power > best.0 {
                    *best = (listener.power, *access_point);
                }
            }
        }
        access_points.iter().for_each(|access_point| best[access_point.index()].1 = *access_point);
        best.into_iter().map(|(_, access_point)| access_point).collect()
    }

    /// The access point with the strongest readable signal at `station`, if any; the first of several.
    pub(crate) fn strongest_access_point(
        &mut self,
        access_points: &[StationId],
        station: StationId,
        now: Time,
    ) -> Option<StationId> {
        let min = self.rules.min_rx_power();
        let mut best: Option<(f64, StationId)> = None;
        let mut listeners = Vec::new();
        for access_point in access_points {
            let power = self.air.medium.power_between(*access_point, station, now, &mut listeners);
            if power >= min && best.is_none_or(|(max, _)| power > max) {
                best = Some((power, *access_point));
            }
        }
        best.map(|(_, access_point)| access_point)
    }

    /// Power of what `from` transmits, at `station`; 0 out of reach.
    pub(crate) fn signal(&mut self, from: StationId, station: StationId, now: Time) -> f64 {
        self.air.medium.power_between(from, station, now, &mut Vec::new())
    }

    /// From now on stations listen to data frames for others.
    pub(crate) fn listen_to_all(&mut self) {
        self.rules.promiscuous = true;
    }

    /// From now on the queues are served by class.
    pub(crate) fn serve_by_class(&mut self) {
        self.stations.iter_mut().for_each(|station| station.queue.serve_by_class());
    }

    /// Bytes that the MAC adds to an MSDU.
    pub(crate) fn mac_overhead(&self) -> Bytes {
        self.rules.mac_overhead
    }

    /// Accepts a management frame, to be transmitted before all others. A beacon is dropped if the previous one is
    /// still queued.
    pub(crate) fn enqueue_first(&mut self, ctx: &mut Context, at: StationId, request: MacRequest) {
        let station = &mut self.stations[at.index()];
        let stale = request.to.is_none() && station.queue.first().is_some_and(|first| first.to.is_none());
        if stale {
            return self.air.messages.release(request.content);
        }
        station.queue.push_first(request);
        if station.current.is_none() {
            self.next_frame(ctx, at);
        }
    }

    /// Changes the receiver address of queued frames from `from` to `to`.
    pub(crate) fn readdress(&mut self, at: StationId, from: StationId, to: StationId) {
        self.stations[at.index()].queue.readdress(from, to);
    }
}
