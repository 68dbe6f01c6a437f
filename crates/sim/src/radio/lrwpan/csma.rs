//! Unslotted CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4): back off blindly, listen once, send or back off longer.

use tcp::units::Time;

use super::LrWpanMac;
use super::rules::{BACKOFF, CCA, TURNAROUND};
use super::station::{Attempt, TxState};
use crate::engine::context::Core;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::packet::DropReason;

impl LrWpanMac {
    /// A frame, or another attempt at it, begins with the shortest backoff.
    pub(super) fn begin_frame(&mut self, core: &mut Core, at: StationId) {
        let attempt = Attempt { busy: 0, exponent: self.rules.min_be };
        let station = &self.stations[at.index()];
        let since = core.now.max(station.next_frame_at).max(station.responding_until);
        self.back_off(core, at, since, attempt);
    }

    fn back_off(&mut self, core: &mut Core, at: StationId, since: Time, attempt: Attempt) {
        let station = &mut self.stations[at.index()];
        let periods = station.rng.below(1 << attempt.exponent);
        station.tx_state = TxState::Assesses(attempt);
        self.step(core, at, since + BACKOFF * periods + CCA);
    }

    fn step(&mut self, core: &mut Core, at: StationId, due: Time) {
        self.stations[at.index()].step_at = Some(due);
        core.schedule(due, self.event(RadioEvent::Access { station: at }));
    }

    /// The end of an assessment, or of the turn to sending.
    pub(crate) fn on_access(&mut self, core: &mut Core, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.step_at != Some(core.now) {
            return;
        }
        station.step_at = None;
        match station.tx_state {
            TxState::Assesses(attempt) => self.on_assessed(core, at, attempt),
            TxState::Turns => self.send_frame(core, at),
            TxState::Idle | TxState::AwaitsAck | TxState::Sends => {}
        }
    }

    fn on_assessed(&mut self, core: &mut Core, at: StationId, attempt: Attempt) {
        let (now, timing) = (core.now, &self.timing);
        // Assessments that begin at the start of the run have no time before them.
        let began = Time::from_nanos(now.as_nanos() - CCA.as_nanos());
        let station = &mut self.stations[at.index()];
        if station.responding_until > began {
            // The radio answered a frame, or is about to: it could not listen, and learned nothing of the medium.
            let since = station.responding_until.max(now);
            return self.back_off(core, at, since, attempt);
        }
        station.begin_cca(began, timing);
        station.advance_to(now, timing);
        let receiver = &station.receiver;
        let heard = receiver.busy(&timing.reception) || receiver.ifs_end(timing) > began;
        if !heard {
            station.tx_state = TxState::Turns;
            return self.step(core, at, now + TURNAROUND);
        }
        station.end_cca(now);
        let (busy, exponent) = (attempt.busy + 1, (attempt.exponent + 1).min(self.rules.max_be));
        if busy <= self.rules.max_backoffs {
            return self.back_off(core, at, now, Attempt { busy, exponent });
        }
        // Channel access failure: the MAC does not try again (§5.1.1.4).
        station.counters.access_failures += 1;
        self.drop_job(core, at, DropReason::Access);
    }
}
