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

    /// The value that a share of draws does not exceed.
    pub(crate) fn at(&self, share: f64) -> Span {
        Span::from_secs_f64(match self {
            Draw::Constant(span) => return *span,
            Draw::Uniform { max } => max * share,
            Draw::Normal { mean, sd } => (mean + sd * normal_at(share)).clamp(0.0, mean + 4.0 * sd),
            Draw::Exponential { mean } => -mean * libm::log(1.0 - share),
            Draw::Pareto { mean, shape } => mean * (shape - 1.0) / shape / libm::pow(1.0 - share, 1.0 / shape),
            Draw::Inverse(points) => at_share(points, share),
        })
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

/// The standard normal distribution's value at a share, by bisection within six standard deviations.
fn normal_at(share: f64) -> f64 {
    let (mut low, mut high) = (-6.0, 6.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        let below = 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2);
        (low, high) = if below < share { (middle, high) } else { (low, middle) };
    }
    low
}

/// Draws from 0 to 1 of which each depends on the one before, as those of netem do (its get_crandom).
#[derive(Clone, Debug)]
pub(crate) struct Correlated {
    correlation: f64,
    last: Option<f64>,
}

impl Correlated {
    pub(crate) fn of(correlation: f64) -> Correlated {
        Correlated { correlation, last: None }
    }

    /// True if draws do not depend on each other.
    pub(crate) fn is_independent(&self) -> bool {
        self.correlation == 0.0
    }

    /// The next draw.
    pub(crate) fn uniform(&mut self, rng: &mut Rng) -> f64 {
        let last = self.last.unwrap_or_else(|| rng.uniform());
        let next = (1.0 - self.correlation) * rng.uniform() + self.correlation * last;
        self.last = Some(next);
        next
    }

    /// A draw from a distribution.
    pub(crate) fn sample(&mut self, draw: &Draw, rng: &mut Rng) -> Span {
        if self.is_independent() { draw.sample(rng) } else { draw.at(self.uniform(rng)) }
    }

    /// True with this probability, if the draws were independent.
    pub(crate) fn chance(&mut self, p: f64, rng: &mut Rng) -> bool {
        if self.is_independent() { rng.chance(p) } else { self.uniform(rng) < p }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_distribution_are_those_of_its_draws() {
        let normal = Draw::Normal { mean: 1.0, sd: 0.1 };
        let seconds = [0.5, 0.975, 0.0].map(|share| normal.at(share).as_secs_f64());
        assert!((seconds[0] - 1.0).abs() < 1e-9 && (seconds[1] - 1.195_996).abs() < 1e-6 && seconds[2] > 0.39);
        let draws = [
            Draw::Exponential { mean: 0.1 },
            Draw::Pareto { mean: 0.1, shape: 3.0 },
            Draw::Uniform { max: 0.2 },
            normal,
        ];
        for draw in draws {
            let mut rng = Rng::stream(1, "draw");
            let mut drawn: Vec<f64> = (0..40_000).map(|_| draw.sample(&mut rng).as_secs_f64()).collect();
            drawn.sort_unstable_by(f64::total_cmp);
            for share in [0.1, 0.5, 0.9] {
                let (found, expected) = (drawn[(share * 40_000.0) as usize], draw.at(share).as_secs_f64());
                assert!((found / expected - 1.0).abs() < 0.05, "{draw:?} {share}: {found} {expected}");
            }
        }
    }

    /// netem's draws: x' = (1 - c) u + c x, whose variance is (1 - c)^2 / (1 - c^2) times that of u and whose autocorrelation is c.
    #[test]
    fn correlated_draws_have_the_variance_and_the_autocorrelation_of_netem() {
        for c in [0.25, 0.5, 0.9] {
            let (mut rng, mut draws) = (Rng::stream(1, "draw"), Correlated::of(c));
            let x: Vec<f64> = (0..200_000).map(|_| draws.uniform(&mut rng) - 0.5).collect();
            let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / x.len() as f64;
            let variance = mean(&mut x.iter().map(|x| x * x));
            let beside = mean(&mut x.windows(2).map(|pair| pair[0] * pair[1]));
            assert!((variance / ((1.0 - c) / (1.0 + c) / 12.0) - 1.0).abs() < 0.05, "{c}: {variance}");
            assert!((beside / variance - c).abs() < 0.02, "{c}: {}", beside / variance);
        }
    }
}
