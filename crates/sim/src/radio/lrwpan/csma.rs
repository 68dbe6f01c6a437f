//! Unslotted CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4): back off blindly, listen once, send or back off longer.

use tcp::units::Time;

use super::LrWpanMac;
use super::rules::{CCA_TIME, TURNAROUND_TIME, UNIT_BACKOFF_PERIOD};
use super::station::{CsmaState, TxState};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::packet::DropReason;

impl LrWpanMac {
    /// A frame, or another attempt at it, begins with the shortest backoff.
    pub(super) fn start_csma(&mut self, ctx: &mut Context, at: StationId) {
        let csma = CsmaState { busy: 0, be: self.rules.min_be };
        let station = &self.stations[at.index()];
        let since = ctx.now.max(station.next_frame_at).max(station.responding_until);
        self.back_off(ctx, at, since, csma);
    }

    fn back_off(&mut self, ctx: &mut Context, at: StationId, since: Time, csma: CsmaState) {
        let station = &mut self.stations[at.index()];
        let periods = station.rng.below(1 << csma.be);
        station.tx_state = TxState::Cca(csma);
        self.schedule_csma(ctx, at, since + UNIT_BACKOFF_PERIOD * periods + CCA_TIME);
    }

    fn schedule_csma(&mut self, ctx: &mut Context, at: StationId, due: Time) {
        self.stations[at.index()].csma_at = Some(due);
        ctx.schedule(due, self.event(RadioEvent::ChannelAccess { station: at }));
    }

    /// The end of an assessment, or of the turn to sending.
    pub(crate) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.csma_at != Some(ctx.now) {
            return;
        }
        station.csma_at = None;
        match station.tx_state {
            TxState::Cca(csma) => self.on_cca_end(ctx, at, csma),
            TxState::Turnaround => self.send_frame(ctx, at),
            TxState::Idle | TxState::AwaitsAck | TxState::SendsUnacknowledged => {}
        }
    }

    fn on_cca_end(&mut self, ctx: &mut Context, at: StationId, csma: CsmaState) {
        let (now, timing) = (ctx.now, &self.timing);
        // Assessments that begin at the start of the run have no time before them.
        let began = Time::from_nanos(now.as_nanos() - CCA_TIME.as_nanos());
        let station = &mut self.stations[at.index()];
        if station.responding_until > began {
            // The radio answered a frame, or is about to: it could not listen, and learned nothing of the medium.
            let since = station.responding_until.max(now);
            return self.back_off(ctx, at, since, csma);
        }
        station.begin_cca(began, timing);
        station.advance_to(now, timing);
        let receiver = &station.receiver;
        let heard = receiver.busy(&timing.reception) || receiver.ifs_end(timing) > began;
        if !heard {
            station.tx_state = TxState::Turnaround;
            return self.schedule_csma(ctx, at, now + TURNAROUND_TIME);
        }
        station.end_cca(now);
        let (busy, be) = (csma.busy + 1, (csma.be + 1).min(self.rules.max_be));
        if busy <= self.rules.max_backoffs {
            return self.back_off(ctx, at, now, CsmaState { busy, be });
        }
        // Channel access failure: the MAC does not try again (§5.1.1.4).
        station.counters.access_failures += 1;
        self.drop_datagram(ctx, at, DropReason::Access);
    }
}
