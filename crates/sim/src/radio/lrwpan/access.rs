//! Medium access: what stands between a backoff and a transmission, and what frames of others do to it. Unslotted CSMA/CA is in
//! `csma.rs`, the other in `compat/lrwpan_ns2.rs`.

use tcp::units::{Bytes, Span, Time};

use super::LrWpanMac;
use super::rules::{Access, CCA_TIME};
use super::sampled_cca::{self, Sampled};
use super::sixlowpan::{FrameSizes, MAX_PSDU};
use super::station::{CsmaState, TxState};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::radio::frame::Frame;

impl Access {
    /// The frame of a datagram that is not encapsulated; `None` if it does not fit.
    pub(super) fn raw_frame(self, mac: Bytes, size: Bytes) -> Option<FrameSizes> {
        match self {
            Access::Csma => (mac + size <= MAX_PSDU).then(|| FrameSizes::one(mac + size)),
            Access::SampledCca => Some(sampled_cca::raw_frame(mac, size)),
        }
    }

    /// Time from the start of a CCA to its first event.
    pub(super) fn until_cca_event(self) -> Span {
        match self {
            Access::Csma => CCA_TIME,
            Access::SampledCca => sampled_cca::HALF_CCA,
        }
    }
}

impl LrWpanMac {
    /// Handles the first event of a CCA.
    pub(super) fn on_cca(&mut self, ctx: &mut Context, at: StationId, csma: CsmaState) {
        match self.rules.access {
            Access::Csma => self.on_cca_end(ctx, at, csma),
            Access::SampledCca => self.sample_medium(ctx, at, csma),
        }
    }

    /// True if a station whose radio is ready to transmit never will.
    pub(super) fn is_held_up(&mut self, now: Time, at: StationId, psdu: Bytes) -> bool {
        match self.rules.access {
            Access::Csma => false,
            Access::SampledCca => self.stalls_on_length(now, at, psdu),
        }
    }

    /// Handles what the end of a frame means for the station's own.
    pub(super) fn on_heard(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, good: bool) {
        match self.rules.access {
            Access::Csma => {}
            Access::SampledCca => self.on_any_frame_end(ctx, at, frame, good),
        }
    }

    /// Handles what an acknowledgment that becomes due means for the station's own frame.
    pub(super) fn on_response_planned(&mut self, ctx: &mut Context, at: StationId) {
        match self.rules.access {
            Access::Csma => {}
            Access::SampledCca => self.restart_after_response(ctx, at),
        }
    }

    /// Time since which a station transmits nothing, if it has stalled.
    pub(in crate::radio) fn stalled_at(&self, station: StationId) -> Option<Time> {
        match self.stations[station.index()].tx_state {
            TxState::Sampled(Sampled::Stalled { since } | Sampled::Mute { since }) => Some(since),
            _ => None,
        }
    }
}
