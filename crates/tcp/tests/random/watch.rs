//! One endpoint with its checks: every call passes through here, and its output is compared with its input.
//!
//! The checks know nothing of the internals of the endpoint, only what no endpoint may do: acknowledge, report or
//! deliver data that has not arrived, send data that was not written, use options that were not negotiated, or miscount
//! outstanding data.

use tcp::cc::StartConfig;
use tcp::settings::{EcnMode, EcnOption};
use tcp::units::{Bytes, Span, Time};
use tcp::{Connection, ConnectionState, Ecn, Event, Flags, Segment, SeqNo, Snapshot, TcpConfig};

use super::silence::Silence;
use super::window::Windows;

/// Success, or a sentence that says what is violated.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// Far above every window that the tests can cause.
const SANE: Bytes = Bytes(1 << 50);
/// Maximum number of segments that one input may trigger. The tests write far fewer.
const BURST: usize = 50_000;

/// Returns the sentence as an error unless the condition holds.
pub(crate) fn ensure(holds: bool, sentence: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(sentence()) }
}

/// Ranges of sequence numbers that have arrived: sorted and disjoint.
#[derive(Debug, Default)]
struct Arrived(Vec<(u64, u64)>);

impl Arrived {
    fn insert(&mut self, start: u64, end: u64) {
        let from = self.0.partition_point(|range| range.1 < start);
        let to = self.0.partition_point(|range| range.0 <= end);
        let merged = self.0[from..to].iter().fold((start, end), |m, r| (m.0.min(r.0), m.1.max(r.1)));
        self.0.splice(from..to, [merged]);
    }

    /// The number after everything that has arrived without a gap.
    fn end(&self) -> u64 {
        self.0.first().filter(|range| range.0 == 0).map_or(0, |range| range.1)
    }

    fn contains(&self, start: u64, end: u64) -> bool {
        self.0.iter().any(|range| range.0 <= start && end <= range.1)
    }
}

/// Options that the peer's SYNs offered, all of them together: a hostile peer may send different ones.
#[derive(Clone, Copy, Debug, Default)]
struct Offered {
    /// One SYN had no options: such a peer does not model them, so absent options are no limits.
    bare: bool,
    /// The least and the greatest offer.
    mss: Option<(u32, u32)>,
    sack: bool,
    timestamps: bool,
    window_scale: bool,
    ecn: bool,
}

/// The events that the application has received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AppEvents {
    pub(crate) connected: bool,
    pub(crate) delivered: u64,
    pub(crate) writable: bool,
    pub(crate) peer_closed: bool,
    pub(crate) closed: bool,
}

/// A connection, its input and its output.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) connection: Connection,
    config: TcpConfig,
    pub(crate) events: AppEvents,
    /// Bytes that the endpoint has accepted from the application.
    pub(crate) written: u64,
    pub(crate) close_asked: bool,
    /// Segments sent.
    pub(crate) segments: u64,
    /// The number after the highest one sent.
    pub(crate) sent_end: u64,
    offered: Offered,
    arrived: Arrived,
    highest_ack_arrived: u64,
    /// `snd_una` as implied by the endpoint's own FlightSize.
    pub(crate) una: u64,
    pub(crate) ack_sent: u64,
    pub(crate) edge_sent: u64,
    /// Unit of the windows that it advertises; None until it has sent a SYN with options.
    window_unit: Option<u64>,
    /// Highest right edge of the peer's windows.
    edge_arrived: u64,
    /// `on_timeout` has been called since the last check.
    fired: bool,
    silence: Silence,
    pub(crate) windows: Windows,
}

impl Watch {
    pub(crate) fn new(config: TcpConfig, active: bool) -> Watch {
        let open = if active { Connection::connect } else { Connection::listen };
        Watch {
            connection: open(config.clone()),
            config,
            events: AppEvents::default(),
            written: 0,
            close_asked: false,
            segments: 0,
            sent_end: 0,
            offered: Offered::default(),
            arrived: Arrived::default(),
            highest_ack_arrived: 0,
            una: 0,
            ack_sent: 0,
            edge_sent: 0,
            window_unit: None,
            edge_arrived: 0,
            fired: false,
            silence: Silence::default(),
            windows: Windows::default(),
        }
    }

