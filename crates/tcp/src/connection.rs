//! A connection: handshake and close (RFC 9293 §3.5, §3.6) around a sender and a receiver, driven by five calls.
//!
//! `on_segment`, `on_timeout`, `next_timeout`, `poll_segment`, and the application's side `write`, `read`, `close`,
//! `poll_event`. No callbacks, no clock: the driver hands in the time and drains `poll_segment` after every input.

mod handshake;
mod make;

use handshake::Handshake;

use crate::cc::Window;
use crate::config::TcpConfig;
use crate::ecn::{Echo, EchoWish};
use crate::event::{Event, Pending, Phase};
use crate::options::Clock;
use crate::receiver::{AckWish, Receiver};
use crate::segment::{Flags, Segment};
use crate::sender::{Sender, Snapshot, Totals};
use crate::settings::EcnMode;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// One side of a connection.
/// Fields lie in memory as written, here and in the parts: those of every segment together, so that between many
/// connections a segment finds few of its lines of the cache gone.
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    phase: Phase,
    ack_due: bool,
    close_wanted: bool,
    write_cut_short: bool,
    /// Until it is done.
    handshake: Option<Box<Handshake>>,
    /// An ACK of this number leaves first, with the congestion echo as it was (RFC 8257 §3.2).
    early_ack: Option<u64>,
    pending: Pending,
    clock: Clock,
    echo: Echo,
    timers: Timers,
    receiver: Receiver,
    sender: Option<Sender>,
    send_buffer: Bytes,
    time_wait: Span,
    /// Bytes written before the handshake was done.
    early_data: u64,
}

