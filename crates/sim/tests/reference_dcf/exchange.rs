//! The backoff counter, and frame exchanges.

use super::simulation::{AirFrame, Event, Kind, MARGIN, ReferenceDcf, Timing};
use super::station::{Answer, InHand, State};

impl ReferenceDcf {
    fn draw(&mut self, station: usize, not_before: u64) {
        let s = &mut self.stations[station];
        let values = if self.setup.ns2 { s.window } else { s.window + 1 };
        s.slots = Some(s.rng.below(u64::from(values)) as u32);
        s.not_before = not_before;
        self.resume(station);
    }

    pub(super) fn resume(&mut self, station: usize) {
        let space = self.space(station);
        let s = &mut self.stations[station];
        s.count += 1;
        let (count, not_before) = (s.count, s.not_before);
        if let (Some(_), Some(since)) = (s.slots, s.idle_since) {
            self.plan(self.now.max(not_before).max(since + space), Event::CountBegins { station, count });
        }
    }

    pub(super) fn count(&mut self, station: usize, slot_over: bool) {
        let s = &mut self.stations[station];
        let Some(slots) = &mut s.slots else { return };
        *slots -= u32::from(slot_over);
        if *slots > 0 {
            let count = s.count;
            return self.plan(self.now + self.setup.timing.slot, Event::SlotEnds { station, count });
        }
        s.slots = None;
        if s.state == State::Contends {
            self.begin(station);
        }
    }

    /// Rules 1 and 12.
    pub(super) fn next_frame(&mut self, station: usize) {
        let s = &mut self.stations[station];
        s.state = State::Idle;
        let Some(request) = s.queue.pop_front() else { return };
        s.sequence += 1;
        s.in_hand = Some(InHand { request, short: 0, long: 0 });
        s.state = State::Contends;
        if s.slots.is_some() {
            return;
        }
        let idle_since = s.idle_since;
        let long_idle = idle_since.is_some_and(|since| since + self.space(station) <= self.now);
        if long_idle && !self.setup.ns2 {
            return self.begin(station);
        }
        let difs = self.setup.timing.difs();
        let idle = self.stations[station].idle_since.is_some();
        self.draw(station, if self.setup.ns2 && idle { self.now + difs } else { self.now });
    }

    fn begin(&mut self, station: usize) {
        let request = self.stations[station].in_hand.expect("a station that contends has a frame").request;
        let Timing { sifs, rts, answer, .. } = self.setup.timing;
        match request.to {
            None => {
                self.stations[station].state = State::Broadcasts;
                let length = (self.setup.length)(request.size, true);
                self.send(station, Kind::Data, None, length, 0);
                self.wait(station, length);
            }
            Some(_) if request.size > self.setup.rts_above => {
                self.stations[station].state = State::WaitsForCts;
                let duration = 3 * sifs + 2 * answer + (self.setup.length)(request.size, false);
                self.send(station, Kind::Rts, request.to, rts, duration);
                self.wait(station, rts + self.patience());
            }
            Some(_) => self.send_data(station),
        }
    }

    fn send_data(&mut self, station: usize) {
        let request = self.stations[station].in_hand.expect("data are sent by a station that has a frame").request;
        self.stations[station].state = State::WaitsForAck;
        let length = (self.setup.length)(request.size, false);
        self.send(station, Kind::Data, request.to, length, self.setup.timing.sifs + self.setup.timing.answer);
        self.wait(station, length + self.patience());
    }

    /// Rule 6.
    fn patience(&self) -> u64 {
        let Timing { sifs, answer, slowest_answer, .. } = self.setup.timing;
        sifs + MARGIN + if self.setup.ns2 { answer } else { slowest_answer }
    }

    fn wait(&mut self, station: usize, length: u64) {
        self.stations[station].wait += 1;
        let wait = self.stations[station].wait;
        self.plan(self.now + length, Event::WaitIsOver { station, wait });
    }