    /// The application writes; returns how many bytes were accepted.
    pub(crate) fn write(&mut self, bytes: u64) -> Outcome<u64> {
        let room = self.connection.send_space();
        let accepted = self.connection.write(bytes);
        let wanted = if self.close_asked { 0 } else { bytes.min(room.0) };
        ensure(accepted == wanted, || format!("a write of {bytes} with room for {room} accepted {accepted}"))?;
        self.written += accepted;
        Ok(accepted)
    }

    /// The application reads at most `bytes`.
    pub(crate) fn read(&mut self, now: Time, bytes: u64) -> Outcome {
        let readable = self.connection.readable();
        let read = self.connection.read(now, bytes);
        ensure(read == bytes.min(readable.0), || format!("a read of {bytes} with {readable} readable returned {read}"))
    }

    pub(crate) fn close(&mut self) {
        self.close_asked = true;
        self.connection.shutdown_write();
    }

    /// The application is gone.
    pub(crate) fn leave(&mut self, now: Time) {
        self.close_asked = true;
        self.connection.close(now);
    }

    /// A segment arrives.
    pub(crate) fn receive(&mut self, now: Time, segment: &Segment) {
        let has = |flag| segment.flags.contains(flag);
        // Data beyond every window that was advertised is not accepted.
        let edge = self.arrived.end().max(1) + self.config.recv_buffer.0 + self.window_unit.unwrap_or(1);
        if segment.seq.0 < edge {
            self.arrived.insert(segment.seq.0, segment.end().0.min(edge));
        }
        if has(Flags::ACK) {
            self.highest_ack_arrived = self.highest_ack_arrived.max(segment.ack.0);
        }
        self.edge_arrived = self.edge_arrived.max(segment.ack.0.max(1) + segment.window.0);
        self.silence.end();
        if has(Flags::SYN) {
            // A SYN has number 0, whatever its sequence number is.
            self.arrived.insert(0, 1);
            let (old, syn) = (self.offered, segment.syn.unwrap_or_default());
            self.offered = Offered {
                bare: old.bare || segment.syn.is_none(),
                mss: segment
                    .syn
                    .map(|new| old.mss.map_or((new.mss, new.mss), |m| (m.0.min(new.mss), m.1.max(new.mss))))
                    .or(old.mss),
                sack: old.sack || syn.sack_permitted,
                timestamps: old.timestamps || segment.timestamps.is_some(),
                window_scale: old.window_scale || syn.window_scale.is_some(),
                ecn: old.ecn || has(Flags::ECE) || has(Flags::AE) || has(Flags::CWR),
            };
        }
        self.connection.on_segment(now, segment);
    }

    /// Drains the connection after an input and checks everything.
    pub(crate) fn drain(&mut self, now: Time, mut send: impl FnMut(Segment)) -> Outcome {
        self.drain_events()?;
        let (mut burst, mut carried) = (0, false);
        while let Some(segment) = self.connection.poll_segment(now) {
            self.check_segment(&segment).map_err(|broken| format!("{broken}, at {now} in {segment:?}"))?;
            burst += 1;
            carried |= segment.end() > segment.seq;
            ensure(burst < BURST, || format!("{BURST} segments at {now} and no end"))?;
            send(segment);
        }
        self.segments += burst as u64;
        // Sending a FIN may change the state of the connection.
        self.drain_events()?;
        let totals = self.connection.totals();
        self.silence.check(now, totals.timeouts.into(), carried, self.config.rto.max)?;
        if let Some(snapshot) = self.connection.snapshot() {
            self.check_snapshot(&snapshot)
                .and_then(|()| self.check_windows(&snapshot, totals.undone))
                .map_err(|broken| format!("{broken}, at {now} in {snapshot:?}"))?;
        }
        // `Closed` is reported once all data has been read.
        let over = self.connection.state() == ConnectionState::Closed && self.connection.readable() == Bytes::ZERO;
        ensure(over == self.events.closed, || format!("closed is {over}, but it was reported as {}", !over))?;
        let next = self.connection.next_timeout();
        ensure(!over || next.is_none(), || "a timer runs in CLOSED".into())?;
        // A timer that was due must not remain set after the time-out.
        let fired = std::mem::take(&mut self.fired);
        ensure(!fired || next.is_none_or(|at| at > now), || format!("a timer is set for {next:?}, but it is {now}"))
    }

    /// Calls `on_timeout` at `now`.
    pub(crate) fn timeout(&mut self, now: Time) {
        self.fired = true;
        if self.connection.next_timeout().is_some_and(|at| at < now) {
            // The driver was late, so the interval to the next time-out proves nothing.
            self.silence.end();
        }
        self.connection.on_timeout(now);
    }

