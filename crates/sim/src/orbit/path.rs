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
}
