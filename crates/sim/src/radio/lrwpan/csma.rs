//! Unslotted CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4): back off, perform one CCA, transmit or back off longer.

use tcp::units::{Span, Time};

use super::LrWpanMac;
use super::rules::{CCA_TIME, TURNAROUND_TIME, UNIT_BACKOFF_PERIOD};
use super::station::{CsmaState, TxState};
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::packet::DropReason;

impl LrWpanMac {
    /// Starts CSMA/CA for a new frame when the board has handed it to the radio.
    pub(super) fn start_frame(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        station.next_frame_at = station.next_frame_at.max(ctx.now + self.rules.board_time);
        self.start_csma(ctx, at);
    }

    /// Starts CSMA/CA again after a failed attempt, unless that was the last one.
    pub(super) fn tries_again(&mut self, ctx: &mut Context, at: StationId) -> bool {
        let station = &mut self.stations[at.index()];
        let current = station.current.as_mut().expect("an attempt is made for a frame");
        current.attempts += 1;
        if current.attempts - current.forgiven > self.rules.max_retries {
            return false;
        }
        let longest = self.rules.retry_delay.as_nanos();
        let delay = if longest > 0 { station.rng.below(longest + 1) } else { 0 };
        station.next_frame_at = ctx.now + Span::from_nanos(delay);
        self.start_csma(ctx, at);
        true
    }

    /// Starts CSMA/CA for a frame or its retransmission, with the minimum backoff exponent.
    pub(super) fn start_csma(&mut self, ctx: &mut Context, at: StationId) {
        let csma = CsmaState { nb: 0, be: self.rules.min_be };
        let station = &self.stations[at.index()];
        let since = ctx.now.max(station.next_frame_at).max(station.responding_until);
        self.back_off(ctx, at, since, csma);
    }

    fn back_off(&mut self, ctx: &mut Context, at: StationId, since: Time, csma: CsmaState) {
        let station = &mut self.stations[at.index()];
        let periods = station.rng.below(1 << csma.be);
        station.tx_state = TxState::Cca(csma);
        self.schedule_csma(ctx, at, since + UNIT_BACKOFF_PERIOD * periods + self.rules.access.until_cca_event());
    }

    pub(super) fn schedule_csma(&mut self, ctx: &mut Context, at: StationId, due: Time) {
        self.stations[at.index()].csma_at = Some(due);
        ctx.schedule(due, self.event(RadioEvent::ChannelAccess { station: at }));
    }

    /// Handles an event of a CCA, or the end of the turnaround to transmission.
    pub(super) fn on_access(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        if station.csma_at != Some(ctx.now) {
            return;
        }
        station.csma_at = None;
        match station.tx_state {
            TxState::Cca(csma) => self.on_cca(ctx, at, csma),
            TxState::Sampled(sampled) => self.on_sampled_cca_end(ctx, at, sampled),
            TxState::Turnaround => self.send_frame(ctx, at),
            TxState::Idle | TxState::AwaitsAck | TxState::SendsUnacknowledged => {}
        }
    }

    /// Handles the end of a CCA, which asks the receiver what was on the air meanwhile.
    pub(super) fn on_cca_end(&mut self, ctx: &mut Context, at: StationId, csma: CsmaState) {
        let (now, timing) = (ctx.now, &self.timing);
        // No CCA starts before the run.
        let began = Time::from_nanos(now.as_nanos() - CCA_TIME.as_nanos());
        let station = &mut self.stations[at.index()];
        if station.responding_until > began {
            // The radio was occupied by an ACK, so the CCA has no result.
            let since = station.responding_until.max(now);
            return self.back_off(ctx, at, since, csma);
        }
        station.begin_cca(began, timing);
        station.advance_to(now, timing);
        let receiver = &station.receiver;
        let busy = receiver.busy(&timing.reception) || receiver.ifs_end(timing) > began;
        if !busy {
            return self.turn_to_transmission(ctx, at);
        }
        station.end_cca(now);
        self.on_busy_medium(ctx, at, csma);
    }

    /// Turns the radio from reception to transmission.
    pub(super) fn turn_to_transmission(&mut self, ctx: &mut Context, at: StationId) {
        self.stations[at.index()].tx_state = TxState::Turnaround;
        self.schedule_csma(ctx, at, ctx.now + TURNAROUND_TIME);
    }

    /// Backs off longer after a busy CCA, or gives the frame up.
    pub(super) fn on_busy_medium(&mut self, ctx: &mut Context, at: StationId, csma: CsmaState) {
        let (nb, be) = (csma.nb + 1, (csma.be + 1).min(self.rules.max_be));
        if nb <= self.rules.max_backoffs {
            return self.back_off(ctx, at, ctx.now, CsmaState { nb, be });
        }
        // Channel access failure (§5.1.1.4): whether the frame is tried again is up to the layer above.
        if self.rules.retries_access && self.tries_again(ctx, at) {
            return;
        }
        self.stations[at.index()].counters.access_failures += 1;
        self.drop_datagram(ctx, at, DropReason::Access);
    }
}
