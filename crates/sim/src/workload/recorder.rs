//! Which flows of workloads the summary lists one by one: chosen by the number of the flow, so that results change nothing.

use std::collections::BTreeSet;

use tcp::rng::Rng;

use crate::ids::FlowId;
use crate::scenario::RecordedFlows;

/// Flows up to which all are listed, unless the scenario says otherwise, and how many of more.
const ALL_UP_TO: u64 = 10_000;
const SAMPLE: u32 = 1000;

/// Chooses flows as they arrive.
#[derive(Debug)]
pub(crate) struct Recorder {
    mode: Option<RecordedFlows>,
    rng: Rng,
    /// Flows that have arrived.
    seen: u64,
    /// A uniform sample of them (Vitter 1985, algorithm R).
    reservoir: Vec<FlowId>,
    chosen: BTreeSet<FlowId>,
}

impl Recorder {
    pub(crate) fn new(mode: Option<RecordedFlows>, rng: Rng) -> Recorder {
        Recorder { mode, rng, seen: 0, reservoir: Vec::new(), chosen: BTreeSet::new() }
    }

    /// True if a flow is listed, as far as it is known now.
    pub(crate) fn has(&self, flow: FlowId) -> bool {
        self.chosen.contains(&flow)
    }

    /// A flow arrives. True if flows chosen before are no longer.
    pub(super) fn on_arrival(&mut self, flow: FlowId) -> bool {
        self.seen += 1;
        let size = match self.mode {
            Some(RecordedFlows::None) => return false,
            Some(RecordedFlows::All) => return !self.chosen.insert(flow),
            Some(RecordedFlows::Sample(def)) => def.sample,
            None => SAMPLE,
        };
        let replaced = self.sample(flow, size as usize);
        if self.mode.is_none() && self.seen <= ALL_UP_TO {
            self.chosen.insert(flow);
            return false;
        }
        if self.mode.is_none() && self.seen == ALL_UP_TO + 1 {
            self.chosen = self.reservoir.iter().copied().collect();
            return true;
        }
        replaced.is_some_and(|gone| self.chosen.remove(&gone))
    }

    /// Puts a flow into the reservoir by chance; returns the one that it replaces.
    fn sample(&mut self, flow: FlowId, size: usize) -> Option<FlowId> {
        if self.reservoir.len() < size {
            self.reservoir.push(flow);
            self.chosen.insert(flow);
            return None;
        }
        let place = self.rng.below(self.seen) as usize;
        let before = self.reservoir.get_mut(place)?;
        self.chosen.insert(flow);
        Some(std::mem::replace(before, flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SampleDef;

    fn listed(mode: Option<RecordedFlows>, flows: u32) -> Vec<u32> {
        let mut recorder = Recorder::new(mode, Rng::stream(1, "record/flows"));
        for flow in 0..flows {
            recorder.on_arrival(FlowId(flow));
        }
        (0..flows).filter(|flow| recorder.has(FlowId(*flow))).collect()
    }

    #[test]
    fn all_none_or_a_sample() {
        assert_eq!(listed(Some(RecordedFlows::All), 20_000).len(), 20_000);
        assert_eq!(listed(Some(RecordedFlows::None), 100).len(), 0);
        assert_eq!(listed(Some(RecordedFlows::Sample(SampleDef { sample: 0 })), 100).len(), 0);
        assert_eq!(listed(None, 10_000).len(), 10_000);
        let sample = listed(None, 50_000);
        assert_eq!(sample, listed(Some(RecordedFlows::Sample(SampleDef { sample: 1000 })), 50_000));
        assert_eq!(sample.len(), 1000);
        // Uniform: the mean of 1000 draws from 0 to 50 000 has a standard error of 456.
        let mean = sample.iter().map(|flow| f64::from(*flow)).sum::<f64>() / 1000.0;
        assert!((mean - 25_000.0).abs() < 5.0 * 456.0, "{mean}");
    }
}
