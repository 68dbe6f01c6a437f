//! Geometry as functions of time: circular orbits around a rotating sphere. Kilometres, inertial axes.

pub(crate) mod path;
mod profiles;
pub(crate) mod shared_downlink;

use std::f64::consts::TAU;

use tcp::units::Span;

/// A place: x and y in the equator's plane, x towards longitude 0 at time 0, z towards the north pole. Kilometres.
pub(crate) type Point = [f64; 3];

/// The numbers of the Earth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Earth {
    pub(crate) radius_km: f64,
    /// Gravitational parameter, km³/s².
    pub(crate) mu: f64,
    pub(crate) sidereal_day_s: f64,
    pub(crate) light_km_s: f64,
}

impl Earth {
    /// Period of a circular orbit, seconds.
    pub(crate) fn period_s(&self, altitude_km: f64) -> f64 {
        let r = self.radius_km + altitude_km;
        TAU * (r * r * r / self.mu).sqrt()
    }

    /// Sine of the elevation at which something at distance `slant` and radius `radius` stands for a place on the ground.
    pub(crate) fn sin_elevation(&self, radius: f64, slant: f64) -> f64 {
        (radius * radius - slant * slant - self.radius_km * self.radius_km) / (2.0 * slant * self.radius_km)
    }
}

/// Something that moves on a circle: a satellite on its orbit, a place with the Earth's turn.
///
/// At time t it is at `centre + cos(u) first + sin(u) second`, u = `phase` + 2 π t / `period_s`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Body {
    first: Point,
    second: Point,
    centre_z: f64,
    phase: f64,
    period_s: f64,
}

impl Body {
    /// A satellite: radius, period, inclination, longitude of the ascending node, and argument at time 0.
    pub(crate) fn satellite(radius_km: f64, period_s: f64, inclination: f64, node: f64, argument: f64) -> Body {
        let (sin_node, cos_node) = libm::sincos(node);
        let (sin_i, cos_i) = libm::sincos(inclination);
        let first = [radius_km * cos_node, radius_km * sin_node, 0.0];
        let second = [-radius_km * sin_node * cos_i, radius_km * cos_node * cos_i, radius_km * sin_i];
        Body { first, second, centre_z: 0.0, phase: argument, period_s }
    }

    /// A place at sea level.
    pub(crate) fn ground(earth: &Earth, latitude: f64, longitude: f64) -> Body {
        let (sin, cos) = libm::sincos(latitude);
        let circle = earth.radius_km * cos;
        Body {
            first: [circle, 0.0, 0.0],
            second: [0.0, circle, 0.0],
            centre_z: earth.radius_km * sin,
            phase: longitude,
            period_s: earth.sidereal_day_s,
        }
    }

    /// This body when the clock starts `ahead` later.
    pub(crate) fn ahead(self, ahead: Span) -> Body {
        Body { phase: self.argument(ahead.as_secs_f64()), ..self }
    }

    fn argument(&self, t_s: f64) -> f64 {
        // Whole turns are taken off first, so that a day keeps its digits.
        let turns = t_s / self.period_s;
        self.phase + TAU * (turns - libm::floor(turns))
    }

    /// Its distance from the centre of the Earth, which never changes.
    fn distance_from_centre(&self) -> f64 {
        let [x, y, z] = self.first;
        (x * x + y * y + z * z + self.centre_z * self.centre_z).sqrt()
    }

    /// Its speed.
    fn speed_km_s(&self) -> f64 {
        let [x, y, z] = self.first;
        TAU * (x * x + y * y + z * z).sqrt() / self.period_s
    }

    /// Where it is `t_s` seconds after the start.
    pub(crate) fn at(&self, t_s: f64) -> Point {
        let (sin, cos) = libm::sincos(self.argument(t_s));
        let on = |i: usize| cos * self.first[i] + sin * self.second[i];
        [on(0), on(1), on(2) + self.centre_z]
    }
}

/// Distance of two places.
pub(crate) fn distance(a: &Point, b: &Point) -> f64 {
    let d = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ConstellationProfile;

    fn close(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b} within {within}");
    }

    #[test]
    fn period_and_geometry_against_altitude() {
        // Computed apart from this code: altitude, period, longest slant range at 8.2°, GSL delays, longest pass, ISL.
        let table = [
            (780.0, 6027.0, 2464.6, 2.602, 8.221, 667.2, 13.454),
            (840.0, 6102.9, 2590.1, 2.802, 8.639, 705.3, 13.566),
            (900.0, 6179.1, 2712.2, 3.002, 9.047, 743.0, 13.679),
            (960.0, 6255.7, 2831.3, 3.202, 9.444, 780.3, 13.792),
            (1020.0, 6332.6, 2947.6, 3.402, 9.832, 817.1, 13.905),
        ];
        let earth = Earth::of(ConstellationProfile::Ns2);
        for (h, period, slant, nearest, farthest, pass, isl) in table {
            let (r, mask) = (earth.radius_km + h, 8.2_f64.to_radians());
            close(earth.period_s(h), period, 0.05);
            let half = libm::acos(earth.radius_km * libm::cos(mask) / r) - mask;
            let longest = (earth.radius_km.powi(2) + r * r - 2.0 * earth.radius_km * r * libm::cos(half)).sqrt();
            close(longest, slant, 0.05);
            close(earth.sin_elevation(r, longest), libm::sin(mask), 1e-12);
            close(h / earth.light_km_s * 1e3, nearest, 5e-4);
            close(longest / earth.light_km_s * 1e3, farthest, 5e-4);
            close(2.0 * half / TAU * earth.period_s(h), pass, 0.05);
            close(2.0 * r * libm::sin(TAU / 22.0) / earth.light_km_s * 1e3, isl, 5e-4);
        }
        close(earth.period_s(550.0), 5738.8, 0.05);
    }

    #[test]
    fn a_satellite_crosses_the_equator_and_reaches_its_northernmost_point() {
        let earth = Earth::of(ConstellationProfile::Ns2);
        let period = earth.period_s(780.0);
        let body = Body::satellite(7158.0, period, 86.4_f64.to_radians(), 0.0, 0.0);
        for (t, place) in [(0.0, [7158.0, 0.0, 0.0]), (period / 4.0, [0.0, 449.45, 7143.88])] {
            for (is, should) in body.at(t).iter().zip(place) {
                close(*is, should, 0.01);
            }
        }
        let later = body.ahead(Span::from_secs_f64(1000.0)).at(500.0);
        close(distance(&later, &body.at(1500.0)), 0.0, 1e-5);
    }

    #[test]
    fn elevation_by_slant_range() {
        let earth = Earth::of(ConstellationProfile::Ns2);
        close(libm::asin(earth.sin_elevation(7158.0, 780.0)).to_degrees(), 90.0, 1e-4);
        close(libm::asin(earth.sin_elevation(7158.0, 2464.6)).to_degrees(), 8.2, 1e-3);
    }

    #[test]
    fn a_place_turns_with_the_earth() {
        let earth = Earth::of(ConstellationProfile::Std);
        let body = Body::ground(&earth, 0.5, 1.0);
        let quarter = body.at(earth.sidereal_day_s / 4.0);
        close(distance(&quarter, &Body::ground(&earth, 0.5, 1.0 + TAU / 4.0).at(0.0)), 0.0, 1e-6);
        close(distance(&quarter, &[0.0; 3]), earth.radius_km, 1e-9);
    }
}
