//! The MAC of 802.15.4 in ns-2.35 where it departs from the standard: a CCA that is one sample, transmissions that are deferred and
//! forgotten, lengths in eight bits. `mac = "ns2"` follows it, because published results rest on it.

#[cfg(test)]
#[path = "lrwpan_ns2/tests.rs"]
mod tests;

use tcp::units::{Bytes, Span, Time};

use super::LrWpanMac;
use super::rules::{CCA_TIME, TURNAROUND_TIME};
use super::sixlowpan::{FrameSizes, MAX_PSDU};
use super::station::{CsmaState, TxState};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::radio::frame::{Frame, Kind};

/// The medium is sampled in the middle of a CCA: after four symbols of eight.
pub(super) const HALF_CCA: Span = Span::from_nanos(CCA_TIME.as_nanos() / 2);
/// What a CCA is charged for: itself and a turnaround of the radio before it.
const CHARGED: Span = Span::from_nanos(CCA_TIME.as_nanos() + TURNAROUND_TIME.as_nanos());

/// State of a station between the sample and the transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sampled {
    /// The CCA is not over.
    InCca { csma: CsmaState, is_busy: bool },
    /// The medium was idle at the sample; the radio turns to transmission when the frame that it receives is over.
    Deferred,
    /// The transmission was forgotten; an acknowledgment of the station's own makes it start again.
    Stalled { since: Time },
    /// The frame is too long: nothing is sent or received any more.
    Mute { since: Time },
}

/// The frame of a datagram. Both lengths are kept in eight bits, and that of the frame is checked only when it is about to be sent.
pub(super) fn raw_frame(mac: Bytes, size: Bytes) -> FrameSizes {
    FrameSizes::one(Bytes((mac.0 + size.0 % 256) % 256))
}

impl LrWpanMac {
    /// Samples the medium in the middle of a CCA, which is over half of its duration later.
    pub(super) fn sample_medium(&mut self, ctx: &mut Context, at: StationId, csma: CsmaState) {
        let station = &mut self.stations[at.index()];
        station.advance_to(ctx.now, &self.timing);
        let is_busy = station.receiver.busy(&self.timing.reception);
        station.receiver.charge_cca(ctx.now, ctx.now + HALF_CCA, CHARGED);
        station.tx_state = TxState::Sampled(Sampled::InCca { csma, is_busy });
        self.schedule_csma(ctx, at, ctx.now + HALF_CCA);
    }

    /// Handles the end of a CCA: a frame that began after the sample is received before anything is transmitted.
    pub(super) fn on_sampled_cca_end(&mut self, ctx: &mut Context, at: StationId, sampled: Sampled) {
        let Sampled::InCca { csma, is_busy } = sampled else { return };
        if is_busy {
            return self.on_busy_medium(ctx, at, csma);
        }
        let station = &mut self.stations[at.index()];
        station.advance_to(ctx.now, &self.timing);
        if station.receiver.receiving() {
            station.tx_state = TxState::Sampled(Sampled::Deferred);
        } else {
            self.turn_to_transmission(ctx, at);
        }
    }

    /// Handles what the end of a frame means for the station's own: any frame of the addressee makes the retries start again, and
    /// a deferred transmission follows a frame in error, but is forgotten after a broadcast.
    pub(super) fn on_any_frame_end(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, good: bool) {
        let station = &mut self.stations[at.index()];
        if let Some(current) = station.current.as_mut().filter(|current| current.request.to == Some(frame.from)) {
            current.forgiven = current.attempts;
        }
        if station.tx_state != TxState::Sampled(Sampled::Deferred) || station.receiver.receiving() {
            return;
        }
        let is_data = matches!(frame.kind, Kind::Data(_));
        match (good && is_data, frame.to) {
            (true, None) => station.tx_state = TxState::Sampled(Sampled::Stalled { since: ctx.now }),
            // It is acknowledged, and CSMA/CA starts again.
            (true, Some(_)) => {}
            (false, _) => self.turn_to_transmission(ctx, at),
        }
    }

    /// Starts CSMA/CA of the current frame again after the acknowledgment that is due: the MAC gives up a backoff, a CCA and a
    /// forgotten transmission for it.
    pub(super) fn restart_after_response(&mut self, ctx: &mut Context, at: StationId) {
        let station = &mut self.stations[at.index()];
        let interrupted = match station.tx_state {
            TxState::Cca(_) => true,
            TxState::Sampled(sampled) => !matches!(sampled, Sampled::Mute { .. }),
            _ => false,
        };
        if station.current.is_some() && interrupted {
            self.start_csma(ctx, at);
        }
    }

    /// True if the current frame is longer than a PSDU can be: the station, whose transmitter is on by now, waits for ever.
    pub(super) fn stalls_on_length(&mut self, now: Time, at: StationId, psdu: Bytes) -> bool {
        let station = &mut self.stations[at.index()];
        if psdu <= MAX_PSDU || station.receiver.depleted() {
            return false;
        }
        station.counters.too_long += 1;
        station.receiver.deafen();
        station.tx_state = TxState::Sampled(Sampled::Mute { since: now });
        true
    }
}
