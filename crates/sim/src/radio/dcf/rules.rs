//! The rules of one 802.11 network: physical layer, reception, and where a profile departs from the standard.

use tcp::units::{Bytes, Rate, Span};

use super::rate_control::RateControl;
use crate::radio::errors::{PhyHeader, RateMode};
use crate::radio::frame::Kind;
use crate::radio::phy::Phy;
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::{MacTiming, Reception};

/// A station waits so long beyond SIFS and the length of the answer: propagation over 600 m, there and back.
const RESPONSE_MARGIN: Span = Span::from_micros(4);

/// The rules of a channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DcfRules {
    pub(crate) phy: Phy,
    pub(crate) reception: Reception,
    /// The rates of the standard, the lowest first.
    pub(crate) rate_modes: Vec<RateMode>,
    /// Rates that every station understands: answers are sent at the highest of them that is not above that of the data.
    pub(crate) basic_rates: Vec<Rate>,
    pub(crate) rate_control: RateControl,
    /// What precedes a frame's bits.
    pub(crate) preamble: PhyHeader,
    /// MAC bytes around a network-layer packet.
    pub(crate) mac_overhead: Bytes,
    /// A larger frame (with its header) asks first.
    pub(crate) rts_threshold: Bytes,
    /// Attempts before a frame is given up: RTS and short frames; long frames.
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) queue_limit: usize,
    pub(crate) queue_order: QueueOrder,
    pub(crate) queue_lifetime: Option<Span>,
    /// ns-2: a backoff is drawn from 0 to one less than the window.
    pub(crate) draws_below_window: bool,
    /// ns-2: a fresh frame waits DIFS and a backoff also when the medium has long been idle.
    pub(crate) always_backs_off: bool,
    /// ns-2: a CTS, and the data after it, leave only if the medium is idle and not reserved.
    pub(crate) responds_if_idle: bool,
    /// ns-2: durations in frames are whole microseconds, rounded.
    pub(crate) whole_micros: bool,
    /// RTS that nobody answers reserve the medium for a short time only.
    pub(crate) rts_nav_reset: bool,
}

impl DcfRules {
    pub(super) fn timing(&self) -> MacTiming {
        let phy = &self.phy;
        MacTiming {
            slot: phy.slot,
            difs: phy.difs(),
            eifs: phy.eifs(),
            reception: self.reception,
            rate_modes: self.rate_modes.clone(),
            preamble: self.preamble,
        }
    }

    /// True if a bad frame reserves the medium, as in ns-2, instead of putting EIFS in the place of DIFS.
    pub(super) fn errors_set_nav(&self) -> bool {
        matches!(self.reception, Reception::Capture { .. })
    }

    pub(super) fn uses_rts(&self, size: Bytes) -> bool {
        size + self.mac_overhead > self.rts_threshold
    }

    /// How long an RTS reserves the medium if nobody answers it.
    pub(super) fn nav_timeout(&self, rts: Rate) -> Option<Span> {
        let phy = &self.phy;
        self.rts_nav_reset.then(|| phy.sifs * 2 + phy.ack_airtime(rts) + phy.slot * 2)
    }

    /// Index of a rate.
    pub(super) fn rate_index(&self, rate: Rate) -> usize {
        self.rate_modes
            .iter()
            .position(|rate_mode| rate_mode.rate == rate)
            .expect("frames are sent at rates of the standard")
    }

    /// Rate of RTS, CTS and ACK that go with data at `data`.
    pub(super) fn control_rate(&self, data: Rate) -> Rate {
        let fitting = self.basic_rates.iter().copied().filter(|rate| *rate <= data).max();
        match self.rate_control {
            RateControl::Fixed => self.phy.control_rate,
            RateControl::Arf => fitting.unwrap_or(self.phy.basic_rate).min(self.phy.control_rate),
        }
    }

    pub(super) fn data_airtime(&self, size: Bytes, rate: Rate) -> Span {
        self.phy.airtime(size + self.mac_overhead, rate)
    }

    /// How long a frame is in the air.
    pub(super) fn airtime(&self, kind: Kind, size: Bytes, rate: Rate) -> Span {
        match kind {
            Kind::Rts => self.phy.rts_airtime(rate),
            Kind::Cts | Kind::Ack => self.phy.ack_airtime(rate),
            Kind::Data(_) => self.data_airtime(size, rate),
        }
    }

    /// Data frames are readable from this power on, without interference; at the lowest rate if stations look for one.
    pub(crate) fn min_rx_power(&self) -> f64 {
        let index = match self.rate_control {
            RateControl::Fixed => self.rate_index(self.phy.data_rate),
            RateControl::Arf => 0,
        };
        self.reception.min_rx_power(self.rate_modes[index].ratio)
    }

    /// A duration as it stands in a frame.
    pub(super) fn duration_field(&self, exact: Span) -> Span {
        if self.whole_micros { Span::from_micros((exact.as_nanos() + 500) / 1000) } else { exact }
    }

    /// From the end of a frame to the end of the wait for its answer, which ns-2 knows the rate of.
    pub(super) fn response_timeout(&self) -> Span {
        let rate = if self.always_backs_off { self.phy.control_rate } else { self.phy.basic_rate };
        self.phy.sifs + self.phy.ack_airtime(rate) + RESPONSE_MARGIN
    }

    /// After that wait slots are counted from here on: with EIFS after the frame, as at those who heard it badly
    /// (IEEE 802.11 §10.3.2.3.7); in ns-2 at once.
    pub(super) fn timeout_ifs(&self) -> Span {
        if self.always_backs_off { Span::ZERO } else { self.phy.difs().saturating_sub(RESPONSE_MARGIN) }
    }
}
