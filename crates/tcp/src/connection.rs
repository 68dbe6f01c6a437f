//! A connection: handshake and close (RFC 9293 §3.5, §3.6) around a sender and a receiver, driven by five calls.
//!
//! `on_segment`, `on_timeout`, `next_timeout`, `poll_segment`, and the application's side `write`, `close`,
//! `poll_event`. No callbacks, no clock: the driver hands in the time and drains `poll_segment` after every input.

use crate::config::TcpConfig;
use crate::options::Agreed;
use crate::receiver::{AckWish, Receiver};
use crate::rtt::Rtt;
use crate::segment::{Flags, Segment};
use crate::sender::{Sender, Snapshot, Totals};
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// Where a connection stands (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Waits for a SYN.
    Listen,
    /// A SYN is out.
    SynSent,
    /// A SYN-ACK is out.
    SynReceived,
    /// Data flows.
    Established,
    /// Closed here; the FIN is not yet acknowledged.
    FinWait1,
    /// Closed here; waits for the other side.
    FinWait2,
    /// Closed there.
    CloseWait,
    /// Closed on both sides at once; our FIN is not yet acknowledged.
    Closing,
    /// Closed there, then here; our FIN is not yet acknowledged.
    LastAck,
    /// Over, but remembered.
    TimeWait,
    /// Over.
    Closed,
}

/// What the application is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The handshake is done.
    Connected,
    /// This many new bytes arrived in order and were read.
    Delivered(u64),
    /// A write that was cut short may go on.
    Writable,
    /// The other side has sent its last byte, and it has been read.
    PeerClosed,
    /// The connection is over, or was given up.
    Closed,
}

/// Events not yet told.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    connected: bool,
    delivered: u64,
    writable: bool,
    peer_closed: bool,
    closed: bool,
}

/// One side of a connection.
#[derive(Debug)]
pub struct Connection {
    config: TcpConfig,
    phase: Phase,
    sender: Option<Sender>,
    receiver: Receiver,
    timers: Timers,
    /// Time-outs of the handshake.
    handshake: Rtt,
    syn_sent_at: Time,
    syn_transmissions: u32,
    syn_due: bool,
    ack_due: bool,
    /// Bytes written before the handshake was done.
    early_data: u64,
    close_wanted: bool,
    write_cut_short: bool,
    pending: Pending,
}

impl Connection {
    fn new(config: TcpConfig, phase: Phase) -> Connection {
        Connection {
            receiver: Receiver::new(config.delayed_ack, config.recv_buffer, 1),
            handshake: Rtt::new(config.rto, config.rtt_estimator),
            config,
            phase,
            sender: None,
            timers: Timers::default(),
            syn_sent_at: Time::ZERO,
            syn_transmissions: 0,
            syn_due: phase == Phase::SynSent,
            ack_due: false,
            early_data: 0,
            close_wanted: false,
            write_cut_short: false,
            pending: Pending::default(),
        }
    }

    /// The active side: the first `poll_segment` gives the SYN.
    pub fn connect(config: TcpConfig) -> Connection {
        Connection::new(config, Phase::SynSent)
    }

    /// The passive side: waits for a SYN.
    pub fn listen(config: TcpConfig) -> Connection {
        Connection::new(config, Phase::Listen)
    }

