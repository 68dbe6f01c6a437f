//! `rtc`: a video call over datagrams, one way. Frames leave at a constant pace, the receiver reports what has arrived
//! (RFC 3550), a rule adapts the rate, and a circuit breaker (RFC 8083) ends what the network cannot carry.

use std::collections::VecDeque;

use serde::Serialize;
use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::command::{Command, End, Input};
use super::durations::{mean, quantile};

/// Payload of a report: a receiver report with one block and a CNAME (RFC 3550 §6.4.2, §6.5).
const REPORT: Bytes = Bytes(52);
/// Reports that may be missing, or stand still, before the call ends (RFC 8083 §4.1, §4.2).
const SILENT_REPORTS: f64 = 5.0;
/// Scale of the random part of a frame's size, and its bound.
const SIZE_SCALE: f64 = 0.15;
const SIZE_BOUND: f64 = 0.5;

/// A sender of video and its receiver.
#[derive(Debug)]
pub(crate) struct Rtc {
    plan: RtcPlan,
    rng: Rng,
    rate_bps: f64,
    started: Time,
    next_report: Time,
    frames: Vec<Frame>,
    /// Packets of a paced frame that have yet to leave: when, and how large.
    paced: VecDeque<(Time, Bytes)>,
    /// Payload sent since the last report came, and over the whole call.
    sent_bytes: u64,
    sent_total: u64,
    receiver: Receiver,
    /// Reports under way, by number.
    reports: Vec<Report>,
    breaker: Breaker,
    ended_at: Option<Time>,
}

/// What is sent, and how.
#[derive(Clone, Debug)]
pub(crate) struct RtcPlan {
    pub(crate) rate: Rate,
    pub(crate) rate_min: Rate,
    pub(crate) rate_max: Rate,
    pub(crate) fps: f64,
    pub(crate) key_every: Span,
    pub(crate) key_ratio: f64,
    pub(crate) packet: Bytes,
    pub(crate) is_paced: bool,
    pub(crate) adapts: bool,
    pub(crate) report: Span,
    pub(crate) deadline: Span,
    pub(crate) has_breaker: bool,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    at: Time,
    first_packet: u64,
    packets: u32,
    missing: u32,
    complete_at: Option<Time>,
}

/// What the receiver knows.
#[derive(Debug, Default)]
struct Receiver {
    /// A bit for each packet that has arrived.
    arrived: Vec<u64>,
    /// The number after the highest that has arrived.
    next: u64,
    received: u64,
    reported: (u64, u64),
    newest: Option<(Time, Time)>,
}

/// What a report says.
#[derive(Clone, Copy, Debug)]
struct Report {
    next: u64,
    loss: f64,
    /// When the newest packet was sent, and how long before this report it came.
    newest: Option<(Time, Span)>,
}

/// The circuit breaker's memory.
#[derive(Clone, Debug, Default)]
struct Breaker {
    last_report: Time,
    highest: u64,
    standing: u32,
    congested: u32,
    rtt: Span,
    tripped: Option<(Time, BreakerRule)>,
}

/// The rule by which a circuit breaker ended a call (RFC 8083 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerRule {
    /// No report for five of their intervals.
    RtcpTimeout,
    /// Reports that say that nothing arrives.
    MediaTimeout,
    /// More than ten times the rate that TCP would have.
    Congestion,
}

/// What a call measured: frames of the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RtcSummary {
    /// Frames sent.
    pub frames: u64,
    /// From the capture of a frame to its last packet: mean.
    pub frame_delay_s: Option<f64>,
    /// Median.
    pub frame_delay_p50_s: Option<f64>,
    /// 95th percentile.
    pub frame_delay_p95_s: Option<f64>,
    /// 99th percentile; from 100 frames on.
    pub frame_delay_p99_s: Option<f64>,
    /// Frames after the deadline, or never complete / frames sent.
    pub frames_late_ratio: Option<f64>,
    /// Time between complete frames in order where it is longer than three of their distances and than one and 150 ms.
    pub freeze_s: f64,
    /// Mean rate that was sent, while the call lasted.
    pub rate_mean_bps: Option<f64>,
    /// When the circuit breaker ended the call, since its start, if it did.
    pub breaker_s: Option<f64>,
    /// The rule by which it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker_rule: Option<BreakerRule>,
}

