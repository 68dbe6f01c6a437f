//! A shortcut: a first-in first-out queue before a transmitter of constant rate decides nothing after a packet has come,
//! so that its start and its arrival can be told at once. The transmitter needs no events of its own;
//! what is told is booked at once, and taken back if the run ends before.
//!
//! Exact, as `tests/shortcuts.rs` proves: what arrives is scheduled in the place where `Link::transmit` would put it.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use super::{Delay, Link};
use crate::engine::context::Context;
use crate::engine::event::{Event, Moment};
use crate::engine::trace::Record;
use crate::ids::PacketId;
use crate::link::loss::Loss;
use crate::packet::DropReason;
use crate::qdisc::{Limit, Qdisc};

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waits {
    starts: Time,
    since: Time,
    size: Bytes,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Travels {
    told: Told,
    id: PacketId,
}

/// What waits before a transmitter, and what it takes to tell. In this order for the same reason as [`Link`].
#[derive(Debug)]
#[repr(C)]
pub(super) struct Line {
    limit: Limit,
    /// The last size asked for, and how long it takes.
    last: (Bytes, Span),
    delay: Span,
    /// Bytes of `waiting`.
    bytes: Bytes,
    /// What waits; at the head may be what has left since somebody looked.
    waiting: VecDeque<Waits>,
    /// What was announced, in the order of arrival, but for the first, whose arrival is an event: the schedule stays as
    /// small as there are links.
    travelling: VecDeque<Travels>,
}

/// What is known of a packet as soon as a link has taken it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    /// When its transmission starts, as what: an arrival that goes on at once, a transmitter that becomes free, or a
    /// host that sends.
    pub(crate) starts: Moment,
    pub(crate) arrives: Time,
}

impl Line {
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Forgets what has left the queue. At an instant arrivals come first, then transmitters, then everything else.
    fn settle(&mut self, now: Moment) {
        while let Some(left) = self.waiting.pop_front_if(|first| Moment::new(first.starts, Event::LINK_READY) <= now) {
            self.bytes -= left.size;
        }
    }

    /// The transmitter has come to the end of the queue. (No packet is without bytes.)
    #[inline]
    fn is_served(&mut self) {
        if self.bytes > Bytes::ZERO {
            self.waiting.clear();
            self.bytes = Bytes::ZERO;
        }
    }

    /// What waits, with the time of its transmission: one begins as soon as the one before it has ended.
    fn booked(&self, free_at: Time) -> impl Iterator<Item = (Waits, Span)> {
        let ends = self.waiting.iter().skip(1).map(|next| next.starts).chain([free_at]);
        self.waiting.iter().zip(ends).map(|(waits, ends)| (*waits, ends.since(waits.starts)))
    }
}

impl Link {
    /// Takes the shortcut from now on, if the link is one whose packets can be told of. Not for one that changes.
    pub(crate) fn take_shortcut(&mut self) {
        if let (Qdisc::DropTail(queue), Delay::Fixed(delay)) = (&self.queue, &self.delay)
            && !queue.marks()
        {
            let last = (Bytes::ZERO, Span::ZERO);
            let (limit, delay) = (queue.limit(), *delay);
            let (waiting, travelling) = (VecDeque::new(), VecDeque::new());
            self.line = Some(Line { limit, delay, waiting, bytes: Bytes::ZERO, travelling, last });
        }
    }

    /// True if it tells.
    pub(crate) fn tells(&self) -> bool {
        self.line.is_some()
    }

    /// True if what it tells is certain: nothing is lost on the way.
    pub(crate) fn tells_surely(&self) -> bool {
        self.tells() && self.lossy.as_ref().is_none_or(|lossy| matches!(lossy.loss, Loss::Nth { .. }))
    }

    /// When the transmission of a packet that comes at `at` would start at the earliest.
    pub(crate) fn would_start(&self, at: Time) -> Time {
        self.free_at.max(at)
    }

    /// Sees to it that only what waits now is in the queue.
    pub(crate) fn settle(&mut self, now: Moment) {
        if let Some(line) = &mut self.line {
            line.settle(now);
        }
    }

