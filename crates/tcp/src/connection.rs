//! A connection: handshake and close (RFC 9293 §3.5, §3.6) around a sender and a receiver, driven by five calls.
//!
//! `on_segment`, `on_timeout`, `next_timeout`, `poll_segment`, and for the application `write`, `read`, `shutdown_write`, `close`,
//! `poll_event`. No callbacks, no clock: the driver passes in the time and drains `poll_segment` after every input.
//!
//! `impl Connection` lies in:
//!
//! - this file: segments and time-outs in, writes
//! - `make.rs`: segments out
//! - `state.rs`: the states, opening and closing; reads; a connection in the place of one that is over
//! - `reset.rs`: RST in and out, challenge ACKs, close and abort, a peer that does not answer
//! - `socket_options.rs`: what an application changes while the connection lasts
//! - `forging.rs`: a receiver that breaks the rules
//! - `watching.rs`: what traces, series and summaries show
//!
//! The structs on the path of a segment are `repr(C)`, here and in the parts of a connection: their fields lie in memory as
//! written, those used for every segment first and together, so that a segment touches few cache lines even when many
//! connections take turns.

mod exceptional;
mod forger;
mod forging;
mod handshake;
mod make;
mod reset;
mod socket_options;
mod state;
mod watching;

pub use handshake::Memory;
pub use state::ConnectionState;

use std::sync::Arc;

use exceptional::Exceptional;
use handshake::Handshake;

use crate::compat::SecondsClock;
use crate::config::TcpConfig;
use crate::ecn::{Echo, EchoAck};
use crate::event::{Event, Pending};
use crate::options::Clock;
use crate::receiver::{AckTiming, Receiver};
use crate::segment::{Flags, Segment};
use crate::sender::{Sender, Unanswered};
use crate::seq::SeqNo;
use crate::settings::EcnMode;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// No ACK of an earlier number is due: that of the SYN is never acknowledged by itself.
const NO_ACK: SeqNo = SeqNo::SYN;

/// One end of a connection.
///
/// # Examples
///
/// A client sends 1000 bytes over a path of 10 ms each way; the server delays its ACK.
///
/// ```
/// use tcp::cc::CcConfig;
/// use tcp::settings::ProfileName;
/// use tcp::units::{Span, Time};
/// use tcp::{Connection, ConnectionState, Event, Flags, SeqNo, TcpConfig};
///
/// let cc = CcConfig::by_name("cubic", None, &[])?;
/// let config = TcpConfig::of_profile(ProfileName::Rfc, cc);
/// let at = |ms| Time::ZERO + Span::from_millis(ms);
/// let mut client = Connection::connect(config.clone());
/// let mut server = Connection::listen(config);
/// client.write(1000);
///
/// let syn = client.poll_segment(at(0)).unwrap();
/// server.on_segment(at(10), &syn);
/// let syn_ack = server.poll_segment(at(10)).unwrap();
/// assert!(syn_ack.flags.contains(Flags::SYN.with(Flags::ACK)));
/// client.on_segment(at(20), &syn_ack);
/// assert_eq!(client.state(), ConnectionState::Established);
///
/// let data = client.poll_segment(at(20)).unwrap();
/// assert_eq!((data.seq, data.len, data.ack), (SeqNo(1), 1000, SeqNo(1)));
/// server.on_segment(at(30), &data);
/// assert_eq!(server.poll_event(), Some(Event::Connected));
/// assert_eq!(server.poll_event(), Some(Event::Delivered(1000)));
/// assert_eq!(server.poll_segment(at(30)), None);
///
/// let delayed_until = server.next_timeout().unwrap();
/// server.on_timeout(delayed_until);
/// let ack = server.poll_segment(delayed_until).unwrap();
/// client.on_segment(delayed_until + Span::from_millis(10), &ack);
/// assert_eq!(client.snapshot().unwrap().snd_una, SeqNo(1001));
/// # Ok::<(), tcp::cc::CcConfigError>(())
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    state: ConnectionState,
    ack_pending: bool,
    /// That ACK carries no data.
    ack_alone: bool,
    close_requested: bool,
    write_blocked: bool,
    writes_by_thirds: bool,
    /// The application receives no more.
    read_closed: bool,
    /// The application is gone.
    detached: bool,
    /// R2 (RFC 9293 §3.8.3) as a number of retransmissions; 0: never.
    retries2: u16,
    /// Present until the handshake is complete.
    handshake: Option<Box<Handshake>>,
    /// Send this ACK first: with the previous ECN echo state (RFC 8257 §3.2), or one that was held back.
    early_ack: SeqNo,
    pending: Pending,
    clock: Clock,
    echo: Echo,
    timers: Timers,
    receiver: Receiver,
    sender: Option<Box<Sender>>,
    send_buffer: Bytes,
    time_wait: Span,
    /// Bytes written before the handshake was complete.
    written_early: u64,
    exceptional: Option<Box<Exceptional>>,
}