    fn drain_events(&mut self) -> Outcome {
        while let Some(event) = self.connection.poll_event() {
            let events = &mut self.events;
            ensure(!events.closed, || format!("{event:?} after Closed"))?;
            let valid = match event {
                Event::Connected => !std::mem::replace(&mut events.connected, true),
                Event::PeerClosed => !std::mem::replace(&mut events.peer_closed, true),
                // Both are followed by the end.
                Event::Reset | Event::Aborted => true,
                Event::Closed => !std::mem::replace(&mut events.closed, true),
                Event::Writable => {
                    events.writable = true;
                    !self.close_asked
                }
                Event::Delivered(bytes) => {
                    events.delivered += bytes;
                    bytes > 0 && !events.peer_closed
                }
            };
            ensure(valid, || format!("{event:?} is not allowed here"))?;
        }
        let (delivered, arrived) = (self.events.delivered, self.arrived.end());
        ensure(delivered < arrived.max(1), || format!("{delivered} B delivered, numbers below {arrived} arrived"))
    }

    fn check_segment(&mut self, segment: &Segment) -> Outcome {
        if segment.flags.contains(Flags::RST) {
            return self.check_reset(segment);
        }
        self.check_payload(segment)?;
        self.check_acknowledgment(segment)?;
        self.check_options(segment)
    }

    /// A reset carries nothing, and goes out where no connection is, or is not yet (RFC 9293 §3.5.2).
    fn check_reset(&self, segment: &Segment) -> Outcome {
        let has = |flag| segment.flags.contains(flag);
        let bare = segment.len == 0 && !has(Flags::SYN) && !has(Flags::FIN) && segment.sack.is_empty();
        ensure(bare, || "a reset carries something".into())?;
        let state = self.connection.state();
        let allowed =
            [ConnectionState::Closed, ConnectionState::Listen, ConnectionState::SynSent, ConnectionState::SynReceived];
        ensure(allowed.contains(&state), || format!("a reset in {state:?}"))
    }

    /// Data that is sent has been written and is not acknowledged yet.
    fn check_payload(&mut self, segment: &Segment) -> Outcome {
        let has = |flag| segment.flags.contains(flag);
        let end_of_data = 1 + self.written;
        let data_end = segment.seq.0 + u64::from(segment.len);
        if has(Flags::SYN) {
            ensure(segment.seq == SeqNo::SYN && segment.len == 0 && !has(Flags::FIN), || {
                "a SYN has number 0 and no payload".into()
            })?;
        } else if has(Flags::FIN) {
            ensure(self.close_asked && data_end == end_of_data, || format!("a FIN belongs to {end_of_data}"))?;
        }
        let limit = self.config.mss.0 + if self.config.timestamps { Segment::TIMESTAMPS.0 } else { 0 };
        ensure(u64::from(segment.len) <= limit, || format!("payload above {limit}"))?;
        // A pure ACK may follow the FIN.
        let last = end_of_data + u64::from(self.close_asked);
        ensure(data_end <= if segment.len > 0 { end_of_data } else { last }, || format!("only {last} was written"))?;
        // A zero-window probe may exceed the window by one byte (RFC 9293 §3.8.6.1).
        let edge = self.edge_arrived + 1;
        ensure(segment.len == 0 || data_end <= edge, || format!("the window ends before {edge}"))?;
        ensure(segment.len == 0 || segment.end().0 > self.una, || format!("{} is acknowledged", self.una))?;
        self.sent_end = self.sent_end.max(segment.end().0);
        Ok(())
    }

    /// Data that is acknowledged or SACKed has arrived, and the window does not shrink (RFC 9293 §3.8.6.2.2).
    fn check_acknowledgment(&mut self, segment: &Segment) -> Outcome {
        if let Some(syn) = segment.syn {
            self.window_unit = Some(1 << syn.window_scale.unwrap_or_default());
        }
        if !segment.flags.contains(Flags::ACK) {
            return Ok(());
        }
        let arrived = self.arrived.end();
        ensure(segment.ack.0 <= arrived, || format!("acknowledged, but numbers end at {arrived}"))?;
        ensure(segment.ack.0 >= self.ack_sent, || format!("{} was acknowledged before", self.ack_sent))?;
        self.ack_sent = segment.ack.0;
        ensure(segment.window <= self.config.recv_buffer, || "the window is above the buffer".into())?;
        let edge = segment.ack.0.saturating_add(segment.window.0);
        let unit = self.window_unit.unwrap_or(1);
        ensure(edge.saturating_add(unit) > self.edge_sent, || format!("the window ended at {}", self.edge_sent))?;
        self.edge_sent = self.edge_sent.max(edge);
        for block in segment.sack.blocks() {
            let sound = !block.is_empty() && self.arrived.contains(block.start.0, block.end.0);
            ensure(sound, || format!("{block} is reported, but did not arrive"))?;
        }
        Ok(())
    }

