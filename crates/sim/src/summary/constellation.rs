//! The summary of a constellation: the handovers of its terminals.

use serde::Serialize;
use tcp::units::Time;

use crate::constellation::Handover;
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
        // A handover begins with its outage, if it has one.
        let begins = |pair: &[Handover]| !pair[0].is_outage;
        let all = &terminal.handovers;
        let later = all.windows(2).filter(|pair| begins(pair)).map(|pair| &pair[1]);
        let over: Vec<_> = all.first().into_iter().chain(later).filter(|handover| handover.at <= end).collect();
        let ends = over.iter().skip(1).map(|next| next.at).chain([end]);
        let is_lost = |handover: &Handover| handover.satellites.is_empty() && !handover.is_outage;
        let lost = over.iter().zip(ends).filter(|(handover, _)| is_lost(handover));
        TerminalSummary {
            terminal: terminal.name.clone(),
            handovers: over.len() as u64 - 1,
            handover_times_s: over.iter().skip(1).map(|handover| handover.at.as_secs_f64()).collect(),
            out_of_view_s: lost.map(|(handover, until)| until.since(handover.at).as_secs_f64()).fold(0.0, |a, b| a + b),
        }
    };
    SpaceSummary { terminals: terminals.iter().map(of).collect() }
}
