//! Careful Resume (RFC 9959, read as draft-ietf-tsvwg-careful-resume-24): a window that an earlier connection of the pair is known
//! to have filled, tried once and validated by what is acknowledged of it.
//!
//! PipeSize is what the path has been seen to hold: what was in flight before the jump, and what of the jump is delivered.

use crate::cc::signals::{Resumption, Sent, View};
use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// Where a start with a jump stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Reconnaissance,
    /// What is delivered beyond `first` was sent in it; it ends then, or when a round trip has passed.
    Unvalidated {
        first: Bytes,
        until: Time,
    },
    /// Until this is acknowledged.
    Validating {
        last: SeqNo,
    },
    /// Safe retreat, until this is acknowledged.
    Retreat {
        last: SeqNo,
    },
    Over,
}

/// §4.2: by its RTT the path is not the one of which `saved` is known.
pub(super) fn is_another_path(rtt: Span, saved: Span) -> bool {
    rtt * 2 <= saved || rtt > saved * 10
}

/// What an ACK may do to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Says {
    /// Slow start goes on as without a jump.
    Nothing,
    /// It may grow.
    Grows,
    /// It stays.
    Stays,
    /// The retreat is over, with this ssthresh.
    Ends { ssthresh: Bytes },
}

/// A start with a jump.
#[derive(Debug)]
pub(super) struct Resume {
    phase: Phase,
    /// The RTT that the current one has to be like; absent where the window is given.
    rtt: Option<Span>,
    jump_cwnd: Bytes,
    /// Of ssthresh after a retreat.
    beta: f64,
    initial_window: Bytes,
    mss: Bytes,
    pipe_size: Bytes,
    /// Delivered in all, as far as it counts for PipeSize.
    delivered: Bytes,
    rate: Option<Rate>,
    so_far: Resumption,
}

