//! The handshake (RFC 9293 §3.5): SYN and SYN-ACK with their options, sent again with doubled time-outs until answered.

use crate::config::TcpConfig;
use crate::ecn;
use crate::options::{Agreed, Clock, UNSCALED, offer};
use crate::segment::{Flags, Segment};
use crate::settings::EcnMode;
use crate::units::{Bytes, Span, Time};

/// Where the handshake of one end stands, and the settings that only it and the making of the sender need: both are given
/// up once it is done.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) config: TcpConfig,
    /// A SYN or SYN-ACK is to be sent.
    pub(crate) due: bool,
    /// When it was first sent.
    sent_at: Option<Time>,
    transmissions: u32,
    timeouts: u32,
    /// One of them was sent twice, so that nobody knows which was answered.
    repeated: bool,
    /// The other side's SYN or SYN-ACK.
    theirs: Option<Segment>,
    ecn: EcnMode,
    /// ECN flags of our SYN or SYN-ACK.
    flags: Flags,
}

impl Handshake {
    /// `active`: a SYN is to be sent.
    pub(crate) fn new(config: TcpConfig, active: bool) -> Handshake {
        let flags = ecn::offer(config.ecn);
        Handshake {
            config,
            due: active,
            sent_at: None,
            transmissions: 0,
            timeouts: 0,
            repeated: false,
            theirs: None,
            ecn: EcnMode::Off,
            flags,
        }
    }

    /// A SYN came: a SYN-ACK is due.
    pub(crate) fn on_syn(&mut self, clock: &mut Clock, syn: &Segment) {
        self.repeated |= self.theirs.is_some();
        (self.ecn, self.flags) = ecn::answer(self.config.ecn, syn);
        self.theirs = Some(*syn);
        clock.on_syn(syn);
        self.due = true;
    }

    /// Our SYN was answered.
    pub(crate) fn on_syn_ack(&mut self, clock: &mut Clock, syn_ack: &Segment) {
        // When both sides opened at once, what their SYN said stands.
        if self.theirs.is_none() {
            self.ecn = ecn::settle(self.config.ecn, syn_ack.flags);
            self.theirs = Some(*syn_ack);
        }
        clock.on_syn(syn_ack);
    }

    /// What both ends can do.
    pub(crate) fn agreed(&self) -> Agreed {
        Agreed::new(&self.config, &self.theirs.unwrap_or_default(), self.ecn)
    }

    /// The round trip of our SYN or SYN-ACK, unless it was sent twice (RFC 6298 §3, Karn).
    pub(crate) fn rtt(&self, now: Time) -> Option<Span> {
        self.sent_at.filter(|_| !self.repeated).map(|at| now.since(at))
    }

    /// How often it went unanswered.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// The time-out, twice as long after each (RFC 6298 §5.5).
    pub(crate) fn timeout(&self) -> Span {
        self.config.rto.initial.saturating_mul(1 << self.timeouts.min(32)).min(self.config.rto.max)
    }

    /// It went unanswered: it is to be sent again. False if it has been sent often enough.
    pub(crate) fn on_timeout(&mut self) -> bool {
        self.timeouts += 1;
        self.repeated = true;
        self.due = self.transmissions <= self.config.syn_retries;
        self.due
    }

    /// The SYN or SYN-ACK, again with all its options.
    pub(crate) fn make(&mut self, now: Time, clock: &Clock, window: Bytes) -> Segment {
        self.due = false;
        self.sent_at.get_or_insert(now);
        self.transmissions += 1;
        let theirs = self.theirs.as_ref();
        Segment {
            ack: u64::from(theirs.is_some()),
            flags: Flags::SYN.with(self.flags).with(if theirs.is_some() { Flags::ACK } else { Flags::default() }),
            window: window.min(UNSCALED),
            timestamps: if self.config.timestamps { clock.stamp_syn(now, theirs) } else { None },
            syn: Some(offer(&self.config, theirs)),
            ..Segment::default()
        }
    }
}
