//! The line of sight between two bodies, and how long light takes along it.

use tcp::units::{Span, Time};

use super::{Body, Earth, distance};

/// The line between two bodies, as a link needs it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PropagationPath {
    ends: [Body; 2],
    light_km_s: f64,
}

impl PropagationPath {
    pub(crate) fn new(a: Body, b: Body, earth: &Earth) -> PropagationPath {
        PropagationPath { ends: [a, b], light_km_s: earth.light_km_s }
    }

    /// Propagation delay by the distance of this instant.
    pub(crate) fn delay(&self, now: Time) -> Span {
        let t = now.as_secs_f64();
        Span::from_secs_f64(distance(&self.ends[0].at(t), &self.ends[1].at(t)) / self.light_km_s)
    }

    /// A delay that is never below up to `until`.
    pub(crate) fn least_delay(&self, until: Time) -> Span {
        let [one, other] = self.ends.map(|body| body.distance_from_centre());
        let km = (one - other).abs().max(self.least_distance(until));
        // A nanosecond for rounding.
        Span::from_secs_f64(km / self.light_km_s).saturating_sub(Span::from_nanos(1))
    }

    /// A distance that is never below up to `until`: the least of some, less what the bodies can approach each other in between.
    fn least_distance(&self, until: Time) -> f64 {
        const LOOKS: u32 = 256;
        let step_s = until.as_secs_f64() / f64::from(LOOKS);
        let at = |look: u32| {
            let t = f64::from(look) * step_s;
            distance(&self.ends[0].at(t), &self.ends[1].at(t))
        };
        let speed: f64 = self.ends.iter().map(Body::speed_km_s).sum();
        (0..=LOOKS).map(at).fold(f64::INFINITY, f64::min) - speed * step_s / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ConstellationProfile;

    #[test]
    fn a_delay_is_the_distance_over_the_speed_of_light() {
        let earth = Earth::of(ConstellationProfile::Ns2);
        let satellite = Body::satellite(7158.0, earth.period_s(780.0), 0.0, 0.0, 0.0);
        let path = PropagationPath::new(satellite, Body::ground(&earth, 0.0, 0.0), &earth);
        assert_eq!(path.delay(Time::ZERO), Span::from_secs_f64(780.0 / 299_793.0));
        assert!(path.delay(Time::from_nanos(1_000_000_000)) > path.delay(Time::ZERO));
    }

    #[test]
    fn no_delay_is_below_the_least() {
        let earth = Earth::of(ConstellationProfile::Ns2);
        let satellite = |node: f64, argument: f64| Body::satellite(7158.0, earth.period_s(780.0), 1.5, node, argument);
        let until = Time::from_nanos(3_000_000_000_000);
        let ground = Body::ground(&earth, 0.7, 0.3);
        let pairs = [
            [satellite(0.0, 0.0), satellite(0.5, 0.1)],
            [satellite(0.2, 0.0), satellite(0.2, 0.57)],
            [ground, satellite(0.3, 0.6)],
        ];
        for ends in pairs {
            let path = PropagationPath::new(ends[0], ends[1], &earth);
            let least = path.least_delay(until);
            let delays = (0..30_000_u64).map(|look| path.delay(Time::from_nanos(look * 100_000_000)));
            let found = delays.min().unwrap();
            assert!(least <= found && found.as_secs_f64() - least.as_secs_f64() < 5e-4, "{least} {found}");
        }
        // In the same plane the distance never changes.
        assert!(PropagationPath::new(pairs[1][0], pairs[1][1], &earth).least_delay(until) > Span::from_millis(12));
    }
}