    /// Options that one side has not offered are not used.
    fn check_options(&self, segment: &Segment) -> Outcome {
        let (ours, theirs, syn) = (&self.config, self.offered, segment.flags.contains(Flags::SYN));
        let sack = segment.sack.is_empty() || (ours.sack && theirs.sack && !syn);
        ensure(sack, || "SACK was not negotiated".into())?;
        let offers = syn && !segment.flags.contains(Flags::ACK);
        let timestamps = segment.timestamps.is_none() || (ours.timestamps && (theirs.timestamps || offers));
        ensure(timestamps, || "timestamps were not negotiated".into())?;
        // Linux sends the SYN of DCTCP as ECT before anything is negotiated.
        let unasked = syn && ours.ecn_of_control && ours.ecn == EcnMode::Dctcp;
        let ecn = segment.ecn == Ecn::NotEct || unasked || (ours.ecn != EcnMode::Off && theirs.ecn);
        ensure(ecn, || "ECN was not negotiated".into())?;
        let scaled = ours.window_scale && theirs.window_scale && !syn;
        let modelled = self.window_unit.is_some() && theirs.mss.is_some() && !theirs.bare;
        let window = !modelled || scaled || segment.window <= Bytes(65_535);
        ensure(window, || "the window needs a scale that was not negotiated".into())?;
        // RFC 9293 §3.7.1 with RFC 6691: options count. An endpoint may ignore an MSS below 100 B.
        let options = if segment.timestamps.is_some() { Segment::TIMESTAMPS.0 } else { 0 };
        let fits = |mss: u32| mss < 100 || u64::from(segment.len) + options <= u64::from(mss);
        // Only an endpoint that models options obeys them.
        let mss = theirs.mss.filter(|_| modelled);
        ensure(mss.is_none_or(|mss| fits(mss.1)), || format!("the peer accepts {:?}", theirs.mss))
    }

    fn check_windows(&mut self, snapshot: &Snapshot, undone: u32) -> Outcome {
        let mut stage = None;
        self.connection.observe(&mut |name, value| {
            if name == StartConfig::SHOWN[0].name {
                stage = Some(value);
            }
        });
        self.windows.check(&self.config, snapshot, stage, undone)
    }

    fn check_snapshot(&mut self, snapshot: &Snapshot) -> Outcome {
        let (flight, pipe, window) = (snapshot.flight.0, snapshot.pipe.0, snapshot.window);
        ensure(flight <= self.sent_end, || format!("more outstanding than the {} sent", self.sent_end))?;
        let una = self.sent_end - flight;
        let sound = self.una <= una && una <= self.highest_ack_arrived.max(1);
        let acks = self.highest_ack_arrived;
        ensure(sound, || format!("{una} is acknowledged; it was {} before, {acks} at most arrived", self.una))?;
        self.una = una;
        // RFC 6675 §4 counts a segment twice if it was retransmitted and is not considered lost.
        ensure(pipe <= 2 * flight, || "pipe is above twice the flight".into())?;
        // Timestamps reduce the payload within the peer's MSS.
        let options = if self.config.timestamps { Segment::TIMESTAMPS } else { Bytes::ZERO };
        let offered = self.offered.mss.map_or(Bytes::MAX, |mss| Bytes(u64::from(mss.0)).saturating_sub(options));
        // So do AccECN's counters, if they are agreed.
        let counters = if self.config.ecn_option == EcnOption::All { Segment::ECN_BYTES } else { Bytes::ZERO };
        let mss = self.config.mss.min(offered).saturating_sub(counters);
        ensure(window.cwnd >= mss && window.cwnd < SANE, || format!("cwnd is not at least {mss}"))?;
        let rto_max = self.config.rto.max.max(Span::from_millis(3_000));
        ensure(snapshot.rto > Span::ZERO && snapshot.rto <= rto_max, || format!("the RTO is not in (0, {rto_max}]"))
    }
}
