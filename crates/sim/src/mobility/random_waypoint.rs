//! Random waypoint: pause, move to a uniformly distributed position at a uniformly distributed speed, pause again.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::leg::{Field, Leg, Point, after};

/// The model of a node, with its random stream.
#[derive(Clone, Debug)]
pub(super) struct RandomWaypoint {
    /// Minimum and maximum, m/s; both above 0.
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

    /// The first leg: a rest at `position`, or a leg in progress of the stationary regime.
    pub(super) fn first(mut self, position: Point, steady: bool) -> (Leg, RandomWaypoint) {
        let leg = if steady { self.leg_in_progress() } else { self.rest(Time::ZERO, position) };
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
        // The quotient loses precision as the two speeds approach each other.
        if ratio < 1.0 + 1e-6 { 1.0 / min } else { libm::log(ratio) / (max - min) }
    }

    /// A leg of the stationary regime: a rest with probability E[P] / (E[P] + E[D] E[1/v]); otherwise a leg whose ends
    /// have a density proportional to their distance, at a speed of density 1/v, from a uniformly distributed point of
    /// it. Rejection sampling: legs are proposed as long as the diagonal and accepted by their length, so E[D] is not
    /// needed.
    fn leg_in_progress(&mut self) -> Leg {
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
