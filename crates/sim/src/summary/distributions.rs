//! Distributions of what was measured of every packet, ACK or message of a flow (`record.distributions`).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::metrics::IntervalMetrics;
use crate::scenario::DistributionName;

/// Values, and how many there were of each: buckets of equal relative width, exact to 1 %, that hold something.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DistributionSummary {
    /// From the least on.
    pub values_s: Vec<f64>,
    /// How many, of each.
    pub counts: Vec<u32>,
}

pub(super) type Distributions = BTreeMap<DistributionName, DistributionSummary>;

/// Those that are asked for, without any of which there is no value.
pub(super) fn distributions_of(interval: &IntervalMetrics, wanted: &[DistributionName]) -> Distributions {
    let found = wanted.iter().map(|name| {
        let (values_s, counts) = match name {
            DistributionName::Delay => interval.delays.counted_s().unzip(),
            DistributionName::AppDelay => interval.app_delays.iter().flat_map(|delays| delays.counted_s()).unzip(),
            DistributionName::Rtt => interval.rtts.iter().flat_map(|rtts| rtts.counted_s()).unzip(),
        };
        (*name, DistributionSummary { values_s, counts })
    });
    found.filter(|(_, distribution)| !distribution.counts.is_empty()).collect()
}
