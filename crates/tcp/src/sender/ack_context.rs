//! What is known of an ACK, step by step: what it reports, its context, and what a recovery makes of it.

use crate::cc::RttSample;
use crate::ecn::Marks;
use crate::rate::NewestAcked;
use crate::scoreboard::AckSummary;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span, Time};

/// What an ACK reports of what was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckReport {
    pub(crate) summary: AckSummary,
    /// The segment sent last among those that it reports.
    pub(crate) newest: Option<NewestAcked>,
    /// It carries a DSACK (RFC 2883).
    pub(crate) dsack: bool,
}

/// The sender before an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    pub(crate) snd_una: SeqNo,
    pub(crate) flight: Bytes,
    pub(crate) pipe: Bytes,
    /// Marked lost since the start.
    pub(crate) lost_total: Bytes,
}

/// An ACK with all that the sender measures on it, before a recovery judges it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckContext<'a> {
    pub(crate) now: Time,
    pub(crate) prior: Prior,
    pub(crate) report: &'a AckReport,
    /// Congestion marks that it reports.
    pub(crate) marks: Marks,
    /// It moves `snd_una`.
    pub(crate) advances: bool,
    /// It repeats the last one, whether anything is outstanding or not.
    pub(crate) repeats: bool,
    /// A duplicate ACK (RFC 5681 §2).
    pub(crate) duplicate: bool,
    /// It begins a round.
    pub(crate) round_start: bool,
    /// TSecr: the timestamp that it echoes.
    pub(crate) tsecr: Option<u32>,
    pub(crate) rtt: Option<RttSample>,
    /// The other side's clock when it answered less ours when the answered segment was sent.
    pub(crate) one_way: Option<Span>,
}

impl<'a> AckContext<'a> {
    /// An ACK below `snd_una`, of which only `report` counts.
    pub(crate) fn old(now: Time, prior: Prior, report: &'a AckReport) -> AckContext<'a> {
        AckContext {
            now,
            prior,
            report,
            marks: Marks::default(),
            advances: false,
            repeats: false,
            duplicate: false,
            round_start: false,
            tsecr: None,
            rtt: None,
            one_way: None,
        }
    }
}

/// What a recovery makes of an ACK: its part of [`crate::cc::Ack`], and what follows for the timers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckVerdict {
    /// [`crate::cc::Ack::acked`]
    pub(crate) acked: Bytes,
    /// [`crate::cc::Ack::acked_segments`]
    pub(crate) acked_segments: u32,
    /// [`crate::cc::Ack::duplicate`]
    pub(crate) duplicate: u32,
    /// [`crate::cc::Ack::partial`]
    pub(crate) partial: bool,
    /// [`crate::cc::Ack::echoed`]
    pub(crate) echoed: Option<Span>,
    /// As far as the ACK is concerned the window may grow.
    pub(crate) may_grow: bool,
    /// The timers that guard what is outstanding start anew.
    pub(crate) restarts_timers: bool,
}
