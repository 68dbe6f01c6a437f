//! A shortcut: a first-in first-out queue before a transmitter of constant rate decides nothing after a packet has come,
//! so that its start and its arrival can be told at once. The transmitter needs no events of its own;
//! what has left the queue is booked when somebody looks.
//!
//! Exact, as `tests/shortcuts.rs` proves: what arrives is scheduled in the place where `Link::transmit` would put it.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use super::{Delay, Link};
use crate::core::Core;
use crate::event::{Event, Moment};
use crate::loss::Loss;
use crate::metrics::LinkMetrics;
use crate::packet::{DropReason, PacketId};
use crate::qdisc::{Limit, Qdisc};
use crate::record::Record;

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
    waiting: VecDeque<Waits>,
    bytes: Bytes,
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

    /// Books what has left the queue. At an instant arrivals come first, then transmitters, then everything else.
    #[inline]
    fn settle(&mut self, now: Moment, free_at: Time, metrics: &mut LinkMetrics) {
        if !self.waiting.is_empty() {
            self.settle_waiting(now, free_at, metrics);
        }
    }

    fn settle_waiting(&mut self, now: Moment, free_at: Time, metrics: &mut LinkMetrics) {
        while let Some(first) = self.waiting.front().copied() {
            if Moment::new(first.starts, Event::LINK_READY) > now {
                break;
            }
            self.waiting.pop_front();
            self.bytes -= first.size;
            // One leaves as soon as the one before it has.
            let ends = self.waiting.front().map_or(free_at, |next| next.starts);
            metrics.on_transmission(first.size, ends.since(first.starts), first.starts.since(first.since));
            metrics.queue_shrank(first.starts, self.waiting.len() as u64);
        }
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
        self.tells() && matches!(self.loss, Loss::None | Loss::Nth { .. })
    }

    /// When the transmission of a packet that comes at `at` would start at the earliest.
    pub(crate) fn would_start(&self, at: Time) -> Time {
        self.free_at.max(at)
    }

    /// Books what has left the queue up to now.
    pub(crate) fn settle(&mut self, now: Moment) {
        if let Some(line) = &mut self.line {
            line.settle(now, self.free_at, &mut self.metrics);
        }
    }

    /// Takes a packet of `size` that comes at `now`, which is not before the last one came, and tells what becomes of it; `None`
    /// if it was dropped.
    pub(crate) fn tell(&mut self, core: &mut Core, now: Moment, id: PacketId, size: Bytes) -> Option<Told> {
        self.metrics.offered += 1;
        let size = size + self.overhead;
        if matches!(self.loss, Loss::Nth { .. }) && self.loss.at_entrance(&core.packets.get(id)) {
            self.drop(core, id, DropReason::Loss);
            return None;
        }
        let line = self.line.as_mut()?;
        line.settle(now, self.free_at, &mut self.metrics);
        let ahead = line.waiting.len() as u64;
        if line.limit.is_exceeded(ahead + 1, line.bytes + size) {
            self.drop(core, id, DropReason::Queue);
            return None;
        }
        if line.last.0 != size {
            line.last = (size, self.rate.transmission_time(size));
        }
        let (time, transmission) = (now.time(), line.last.1);
        let starts = if ahead == 0 && time >= self.free_at {
            self.metrics.on_transmission(size, transmission, Span::ZERO);
            now
        } else {
            line.waiting.push_back(Waits { starts: self.free_at, since: time, size });
            line.bytes += size;
            self.metrics.queue_grew(time, ahead + 1);
            Moment::new(self.free_at, Event::LINK_READY)
        };
        self.free_at = starts.time() + transmission;
        let arrives = self.free_at + line.delay;
        if core.sink.is_some() {
            let packet = core.packets.get(id);
            core.record_at(starts.time(), &Record::Transmitted { packet: &packet, link: self.id });
        }
        Some(Told { starts, arrives })
    }

    /// The packet that was told of is on its way: its arrival is an event, or will be once those before it have arrived.
    #[inline]
    pub(crate) fn announce(&mut self, core: &mut Core, told: Told, id: PacketId) {
        self.in_flight += 1;
        if self.in_flight == 1 {
            self.expect(core, told, id);
        } else if let Some(line) = &mut self.line {
            line.travelling.push_back(Travels { told, id });
        }
    }

    #[inline]
    fn expect(&self, core: &mut Core, told: Told, id: PacketId) {
        core.schedule_from(told.starts, told.arrives, Event::Arrive { link: self.id, packet: id });
    }

    /// A packet has arrived: the next one is expected. Events that are equal but for their order of insertion are arrivals
    /// over the same link (`Place`), so that it makes no difference when the next one is put on the schedule.
    #[inline]
    pub(super) fn expect_next(&mut self, core: &mut Core) {
        if let Some(Travels { told, id }) = self.line.as_mut().and_then(|line| line.travelling.pop_front()) {
            self.expect(core, told, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    #[test]
    fn the_schedule_holds_links_and_not_the_packets_on_them() {
        let text = r#"{"duration": "2s", "network": {"kind": "dumbbell", "pairs": 2, "flows": 2,
            "bottleneck": {"rate": "500Mbps", "delay": "20ms", "queue": "1000p"}}}"#;
        let mut run = Simulation::new(&Scenario::from_json(text).unwrap(), 1).unwrap();
        let (mut most_packets, mut most_events) = (0, 0);
        while !run.advance(1_000) {
            most_packets = most_packets.max(run.core.packets.iter().count());
            most_events = most_events.max(run.core.waiting());
        }
        assert!(most_packets > 1_000, "{most_packets}");
        // An arrival for each of ten links, a wake-up or two for each end, the end of the run.
        assert!(most_events < 30, "{most_events}");
    }
}