impl Connection {
    fn new(config: Arc<TcpConfig>, state: ConnectionState) -> Connection {
        Connection {
            send_buffer: config.send_buffer,
            writes_by_thirds: config.writes_by_thirds,
            time_wait: config.time_wait,
            retries2: u16::try_from(config.retries2).unwrap_or(u16::MAX),
            exceptional: Exceptional::of(&config),
            receiver: Receiver::new(&config),
            echo: Echo::new(EcnMode::Off),
            handshake: Some(Box::new(Handshake::new(config, state == ConnectionState::SynSent))),
            state,
            sender: None,
            clock: Clock::default(),
            timers: Timers::default(),
            ack_pending: false,
            ack_alone: false,
            early_ack: NO_ACK,
            written_early: 0,
            close_requested: false,
            read_closed: false,
            detached: false,
            write_blocked: false,
            pending: Pending::default(),
        }
    }

    /// Active open: the first `poll_segment` returns the SYN.
    pub fn connect(config: impl Into<Arc<TcpConfig>>) -> Connection {
        Connection::new(config.into(), ConnectionState::SynSent)
    }

    /// Passive open: waits for a SYN.
    pub fn listen(config: impl Into<Arc<TcpConfig>>) -> Connection {
        Connection::new(config.into(), ConnectionState::Listen)
    }

    /// The state of the connection.
    #[inline]
    pub fn state(&self) -> ConnectionState {
        self.state
    }

    /// Writes `bytes`; returns how many the send buffer accepted. [`Event::Writable`] follows if that is fewer.
    pub fn write(&mut self, bytes: u64) -> u64 {
        self.write_by(bytes, Sender::write)
    }

    fn write_by(&mut self, bytes: u64, write: fn(&mut Sender, u64)) -> u64 {
        if self.close_requested {
            return 0;
        }
        let accepted = bytes.min(self.send_space().0);
        match &mut self.sender {
            Some(sender) => write(sender, accepted),
            None => self.written_early += accepted,
        }
        self.write_blocked = accepted < bytes;
        accepted
    }

    /// The clock of a sender that is an agent of another simulator; a driver that keeps its time tells it before each input.
    pub fn compat_mut(&mut self) -> Option<&mut SecondsClock> {
        self.sender.as_deref_mut().and_then(Sender::compat_mut)
    }

    /// Free space of the send buffer.
    pub fn send_space(&self) -> Bytes {
        let buffered = self.sender.as_deref().map_or(Bytes(self.written_early), Sender::buffered);
        // What is unlimited stays so, whatever is in it.
        if self.send_buffer == Bytes::MAX { Bytes::MAX } else { self.send_buffer.saturating_sub(buffered) }
    }

    /// A writer that found the send buffer full may write again, if there is room.
    #[inline]
    fn wake_writer(&mut self) {
        if !self.write_blocked {
            return;
        }
        let share = if self.writes_by_thirds { self.send_buffer.0 / 3 } else { 0 };
        if self.send_space() >= Bytes(share.max(1)) {
            self.write_blocked = false;
            self.pending.writable = true;
        }
    }

    /// Largest payload received so far: the peer's segments as far as the receiver knows them.
    pub fn largest_payload(&self) -> u32 {
        self.receiver.largest_payload()
    }

    /// Discards data written and not yet sent.
    pub fn abandon_unsent(&mut self) {
        self.written_early = 0;
        if let Some(sender) = &mut self.sender {
            sender.abandon_unsent();
        }
    }

    /// Closes the sending direction (SHUT_WR): a FIN follows the data written so far.
    pub fn shutdown_write(&mut self) {
        self.close_requested = true;
        self.write_blocked = false;
        self.pending.writable = false;
        if let Some(sender) = &mut self.sender {
            sender.close();
        }
    }

