//! What traces, series and summaries show of a connection.

use super::Connection;
use crate::cc::{Algorithm, Resumption, Saved, Window};
use crate::segment::Segment;
use crate::sender::{Limit, Sender, Snapshot, Totals};
use crate::seq::{SeqNo, SeqRange};
use crate::told::Told;
use crate::units::{Bytes, Span, Time};

impl Connection {
    /// cwnd and ssthresh of the algorithm; absent before the handshake is complete.
    pub fn window(&self) -> Option<Window> {
        self.sender.as_deref().map(Sender::window)
    }

    /// The sender's state for a trace; absent before the handshake is complete.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.sender.as_deref().map(Sender::snapshot)
    }

    /// Passes the internal variables of the algorithm to `put`; none before the handshake is complete.
    pub fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.sender.as_deref().into_iter().for_each(|sender| sender.observe(put));
    }

    /// What the sender has found out since the last call, for a log; nothing is kept before the first.
    pub fn take_told(&mut self) -> Vec<Told> {
        self.sender.as_deref_mut().map(Sender::take_told).unwrap_or_default()
    }

    /// The RTT sample of the last input, if it gave one: that of the newest segment acknowledged. Each is returned once.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.as_deref_mut().and_then(Sender::take_rtt_sample)
    }

    /// Counters over the lifetime of the sender.
    pub fn totals(&self) -> Totals {
        self.sender.as_deref().map(Sender::totals).unwrap_or_default()
    }

    /// Retransmission time-outs over the lifetime of the sender.
    #[inline]
    pub fn timeouts(&self) -> u32 {
        self.sender.as_deref().map_or(0, Sender::timeouts)
    }

    /// Recovery point of the current or last episode; for traces.
    pub fn recovery_point(&self) -> Option<SeqNo> {
        self.sender.as_deref().map(Sender::recovery_point)
    }

    /// The timers that are armed, by name; for traces.
    pub fn timers(&self) -> impl Iterator<Item = (&'static str, Time)> + '_ {
        self.timers.armed_by_name()
    }

    /// The algorithm that it will have; absent once the handshake is complete.
    pub fn planned_algorithm(&self) -> Option<&'static Algorithm> {
        self.handshake.as_deref().map(|handshake| handshake.config.cc.algorithm)
    }

    /// What has become of a window that an earlier connection had left ([`crate::cc::Begin::Resume`]), if one had.
    pub fn resumption(&self) -> Option<Resumption> {
        self.sender.as_deref().and_then(Sender::resumption)
    }

    /// What it leaves to the next connection of its pair of nodes, if its start is one that resumes.
    pub fn saved(&self, now: Time) -> Option<Saved> {
        self.sender.as_deref().and_then(|sender| sender.saved(now))
    }

    /// True if slow start will be another than the algorithm's own ([`crate::cc::StartConfig`]).
    pub fn has_start(&self) -> bool {
        self.handshake.as_deref().is_some_and(|handshake| handshake.config.start.is_some())
    }

    /// How long each [`Limit`] has kept the sender from sending more, since the handshake or [`Connection::restart_limits`].
    pub fn limited(&self, now: Time) -> Option<[Span; Limit::COUNT]> {
        self.sender.as_deref().map(|sender| sender.limited(now))
    }

    /// These times begin anew.
    pub fn restart_limits(&mut self, now: Time) {
        self.sender.as_deref_mut().into_iter().for_each(|sender| sender.restart_limits(now));
    }

    /// True if all data of a segment had been received before.
    pub fn has_received(&self, segment: &Segment) -> bool {
        self.receiver.has_received(SeqRange::new(segment.seq, segment.seq + Bytes(u64::from(segment.len))))
    }
}
