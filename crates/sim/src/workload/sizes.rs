//! Distributions of the sizes of flows.

use tcp::rng::Rng;
use tcp::units::Bytes;

use crate::scenario::{CdfSize, ParetoSize, SizeDef, UniformSize};

/// Sizes and cumulative probabilities of the web search cluster, as in the generator that was published with it.
pub(crate) const WEB_SEARCH: [(f64, f64); 12] = [
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

/// Those of the data mining cluster.
pub(crate) const DATA_MINING: [(f64, f64); 13] = [
    (0.0, 0.0),
    (180.0, 0.1),
    (216.0, 0.2),
    (560.0, 0.3),
    (900.0, 0.4),
    (1100.0, 0.5),
    (1870.0, 0.6),
    (3160.0, 0.7),
    (10e3, 0.8),
    (400e3, 0.9),
    (3.16e6, 0.95),
    (100e6, 0.98),
    (1e9, 1.0),
];

/// Segments up to which [`Sizes::mean_segments`] sums exactly; beyond, in steps of a hundredth.
const EXACT_SEGMENTS: f64 = 100_000.0;

/// A distribution of sizes, in bytes.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    Constant(f64),
    Exponential { mean: f64 },
    Lognormal { mu: f64, sigma: f64 },
    Pareto { shape: f64, min: f64, max: f64 },
    Uniform { min: f64, max: f64 },
    Cdf(Vec<(f64, f64)>),
    List { sizes: Vec<Bytes>, next: usize },
}

impl Sizes {
    /// The distribution of a definition that has been checked.
    pub(crate) fn of(def: &SizeDef) -> Sizes {
        match def {
            SizeDef::Constant(def) => Sizes::Constant(def.bytes.as_f64()),
            SizeDef::Exponential(def) => Sizes::Exponential { mean: def.mean.as_f64() },
            SizeDef::Lognormal(def) => {
                let of_mean = |mean: Bytes| libm::log(mean.as_f64()) - def.sigma * def.sigma / 2.0;
                let mu = def.median.map(|median| libm::log(median.as_f64())).or(def.mean.map(of_mean));
                Sizes::Lognormal { mu: mu.unwrap_or_default(), sigma: def.sigma }
            }
            SizeDef::Pareto(ParetoSize { shape, min, max }) => {
                Sizes::Pareto { shape: *shape, min: min.as_f64(), max: max.map_or(f64::INFINITY, Bytes::as_f64) }
            }
            SizeDef::Uniform(UniformSize { min, max }) => Sizes::Uniform { min: min.as_f64(), max: max.as_f64() },
            SizeDef::Cdf(CdfSize { points, .. }) => Sizes::Cdf(points.clone().unwrap_or_default()),
            SizeDef::WebSearch(_) => Sizes::Cdf(WEB_SEARCH.to_vec()),
            SizeDef::DataMining(_) => Sizes::Cdf(DATA_MINING.to_vec()),
            SizeDef::List(def) => Sizes::List { sizes: def.bytes.clone(), next: 0 },
        }
    }

    /// The size of the next flow.
    pub(crate) fn draw(&mut self, rng: &mut Rng) -> Bytes {
        let size = match self {
            Sizes::List { sizes, next } => {
                let size = sizes[*next % sizes.len()];
                *next += 1;
                return size;
            }
            Sizes::Constant(size) => *size,
            Sizes::Lognormal { mu, sigma } => libm::exp(*mu + *sigma * rng.normal()),
            other => other.quantile(rng.uniform()),
        };
        Bytes((libm::round(size) as u64).max(1))
    }

    /// The size that the share `u` of flows does not exceed.
    fn quantile(&self, u: f64) -> f64 {
        match self {
            Sizes::Constant(size) => *size,
            Sizes::Exponential { mean } => -mean * libm::log(1.0 - u),
            Sizes::Pareto { shape, min, max } => {
                let least = libm::pow(min / max, *shape);
                min / libm::pow(1.0 - u * (1.0 - least), 1.0 / shape)
            }
            Sizes::Uniform { min, max } => min + u * (max - min),
            Sizes::Cdf(points) => quantile_of(points, u),
            Sizes::Lognormal { .. } | Sizes::List { .. } => unreachable!("drawn otherwise"),
        }
    }

