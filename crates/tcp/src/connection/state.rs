//! The states of a connection and the transitions between them: opening, reading, closing (RFC 9293 §3.3.2, §3.5, §3.6), and a new
//! connection in the place of one that is over.

use super::handshake::Memory;
use super::{Connection, NO_ACK};
use crate::cc::Saved;
use crate::ecn::{self, Echo};
use crate::options::EcnHandshake;
use crate::segment::{Flags, Segment};
use crate::sender::{HandshakeTiming, Sender};
use crate::seq::SeqNo;
use crate::settings::OpeningKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

/// The state of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionState {
    /// LISTEN: waiting for a SYN.
    Listen,
    /// SYN-SENT: a SYN has been sent.
    SynSent,
    /// SYN-RECEIVED: a SYN-ACK has been sent.
    SynReceived,
    /// ESTABLISHED.
    Established,
    /// FIN-WAIT-1: closed locally; the FIN is not yet acknowledged.
    FinWait1,
    /// FIN-WAIT-2: closed locally; the FIN is acknowledged.
    FinWait2,
    /// CLOSE-WAIT: closed by the peer.
    CloseWait,
    /// CLOSING: closed by both sides simultaneously; our FIN is not yet acknowledged.
    Closing,
    /// LAST-ACK: closed by the peer, then locally; our FIN is not yet acknowledged.
    LastAck,
    /// TIME-WAIT: waiting 2 MSL.
    TimeWait,
    /// CLOSED.
    Closed,
}

impl Connection {
    /// Handles what opens or resets a connection, and segments outside the synchronized states (RFC 9293 §3.10.7). True if ACK
    /// and data processing follow.
    #[inline(never)]
    pub(super) fn on_control_segment(&mut self, now: Time, segment: &Segment) -> bool {
        let has = |flag| segment.flags.contains(flag);
        if has(Flags::RST) {
            self.on_reset(now, segment);
            return false;
        }
        if self.state == ConnectionState::Listen && !has(Flags::SYN) && self.opens_without_syn(now) {
            return true;
        }
        match self.state {
            // RFC 9293 §3.10.7.1; §3.10.7.2: any ACK is bad in LISTEN, that of a SYN-ACK too.
            ConnectionState::Closed => {
                self.refuse(segment);
                return false;
            }
            ConnectionState::Listen if has(Flags::ACK) => {
                self.refuse(segment);
                return false;
            }
            // RFC 9293 §3.10.7.4, first: what lies outside the window is answered with an ACK.
            ConnectionState::SynReceived if !has(Flags::SYN) && !self.receiver.accepts(segment) => {
                self.challenge(now);
                return false;
            }
            // RFC 9293 §3.10.7.3, §3.10.7.4, fifth: an ACK of something else than our SYN.
            ConnectionState::SynSent | ConnectionState::SynReceived
                if has(Flags::ACK) && segment.ack != SeqNo::FIRST_DATA =>
            {
                self.refuse(segment);
                return false;
            }
            ConnectionState::Listen | ConnectionState::SynSent if !has(Flags::SYN) => return false,
            _ if has(Flags::SYN) => {
                self.on_syn(now, segment);
                return false;
            }
            ConnectionState::SynReceived if has(Flags::ACK) && segment.ack == SeqNo::FIRST_DATA => {
                self.enter_established(now, segment.window, Some(segment))
            }
            _ => {}
        }
        true
    }

    /// A SYN or SYN-ACK arrived.
    #[cold]
    #[inline(never)]
    fn on_syn(&mut self, now: Time, segment: &Segment) {
        let acks_our_syn = segment.flags.contains(Flags::ACK) && segment.ack == SeqNo::FIRST_DATA;
        let Some(handshake) = &mut self.handshake else {
            self.echo.on_syn_ack_again(segment);
            if self.compat_mut().is_some() {
                return self.on_syn_of_agent(now, segment);
            }
            // Our ACK of the SYN-ACK was lost, or the SYN is forged: RFC 9293 §3.10.7.4, fourth; RFC 5961 §4.2.
            self.challenge(now);
            return;
        };
        match self.state {
            ConnectionState::SynSent | ConnectionState::SynReceived if acks_our_syn => {
                handshake.on_syn_ack(&mut self.clock, segment);
                self.ack_alone = handshake.config.opening == OpeningKind::BareAck;
                self.enter_established(now, segment.window, Some(segment));
                self.ack_pending = true;
            }
            // The first SYN; or a simultaneous open (RFC 9293 §3.5); or our SYN-ACK was lost.
            _ => {
                self.state = ConnectionState::SynReceived;
                handshake.on_syn(&mut self.clock, segment);
            }
        }
    }

    /// A SYN or SYN-ACK arrived again. Sinks of agents acknowledge every SYN that reaches them, and to an agent such an ACK is one
    /// like any other, which it does not answer.
    fn on_syn_of_agent(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.contains(Flags::ACK) {
            self.ack_pending = true;
        } else if let Some(sender) = &mut self.sender {
            sender.on_ack(now, &Segment { flags: Flags::ACK, ..*segment }, &mut self.timers);
        }
    }

    /// Becomes established if the connection has no handshake; true if it is so now.
    #[cold]
    #[inline(never)]
    pub(super) fn opens_without_syn(&mut self, now: Time) -> bool {
        let Some(handshake) = self.handshake.as_mut().filter(|handshake| !handshake.config.handshake) else {
            return false;
        };
        let window = handshake.assume_peer();
        self.clock.expect_no_syn();
        self.enter_established(now, window, None);
        true
    }

