//! Propagation models: received power by distance.

use crate::mobility::Point;
use crate::scenario::{Metres, PropagationDef};

/// Speed of light in metres per second.
pub(crate) const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Path loss model.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Model {
    /// Free space; the gain at 1 m.
    Friis {
        at_1m: f64,
    },
    /// Two-ray ground reflection: free space up to the crossover distance, then the fourth power; the height of both
    /// antennas.
    TwoRay {
        at_1m: f64,
        crossover: f64,
        height: f64,
    },
    LogDistance {
        at_1m: f64,
        exponent: f64,
    },
    Range {
        distance: f64,
    },
}

/// A path loss model with the power of the transmitter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Propagation {
    model: Model,
    power: f64,
    /// Divides all distances.
    multiplier: f64,
    max_range: f64,
}

/// Free-space gain at 1 m.
fn friis_at_1m(frequency: f64, speed_of_light: f64) -> f64 {
    let ratio = speed_of_light / frequency / (4.0 * std::f64::consts::PI);
    ratio * ratio
}

impl Propagation {
    /// The propagation of a transmitter of `power` watts at `frequency` hertz.
    pub(crate) fn new(def: &PropagationDef, power: f64, frequency: f64, speed_of_light: f64) -> Propagation {
        let at_1m = friis_at_1m(frequency, speed_of_light);
        let model = match def {
            PropagationDef::Friis(_) => Model::Friis { at_1m },
            PropagationDef::TwoRay(two_ray) => {
                let height = two_ray.antenna_height.0;
                let crossover = 4.0 * std::f64::consts::PI * height * height * frequency / speed_of_light;
                Model::TwoRay { at_1m, crossover, height }
            }
            PropagationDef::LogDistance(log) => {
                let at_1m = log.loss_at_1m_db.map_or(at_1m, |loss| libm::pow(10.0, -loss / 10.0));
                Model::LogDistance { at_1m, exponent: log.exponent }
            }
            PropagationDef::Range(range) => Model::Range { distance: range.distance.0 },
        };
        Propagation { model, power, multiplier: 1.0, max_range: f64::INFINITY }
    }

    /// This model with all distances multiplied by `multiplier`, and no signal beyond `max_range`.
    pub(crate) fn scaled(self, multiplier: f64, max_range: Option<Metres>) -> Propagation {
        Propagation { multiplier, max_range: max_range.map_or(f64::INFINITY, |range| range.0), ..self }
    }

    /// Received power in watts at `distance` metres.
    pub(crate) fn rx_power(&self, distance: f64) -> f64 {
        if distance > self.max_range {
            return 0.0;
        }
        let distance = distance / self.multiplier;
        let factor = match self.model {
            Model::Friis { at_1m } => at_1m / (distance * distance),
            Model::TwoRay { at_1m, crossover, .. } if distance < crossover => at_1m / (distance * distance),
            Model::TwoRay { height, .. } => {
                let square = height * height / (distance * distance);
                square * square
            }
            Model::LogDistance { at_1m, .. } if distance <= 1.0 => at_1m,
            Model::LogDistance { at_1m, exponent } => at_1m / libm::pow(distance, exponent),
            Model::Range { distance: max } => f64::from(u8::from(distance <= max)),
        };
        self.power * factor.min(1.0)
    }

    /// The distance at which power has fallen to `threshold` watts.
    pub(crate) fn range_at(&self, threshold: f64) -> f64 {
        let (mut near, mut far) = (0.0, 1e7);
        for _ in 0..60 {
            let middle = f64::midpoint(near, far);
            if self.rx_power(middle) >= threshold {
                near = middle;
            } else {
                far = middle;
            }
        }
        near
    }
}

/// The range within which data frames are readable, absent interference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RadioRange {
    propagation: Propagation,
    /// Required power, watts.
    min: f64,
    /// Distance at which power equals that, but for rounding.
    range: f64,
}

impl RadioRange {
    /// The range of data frames that need `min_power` watts.
    pub(crate) fn new(propagation: Propagation, min: f64) -> RadioRange {
        RadioRange { propagation, min, range: propagation.range_at(min) }
    }

    /// Metres beyond which no station is within range, rounding included.
    pub(crate) fn limit(&self) -> f64 {
        self.range * (1.0 + 2e-9)
    }

    /// True if stations at these positions are within range of each other.
    pub(crate) fn in_range(&self, here: Point, there: Point) -> bool {
        let distance = here.distance(there);
        // Power is computed only where rounding might matter.
        distance < self.range * (1.0 - 1e-9)
            || (distance < self.range * (1.0 + 1e-9) && self.propagation.rx_power(distance) >= self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::profiles::ROUNDED_LIGHT;
    use crate::scenario::{FriisDef, LogDistanceDef, TwoRayDef};

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    /// ns-2's 250 m and 550 m, and independently computed powers.
    #[test]
    fn two_ray_as_in_ns2() {
        let def = PropagationDef::TwoRay(TwoRayDef::default());
        let ns2 = Propagation::new(&def, 0.281_838_15, 914e6, ROUNDED_LIGHT);
        let table = [
            (15.0, 8.545_700e-7),
            (40.0, 1.201_739e-7),
            (100.0, 1.426_806e-8),
            (250.0, 3.652_622e-10),
            (550.0, 1.559_244e-11),
        ];
        for (distance, power) in table {
            assert!(near(ns2.rx_power(distance), power), "{distance} m: {:e}", ns2.rx_power(distance));
        }
        assert!((ns2.range_at(3.652e-10) - 250.01).abs() < 0.01);
        assert!((ns2.range_at(1.559e-11) - 550.02).abs() < 0.01);
        assert!((ns2.scaled(3.0, None).range_at(3.652e-10) - 750.03).abs() < 0.03);
        assert_eq!(ns2.scaled(1.0, Some(Metres(60.0))).rx_power(60.1), 0.0);
    }

    /// Independently computed powers and ranges.
    #[test]
    fn log_distance_as_in_ns3() {
        let def = PropagationDef::LogDistance(LogDistanceDef { exponent: 3.0, loss_at_1m_db: Some(46.6777) });
        let ns3 = Propagation::new(&def, 1e-3 * libm::pow(10.0, 1.602_06), 5.15e9, SPEED_OF_LIGHT);
        let dbm = |distance: f64| 10.0 * libm::log10(ns3.rx_power(distance) / 1e-3);
        assert!((dbm(50.0) + 81.6262).abs() < 1e-4 && (dbm(100.0) + 90.6571).abs() < 1e-4);
        assert!((ns3.range_at(1e-3 * libm::pow(10.0, -8.2)) - 51.455).abs() < 1e-3);
        assert!((ns3.range_at(1e-3 * libm::pow(10.0, -6.2)) - 11.086).abs() < 1e-3);
    }

    #[test]
    fn received_power_does_not_exceed_transmitted_power() {
        let friis = Propagation::new(&PropagationDef::Friis(FriisDef {}), 0.1, 2.4e9, SPEED_OF_LIGHT);
        assert_eq!(friis.rx_power(0.0), 0.1);
    }
}
