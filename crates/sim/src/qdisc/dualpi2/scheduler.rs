//! Which of the two queues of DualPI2 is served.

use tcp::units::{Bytes, Span, Time};

use super::Class;
use crate::scenario::DualPi2Scheduler;

/// The largest packet on the line; the first credit is what one of them is worth.
const MTU: Bytes = Bytes(1514);

/// When the heads of the queues came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    pub(super) low: Option<Time>,
    pub(super) classic: Option<Time>,
}

/// The scheduler and its state.
#[derive(Debug)]
pub(super) enum Scheduler {
    /// Weighted round robin by bytes: while both queues hold packets, C is served when the credit is above zero.
    Wrr {
        /// What a byte of L adds to the credit, and a byte of C takes from it.
        weights: [f64; 2],
        credit: f64,
    },
    /// First in, first out, with packets of L as if they had come so much earlier.
    TimeShifted(Span),
}

impl Scheduler {
    pub(super) fn new(def: &DualPi2Scheduler) -> Scheduler {
        match def {
            DualPi2Scheduler::Wrr(wrr) => {
                let share = wrr.classic_share.expect("filled in from the profile");
                let mut scheduler = Scheduler::Wrr { weights: [100.0 * share, 100.0 - 100.0 * share], credit: 0.0 };
                scheduler.reset();
                scheduler
            }
            DualPi2Scheduler::TimeShifted(shifted) => Scheduler::TimeShifted(shifted.shift),
        }
    }

    /// Both queues are empty.
    pub(super) fn reset(&mut self) {
        if let Scheduler::Wrr { weights: [low, classic], credit } = self {
            *credit = MTU.as_f64() * (*low - *classic);
        }
    }

    /// The queue whose turn it is; `None` if both are empty.
    pub(super) fn class(&self, now: Time, heads: Heads) -> Option<Class> {
        let (low, classic) = match heads {
            Heads { low: None, classic: None } => return None,
            Heads { low: Some(_), classic: None } => return Some(Class::Low),
            Heads { low: None, classic: Some(_) } => return Some(Class::Classic),
            Heads { low: Some(low), classic: Some(classic) } => (low, classic),
        };
        let low_first = match self {
            Scheduler::Wrr { credit, .. } => *credit <= 0.0,
            Scheduler::TimeShifted(shift) => now.since(low) + *shift >= now.since(classic),
        };
        Some(if low_first { Class::Low } else { Class::Classic })
    }

    /// A packet leaves while the other queue holds one too.
    pub(super) fn charge(&mut self, class: Class, size: Bytes) {
        let Scheduler::Wrr { weights: [low, classic], credit } = self else { return };
        *credit += size.as_f64() * if class == Class::Low { *low } else { -*classic };
    }

    #[cfg(test)]
    pub(super) fn credit(&self) -> f64 {
        match self {
            Scheduler::Wrr { credit, .. } => *credit,
            Scheduler::TimeShifted(_) => 0.0,
        }
    }
}
