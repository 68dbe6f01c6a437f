//! The handshake (RFC 9293 §3.5): SYN and SYN-ACK with their options, retransmitted with doubled time-outs.

use std::sync::Arc;

use crate::config::TcpConfig;
use crate::ecn;
use crate::options::{Agreed, Clock, MAX_UNSCALED, offer};
use crate::segment::{EcnBytes, Flags, Segment, Timestamps};
use crate::sender::{Own, Sender};
use crate::seq::SeqNo;
use crate::settings::{EcnMode, EcnOption, RttAlgorithm};
use crate::units::{Bytes, Span, Time};

/// The handshake of one end, with the settings that only it and the creation of the sender need: both are dropped once it
/// is complete.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) config: Arc<TcpConfig>,
    /// A SYN or SYN-ACK must be sent.
    pub(crate) syn_due: bool,
    /// The application has corked the connection.
    pub(crate) cork: bool,
    /// Nagle's rule, as the settings or the application have it.
    pub(crate) nagle: bool,
    /// The receive buffer, as the settings or the application have it; the window scale follows it until it has been offered.
    recv_buffer: Bytes,
    /// When it was first sent.
    sent_at: Option<Time>,
    transmissions: u32,
    /// Of the SYN-ACK.
    answers: u32,
    timeouts: u32,
    /// A SYN or SYN-ACK was retransmitted, so that the answer is ambiguous (Karn).
    retransmitted: bool,
    /// The peer's SYN or SYN-ACK.
    peer_syn: Option<Segment>,
    ecn: EcnMode,
    /// ECN flags of our SYN or SYN-ACK.
    flags: Flags,
    /// Of the algorithm's random numbers.
    pub(crate) own: Own,
    /// For the sender.
    pub(crate) memory: Memory,
}

impl Handshake {
    /// `active`: send a SYN.
    pub(crate) fn new(config: Arc<TcpConfig>, active: bool) -> Handshake {
        let flags = ecn::offer(config.ecn);
        Handshake {
            own: Own { seed: config.seed, saved: None },
            nagle: config.nagle,
            recv_buffer: config.recv_buffer,
            memory: Memory::default(),
            config,
            syn_due: active,
            cork: false,
            sent_at: None,
            transmissions: 0,
            answers: 0,
            timeouts: 0,
            retransmitted: false,
            peer_syn: None,
            ecn: EcnMode::Off,
            flags,
        }
    }

    /// A SYN arrived: a SYN-ACK must be sent.
    pub(crate) fn on_syn(&mut self, clock: &mut Clock, syn: &Segment) {
        self.retransmitted |= self.peer_syn.is_some();
        // Whatever flags a later SYN has, the mode of the first stays; the ECN field that is fed back is that of the latest
        // (RFC 9768 §3.1.5).
        let flags = self.peer_syn.map_or(syn.flags, |first| first.flags);
        (self.ecn, self.flags) = ecn::on_syn(self.config.ecn, &Segment { flags, ..*syn });
        self.peer_syn = Some(Segment { flags, ..*syn });
        clock.on_syn(syn);
        self.syn_due = true;
    }

    /// A SYN-ACK arrived.
    pub(crate) fn on_syn_ack(&mut self, clock: &mut Clock, syn_ack: &Segment) {
        // Simultaneous open: the options of the peer's SYN stand.
        if self.peer_syn.is_none() {
            self.ecn = ecn::on_syn_ack(self.config.ecn, syn_ack.flags);
            self.peer_syn = Some(*syn_ack);
        }
        clock.on_syn(syn_ack);
    }

    /// The peer has the same settings, and nobody has to say so. Returns its window.
    pub(crate) fn assume_peer(&mut self) -> Bytes {
        let timestamps = self.config.timestamps.then_some(Timestamps { value: 0, echo: 0 });
        self.peer_syn =
            Some(Segment { syn: Some(offer(&self.config, self.recv_buffer, None)), timestamps, ..Segment::default() });
        self.ecn = self.config.ecn;
        self.recv_buffer.min(self.config.initial_recv_window)
    }

    /// The application sets the receive buffer.
    pub(crate) fn set_recv_buffer(&mut self, buffer: Bytes) {
        if self.sent_at.is_none() {
            self.recv_buffer = buffer;
        }
    }

