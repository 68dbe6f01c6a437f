//! When the flows of a workload arrive.

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use crate::host::app::Period;
use crate::ids::NodeId;

/// No arrival is later: no run is as long.
const LATEST_S: f64 = 1e8;

/// When the flows of a workload arrive.
#[derive(Debug)]
pub(crate) enum Arrivals {
    /// At random or equal intervals.
    Open { gap: Gap, elapsed_s: f64 },
    /// At given times.
    Listed { rows: Vec<ListedArrival>, next: usize },
    /// By users, each of whom thinks before every transfer.
    Closed { users: u64, think: Period },
}

/// An interval between arrivals, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Gap {
    Constant(f64),
    Exponential { mean: f64 },
    Weibull { scale: f64, shape: f64 },
    Pareto { mean: f64, shape: f64 },
}

/// An arrival that is listed, and what is given of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedArrival {
    pub(crate) at: Span,
    pub(crate) from: Option<NodeId>,
    pub(crate) to: Option<NodeId>,
    pub(crate) size: Option<Bytes>,
}

impl Gap {
    /// Weibull intervals with this mean: scale = mean / Gamma(1 + 1/shape).
    pub(crate) fn weibull(mean: f64, shape: f64) -> Gap {
        Gap::Weibull { scale: mean / libm::tgamma(1.0 + 1.0 / shape), shape }
    }

    fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Gap::Constant(gap) => gap,
            Gap::Exponential { mean } => rng.exponential(mean),
            Gap::Weibull { scale, shape } => weibull_quantile(scale, shape, rng.uniform()),
            Gap::Pareto { mean, shape } => rng.pareto(shape, mean),
        }
    }
}

fn weibull_quantile(scale: f64, shape: f64, u: f64) -> f64 {
    scale * libm::pow(-libm::log(1.0 - u), 1.0 / shape)
}

impl Arrivals {
    /// The next arrival of those that do not depend on the network; `start` is that of the workload.
    pub(super) fn next(&mut self, start: Time, rng: &mut Rng) -> Option<Time> {
        match self {
            Arrivals::Open { gap, elapsed_s } => {
                // Seconds are added up and rounded once, so that no error accumulates.
                *elapsed_s += gap.draw(rng);
                (*elapsed_s < LATEST_S).then(|| start + Span::from_secs_f64(*elapsed_s))
            }
            Arrivals::Listed { rows, next } => rows.get(*next).map(|row| start + row.at),
            Arrivals::Closed { .. } => None,
        }
    }

    /// What is given of the flow that arrives now, if anything is.
    pub(super) fn take_row(&mut self) -> Option<ListedArrival> {
        let Arrivals::Listed { rows, next } = self else { return None };
        *next += 1;
        rows.get(*next - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weibull_gaps_have_the_quantiles_and_moments_of_the_distribution() {
        let Gap::Weibull { scale, shape } = Gap::weibull(0.01, 0.7) else { panic!() };
        for (u, ms) in [(0.1, 0.3173), (0.5, 4.6799), (0.9, 26.0063), (0.99, 70.0036)] {
            assert!((weibull_quantile(scale, shape, u) * 1e3 / ms - 1.0).abs() < 2e-4, "{u}");
        }
        let moment = |n: f64| libm::pow(scale, n) * libm::tgamma(1.0 + n / shape);
        assert!((moment(2.0) / (moment(1.0) * moment(1.0)) - 1.0 - 2.1387).abs() < 1e-4);
    }

    /// Row W3: Kolmogorov-Smirnov on 10^5 draws, p > 0.001 below 1.95/sqrt(n).
    #[test]
    fn intervals_follow_their_distribution() {
        let mut rng = Rng::stream(5, "workload/test/arrivals");
        let Gap::Weibull { scale, shape } = Gap::weibull(0.01, 0.7) else { panic!() };
        let pareto_scale = 0.01 * 0.5 / 1.5;
        let shares: [(Gap, &dyn Fn(f64) -> f64); 3] = [
            (Gap::Exponential { mean: 0.01 }, &|x| 1.0 - libm::exp(-x / 0.01)),
            (Gap::Weibull { scale, shape }, &|x| 1.0 - libm::exp(-libm::pow(x / scale, shape))),
            (Gap::Pareto { mean: 0.01, shape: 1.5 }, &|x| 1.0 - libm::pow(pareto_scale / x, 1.5)),
        ];
        for (gap, share) in shares {
            let mut drawn: Vec<f64> = (0..100_000).map(|_| gap.draw(&mut rng)).collect();
            drawn.sort_unstable_by(f64::total_cmp);
            let off = |(index, gap): (usize, &f64)| (share(*gap) - (index as f64 + 0.5) / 1e5).abs();
            let furthest = drawn.iter().enumerate().map(off).fold(0.0, f64::max);
            assert!(furthest < 1.95 / 1e5_f64.sqrt(), "{gap:?}: {furthest}");
        }
    }

    #[test]
    fn equal_intervals_do_not_drift_and_the_first_is_whole() {
        let mut arrivals = Arrivals::Open { gap: Gap::Constant(1.0 / 300.0), elapsed_s: 0.0 };
        let (mut rng, start) = (Rng::stream(1, "test"), Time::from_nanos(1_000_000_000));
        let times: Vec<u64> = (0..3000).map(|_| arrivals.next(start, &mut rng).unwrap().as_nanos()).collect();
        assert_eq!((times[0], times[2999]), (1_003_333_333, 11_000_000_000));
    }
}
