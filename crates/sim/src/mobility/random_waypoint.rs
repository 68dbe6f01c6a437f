//! Random waypoint: rest, go straight to anywhere in the field at a random speed, rest again.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::{Field, Leg, Point, after};

/// A node's rule and its draws.
#[derive(Clone, Debug)]
pub(super) struct RandomWaypoint {
    /// Least and greatest, m/s; both above 0.
    speed: [f64; 2],
    pause: Span,
    field: Field,
    rng: Rng,
    /// The next leg is a rest.
    rests_next: bool,
}

impl RandomWaypoint {
    pub(super) fn new(speed: [f64; 2], pause: Span, field: Field, rng: Rng) -> RandomWaypoint {
        RandomWaypoint { speed, pause, field, rng, rests_next: false }
    }

    /// The leg at the start: a rest at `position`, or what a node that has moved for long is in the middle of.
    pub(super) fn first(mut self, position: Point, steady: bool) -> (Leg, RandomWaypoint) {
        let leg = if steady { self.under_way() } else { self.rest(Time::ZERO, position) };
        (leg, self)
    }

    pub(super) fn next(&mut self, now: Time, here: Point) -> Leg {
        if self.rests_next {
            return self.rest(now, here);
        }
        self.rests_next = true;
        let there = self.field.random_position(&mut self.rng);
        let [min, max] = self.speed;
        Leg::at_speed(now, here, there, min + (max - min) * self.rng.uniform())
    }

    fn rest(&mut self, now: Time, here: Point) -> Leg {
        self.rests_next = false;
        Leg::rest(now, now + self.pause, here)
    }

    /// E[1/v] = ln(max / min) / (max - min).
    fn mean_slowness(&self) -> f64 {
        let [min, max] = self.speed;
        let ratio = max / min;
        // The quotient loses its digits as the two speeds meet.
        if ratio < 1.0 + 1e-6 { 1.0 / min } else { libm::log(ratio) / (max - min) }
    }

    /// A leg of the stationary regime: a rest with probability E[P] / (E[P] + E[D] E[1/v]); otherwise a way whose ends
    /// are drawn with a probability that grows with their distance, at a speed of density 1/v, from anywhere along it.
    /// Ways are proposed as if all were as long as the diagonal and taken by their share of it, so E[D] is not needed.
    fn under_way(&mut self) -> Leg {
        let pause = self.pause.as_secs_f64();
        let diagonal = self.field.low.distance(self.field.high);
        let proposed = pause + diagonal * self.mean_slowness();
        loop {
            if self.rng.chance(pause / proposed) {
                let here = self.field.random_position(&mut self.rng);
                self.rests_next = false;
                return Leg::rest(Time::ZERO, after(Time::ZERO, pause * self.rng.uniform()), here);
            }
            let [start, end] = [(); 2].map(|()| self.field.random_position(&mut self.rng));
            if self.rng.uniform() * diagonal < start.distance(end) {
                self.rests_next = true;
                let here = start.to(end).times_from(self.rng.uniform(), start);
                let [min, max] = self.speed;
                let speed = min * libm::pow(max / min, self.rng.uniform());
                return Leg::at_speed(Time::ZERO, here, end, speed);
            }
        }
    }
}