    #[cold]
    #[inline(never)]
    fn enter_established(&mut self, now: Time, window: Bytes, answer: Option<&Segment>) {
        let Some(mut handshake) = self.handshake.take() else { return };
        self.timers.stop(Timer::Rto);
        let rtt = answer.and_then(|answer| handshake.rtt(now, answer));
        let agreed = handshake.agreed();
        self.receiver.agree(&agreed, rtt);
        self.clock.agree(agreed.timestamps);
        if handshake.config.agent.is_some() {
            self.clock.echo_duplicates();
        }
        self.echo = Echo::new(agreed.ecn);
        self.echo.of_acks = ecn::of_control(agreed.ecn, handshake.config.ecn_of_control);
        if agreed.ecn_handshake != EcnHandshake::None {
            self.echo.on_handshake(handshake.config.ecn_option, handshake.theirs());
        }
        let timing = HandshakeTiming { rtt, timeouts: handshake.timeouts() };
        let sender = Sender::new(&handshake.config, handshake.own, agreed, now, timing, window);
        let mut sender = std::mem::take(&mut handshake.memory).hold(sender);
        sender.set_nagle(handshake.nagle);
        sender.write(self.written_early);
        sender.set_cork(handshake.cork);
        if self.close_requested {
            sender.close();
        }
        self.sender = Some(sender);
        self.state = ConnectionState::Established;
        self.pending.connected = true;
    }

    /// Follows the FINs sent, acknowledged and received through the states of RFC 9293 figure 5.
    #[inline]
    pub(super) fn update_closing_state(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        if self.state != ConnectionState::Established || sender.fin_sent() || self.receiver.fin_received() {
            self.change_closing_state(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn change_closing_state(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        let (sent, acked, received) = (sender.fin_sent(), sender.fin_acked(), self.receiver.fin_received());
        let closed_first = !matches!(self.state, ConnectionState::CloseWait | ConnectionState::LastAck);
        let next = match (sent, acked, received) {
            (false, _, false) => ConnectionState::Established,
            (false, _, true) => ConnectionState::CloseWait,
            (true, false, false) => ConnectionState::FinWait1,
            (true, true, false) => ConnectionState::FinWait2,
            (true, false, true) if closed_first => ConnectionState::Closing,
            (true, false, true) => ConnectionState::LastAck,
            (true, true, true) if closed_first => ConnectionState::TimeWait,
            (true, true, true) => ConnectionState::Closed,
        };
        if next == self.state || self.state == ConnectionState::TimeWait {
            return;
        }
        // The end that closed first has no FIN left to carry the ACK of the peer's, so that ACK does not wait for it.
        self.ack_pending |= received && matches!(self.state, ConnectionState::FinWait1 | ConnectionState::FinWait2);
        self.pending.peer_closed |= received
            && !matches!(self.state, ConnectionState::CloseWait | ConnectionState::LastAck | ConnectionState::Closing);
        self.state = next;
        match next {
            ConnectionState::TimeWait => self.timers.arm(Timer::TimeWait, now + self.time_wait),
            ConnectionState::FinWait2 => self.limit_fin_wait_2(now),
            ConnectionState::Closed => self.enter_closed(),
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn enter_closed(&mut self) {
        self.state = ConnectionState::Closed;
        self.timers = Timers::default();
        self.handshake = None;
        self.ack_pending = false;
        self.early_ack = NO_ACK;
        self.pending.closed = true;
    }

    /// Bytes received in order and not yet read by [`Connection::read`].
    pub fn readable(&self) -> Bytes {
        self.receiver.unread()
    }

    /// Reads up to `bytes`; returns how many were available. Drain `poll_segment` afterwards: a window update may be due, or the ACK of a
    /// segment with PSH.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let read = self.receiver.read(now, bytes);
        self.ack_pending |= read > 0 && self.sender.is_some() && self.receiver.ack_due_at_read();
        read
    }

    /// Data has arrived, or the time to look again: the application that reads at intervals does so now or later.
    #[cold]
    pub(super) fn read_at_intervals(&mut self, now: Time) {
        let reader = self.exceptional.as_mut().and_then(|exceptional| exceptional.reader.as_mut());
        let Some(reader) = reader.filter(|_| self.receiver.unread() > Bytes::ZERO) else { return };
        if now < reader.next {
            return self.timers.arm(Timer::Read, reader.next);
        }
        reader.next = now + reader.interval;
        self.read(now, u64::MAX);
    }

    /// Takes the memory out of a connection that is over.
    pub fn take_memory(&mut self) -> Memory {
        Memory { sender: self.sender.take() }
    }

    /// Uses the memory of another, which is over, from the end of the handshake on.
    pub fn use_memory(&mut self, memory: Memory) {
        if let Some(handshake) = &mut self.handshake {
            handshake.memory = memory;
        }
    }

    /// What an earlier connection of the pair of nodes has left, until the handshake is complete.
    pub fn set_saved(&mut self, saved: Option<Saved>) {
        if let Some(handshake) = &mut self.handshake {
            handshake.own.saved = saved;
        }
    }

    /// Seeds the algorithm's random numbers with this instead of the settings' seed, until the handshake is complete: so
    /// connections may share their settings.
    pub fn set_seed(&mut self, seed: u64) {
        if let Some(handshake) = &mut self.handshake {
            handshake.own.seed = seed;
        }
    }
}

#[cfg(test)]
mod tests;
