//! What access points need of the air: who hears which of them best, and frames that go before all others.

use tcp::units::{Bytes, Time};

use super::Air;
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::radio::queue::Request;

impl Air {
    /// By station: the access point that it hears best at the start; the first if it hears none.
    pub(crate) fn belongings(&mut self, points: &[StationId]) -> Vec<StationId> {
        let mut best: Vec<(f64, StationId)> = vec![(0.0, points[0]); self.stations.len()];
        let mut hearers = Vec::new();
        for point in points {
            self.hearing.of(*point, Time::ZERO, &mut hearers);
            for hearer in &hearers {
                let best = &mut best[hearer.station.index()];
                if hearer.power > best.0 {
                    *best = (hearer.power, *point);
                }
            }
        }
        points.iter().for_each(|point| best[point.index()].1 = *point);
        best.into_iter().map(|(_, point)| point).collect()
    }

    /// The access point that `station` hears best now, if it can read one at all; the first of several.
    pub(crate) fn best_point(&mut self, points: &[StationId], station: StationId, now: Time) -> Option<StationId> {
        let least = self.rules.least_power();
        let mut best: Option<(f64, StationId)> = None;
        let mut hearers = Vec::new();
        for point in points {
            self.hearing.of(*point, now, &mut hearers);
            let power = hearers.iter().find(|hearer| hearer.station == station).map_or(0.0, |hearer| hearer.power);
            if power >= least && best.is_none_or(|(most, _)| power > most) {
                best = Some((power, *point));
            }
        }
        best.map(|(_, point)| point)
    }

    /// MAC bytes around what a frame carries.
    pub(crate) fn header(&self) -> Bytes {
        self.rules.header
    }

    /// Takes a frame of management to send before all others. A beacon that has not gone out yet is replaced.
    pub(crate) fn enqueue_first(&mut self, ctx: &mut Context, at: StationId, request: Request) {
        let station = &mut self.stations[at.index()];
        let stale = request.to.is_none() && station.queue.first().is_some_and(|first| first.to.is_none());
        if stale {
            return self.messages.release(request.content);
        }
        station.queue.push_first(request);
        if station.job.is_none() {
            self.next_job(ctx, at);
        }
    }

    /// What waits at a station for `from` goes to `to` instead.
    pub(crate) fn readdress(&mut self, at: StationId, from: StationId, to: StationId) {
        self.stations[at.index()].queue.readdress(from, to);
    }
}
