//! The summary of a constellation: the handovers of its terminals.

use serde::Serialize;
use tcp::units::Time;

use crate::constellation::Terminal;

/// A constellation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SpaceSummary {
    /// By terminal.
    pub terminals: Vec<TerminalSummary>,
}

/// A terminal of a constellation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TerminalSummary {
    /// Its name.
    pub terminal: String,
    /// Handovers over the whole run; losing the last satellite in view counts as one, and so does finding one again.
    pub handovers: u64,
    /// Times of the handovers.
    pub handover_times_s: Vec<f64>,
    /// Time without a satellite in view, of the whole run.
    pub out_of_view_s: f64,
}

pub(super) fn space_summary(terminals: &[Terminal], end: Time) -> SpaceSummary {
    let of = |terminal: &Terminal| {
        let over: Vec<_> = terminal.handovers.iter().filter(|handover| handover.at <= end).collect();
        let ends = over.iter().skip(1).map(|next| next.at).chain([end]);
        let lost = over.iter().zip(ends).filter(|(handover, _)| handover.satellite.is_none());
        TerminalSummary {
            terminal: terminal.name.clone(),
            handovers: over.len() as u64 - 1,
            handover_times_s: over.iter().skip(1).map(|handover| handover.at.as_secs_f64()).collect(),
            out_of_view_s: lost.map(|(handover, until)| until.since(handover.at).as_secs_f64()).fold(0.0, |a, b| a + b),
        }
    };
    SpaceSummary { terminals: terminals.iter().map(of).collect() }
}
