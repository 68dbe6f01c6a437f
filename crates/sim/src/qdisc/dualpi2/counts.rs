//! What DualPI2 counts.

use tcp::units::Span;

use super::{Class, MarkedBy};
use crate::qdisc::report::{ClassCounts, DualPi2Report};

/// Counts of both queues and of the controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    low: ClassCounts,
    classic: ClassCounts,
    marks_step: u64,
    drops_aqm: u64,
    drops_queue: u64,
    updates: u64,
    p_sum: f64,
    p_max: f64,
    overload: Span,
}

impl Counts {
    pub(super) fn of(&mut self, class: Class) -> &mut ClassCounts {
        if class == Class::Low { &mut self.low } else { &mut self.classic }
    }

    pub(super) fn on_mark(&mut self, class: Class, by: MarkedBy) {
        self.of(class).marks += 1;
        self.marks_step += u64::from(by == MarkedBy::Native);
    }

    /// The controller drops a packet.
    pub(super) fn on_aqm_drop(&mut self, class: Class) {
        self.of(class).drops += 1;
        self.drops_aqm += 1;
    }

    /// A packet finds the queues full.
    pub(super) fn on_overflow(&mut self, class: Class) {
        self.of(class).drops += 1;
        self.drops_queue += 1;
    }

    /// The controller has made so many updates, after each of which the probability was `p`, and was overloaded for so long.
    pub(super) fn on_updates(&mut self, count: u64, p: f64, overload: Span) {
        self.updates += count;
        self.p_sum += p * count as f64;
        self.p_max = self.p_max.max(p);
        self.overload += overload;
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        self.low.on_warmup_end();
        self.classic.on_warmup_end();
        (self.updates, self.p_sum, self.p_max, self.overload) = (0, 0.0, 0.0, Span::ZERO);
    }

    pub(super) fn report(&self) -> DualPi2Report {
        let Counts { low, classic, .. } = self;
        let [l_delay_mean_s, l_delay_p50_s, l_delay_p99_s, l_delay_max_s] = low.delays_s();
        let [c_delay_mean_s, c_delay_p50_s, c_delay_p99_s, c_delay_max_s] = classic.delays_s();
        DualPi2Report {
            l_packets: low.packets,
            l_bytes: low.bytes.0,
            l_delay_mean_s,
            l_delay_p50_s,
            l_delay_p99_s,
            l_delay_max_s,
            l_drops: low.drops,
            c_packets: classic.packets,
            c_bytes: classic.bytes.0,
            c_delay_mean_s,
            c_delay_p50_s,
            c_delay_p99_s,
            c_delay_max_s,
            c_drops: classic.drops,
            marks_step: self.marks_step,
            marks_coupled: low.marks - self.marks_step,
            marks_classic: classic.marks,
            drops_aqm: self.drops_aqm,
            drops_queue: self.drops_queue,
            p_mean: (self.updates > 0).then(|| self.p_sum / self.updates as f64),
            p_max: self.p_max,
            overload_s: self.overload.as_secs_f64(),
        }
    }
}