impl Connection {
    fn new(config: TcpConfig, phase: Phase) -> Connection {
        Connection {
            send_buffer: config.send_buffer,
            time_wait: config.time_wait,
            receiver: Receiver::new(&config),
            echo: Echo::new(EcnMode::Off),
            handshake: Some(Box::new(Handshake::new(config, phase == Phase::SynSent))),
            phase,
            sender: None,
            clock: Clock::default(),
            timers: Timers::default(),
            ack_due: false,
            early_ack: None,
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

    /// cwnd and ssthresh of the algorithm; absent before the handshake is done.
    pub fn window(&self) -> Option<Window> {
        self.sender.as_ref().map(Sender::window)
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

    /// The deadlines that are set, by name; for traces.
    pub fn timers(&self) -> impl Iterator<Item = (&'static str, Time)> + '_ {
        self.timers.armed_by_name()
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
        self.send_buffer.saturating_sub(buffered)
    }

    /// Bytes received in order that wait for [`Connection::read`].
    pub fn readable(&self) -> Bytes {
        self.receiver.unread()
    }

    /// Reads up to `bytes`; gives how many there were. `poll_segment` may follow: the other side is told of new room.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = self.receiver.read(now, bytes);
        self.ack_due |= taken > 0 && self.sender.is_some() && self.receiver.window_opens();
        taken
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
        self.write_cut_short = false;
        self.pending.writable = false;
        if let Some(sender) = &mut self.sender {
            sender.close();
        }
    }

    /// The next thing to tell the application.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.pending.poll(self.receiver.unread() == Bytes::ZERO)
    }

    /// The earliest deadline, if any.
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Some deadline has been reached; calls before it are harmless.
    pub fn on_timeout(&mut self, now: Time) {
        for timer in [Timer::DelayedAck, Timer::CompressedAck] {
            self.ack_due |= self.timers.expire(timer, now);
        }
        if let Some(sender) = &mut self.sender {
            sender.on_timeout(now, &mut self.timers);
        } else if self.timers.expire(Timer::Rto, now)
            && !self.handshake.as_mut().is_some_and(|handshake| handshake.on_timeout())
        {
            self.end();
        }
        if self.timers.expire(Timer::TimeWait, now) {
            self.end();
        }
    }

    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        self.phase = Phase::Closed;
        self.timers = Timers::default();
        self.handshake = None;
        self.ack_due = false;
        self.early_ack = None;
        self.pending.closed = true;
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let has = |flag| segment.flags.contains(flag);
        // While data flows only a flag makes a segment special.
        let special = self.phase != Phase::Established || segment.flags.meets(Flags::SYN.with(Flags::RST));
        if special && !self.neither_opens_nor_ends(now, segment) {
            return;
        }
        let Some(sender) = &mut self.sender else { return };
        self.clock.on_segment(segment);
        if has(Flags::ACK) && segment.ack > sender.snd_nxt() {
            // RFC 9293 §3.10.7.4: what was never sent cannot be acknowledged; the peer is told where we are.
            self.ack_due = true;
            return;
        }
        if has(Flags::ACK) {
            sender.on_ack(now, segment, &mut self.timers);
        }
        if self.write_cut_short && sender.buffered() < self.send_buffer {
            self.write_cut_short = false;
            self.pending.writable = true;
        }
        self.take_data(now, segment);
        if self.phase == Phase::TimeWait && has(Flags::FIN) {
            // RFC 9293 §3.10.7.4: our last ACK was lost, so the 2 MSL start again.
            self.timers.arm(Timer::TimeWait, now + self.time_wait);
        }
        self.move_on(now);
    }

    /// What opens or ends a connection, or comes before or after it. True if the segment is to be taken like any other.
    #[inline(never)]
    fn neither_opens_nor_ends(&mut self, now: Time, segment: &Segment) -> bool {
        let has = |flag| segment.flags.contains(flag);
        if has(Flags::RST) {
            self.on_reset(segment);
            return false;
        }
        match self.phase {
            Phase::Closed => return false,
            Phase::Listen | Phase::SynSent if !has(Flags::SYN) => return false,
            _ if has(Flags::SYN) => {
                self.on_syn(now, segment);
                return false;
            }
            Phase::SynReceived if has(Flags::ACK) && segment.ack == 1 => self.establish(now, segment.window),
            _ => {}
        }
        true
    }

    /// A SYN or SYN-ACK arrived.
    #[cold]
    #[inline(never)]
    fn on_syn(&mut self, now: Time, segment: &Segment) {
        let answers = segment.flags.contains(Flags::ACK) && segment.ack == 1;
        let Some(handshake) = &mut self.handshake else {
            // Our ACK of the SYN-ACK was lost.
            self.ack_due = self.sender.is_some();
            return;
        };
        match self.phase {
            Phase::SynSent | Phase::SynReceived if answers => {
                handshake.on_syn_ack(&mut self.clock, segment);
                self.establish(now, segment.window);
                self.ack_due = true;
            }
            Phase::SynSent if segment.flags.contains(Flags::ACK) => {}
            // The first SYN; or both sides opened at once (RFC 9293 §3.5); or our SYN-ACK was lost.
            _ => {
                self.phase = Phase::SynReceived;
                handshake.on_syn(&mut self.clock, segment);
            }
        }
    }

    /// RFC 9293 §3.10.7.3, §3.10.7.4: a reset counts if it answers our SYN or lies within the window.
    #[cold]
    #[inline(never)]
    fn on_reset(&mut self, segment: &Segment) {
        let counts = match self.phase {
            Phase::Closed | Phase::Listen => false,
            Phase::SynSent => segment.flags.contains(Flags::ACK) && segment.ack == 1,
            _ => self.receiver.expects(segment.seq),
        };
        if counts {
            self.end();
        }
    }

    #[cold]
    #[inline(never)]
    fn establish(&mut self, now: Time, window: Bytes) {
        let Some(handshake) = self.handshake.take() else { return };
        self.timers.stop(Timer::Rto);
        let rtt = handshake.rtt(now);
        let agreed = handshake.agreed();
        self.receiver.agree(&agreed, rtt);
        self.clock.agree(agreed.timestamps);
        self.echo = Echo::new(agreed.ecn);
        let mut sender = Sender::new(&handshake.config, agreed, now, (rtt, handshake.timeouts()), window);
        sender.write(self.early_data);
        if self.close_wanted {
            sender.close();
        }
        self.sender = Some(sender);
        self.phase = Phase::Established;
        self.pending.connected = true;
    }

    fn take_data(&mut self, now: Time, segment: &Segment) {
        let rcv_nxt = self.receiver.rcv_nxt();
        // RFC 3168 §6.1.5: what lies outside the window may be forged, or sent again.
        let new = segment.len > 0 && segment.end() > rcv_nxt;
        let echo_wish = self.echo.on_segment(segment, new);
        if echo_wish != EchoWish::None {
            self.ack_due = true;
            if echo_wish == EchoWish::Split && self.receiver.holds_back() {
                self.early_ack = Some(rcv_nxt);
            }
        }
        match self.receiver.on_segment(now, segment) {
            // It brought nothing.
            AckWish::None => return,
            AckWish::Now => self.ack_due = true,
            AckWish::By(deadline) => self.arm_ack(Timer::DelayedAck, deadline),
            AckWish::CompressedBy(deadline) => self.arm_ack(Timer::CompressedAck, deadline),
        }
        self.pending.delivered += self.receiver.in_order_since(rcv_nxt);
    }

    /// The first of several that wait sets the deadline.
    fn arm_ack(&mut self, timer: Timer, deadline: Time) {
        if !self.timers.armed(timer) {
            self.timers.arm(timer, deadline);
        }
    }

    /// Follows the FINs through the states of RFC 9293 figure 5.
    #[inline]
    fn move_on(&mut self, now: Time) {
        let Some(sender) = &self.sender else { return };
        if self.phase != Phase::Established || sender.fin_sent() || self.receiver.finished() {
            self.follow_fins(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn follow_fins(&mut self, now: Time) {
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
            Phase::TimeWait => self.timers.arm(Timer::TimeWait, now + self.time_wait),
            Phase::Closed => self.end(),
            _ => {}
        }
    }

    /// The next segment to send now; call until `None`.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        if self.handshake.as_ref().is_some_and(|handshake| handshake.due) {
            return self.make_syn(now);
        }
        let sender = self.sender.as_mut()?;
        if let Some(ack) = self.early_ack {
            self.early_ack = None;
            return Some(self.make_early_ack(now, ack));
        }
        // What is over sends nothing of its own any more.
        let next = if self.phase == Phase::Closed { None } else { sender.poll(now, &mut self.timers) };
        if next.is_none() && !self.ack_due {
            return None;
        }
        Some(self.make_segment(now, next))
    }

    fn snd_nxt(&self) -> u64 {
        self.sender.as_ref().map_or(0, Sender::snd_nxt)
    }
}

#[cfg(test)]
mod tests;
