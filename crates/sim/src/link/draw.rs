//! Random lengths of time.

use tcp::rng::Rng;
use tcp::units::Span;

use crate::scenario::{DelayDef, PeriodDef};

/// A distribution of lengths of time; numbers in seconds.
#[derive(Clone, Debug)]
pub(crate) enum Draw {
    Constant(Span),
    Uniform {
        max: f64,
    },
    /// Cut at 0 and at `mean + 4 sd`.
    Normal {
        mean: f64,
        sd: f64,
    },
    Exponential {
        mean: f64,
    },
    Pareto {
        mean: f64,
        shape: f64,
    },
    /// The inverse of a distribution function, linear between points: share, value.
    Inverse(Vec<(f64, f64)>),
}

impl Draw {
    pub(crate) fn of(def: &DelayDef) -> Draw {
        match def {
            DelayDef::Constant(constant) => Draw::Constant(constant.length),
            DelayDef::Uniform(uniform) => Draw::Uniform { max: uniform.max.as_secs_f64() },
            DelayDef::Normal(normal) => Draw::Normal { mean: normal.mean.as_secs_f64(), sd: normal.sd.as_secs_f64() },
            DelayDef::Exponential(exponential) => Draw::Exponential { mean: exponential.mean.as_secs_f64() },
            DelayDef::Pareto(pareto) => Draw::Pareto { mean: pareto.mean.as_secs_f64(), shape: pareto.shape },
            DelayDef::File(file) => {
                let points = file.points.as_deref().unwrap_or_default();
                Draw::Inverse(points.iter().map(|(share, delay)| (*share, delay.as_secs_f64())).collect())
            }
        }
    }

    pub(crate) fn of_period(def: &PeriodDef) -> Draw {
        match def {
            PeriodDef::Constant(constant) => Draw::Constant(constant.length),
            PeriodDef::Exponential(exponential) => Draw::Exponential { mean: exponential.mean.as_secs_f64() },
            PeriodDef::Pareto(pareto) => Draw::Pareto { mean: pareto.mean.as_secs_f64(), shape: pareto.shape },
        }
    }

    pub(crate) fn sample(&self, rng: &mut Rng) -> Span {
        Span::from_secs_f64(match self {
            Draw::Constant(span) => return *span,
            Draw::Uniform { max } => max * rng.uniform(),
            Draw::Normal { mean, sd } => (mean + sd * rng.normal()).clamp(0.0, mean + 4.0 * sd),
            Draw::Exponential { mean } => rng.exponential(*mean),
            Draw::Pareto { mean, shape } => rng.pareto(*shape, *mean),
            Draw::Inverse(points) => at_share(points, rng.uniform()),
        })
    }
}

/// The value of an inverse distribution function at a share from 0 to 1.
fn at_share(points: &[(f64, f64)], share: f64) -> f64 {
    let above = points.partition_point(|point| point.0 <= share).clamp(1, points.len() - 1);
    let [(q0, x0), (q1, x1)] = [points[above - 1], points[above]];
    x0 + (x1 - x0) * (share - q0) / (q1 - q0)
}
