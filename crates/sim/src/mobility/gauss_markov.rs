//! Gauss-Markov in three dimensions: speed, direction and pitch are autoregressive
//! processes that revert to their means.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::leg::{Field, Leg, Point};
use crate::scenario::GaussMarkovDef;

/// A first-order autoregressive process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ar1 {
    pub(super) value: f64,
    pub(super) mean: f64,
    /// Standard deviation of the noise.
    pub(super) noise: f64,
}

impl Ar1 {
    fn at_mean(mean: f64, noise: f64) -> Ar1 {
        Ar1 { value: mean, mean, noise }
    }

    /// s = a s + (1 - a) mean + sqrt(1 - a^2) N.
    pub(super) fn step(&mut self, memory: f64, rng: &mut Rng) {
        let fresh = (1.0 - memory * memory).sqrt();
        self.value = memory * self.value + (1.0 - memory) * self.mean + fresh * self.noise * rng.normal();
    }
}

/// The model of a node, with its random stream.
#[derive(Clone, Debug)]
pub(super) struct GaussMarkov {
    memory: f64,
    interval: Span,
    pub(super) speed: Ar1,
    pub(super) direction: Ar1,
    pub(super) pitch: Ar1,
    field: Field,
    rng: Rng,
}

impl GaussMarkov {
    /// Each node has a mean direction of its own.
    pub(super) fn new(def: &GaussMarkovDef, field: Field, mut rng: Rng) -> GaussMarkov {
        let direction = std::f64::consts::TAU * rng.uniform();
        let flat = field.low.z == field.high.z;
        GaussMarkov {
            memory: def.alpha,
            interval: def.interval,
            speed: Ar1::at_mean(def.speed.0, def.speed_noise),
            direction: Ar1::at_mean(direction, def.direction_noise),
            pitch: Ar1::at_mean(0.0, def.pitch_noise.unwrap_or(if flat { 0.0 } else { 1.0 })),
            field,
            rng,
        }
    }

    /// The next leg: drawn at random, then reflected where it would leave the field.
    pub(super) fn step(&mut self, now: Time, here: Point) -> Leg {
        for drift in [&mut self.speed, &mut self.direction, &mut self.pitch] {
            drift.step(self.memory, &mut self.rng);
        }
        let (speed, level) = (self.speed.value, libm::cos(self.pitch.value));
        let mut velocity = Point {
            x: speed * libm::cos(self.direction.value) * level,
            y: speed * libm::sin(self.direction.value) * level,
            z: speed * libm::sin(self.pitch.value),
        };
        let length = self.interval.as_secs_f64();
        let there = velocity.times_from(length, here);
        let inside = self.field.clamp(there);
        if there.x != inside.x {
            velocity.x = -velocity.x;
            self.direction.mean = std::f64::consts::PI - self.direction.mean;
        }
        if there.y != inside.y {
            velocity.y = -velocity.y;
            self.direction.mean = -self.direction.mean;
        }
        if there.z != inside.z {
            velocity.z = -velocity.z;
            self.pitch.mean = -self.pitch.mean;
        }
        if there != inside {
            self.direction.value = self.direction.mean;
            self.pitch.value = self.pitch.mean;
        }
        // In a small field the reflected leg may leave it as well: it then ends at the boundary.
        let end = self.field.clamp(velocity.times_from(length, here));
        Leg::between(now, now + self.interval, here, end)
    }
}
