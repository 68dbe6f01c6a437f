//! The rules of one 802.11 network: physical layer, reception, and where a profile departs from the standard.

use tcp::units::{Bytes, Span};

use super::frame::{Kind, StationId};
use super::phy::Phy;
use super::queue::Order;
use super::receiver::{Reception, Waits};

/// A station waits so long beyond SIFS and the length of the answer: propagation over 600 m, there and back.
const ANSWER_MARGIN: Span = Span::from_micros(4);

/// The rules of a channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Rules {
    pub(crate) phy: Phy,
    pub(crate) reception: Reception,
    /// Ratios that a data frame, and a control or broadcast frame, need to be read; for reception by ratio.
    pub(crate) data_ratio: f64,
    pub(crate) basic_ratio: f64,
    /// MAC bytes around a network-layer packet.
    pub(crate) header: Bytes,
    /// A larger frame (with its header) asks first.
    pub(crate) rts_threshold: Bytes,
    /// Attempts before a frame is given up: RTS and short frames; long frames.
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) queue_limit: usize,
    pub(crate) queue_order: Order,
    pub(crate) queue_lifetime: Option<Span>,
    /// ns-2: a backoff is drawn from 0 to one less than the window.
    pub(crate) draws_below_window: bool,
    /// ns-2: a fresh frame waits DIFS and a backoff also when the medium has long been idle.
    pub(crate) always_backs_off: bool,
    /// ns-2: a CTS, and the data after it, leave only if the medium is idle and not reserved.
    pub(crate) answers_if_idle: bool,
    /// ns-2: durations in frames are whole microseconds, rounded.
    pub(crate) whole_micros: bool,
    /// RTS that nobody answers reserve the medium for a short time only.
    pub(crate) rts_nav_reset: bool,
}

impl Rules {
    pub(super) fn waits(&self) -> Waits {
        let phy = &self.phy;
        Waits {
            slot: phy.slot,
            difs: phy.difs(),
            eifs: phy.eifs(),
            unanswered_rts: self.rts_nav_reset.then(|| phy.sifs * 2 + phy.cts() + phy.slot * 2),
            reception: self.reception,
        }
    }

    /// True if a bad frame reserves the medium, as in ns-2, instead of putting EIFS in the place of DIFS.
    pub(super) fn bad_frames_reserve(&self) -> bool {
        matches!(self.reception, Reception::Capture { .. })
    }

    pub(super) fn uses_rts(&self, size: Bytes) -> bool {
        size + self.header > self.rts_threshold
    }

    pub(super) fn data_airtime(&self, size: Bytes) -> Span {
        self.phy.airtime(size + self.header, self.phy.data_rate)
    }

    /// How long a frame is in the air.
    pub(super) fn airtime(&self, kind: Kind, to: Option<StationId>, size: Bytes) -> Span {
        match kind {
            Kind::Rts => self.phy.rts(),
            Kind::Cts | Kind::Ack => self.phy.cts(),
            Kind::Data(_) if to.is_none() => self.phy.airtime(size + self.header, self.phy.basic_rate),
            Kind::Data(_) => self.data_airtime(size),
        }
    }

    pub(super) fn needed_ratio(&self, kind: Kind, to: Option<StationId>) -> f64 {
        match (self.reception, kind) {
            (Reception::Capture { .. }, _) => 0.0,
            (_, Kind::Data(_)) if to.is_some() => self.data_ratio,
            _ => self.basic_ratio,
        }
    }

    /// Signals below this power are never read.
    pub(super) fn readable_power(&self) -> f64 {
        match self.reception {
            Reception::Capture { receive, .. } => receive,
            Reception::Sinr { sensitivity, .. } => sensitivity,
        }
    }

    /// Data frames are readable from this power on, without interference.
    pub(crate) fn least_power(&self) -> f64 {
        match self.reception {
            Reception::Capture { receive, .. } => receive,
            Reception::Sinr { sensitivity, noise, .. } => sensitivity.max(noise * self.data_ratio),
        }
    }

    /// A duration as it stands in a frame.
    pub(super) fn duration(&self, exact: Span) -> Span {
        if self.whole_micros { Span::from_micros((exact.as_nanos() + 500) / 1000) } else { exact }
    }

    /// From the end of a frame to the end of the wait for its answer, which ns-2 knows the rate of.
    pub(super) fn answer_wait(&self) -> Span {
        let rate = if self.always_backs_off { self.phy.control_rate } else { self.phy.basic_rate };
        self.phy.sifs + self.phy.answer(rate) + ANSWER_MARGIN
    }

    /// After that wait slots are counted from here on: with EIFS after the frame, as at those who heard it badly
    /// (IEEE 802.11 §10.3.2.3.7); in ns-2 at once.
    pub(super) fn after_silence(&self) -> Span {
        if self.always_backs_off { Span::ZERO } else { self.phy.difs().saturating_sub(ANSWER_MARGIN) }
    }
}