    /// Rules 5 and 9.
    pub(super) fn wait_is_over(&mut self, station: usize) {
        let Timing { cw_max, .. } = self.setup.timing;
        // The failure counts as an erroneous frame: slots are counted from EIFS after the end of the transmission.
        let patience = self.patience();
        let from = if self.setup.ns2 { self.now } else { self.now - patience + self.setup.timing.eifs() };
        let s = &mut self.stations[station];
        let in_hand = s.in_hand.as_mut().expect("a station that waits has a frame");
        let over = match s.state {
            State::Broadcasts => return self.finish(station, self.now),
            State::WaitsForAck if in_hand.request.size > self.setup.rts_above => {
                in_hand.long += 1;
                in_hand.long == self.setup.long_retries
            }
            State::WaitsForAck | State::WaitsForCts => {
                in_hand.short += 1;
                in_hand.short == self.setup.short_retries
            }
            other => panic!("nothing to wait for in {other:?}"),
        };
        if over {
            return self.finish(station, from);
        }
        s.window = (2 * s.window + 1).min(cw_max);
        s.state = State::Contends;
        self.draw(station, from);
    }

    /// Rule 4.
    fn finish(&mut self, station: usize, from: u64) {
        let s = &mut self.stations[station];
        s.window = self.setup.timing.cw_min;
        s.in_hand = None;
        s.wait += 1;
        self.draw(station, from);
        self.next_frame(station);
    }

    /// Handles a frame received without error.
    pub(super) fn take(&mut self, station: usize, frame: AirFrame) {
        if frame.to != Some(station) {
            return;
        }
        let Timing { sifs, answer, .. } = self.setup.timing;
        let s = &mut self.stations[station];
        let peer = s.in_hand.and_then(|in_hand| in_hand.request.to) == Some(frame.from);
        match frame.kind {
            Kind::Rts => {
                let engaged = s.answer.is_some() || s.sending || !matches!(s.state, State::Idle | State::Contends);
                // Rule 8; ns-2 senses the medium when the CTS is due.
                let reserved = s.nav > self.now && !self.setup.ns2;
                let expects_data = self.now < s.expects_data_until;
                if !engaged && !reserved && !expects_data {
                    self.will_answer(station, Answer::Cts { to: frame.from, duration: frame.duration - answer - sifs });
                }
            }
            Kind::Cts if s.state == State::WaitsForCts && peer => {
                s.state = State::Cleared;
                s.wait += 1;
                s.in_hand.as_mut().expect("it has a frame").short = 0;
                self.will_answer(station, Answer::Data);
            }
            Kind::Data if s.answer.is_none() && !s.sending => {
                self.will_answer(station, Answer::Ack { to: frame.from });
            }
            Kind::Ack if s.state == State::WaitsForAck && peer => self.finish(station, self.now),
            _ => {}
        }
    }

    fn will_answer(&mut self, station: usize, answer: Answer) {
        self.stations[station].answer = Some(answer);
        self.plan(self.now + self.setup.timing.sifs, Event::AnswerIsDue { station });
    }

    pub(super) fn answer(&mut self, station: usize) {
        let Some(answer) = self.stations[station].answer.take() else { return };
        let length = self.setup.timing.answer;
        let idle = self.stations[station].idle_since.is_some();
        match answer {
            _ if self.stations[station].sending => {}
            Answer::Ack { to } => self.send(station, Kind::Ack, Some(to), length, 0),
            Answer::Cts { to, duration } if idle || !self.setup.ns2 => {
                self.send(station, Kind::Cts, Some(to), length, duration);
                if self.setup.ns2 {
                    // What is left of the duration field without the ACK and the SIFS before it.
                    let until = self.now + length + duration + MARGIN - self.setup.timing.sifs - length;
                    let s = &mut self.stations[station];
                    s.expects_data_until = until;
                    s.nav = s.nav.max(until);
                }
            }
            Answer::Cts { .. } => {}
            Answer::Data if idle || !self.setup.ns2 => self.send_data(station),
            Answer::Data => {
                let s = &mut self.stations[station];
                s.window = (2 * s.window + 1).min(self.setup.timing.cw_max);
                s.state = State::Contends;
                self.draw(station, self.now);
            }
        }
    }
}
