//! Reception of aggregates: the PHY header decides whether there is anything, then each MPDU fares by the SINR of its own
//! part of the frame.

use tcp::units::{Bytes, Span, Time};

use super::{MacTiming, Receiver, Reception, Signal};
use crate::radio::errors::RateMode;

impl Receiver {
    /// Notes the SINR from `at` on, the interference with the aggregate being received having changed.
    pub(super) fn note_ratio(&mut self, at: Time, noise: f64) {
        let Some(current) = self.locked().map(|current| current.signal).filter(|current| current.aggregate) else {
            return;
        };
        let ratio = current.power / (noise + self.interference(current.number));
        // The guard delays carrier sense, not the signal.
        let since = if self.ratios.is_empty() { Span::ZERO } else { at.since(current.start) };
        self.ratios.push((since, ratio));
    }

    /// Whether the PHY header of an aggregate has survived.
    pub(super) fn header_survives(&mut self, signal: &Signal, timing: &MacTiming) -> bool {
        let rate_mode = timing.rate_modes[usize::from(signal.rate_index)];
        self.part_survives(&rate_mode, (Span::ZERO, rate_mode.header.end), timing.reception)
    }

    /// Whether each MPDU of the aggregate that has just ended has survived, by their ends in bytes of the PSDU.
    pub(in crate::radio) fn take_mpdus(&mut self, ends: &[Bytes], rate_index: usize, timing: &MacTiming) -> Vec<bool> {
        let rate_mode = timing.rate_modes[rate_index];
        let mut from = rate_mode.header.end;
        let mut survived = Vec::with_capacity(ends.len());
        for end in ends {
            let to = rate_mode.header.end + rate_mode.rate.transmission_time(*end);
            let good = self.part_survives(&rate_mode, (from, to), timing.reception);
            survived.push(good && !self.corrupted(timing));
            from = to;
        }
        self.ratios.clear();
        survived
    }

    /// Whether the part of the aggregate between two instants after its start survives: by its minimum SINR, or by
    /// chance.
    fn part_survives(&mut self, rate_mode: &RateMode, (from, to): (Span, Span), reception: Reception) -> bool {
        let ends = self.ratios.iter().skip(1).map(|(since, _)| *since).chain([to.max(from)]);
        let parts = self.ratios.iter().zip(ends).map(|((since, ratio), end)| (from.max(*since), to.min(end), *ratio));
        let parts = parts.filter(|(from, to, _)| from < to);
        match reception {
            Reception::Errors { .. } => {
                let survival: f64 = parts.map(|(from, to, ratio)| rate_mode.survival(to, (from, to), ratio)).product();
                self.rng.uniform() < survival
            }
            _ => parts.map(|(_, _, ratio)| ratio).fold(f64::INFINITY, f64::min) >= rate_mode.ratio,
        }
    }
}