    /// The options that both ends support.
    pub(crate) fn agreed(&self) -> Agreed {
        Agreed::new(&self.config, self.recv_buffer, &self.theirs(), self.ecn)
    }

    /// The peer's SYN or SYN-ACK, which has arrived.
    pub(crate) fn theirs(&self) -> Segment {
        self.peer_syn.unwrap_or_default()
    }

    /// The RTT of our SYN or SYN-ACK, unless retransmitted (RFC 6298 §3, Karn). An estimator by timestamps takes the age of
    /// the one that `answer` echoes, of whichever transmission that is.
    pub(crate) fn rtt(&self, now: Time, answer: &Segment) -> Option<Span> {
        let sent_once = self.sent_at.filter(|_| !self.retransmitted);
        match (self.config.rtt_estimator, answer.timestamps) {
            (RttAlgorithm::Timestamps, Some(stamps)) => Some(Clock::age(stamps.echo, now)),
            (RttAlgorithm::Timestamps, None) => sent_once.map(|at| Clock::age(Clock::at(at), now)),
            (RttAlgorithm::Rfc | RttAlgorithm::Linux, _) => sent_once.map(|at| now.since(at)),
        }
    }

    /// Number of time-outs.
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// The current time-out, doubled after each expiry (RFC 6298 §5.5) beyond the linear ones.
    pub(crate) fn timeout(&self) -> Span {
        let doubled = self.timeouts.saturating_sub(self.linear_timeouts()).min(32);
        self.config.rto.initial.saturating_mul(1 << doubled).min(self.config.rto.max)
    }

    /// After how many time-outs the next is no longer: of a SYN, not of a SYN-ACK.
    fn linear_timeouts(&self) -> u32 {
        if self.peer_syn.is_none() { self.config.syn_linear_timeouts } else { 0 }
    }

    /// The time-out expired: retransmit. False if the retries are used up.
    pub(crate) fn on_timeout(&mut self) -> bool {
        self.timeouts += 1;
        self.retransmitted = true;
        self.syn_due = self.transmissions <= self.config.syn_retries + self.linear_timeouts();
        self.syn_due
    }

    /// The SYN or SYN-ACK with all its options.
    pub(crate) fn make(&mut self, now: Time, clock: &Clock, window: Bytes) -> Segment {
        self.syn_due = false;
        self.sent_at.get_or_insert(now);
        self.transmissions += 1;
        self.answers += u32::from(self.peer_syn.is_some());
        let peer_syn = self.peer_syn.as_ref();
        let mode = if peer_syn.is_some() { self.ecn } else { self.config.ecn };
        let (whole, option) = (mode.is_accurate() && self.config.ecn_option.has_handshake(), self.config.ecn_option);
        // RFC 9768 §3.1.4.1, §3.1.4.2: the second has the flags, the third none, since they may be what it is dropped for.
        let sent = if peer_syn.is_some() { self.answers } else { self.transmissions };
        let flags = if whole && sent > 2 { Flags::default() } else { self.flags };
        // §3.2.3.2.2: a SYN-ACK that is sent again comes without the option.
        let counted = whole && option == EcnOption::All && self.answers == 1;
        Segment {
            ecn: ecn::of_control(mode, self.config.ecn_of_control),
            ack: if peer_syn.is_some() { SeqNo::FIRST_DATA } else { SeqNo::SYN },
            flags: Flags::SYN.with(flags).with(if peer_syn.is_some() { Flags::ACK } else { Flags::default() }),
            window: window.min(MAX_UNSCALED),
            timestamps: if self.config.timestamps { clock.stamp_syn(now, peer_syn) } else { None },
            syn: Some(offer(&self.config, self.recv_buffer, peer_syn)),
            ecn_bytes: counted.then(EcnBytes::default),
            ..Segment::default()
        }
    }
}

/// The memory of a connection that is over, for the next one in its place: most flows are short, and making room for their senders
/// again and again is a good part of what they cost.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) sender: Option<Box<Sender>>,
}

impl Memory {
    /// A sender in this memory.
    pub(super) fn hold(self, mut sender: Sender) -> Box<Sender> {
        match self.sender {
            Some(mut before) => {
                sender.take_memory(&mut before);
                *before = sender;
                before
            }
            None => Box::new(sender),
        }
    }
}

#[cfg(test)]
mod tests;