    /// The next event for the application.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.pending.poll(self.receiver.unread() == Bytes::ZERO)
    }

    /// The earliest deadline of a timer, if any.
    #[inline]
    pub fn next_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Handles the timers that have expired; harmless if none has.
    pub fn on_timeout(&mut self, now: Time) {
        if self.state == ConnectionState::Closed {
            // Its algorithm would ask for a deadline again.
            return;
        }
        if self.timers.expire(Timer::DelayedAck, now) {
            self.receiver.on_delay_over();
            self.ack_pending = true;
        }
        self.ack_pending |= self.timers.expire(Timer::CompressedAck, now);
        if self.exceptional.is_some() {
            self.on_forgery_timer(now);
            if self.timers.expire(Timer::Read, now) {
                self.read_at_intervals(now);
            }
        }
        if let Some(sender) = &mut self.sender {
            let before = sender.unanswered();
            if self.timers.expire(Timer::UserTimeout, now) && before != Unanswered::default() {
                self.give_up();
                return;
            }
            sender.on_timeout(now, &mut self.timers);
            let after = sender.unanswered();
            let news = after != before && after != Unanswered::default();
            let rto = sender.rto_bounds();
            if news && self.on_no_answer(now, after, rto) {
                self.give_up();
                return;
            }
        } else if self.timers.expire(Timer::Rto, now)
            && !self.handshake.as_mut().is_some_and(|handshake| handshake.on_timeout())
        {
            self.give_up();
        }
        if self.timers.expire(Timer::TimeWait, now) {
            self.enter_closed();
        }
    }

    /// Processes an arriving segment (RFC 9293 §3.10.7).
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        let has = |flag| segment.flags.contains(flag);
        // In ESTABLISHED only SYN and RST need more than ACK and data processing.
        let control =
            self.state != ConnectionState::Established || segment.flags.intersects(Flags::SYN.with(Flags::RST));
        if control && !self.on_control_segment(now, segment) {
            return;
        }
        if !has(Flags::ACK) {
            // RFC 9293 §3.10.7.4, fifth: in a synchronized state a segment without ACK is dropped.
            return;
        }
        if self.read_closed && self.refuses_data(segment) {
            return;
        }
        let Some(sender) = &self.sender else { return };
        if segment.ack > sender.snd_nxt() {
            // RFC 9293 §3.10.7.4, RFC 5961 §5.2: an ACK of data not yet sent is answered with an ACK and dropped.
            self.challenge(now);
            return;
        }
        if self.exceptional.is_some() {
            self.on_exceptional_segment(segment);
        }
        self.clock.on_segment(segment);
        let Some(sender) = &mut self.sender else { return };
        sender.on_ack(now, segment, &mut self.timers);
        self.wake_writer();
        self.receive_data(now, segment);
        if self.state == ConnectionState::TimeWait && has(Flags::FIN) {
            // RFC 9293 §3.10.7.4: our last ACK was lost: acknowledge and restart the 2 MSL time-out.
            self.timers.arm(Timer::TimeWait, now + self.time_wait);
        }
        self.update_closing_state(now);
    }

    #[inline(never)]
    fn answer_ecn_field(&mut self, echo_ack: EchoAck, rcv_nxt: SeqNo) {
        self.ack_pending |= echo_ack != EchoAck::Retransmission;
        match echo_ack {
            EchoAck::First | EchoAck::Retransmission => self.receiver.acknowledge_next_at_once(),
            EchoAck::Split if self.receiver.has_delayed_ack() => self.early_ack = rcv_nxt,
            _ => {}
        }
    }

    fn receive_data(&mut self, now: Time, segment: &Segment) {
        let rcv_nxt = self.receiver.rcv_nxt();
        // RFC 3168 §6.1.5: ignore CE on data outside the window, which may be forged or retransmitted.
        let new = segment.len > 0 && segment.end() > rcv_nxt;
        let echo_ack = self.echo.on_segment(segment, new);
        if echo_ack != EchoAck::None {
            self.answer_ecn_field(echo_ack, rcv_nxt);
        }
        match self.receiver.on_segment(now, segment) {
            AckTiming::None => return,
            AckTiming::Immediate => self.ack_pending = true,
            AckTiming::DelayedUntil(deadline) => self.arm_ack(Timer::DelayedAck, deadline),
            AckTiming::CompressedUntil(deadline) => self.arm_ack(Timer::CompressedAck, deadline),
            AckTiming::Released(deadline) => self.release_ack(deadline),
        }
        self.pending.delivered += self.receiver.in_order_since(rcv_nxt);
        if self.exceptional.is_some() {
            self.read_at_intervals(now);
        }
    }

    /// What was held back leaves before the segment is reported that has arrived; its own ACK waits until `deadline`, if there is one.
    #[inline(never)]
    fn release_ack(&mut self, deadline: Option<Time>) {
        self.early_ack = self.receiver.rcv_nxt();
        self.timers.stop(Timer::CompressedAck);
        match deadline {
            Some(deadline) => self.arm_ack(Timer::CompressedAck, deadline),
            None => self.ack_pending = true,
        }
    }

    /// Arms a timer of delayed ACKs; the first ACK held back sets the deadline.
    fn arm_ack(&mut self, timer: Timer, deadline: Time) {
        if !self.timers.armed(timer) {
            self.timers.arm(timer, deadline);
        }
    }

    fn snd_nxt(&self) -> SeqNo {
        self.sender.as_deref().map_or(SeqNo::SYN, Sender::snd_nxt)
    }
}

#[cfg(test)]
mod tests;