impl Resume {
    /// With `rtt` absent the window jumps at the first ACK.
    pub(super) fn new(jump_cwnd: Bytes, rtt: Option<Span>, beta: f64, initial_window: Bytes, mss: Bytes) -> Resume {
        Resume {
            phase: Phase::Reconnaissance,
            rtt,
            jump_cwnd,
            beta,
            initial_window,
            mss,
            pipe_size: Bytes::ZERO,
            delivered: Bytes::ZERO,
            rate: None,
            so_far: Resumption::default(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn so_far(&self) -> Resumption {
        Resumption { over: self.phase == Phase::Over, ..self.so_far }
    }

    /// The rate of the unvalidated phase.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.rate.filter(|_| matches!(self.phase, Phase::Unvalidated { .. }))
    }

    fn is_refused(&self, rtt: Span) -> bool {
        self.rtt.is_some_and(|saved| is_another_path(rtt, saved))
    }

    /// An ACK; `cwnd` is the window of the start.
    pub(super) fn on_ack(&mut self, cwnd: &mut Bytes, view: &View) -> Says {
        self.count(view.delivered);
        match self.phase {
            Phase::Over => Says::Nothing,
            Phase::Reconnaissance => self.try_to_jump(cwnd, view),
            Phase::Unvalidated { first, until } => {
                if view.delivered > first || view.now >= until {
                    self.leave(cwnd, view.flight, view.snd_nxt);
                }
                Says::Stays
            }
            Phase::Validating { last } => {
                if view.snd_una >= last {
                    self.phase = Phase::Over;
                }
                Says::Grows
            }
            Phase::Retreat { last } if view.snd_una >= last => Says::Ends { ssthresh: self.end_retreat() },
            Phase::Retreat { .. } => Says::Stays,
        }
    }

    /// What of the jump is delivered belongs to PipeSize.
    fn count(&mut self, delivered: Bytes) {
        self.pipe_size += delivered.saturating_sub(self.delivered);
        self.delivered = self.delivered.max(delivered);
    }

    fn try_to_jump(&mut self, cwnd: &mut Bytes, view: &View) -> Says {
        if view.min_rtt.is_some_and(|rtt| self.is_refused(rtt)) {
            self.phase = Phase::Over;
            return Says::Nothing;
        }
        let ready = self.rtt.is_none() || view.snd_una >= SeqNo::FIRST_DATA + self.initial_window;
        if !ready || !view.cwnd_limited {
            return Says::Nothing;
        }
        self.jump(cwnd, view)
    }

    /// §4.3: the window jumps, unless it has grown as large.
    fn jump(&mut self, cwnd: &mut Bytes, view: &View) -> Says {
        if self.jump_cwnd <= *cwnd || self.jump_cwnd <= view.flight {
            self.phase = Phase::Over;
            return Says::Nothing;
        }
        let round_trip = view.srtt.or(view.min_rtt).unwrap_or_default();
        self.pipe_size = view.flight;
        // What was in flight before the jump is in PipeSize already.
        let first = view.delivered + view.flight;
        self.delivered = first;
        self.phase = Phase::Unvalidated { first, until: view.now + round_trip };
        self.rate = (round_trip > Span::ZERO).then(|| Rate::of(self.jump_cwnd, round_trip));
        self.so_far.resumed = true;
        *cwnd = self.jump_cwnd;
        Says::Stays
    }

    /// §4.3: the unvalidated phase is over.
    fn leave(&mut self, cwnd: &mut Bytes, flight: Bytes, last: SeqNo) {
        if flight < self.initial_window || flight <= self.pipe_size {
            *cwnd = self.pipe_size.max(self.initial_window);
            self.phase = Phase::Over;
        } else {
            *cwnd = flight;
            self.phase = Phase::Validating { last };
        }
    }

    /// A segment is sent.
    pub(super) fn on_sent(&mut self, cwnd: &mut Bytes, sent: &Sent) {
        if matches!(self.phase, Phase::Unvalidated { .. }) {
            self.so_far.jump_bytes += sent.bytes;
            if sent.pipe + self.mss > *cwnd {
                self.leave(cwnd, sent.pipe, sent.seq + sent.bytes);
            }
        }
    }

    /// §4.5: loss or a mark. The window of a safe retreat, unless the jump is not at fault.
    pub(super) fn on_congestion(&mut self, view: &View) -> Option<Bytes> {
        self.count(view.delivered);
        match self.phase {
            Phase::Unvalidated { .. } | Phase::Validating { .. } => {
                self.phase = Phase::Retreat { last: view.snd_nxt };
                self.so_far.retreated = true;
            }
            Phase::Retreat { .. } => {}
            Phase::Reconnaissance | Phase::Over => {
                self.phase = Phase::Over;
                return None;
            }
        }
        Some(Bytes(self.pipe_size.0 / 2).max(self.mss * 2))
    }

    /// ssthresh after a safe retreat.
    pub(super) fn end_retreat(&mut self) -> Bytes {
        self.phase = Phase::Over;
        Bytes((self.pipe_size.as_f64() * self.beta) as u64).max(self.mss * 2)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::cc::vectors::vectors;

    const RTT: Span = Span::from_millis(100);

    /// A sender of packets of one byte with ten at the start, of which 29 are in flight when the window jumps.
    struct Sender {
        resume: Resume,
        cwnd: Bytes,
        flight: u64,
        sent: u64,
        acked: u64,
        lost: u64,
        ssthresh: Option<u64>,
        now: Time,
    }

    impl Sender {
        fn new() -> Sender {
            let resume = Resume::new(Bytes(150), Some(RTT), 0.5, Bytes(10), Bytes(1));
            let (now, cwnd) = (Time::ZERO, Bytes(29));
            let mut sender = Sender { resume, cwnd, flight: 29, sent: 29, acked: 0, lost: 0, ssthresh: None, now };
            let view = sender.view();
            let mut cwnd = sender.cwnd;
            assert_eq!(sender.resume.jump(&mut cwnd, &view), Says::Stays);
            sender.cwnd = cwnd;
            sender
        }

        fn view(&self) -> View {
            View {
                now: self.now,
                flight: Bytes(self.flight),
                delivered: Bytes(self.acked),
                // What is lost is taken to be sent again and acknowledged with the rest.
                snd_una: SeqNo(1 + self.acked + self.lost),
                snd_nxt: SeqNo(1 + self.sent),
                min_rtt: Some(RTT),
                srtt: Some(RTT),
                ..View::default()
            }
        }

        fn event(&mut self, kind: &str, count: u64) {
            match kind {
                "send" => {
                    for _ in 0..count.min(self.cwnd.0.saturating_sub(self.flight)) {
                        self.flight += 1;
                        self.sent += 1;
                        let (seq, pipe) = (SeqNo(self.sent), Bytes(self.flight));
                        let sent = Sent { now: self.now, seq, bytes: Bytes(1), pipe, retransmission: false };
                        self.resume.on_sent(&mut self.cwnd, &sent);
                    }
                }
                "ack" => (0..count).for_each(|_| self.ack()),
                "lost" => {
                    self.flight -= count;
                    self.lost += count;
                    let view = self.view();
                    self.cwnd = self.resume.on_congestion(&view).unwrap_or(self.cwnd);
                }
                _ => {
                    self.now = self.now + RTT;
                    let view = self.view();
                    self.resume.on_ack(&mut self.cwnd, &view);
                }
            }
        }

        fn ack(&mut self) {
            self.acked += 1;
            self.flight -= 1;
            let view = self.view();
            match self.resume.on_ack(&mut self.cwnd, &view) {
                Says::Grows => self.cwnd += Bytes(1),
                Says::Ends { ssthresh } => self.ssthresh = Some(ssthresh.0),
                Says::Nothing | Says::Stays => {}
            }
        }
    }

    fn word(phase: Phase) -> &'static str {
        match phase {
            Phase::Unvalidated { .. } => "unvalidated",
            Phase::Validating { .. } => "validating",
            Phase::Retreat { .. } => "retreat",
            Phase::Reconnaissance | Phase::Over => "normal",
        }
    }

    #[test]
    fn the_phases_of_the_vectors() {
        for name in ["no_loss", "rate_limited", "idle", "loss_of_packet_64"] {
            let mut sender = Sender::new();
            let vectors = vectors("resume");
            for row in vectors[name].as_array().unwrap().iter().filter(|row| row.get("phase").is_some()) {
                if let Some(event) = row.get("event") {
                    sender.event(event[0].as_str().unwrap(), event.get(1).and_then(Value::as_u64).unwrap_or(0));
                }
                let resume = &sender.resume;
                assert_eq!(word(resume.phase), row["phase"], "{name} {row}");
                let reached = [sender.cwnd.0, resume.pipe_size.0, sender.flight];
                assert_eq!(reached, ["cwnd", "pipe", "flight"].map(|key| row[key].as_u64().unwrap()), "{name} {row}");
                assert_eq!(sender.ssthresh, row.get("ssthresh").and_then(Value::as_u64), "{name} {row}");
            }
        }
    }

    #[test]
    fn a_path_of_another_length_is_another_path() {
        let resume = Resume::new(Bytes(150), Some(RTT), 0.5, Bytes(10), Bytes(1));
        for (name, ms) in [("rtt_49", 49), ("rtt_50", 50), ("rtt_51", 51), ("rtt_1001", 1001)] {
            let refused = vectors("resume")[name][0]["phase"] == "normal";
            assert_eq!(resume.is_refused(Span::from_millis(ms)), refused, "{name}");
        }
    }
}