impl Rtc {
    pub(crate) fn new(plan: RtcPlan, rng: Rng) -> Rtc {
        Rtc {
            rate_bps: plan.rate.as_bps() as f64,
            plan,
            rng,
            started: Time::ZERO,
            next_report: Time::ZERO,
            frames: Vec::new(),
            paced: VecDeque::new(),
            sent_bytes: 0,
            sent_total: 0,
            receiver: Receiver::default(),
            reports: Vec::new(),
            breaker: Breaker::default(),
            ended_at: None,
        }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        if self.ended_at.is_some() {
            return;
        }
        match input {
            Input::Start => {
                (self.started, self.breaker.last_report) = (now, now);
                self.next_report = now + self.plan.report;
                commands.push(Command::Wake(self.next_report));
                self.send_frame(now, commands);
            }
            Input::Due => self.on_due(now, commands),
            Input::Datagram { reader: End::Sink, number, sent_at } => self.on_packet(now, number, sent_at),
            Input::Datagram { number, .. } => self.on_report(now, number),
            Input::Connected(_) | Input::Message { .. } | Input::Room { .. } => {}
        }
    }

    fn on_due(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some((_, bytes)) = self.paced.pop_front_if(|(at, _)| *at <= now) {
            commands.push(Command::Send { connection: 0, end: End::Source, bytes });
        }
        if self.next_report <= now {
            self.next_report = self.next_report + self.plan.report;
            commands.push(Command::Wake(self.next_report));
            self.report(now, commands);
            self.check_silence(now);
        }
        if self.ended_at.is_none() && self.frame_at(self.frames.len() as u64) <= now {
            self.send_frame(now, commands);
        }
    }

    /// When a frame is captured; each time is rounded by itself.
    fn frame_at(&self, number: u64) -> Time {
        self.started + Span::from_secs_f64(number as f64 / self.plan.fps)
    }

    fn send_frame(&mut self, now: Time, commands: &mut Vec<Command>) {
        let number = self.frames.len() as u64;
        let bytes = self.frame_size(number);
        let packets = bytes.div_ceil(self.plan.packet.0);
        let first_packet = self.frames.last().map_or(0, |last| last.first_packet + u64::from(last.packets));
        self.frames.push(Frame {
            at: now,
            first_packet,
            packets: packets as u32,
            missing: packets as u32,
            complete_at: None,
        });
        (self.sent_bytes, self.sent_total) = (self.sent_bytes + bytes, self.sent_total + bytes);
        let next = self.frame_at(number + 1);
        for packet in 0..packets {
            let bytes = Bytes(self.plan.packet.0.min(bytes - packet * self.plan.packet.0));
            if self.plan.is_paced && packet > 0 {
                let later = Span::from_nanos(next.since(now).as_nanos() * packet / packets);
                self.paced.push_back((now + later, bytes));
                commands.push(Command::Wake(now + later));
            } else {
                commands.push(Command::Send { connection: 0, end: End::Source, bytes });
            }
        }
        commands.push(Command::Wake(next));
    }

    /// Size of a frame: larger for key frames, the others so much smaller that the mean is that of the rate.
    fn frame_size(&mut self, number: u64) -> u64 {
        let RtcPlan { fps, key_every, key_ratio, .. } = self.plan;
        let group = libm::round(key_every.as_secs_f64() * fps).max(1.0);
        let other = group / (group - 1.0 + key_ratio);
        let share = if number.is_multiple_of(group as u64) { key_ratio * other } else { other };
        let sign = if self.rng.chance(0.5) { 1.0 } else { -1.0 };
        let noise = (sign * self.rng.exponential(SIZE_SCALE)).clamp(-SIZE_BOUND, SIZE_BOUND);
        libm::round(self.rate_bps / (8.0 * fps) * share * (1.0 + noise)).max(1.0) as u64
    }