    /// Where the connection stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The sender's state for a trace; absent before the handshake is done.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.sender.as_ref().map(Sender::snapshot)
    }

    /// Counts over the life of the sender.
    pub fn totals(&self) -> Totals {
        self.sender.as_ref().map(Sender::totals).unwrap_or_default()
    }

    /// Where the recovery episode under way, or the last one, ends; for traces.
    pub fn recovery_point(&self) -> Option<u64> {
        self.sender.as_ref().map(Sender::recovery_point)
    }

    /// Offers `bytes` to send; gives how many the send buffer took. [`Event::Writable`] follows when it took fewer.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if self.close_wanted {
            return 0;
        }
        let taken = bytes.min(self.room().0);
        match &mut self.sender {
            Some(sender) => sender.write(taken),
            None => self.early_data += taken,
        }
        self.write_cut_short = taken < bytes;
        taken
    }

    /// How much the send buffer would take now.
    pub fn room(&self) -> Bytes {
        let buffered = self.sender.as_ref().map_or(Bytes(self.early_data), Sender::buffered);
        self.config.send_buffer.saturating_sub(buffered)
    }

    /// Forgets what was written and never sent.
    pub fn abandon_unsent(&mut self) {
        self.early_data = 0;
        if let Some(sender) = &mut self.sender {
            sender.abandon_unsent();
        }
    }

    /// No more data follows what was written.
    pub fn close(&mut self) {
        self.close_wanted = true;
        if let Some(sender) = &mut self.sender {
            sender.close();
        }
    }

    /// The next thing to tell the application.
    pub fn poll_event(&mut self) -> Option<Event> {
        let pending = &mut self.pending;
        if std::mem::take(&mut pending.connected) {
            return Some(Event::Connected);
        }
        let delivered = std::mem::take(&mut pending.delivered);
        if delivered > 0 {
            return Some(Event::Delivered(delivered));
        }
        if std::mem::take(&mut pending.writable) {
            return Some(Event::Writable);
        }
        if std::mem::take(&mut pending.peer_closed) {
            return Some(Event::PeerClosed);
        }
        std::mem::take(&mut pending.closed).then_some(Event::Closed)
    }

    /// The earliest deadline, if any.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Some deadline has been reached; calls before it are harmless.
    pub fn on_timeout(&mut self, now: Time) {
        if self.timers.expire(Timer::DelayedAck, now) {
            self.ack_due = true;
        }
        match &mut self.sender {
            Some(sender) => sender.on_timeout(now, &mut self.timers),
            None if self.timers.expire(Timer::Rto, now) => self.on_handshake_timeout(),
            None => {}
        }
        if self.timers.expire(Timer::TimeWait, now) {
            self.end();
        }
    }

    fn on_handshake_timeout(&mut self) {
        if self.syn_transmissions > self.config.syn_retries {
            self.end();
        } else {
            self.handshake.back_off();
            self.syn_due = true;
        }
    }

    fn end(&mut self) {
        self.phase = Phase::Closed;
        self.timers = Timers::default();
        self.pending.closed = true;
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let has = |flag| segment.flags.contains(flag);
        match self.phase {
            Phase::Closed => return,
            Phase::Listen => {
                if has(Flags::SYN) {
                    self.phase = Phase::SynReceived;
                    self.syn_due = true;
                }
                return;
            }
            _ if has(Flags::SYN) => return self.on_syn(now, segment),
            Phase::SynSent => return,
            Phase::SynReceived if has(Flags::ACK) && segment.ack == 1 => self.establish(now, segment.window),
            _ => {}
        }
        let Some(sender) = &mut self.sender else { return };
        if has(Flags::ACK) && segment.ack > sender.snd_nxt() {
            // RFC 9293 §3.10.7.4: what was never sent cannot be acknowledged; the peer is told where we are.
            self.ack_due = true;
            return;
        }
        if has(Flags::ACK) {
            sender.on_ack(now, segment, &mut self.timers);
        }
        if self.write_cut_short && sender.buffered() < self.config.send_buffer {
            self.write_cut_short = false;
            self.pending.writable = true;
        }
        self.take_data(now, segment);
        if self.phase == Phase::TimeWait && has(Flags::FIN) {
            // RFC 9293 §3.10.7.4: our last ACK was lost, so the 2 MSL start again.
            self.timers.arm(Timer::TimeWait, now + self.config.time_wait);
        }
        self.move_on(now);
    }

    /// A SYN or SYN-ACK arrived after we sent ours.
    fn on_syn(&mut self, now: Time, segment: &Segment) {
        match self.phase {
            Phase::SynSent if segment.flags.contains(Flags::ACK) && segment.ack == 1 => {
                self.establish(now, segment.window);
                self.ack_due = true;
            }
            // Our SYN-ACK was lost.
            Phase::SynReceived => self.syn_due = true,
            // Our ACK of the SYN-ACK was lost.
            _ => self.ack_due = self.sender.is_some(),
        }
    }

    fn establish(&mut self, now: Time, window: Bytes) {
        self.timers.stop(Timer::Rto);
        self.syn_due = false;
        let rtt: Option<Span> = (self.syn_transmissions == 1).then(|| now.since(self.syn_sent_at));
        let mut sender = Sender::new(&self.config, Agreed::all(&self.config), now, rtt, window);
        sender.write(self.early_data);
        if self.close_wanted {
            sender.close();
        }
        self.sender = Some(sender);
        self.phase = Phase::Established;
        self.pending.connected = true;
    }

    fn take_data(&mut self, now: Time, segment: &Segment) {
        let before = self.receiver.in_order();
        match self.receiver.on_segment(now, segment) {
            AckWish::None => {}
            AckWish::Now => self.ack_due = true,
            AckWish::By(_) if self.timers.armed(Timer::DelayedAck) => {}
            AckWish::By(deadline) => self.timers.arm(Timer::DelayedAck, deadline),
        }
        self.pending.delivered += self.receiver.in_order() - before;
    }

    /// Follows the FINs through the states of RFC 9293 figure 5.
    fn move_on(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        let (sent, acked, received) = (sender.fin_sent(), sender.fin_acked(), self.receiver.finished());
        let we_were_first = !matches!(self.phase, Phase::CloseWait | Phase::LastAck);
        let next = match (sent, acked, received) {
            (false, _, false) => Phase::Established,
            (false, _, true) => Phase::CloseWait,
            (true, false, false) => Phase::FinWait1,
            (true, true, false) => Phase::FinWait2,
            (true, false, true) if we_were_first => Phase::Closing,
            (true, false, true) => Phase::LastAck,
            (true, true, true) if we_were_first => Phase::TimeWait,
            (true, true, true) => Phase::Closed,
        };
        if next == self.phase || self.phase == Phase::TimeWait {
            return;
        }
        self.pending.peer_closed |=
            received && !matches!(self.phase, Phase::CloseWait | Phase::LastAck | Phase::Closing);
        self.phase = next;
        match next {
            Phase::TimeWait => self.timers.arm(Timer::TimeWait, now + self.config.time_wait),
            Phase::Closed => self.end(),
            _ => {}
        }
    }

    /// The next segment to send now; call until `None`.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if self.syn_due {
            return Some(self.make_syn(now));
        }
        let window = self.receiver.window();
        let sender = self.sender.as_mut()?;
        let ack = self.receiver.rcv_nxt;
        let mut segment = Segment { ack, window, flags: Flags::ACK, ..Segment::default() };
        if let Some(next) = sender.poll(now, &mut self.timers) {
            segment.seq = next.chunk.seq;
            segment.len = next.chunk.len;
            segment.ecn = next.ecn;
            segment.flags = if next.chunk.fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        } else if self.ack_due {
            segment.seq = sender.snd_nxt();
        } else {
            return None;
        }
        self.ack_due = false;
        self.timers.stop(Timer::DelayedAck);
        self.receiver.on_ack_sent();
        if segment.flags.contains(Flags::FIN) {
            self.move_on(now);
        }
        Some(segment)
    }

    fn make_syn(&mut self, now: Time) -> Segment {
        self.syn_due = false;
        self.syn_sent_at = now;
        self.syn_transmissions += 1;
        self.timers.arm(Timer::Rto, now + self.handshake.rto());
        let passive = self.phase == Phase::SynReceived;
        Segment {
            seq: 0,
            ack: u64::from(passive),
            len: 0,
            flags: if passive { Flags::SYN.with(Flags::ACK) } else { Flags::SYN },
            window: self.receiver.window(),
            ..Segment::default()
        }
    }
}