    /// The measurement window begins. What waits belongs to it, but not for how long it has.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        self.metrics.on_warmup_end(now);
        let Some(line) = &self.line else { return };
        self.metrics.max_queue = line.waiting.len() as u64;
        for (Waits { starts, since, size }, transmission) in line.booked(self.free_at) {
            self.metrics.on_transmission(size, transmission, starts.since(since));
            self.metrics.correct_area(Span::ZERO, now.since(since));
        }
    }

    /// The run is over. What waits was booked when it came.
    pub(crate) fn close_books(&mut self, now: Time) {
        let Some(line) = &self.line else { return };
        for (Waits { starts, since, size }, transmission) in line.booked(self.free_at) {
            self.metrics.take_back(size, transmission, starts.since(since));
            self.metrics.correct_area(now.since(since), Span::ZERO);
        }
        self.metrics.correct_area(self.metrics.waited, Span::ZERO);
    }

    /// Takes a packet of `size` that comes at `now`, which is not before the last one came, and tells what becomes of it; `None`
    /// if it was dropped.
    #[inline]
    pub(crate) fn tell(&mut self, ctx: &mut Context, now: Moment, id: PacketId, size: Bytes) -> Option<Told> {
        self.metrics.offered += 1;
        let size = size + self.overhead;
        if self.is_lost_at_entrance(ctx, id) {
            self.drop(ctx, id, DropReason::Loss);
            return None;
        }
        let starts = self.line_up(now, size);
        let Some((line, starts)) = self.line.as_mut().zip(starts) else {
            self.drop(ctx, id, DropReason::Queue);
            return None;
        };
        if line.last.0 != size {
            line.last = (size, self.rate.transmission_time(size));
        }
        let (begins, transmission) = (starts.time(), line.last.1);
        self.metrics.on_transmission(size, transmission, begins.since(now.time()));
        self.free_at = begins + transmission;
        let arrives = self.free_at + line.delay;
        if ctx.sink.is_some() {
            self.record(ctx, begins, id);
        }
        Some(Told { starts, arrives })
    }

    /// When the transmission of what comes now starts; `None` if it finds no room. The queue is looked at only if there may
    /// be more in it than it has ever held.
    #[inline]
    fn line_up(&mut self, now: Moment, size: Bytes) -> Option<Moment> {
        let (line, time) = (self.line.as_mut()?, now.time());
        if time >= self.free_at {
            line.is_served();
            return (!line.limit.is_exceeded(1, size)).then_some(now);
        }
        let ahead = line.waiting.len() as u64;
        if ahead >= self.metrics.max_queue || line.limit.is_exceeded(ahead + 1, line.bytes + size) {
            line.settle(now);
            let length = line.waiting.len() as u64 + 1;
            if line.limit.is_exceeded(length, line.bytes + size) {
                return None;
            }
            self.metrics.max_queue = self.metrics.max_queue.max(length);
        }
        line.waiting.push_back(Waits { starts: self.free_at, since: time, size });
        line.bytes += size;
        Some(Moment::new(self.free_at, Event::LINK_READY))
    }

    #[cold]
    #[inline(never)]
    fn record(&self, ctx: &mut Context, at: Time, id: PacketId) {
        let packet = ctx.packets.get(id);
        ctx.record_at(at, &Record::Transmitted { packet: &packet, link: self.id });
    }

    /// The packet that was told of is on its way: its arrival is an event, or will be once those before it have arrived.
    #[inline]
    pub(crate) fn announce(&mut self, ctx: &mut Context, told: Told, id: PacketId) {
        self.in_flight += 1;
        if self.in_flight == 1 {
            ctx.expect(told.starts, told.arrives, self.id, id);
        } else if let Some(line) = &mut self.line {
            line.travelling.push_back(Travels { told, id });
        }
    }

    /// A packet has arrived and others are on their way: the next one is expected. Events that are equal but for their order
    /// of insertion are arrivals over the same link (`Place`), so that it makes no difference when the next one is put on
    /// the schedule.
    #[inline]
    pub(super) fn expect_next(&mut self, ctx: &mut Context) {
        if let Some(Travels { told, id }) = self.line.as_mut().and_then(|line| line.travelling.pop_front()) {
            ctx.expect(told.starts, told.arrives, self.id, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{Line, Link};
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    #[test]
    fn what_a_packet_touches_of_a_link_lies_in_four_lines() {
        assert_eq!((offset_of!(Link, line), offset_of!(Link, metrics)), (64, 192));
        assert!(size_of::<Option<Line>>() <= 128);
    }

    #[test]
    fn the_schedule_holds_links_and_not_the_packets_on_them() {
        let text = r#"{"duration": "2s", "network": {"kind": "dumbbell", "pairs": 2, "flows": 2,
            "bottleneck": {"rate": "500Mbps", "delay": "20ms", "queue": "1000p"}}}"#;
        let mut run = Simulation::new(&Scenario::from_json(text).unwrap(), 1).unwrap();
        let (mut most_packets, mut most_events) = (0, 0);
        while !run.advance(1_000) {
            most_packets = most_packets.max(run.ctx.packets.iter().count());
            most_events = most_events.max(run.ctx.waiting());
        }
        assert!(most_packets > 1_000, "{most_packets}");
        // An arrival for each of ten links, a wake-up or two for each end, the end of the run.
        assert!(most_events < 30, "{most_events}");
    }
}