    fn on_packet(&mut self, now: Time, number: u64, sent_at: Time) {
        if !self.receiver.add(number) {
            return;
        }
        self.receiver.newest = Some((sent_at, now));
        let index = self.frames.partition_point(|frame| frame.first_packet <= number) - 1;
        let frame = &mut self.frames[index];
        frame.missing -= 1;
        if frame.missing == 0 {
            frame.complete_at = Some(now);
        }
    }

    /// The receiver reports, once it has received anything.
    fn report(&mut self, now: Time, commands: &mut Vec<Command>) {
        let receiver = &mut self.receiver;
        if receiver.next == 0 {
            return;
        }
        let (next, received) = std::mem::replace(&mut receiver.reported, (receiver.next, receiver.received));
        let expected = receiver.next - next;
        // RFC 3550 §A.3: late packets may make it negative; then it is none.
        let loss = if expected == 0 { 0.0 } else { 1.0 - (receiver.received - received) as f64 / expected as f64 };
        let newest = receiver.newest.map(|(sent, came)| (sent, now.since(came)));
        self.reports.push(Report { next: receiver.next, loss: loss.max(0.0), newest });
        commands.push(Command::Send { connection: 0, end: End::Sink, bytes: REPORT });
    }

    fn on_report(&mut self, now: Time, number: u64) {
        let Some(report) = self.reports.get(number as usize).copied() else { return };
        let sent_bps = 8.0 * std::mem::take(&mut self.sent_bytes) as f64
            / now.since(self.breaker.last_report).as_secs_f64().max(1e-9);
        self.breaker.last_report = now;
        if let Some((sent, held)) = report.newest {
            self.breaker.rtt = now.since(sent).saturating_sub(held);
        }
        if self.plan.adapts {
            let bounds = [self.plan.rate_min, self.plan.rate_max].map(|rate| rate.as_bps() as f64);
            self.rate_bps = adapted(self.rate_bps, report.loss).clamp(bounds[0], bounds[1]);
        }
        self.judge(now, report, sent_bps);
    }

    /// The rules of the circuit breaker that a report may trip.
    fn judge(&mut self, now: Time, report: Report, sent_bps: f64) {
        let (frame, interval) = (Span::from_secs_f64(1.0 / self.plan.fps), self.plan.report);
        let breaker = &mut self.breaker;
        breaker.standing = if report.next > breaker.highest { 0 } else { breaker.standing + 1 };
        breaker.highest = breaker.highest.max(report.next);
        let longest = frame.max(breaker.rtt).max(interval).as_secs_f64();
        if f64::from(breaker.standing) >= libm::ceil(SILENT_REPORTS * longest / interval.as_secs_f64()) {
            return self.trip(now, BreakerRule::MediaTimeout);
        }
        let fair = tcp_rate_bps(self.plan.packet, breaker.rtt, report.loss);
        breaker.congested = if sent_bps > 10.0 * fair { breaker.congested + 1 } else { 0 };
        if breaker.congested >= congested_reports(self.plan.key_every, breaker.rtt, interval) {
            self.trip(now, BreakerRule::Congestion);
        }
    }

    fn check_silence(&mut self, now: Time) {
        let silence = now.since(self.breaker.last_report).as_secs_f64();
        if silence > SILENT_REPORTS * self.plan.report.as_secs_f64() {
            self.trip(now, BreakerRule::RtcpTimeout);
        }
    }