    /// The mean.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Sizes::Constant(size) => *size,
            Sizes::Exponential { mean } => *mean,
            Sizes::Lognormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Sizes::Pareto { shape, min, max } if max.is_infinite() => shape * min / (shape - 1.0),
            Sizes::Pareto { shape, min, max } => {
                let scale = shape * libm::pow(*min, *shape) / (1.0 - libm::pow(min / max, *shape));
                let power = 1.0 - shape;
                // The limit for a shape of 1.
                let near_one = power.abs() < 1e-9;
                let integral = (libm::pow(*max, power) - libm::pow(*min, power)) / power;
                scale * if near_one { libm::log(max / min) } else { integral }
            }
            Sizes::Uniform { min, max } => (min + max) / 2.0,
            Sizes::Cdf(points) => {
                let atom = points[0].0 * points[0].1;
                atom + points
                    .windows(2)
                    .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0)
                    .sum::<f64>()
            }
            Sizes::List { sizes, .. } => sizes.iter().map(|size| size.as_f64()).sum::<f64>() / sizes.len() as f64,
        }
    }

    /// Mean number of segments of `mss` bytes of a flow: the sum over n of the share of flows of more than n segments.
    pub(crate) fn mean_segments(&self, mss: f64) -> f64 {
        let (mut n, mut sum, mut before) = (0.0, 0.0, self.exceeds(0.0));
        while before > 1e-15 {
            let step = if n < EXACT_SEGMENTS { 1.0 } else { libm::floor(n / 100.0) };
            let after = self.exceeds((n + step) * mss);
            sum += if step == 1.0 { before } else { step * (before + after) / 2.0 };
            (n, before) = (n + step, after);
        }
        sum
    }

    /// The share of flows that are larger than `size`.
    fn exceeds(&self, size: f64) -> f64 {
        match self {
            Sizes::Constant(constant) => f64::from(*constant > size),
            Sizes::Exponential { mean } => libm::exp(-size / mean),
            Sizes::Lognormal { .. } if size <= 0.0 => 1.0,
            Sizes::Lognormal { mu, sigma } => {
                0.5 * libm::erfc((libm::log(size) - mu) / (sigma * std::f64::consts::SQRT_2))
            }
            Sizes::Pareto { min, .. } if size < *min => 1.0,
            Sizes::Pareto { max, .. } if size >= *max => 0.0,
            Sizes::Pareto { shape, min, max } => {
                let least = libm::pow(min / max, *shape);
                (libm::pow(min / size, *shape) - least) / (1.0 - least)
            }
            Sizes::Uniform { min, max } if size < *min || min == max => f64::from(size < *min),
            Sizes::Uniform { min, max } => ((max - size) / (max - min)).clamp(0.0, 1.0),
            Sizes::Cdf(points) => 1.0 - share_of(points, size),
            Sizes::List { sizes, .. } => {
                sizes.iter().filter(|own| own.as_f64() > size).count() as f64 / sizes.len() as f64
            }
        }
    }
}

/// The size at a cumulative probability, linear between points.
fn quantile_of(points: &[(f64, f64)], u: f64) -> f64 {
    let index = points.partition_point(|(_, share)| *share <= u);
    let Some(above) = points.get(index) else { return points.last().map_or(0.0, |last| last.0) };
    let Some(below) = index.checked_sub(1).map(|index| points[index]) else { return above.0 };
    below.0 + (u - below.1) / (above.1 - below.1) * (above.0 - below.0)
}

/// The cumulative probability of a size, linear between points.
fn share_of(points: &[(f64, f64)], size: f64) -> f64 {
    let index = points.partition_point(|(own, _)| *own <= size);
    let Some(above) = points.get(index) else { return 1.0 };
    let Some(below) = index.checked_sub(1).map(|index| points[index]) else { return 0.0 };
    below.1 + (size - below.0) / (above.0 - below.0) * (above.1 - below.1)
}

#[cfg(test)]
mod tests;
