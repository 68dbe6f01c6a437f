//! Times of the flows of a workload, of which some had not ended when the run did.

use crate::metrics::{Distribution, ProductLimit};

/// Flows below which there is no 99th percentile, and no 99.9th.
pub(super) const LEAST_FOR_P99: u64 = 100;
const LEAST_FOR_P999: u64 = 1000;

/// Flows that are alive when the run ends: what they have lasted in nanoseconds, and in millionths of their ideal times.
#[derive(Clone, Default)]
pub(super) struct Unfinished {
    pub(super) ages: Vec<f64>,
    pub(super) slowdowns: Vec<f64>,
}

impl Unfinished {
    pub(super) fn add(&mut self, other: &Unfinished) {
        self.ages.extend(&other.ages);
        self.slowdowns.extend(&other.slowdowns);
    }
}

/// Mean, quantiles and maximum of times, of which some are only known to be longer.
pub(super) struct Times {
    pub(super) mean: Option<f64>,
    pub(super) quantiles: [Option<f64>; 4],
    pub(super) max: Option<f64>,
    pub(super) known: Option<f64>,
}

impl Times {
    /// `given_up` of them never end: they count as longer than the longest.
    pub(super) fn of(ended: &Distribution, so_far: &[f64], given_up: u64, unit: f64) -> Times {
        let last = so_far.iter().copied().chain(ended.max().map(|max| max as f64)).reduce(f64::max);
        let never = last.into_iter().flat_map(|last| std::iter::repeat_n(last, given_up as usize));
        let longer: Vec<f64> = so_far.iter().copied().chain(never).collect();
        let all = ended.count() + longer.len() as u64;
        let limit = ended.with_longer(&longer);
        let quantile = |q: f64, least: u64| match &limit {
            Some(limit) => (all >= least).then(|| limit.quantile(q)),
            None => ended.quantile(q, least),
        };
        let scaled = |value: Option<f64>| value.map(|value| value / unit);
        Times {
            mean: scaled(limit.as_ref().map_or_else(|| ended.mean(), |limit| Some(limit.mean()))),
            quantiles: [(0.5, 1), (0.95, 1), (0.99, LEAST_FOR_P99), (0.999, LEAST_FOR_P999)]
                .map(|(q, least)| scaled(quantile(q, least))),
            max: scaled(last),
            known: (all > 0).then(|| limit.as_ref().map_or(1.0, ProductLimit::known)),
        }
    }
}