    fn trip(&mut self, now: Time, rule: BreakerRule) {
        if self.plan.has_breaker && self.ended_at.is_none() {
            self.breaker.tripped = Some((now, rule));
            self.ended_at = Some(now);
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        (self.frames.capacity() * size_of::<Frame>() + self.reports.capacity() * size_of::<Report>()) as u64
    }

    pub(super) fn summary(&self, warmup: Time, now: Time) -> RtcSummary {
        let frames = self.judged(warmup, now);
        let delays = frames.iter().filter_map(|frame| Some(frame.complete_at?.since(frame.at)));
        let mut seconds: Vec<f64> = delays.clone().map(Span::as_secs_f64).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let in_time = delays.filter(|delay| *delay <= self.plan.deadline).count();
        let lasted = self.ended_at.unwrap_or(now).since(self.started).as_secs_f64();
        let tripped = self.breaker.tripped;
        RtcSummary {
            frames: frames.len() as u64,
            frame_delay_s: mean(&seconds),
            frame_delay_p50_s: quantile(&seconds, 0.50, 1),
            frame_delay_p95_s: quantile(&seconds, 0.95, 1),
            frame_delay_p99_s: quantile(&seconds, 0.99, 100),
            frames_late_ratio: (!frames.is_empty()).then(|| 1.0 - in_time as f64 / frames.len() as f64),
            freeze_s: self.frozen(frames),
            rate_mean_bps: (lasted > 0.0).then(|| 8.0 * self.sent_total as f64 / lasted),
            breaker_s: tripped.map(|(at, _)| at.since(self.started).as_secs_f64()),
            breaker_rule: tripped.map(|(_, rule)| rule),
        }
    }

    /// Frames of the measurement interval; the last may be under way: those within the longest delay of the end.
    fn judged(&self, warmup: Time, now: Time) -> &[Frame] {
        let delays = self.frames.iter().filter_map(|frame| Some(frame.complete_at?.since(frame.at)));
        let longest = delays.max().unwrap_or(Span::ZERO);
        let begin = self.frames.partition_point(|frame| frame.at < warmup);
        let end = self.frames.partition_point(|frame| frame.at + longest < now);
        self.frames.get(begin..end).unwrap_or_default()
    }

    /// Time for which the picture stands still (W3C, Identifiers for WebRTC's Statistics API, `totalFreezesDuration`).
    fn frozen(&self, frames: &[Frame]) -> f64 {
        let distance = 1.0 / self.plan.fps;
        let bound = (3.0 * distance).max(distance + 0.15);
        let (mut shown, mut frozen) = (None::<Time>, 0.0);
        for at in frames.iter().filter_map(|frame| frame.complete_at) {
            // A frame that comes after a later one is not shown.
            let gap = shown.map_or(0.0, |last| at.since(last).as_secs_f64());
            frozen += if gap > bound { gap } else { 0.0 };
            shown = shown.max(Some(at));
        }
        frozen
    }
}

impl Receiver {
    fn has(&self, number: u64) -> bool {
        self.arrived.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Notes a packet; false if it is a copy.
    fn add(&mut self, number: u64) -> bool {
        if self.has(number) {
            return false;
        }
        let word = (number / 64) as usize;
        if self.arrived.len() <= word {
            self.arrived.resize(word + 1, 0);
        }
        self.arrived[word] |= 1 << (number % 64);
        self.received += 1;
        self.next = self.next.max(number + 1);
        true
    }
}

/// The rate after a report (draft-ietf-rmcat-gcc-02 §6).
fn adapted(rate_bps: f64, loss: f64) -> f64 {
    match loss {
        loss if loss < 0.02 => 1.05 * rate_bps,
        loss if loss > 0.1 => rate_bps * (1.0 - 0.5 * loss),
        _ => rate_bps,
    }
}

/// The throughput of TCP with this loss in its simplest form (RFC 8083 §4.3).
fn tcp_rate_bps(packet: Bytes, rtt: Span, loss: f64) -> f64 {
    8.0 * packet.as_f64() / (rtt.as_secs_f64() * libm::sqrt(2.0 * loss / 3.0))
}

/// Reports in a row after which congestion ends a call (RFC 8083 §4.3), for a group of pictures of this length.
fn congested_reports(group: Span, rtt: Span, report: Span) -> u32 {
    let [group, rtt, report] = [group, rtt, report].map(Span::as_secs_f64);
    let longest = (10.0 * group).max(10.0 * rtt).max(3.0 * report);
    libm::ceil(3.0 * longest.min(15_f64.max(3.0 * report)) / (3.0 * report)) as u32
}

#[cfg(test)]
mod tests;
