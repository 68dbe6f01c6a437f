//! Unslotted CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4): back off blindly, listen once, send or back off longer.

use tcp::units::Time;

use super::Pan;
use super::rules::{BACKOFF, CCA, TURNAROUND};
use super::station::{Attempt, Phase};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::packet::DropReason;

impl Pan {
    /// A frame, or another attempt at it, begins with the shortest backoff.
    pub(super) fn begin_frame(&mut self, ctx: &mut Context, at: StationId) {
        let attempt = Attempt { busy: 0, exponent: self.rules.min_be };
        let station = &self.stations[at.index()];
        let since = ctx.now.max(station.ready_at).max(station.engaged_until);
        self.back_off(ctx, at, since, attempt);
    }

    fn back_off(&mut self, ctx: &mut Context, at: StationId, since: Time, attempt: Attempt) {
        let station = &mut self.stations[at.index()];
        let periods = station.draws.below(1 << attempt.exponent);
        station.phase = Phase::Assesses(attempt);
        self.step(ctx, at, since + BACKOFF * periods + CCA);
    }

    fn step(&mut self, ctx: &mut Context, at: StationId, due: Time) {
        self.stations[at.index()].step_at = Some(due);
        ctx.schedule(due, self.event(RadioEvent::ChannelAccess { station: at }));
    }

    /// The end of an assessment, or of the turn to sending.
    pub(crate) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.step_at != Some(ctx.now) {
            return;
        }
        station.step_at = None;
        match station.phase {
            Phase::Assesses(attempt) => self.on_assessed(ctx, at, attempt),
            Phase::Turns => self.send_frame(ctx, at),
            Phase::Idle | Phase::AwaitsAck | Phase::Sends => {}
        }
    }

    fn on_assessed(&mut self, ctx: &mut Context, at: StationId, attempt: Attempt) {
        let (now, waits) = (ctx.now, &self.waits);
        // Assessments that begin at the start of the run have no time before them.
        let began = Time::from_nanos(now.as_nanos() - CCA.as_nanos());
        let station = &mut self.stations[at.index()];
        if station.engaged_until > began {
            // The radio answered a frame, or is about to: it could not listen, and learned nothing of the medium.
            let since = station.engaged_until.max(now);
            return self.back_off(ctx, at, since, attempt);
        }
        station.listens(began, waits);
        station.settle(now, waits);
        let receiver = &station.receiver;
        let heard = receiver.busy(&waits.reception) || receiver.free_at(waits) > began;
        if !heard {
            station.phase = Phase::Turns;
            return self.step(ctx, at, now + TURNAROUND);
        }
        station.rests(now);
        let (busy, exponent) = (attempt.busy + 1, (attempt.exponent + 1).min(self.rules.max_be));
        if busy <= self.rules.max_backoffs {
            return self.back_off(ctx, at, now, Attempt { busy, exponent });
        }
        // Channel access failure: the MAC does not try again (§5.1.1.4).
        station.counts.access_failures += 1;
        self.drop_job(ctx, at, DropReason::Access);
    }
}
