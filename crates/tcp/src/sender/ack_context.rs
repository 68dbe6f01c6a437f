//! What is known of an ACK, step by step: what it reports, its context, and what a recovery makes of it.

use crate::cc::RttSample;
use crate::ecn::Marks;
use crate::rate::NewestAcked;
use crate::scoreboard::AckSummary;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span, Time};

/// What an ACK reports of what was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckReport {
    pub(super) summary: AckSummary,
    /// The segment sent last among those that it reports.
    pub(super) newest: Option<NewestAcked>,
    /// It carries a DSACK (RFC 2883).
    pub(super) dsack: bool,
}

/// The sender before an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    pub(super) snd_una: SeqNo,
    pub(super) flight: Bytes,
    pub(super) pipe: Bytes,
    /// Marked lost since the start.
    pub(super) lost_total: Bytes,
}

/// An ACK with all that the sender measures on it, before a recovery judges it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckContext<'a> {
    pub(super) now: Time,
    pub(super) prior: Prior,
    pub(super) report: &'a AckReport,
    /// Congestion marks that it reports.
    pub(super) marks: Marks,
    /// It moves `snd_una`.
    pub(super) advances: bool,
    /// A duplicate ACK (RFC 5681 §2).
    pub(super) duplicate: bool,
    /// It begins a round.
    pub(super) round_start: bool,
    /// TSecr: the timestamp that it echoes.
    pub(super) tsecr: Option<u32>,
    pub(super) rtt: Option<RttSample>,
    /// The other side's clock when it answered less ours when the answered segment was sent.
    pub(super) one_way: Option<Span>,
}

impl<'a> AckContext<'a> {
    /// An ACK below `snd_una`, of which only `report` counts.
    pub(super) fn old(now: Time, prior: Prior, report: &'a AckReport) -> AckContext<'a> {
        AckContext {
            now,
            prior,
            report,
            marks: Marks::default(),
            advances: false,
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
pub(super) struct AckVerdict {
    /// [`crate::cc::Ack::acked`]
    pub(super) acked: Bytes,
    /// [`crate::cc::Ack::acked_segments`]
    pub(super) acked_segments: u32,
    /// [`crate::cc::Ack::duplicate`]
    pub(super) duplicate: u32,
    /// [`crate::cc::Ack::partial`]
    pub(super) partial: bool,
    /// As far as the ACK is concerned the window may grow.
    pub(super) may_grow: bool,
    /// The timers that guard what is outstanding start anew.
    pub(super) restarts_timers: bool,
}
