//! Parameters of the DCF: PHY, reception, and where a profile departs from the standard.

use tcp::units::{Bytes, Rate, Span};

use super::rate_control::RateControl;
use crate::ids::StationId;
use crate::radio::errors::RateMode;
use crate::radio::frame::Kind;
use crate::radio::phy::{BLOCK_ACK, BLOCK_ACK_REQUEST, Phy};
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::{MacTiming, Reception};

/// Margin of the CTS and ACK timeouts: the round-trip propagation delay over 600 m.
const RESPONSE_MARGIN: Span = Span::from_micros(4);

/// Parameters of the DCF, the same for all stations of a channel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DcfRules {
    pub(crate) phy: Phy,
    pub(crate) reception: Reception,
    /// Probability that a decoded frame is in error all the same.
    pub(crate) frame_error: f64,
    /// The rates of the PHY, the lowest first.
    pub(crate) rate_modes: Vec<RateMode>,
    /// Basic rate set: a response is sent at its highest rate that does not exceed the data rate.
    pub(crate) basic_rates: Vec<Rate>,
    pub(crate) rate_control: RateControl,
    /// The rate of each station, where they differ.
    pub(crate) station_rates: Vec<Rate>,
    /// Bytes that the MAC adds to an MSDU.
    pub(crate) mac_overhead: Bytes,
    /// dot11RTSThreshold: larger MPDUs are preceded by RTS/CTS.
    pub(crate) rts_threshold: Bytes,
    /// dot11ShortRetryLimit and dot11LongRetryLimit.
    pub(crate) short_retries: u32,
    pub(crate) long_retries: u32,
    pub(crate) queue_limit: usize,
    pub(crate) queue_order: QueueOrder,
    pub(crate) queue_lifetime: Option<Span>,
    /// A backoff is drawn from 0 to one less than the contention window, instead of to the window.
    pub(crate) draws_below_window: bool,
    /// A new frame waits for DIFS and a backoff even if the medium has long been idle.
    pub(crate) backs_off_when_idle: bool,
    /// A station waits for a response at the control rate, not at the lowest basic rate.
    pub(crate) expects_control_rate: bool,
    /// After a missing response a station backs off when EIFS after its frame is over, instead of at once.
    pub(crate) eifs_after_timeout: bool,
    /// A CTS, and the data frame after it, are transmitted only if the medium and the NAV are idle; after a CTS a station
    /// waits for the data frame and answers no other RTS.
    pub(crate) responds_if_idle: bool,
    /// Duration fields are rounded to whole microseconds.
    pub(crate) whole_micros: bool,
    /// The NAV is reset if no frame follows an RTS (IEEE 802.11 §10.3.2.4).
    pub(crate) rts_nav_reset: bool,
    /// Broadcasts are heeded only from where data frames could be read.
    pub(crate) heeds_data_range: bool,
    /// Stations listen to data frames for others, and indicate them.
    pub(crate) promiscuous: bool,
    /// 802.11n: unicast MPDUs have a window and a reordering buffer.
    pub(crate) block_acks: bool,
    /// An MPDU that is transmitted alone falls under the retry limit: where there is no block ACK agreement, or under
    /// one too; missing block ACKs count there as well.
    pub(crate) counts_single_mpdus: bool,
    /// The MPDUs of a window are transmitted together (A-MPDU).
    pub(crate) aggregates: bool,
}

impl DcfRules {
    pub(super) fn timing(&self) -> MacTiming {
        let phy = &self.phy;
        MacTiming {
            slot: phy.slot,
            difs: phy.difs(),
            eifs: phy.eifs(),
            reception: self.reception,
            frame_error: self.frame_error,
            rate_modes: self.rate_modes.clone(),
        }
    }

    /// True if a frame received in error sets the NAV, instead of replacing DIFS by EIFS.
    pub(super) fn errors_set_nav(&self) -> bool {
        matches!(self.reception, Reception::Capture { .. })
    }

    pub(super) fn uses_rts(&self, size: Bytes) -> bool {
        size + self.mac_overhead > self.rts_threshold
    }

    /// NAVTimeout: the NAV set by an RTS is reset after this time unless a frame follows (IEEE 802.11 §10.3.2.4).
    pub(super) fn nav_timeout(&self, rts: Rate) -> Option<Span> {
        let phy = &self.phy;
        self.rts_nav_reset.then(|| phy.sifs * 2 + phy.ack_airtime(rts) + phy.slot * 2)
    }

    /// Index of a rate.
    pub(super) fn rate_index(&self, rate: Rate) -> usize {
        self.rate_modes.iter().position(|rate_mode| rate_mode.rate == rate).expect("frames have rates of the standard")
    }

    /// Rate of RTS, CTS and ACK around a data frame at rate `data`.
    pub(super) fn control_rate(&self, data: Rate) -> Rate {
        let fitting = self.basic_rates.iter().copied().filter(|rate| *rate <= data).max();
        match self.rate_control {
            RateControl::Fixed if self.station_rates.is_empty() => self.phy.control_rate,
            RateControl::Fixed | RateControl::Arf | RateControl::Aarf => {
                fitting.unwrap_or(self.phy.basic_rate).min(self.phy.control_rate)
            }
        }
    }

    /// The rate of data frames between two stations, before rate control.
    pub(super) fn rate_between(&self, one: StationId, other: Option<StationId>) -> Rate {
        let of = |station: StationId| self.station_rates.get(station.index()).copied().unwrap_or(self.phy.data_rate);
        other.map_or(self.phy.data_rate, |other| of(one).min(of(other)))
    }

    pub(super) fn data_airtime(&self, size: Bytes, rate: Rate) -> Span {
        self.phy.airtime(size + self.mac_overhead, rate)
    }

    /// Airtime of a frame with an MSDU of `size`.
    pub(super) fn airtime(&self, kind: Kind, size: Bytes, rate: Rate) -> Span {
        match kind {
            Kind::Rts => self.phy.rts_airtime(rate),
            Kind::Cts | Kind::Ack => self.phy.ack_airtime(rate),
            Kind::Data(_) => self.data_airtime(size, rate),
            Kind::Aggregate => self.phy.airtime(size, rate),
            Kind::BlockAck { .. } => self.phy.airtime(BLOCK_ACK, rate),
            Kind::BlockAckRequest { .. } => self.phy.airtime(BLOCK_ACK_REQUEST, rate),
        }
    }

    /// Minimum power of readable data frames, absent interference; at the lowest rate if rate control adapts it.
    pub(crate) fn min_rx_power(&self) -> f64 {
        let index = match self.rate_control {
            RateControl::Fixed => {
                let lowest = self.station_rates.iter().copied().min().unwrap_or(self.phy.data_rate);
                self.rate_index(lowest.min(self.phy.data_rate))
            }
            RateControl::Arf | RateControl::Aarf => 0,
        };
        let rate_mode = &self.rate_modes[index];
        self.reception.min_rx_power(rate_mode.ratio).max(rate_mode.sensitivity)
    }

    /// The duration field for an exact duration.
    pub(super) fn duration_field(&self, exact: Span) -> Span {
        if self.whole_micros { Span::from_micros((exact.as_nanos() + 500) / 1000) } else { exact }
    }

    /// CTSTimeout and ACKTimeout, from the end of the frame.
    pub(super) fn response_timeout(&self) -> Span {
        let rate = if self.expects_control_rate { self.phy.control_rate } else { self.phy.basic_rate };
        self.phy.sifs + self.phy.ack_airtime(rate) + RESPONSE_MARGIN
    }

    /// How long a station waits for the data frame after a CTS of this duration field.
    pub(super) fn data_wait(&self, duration: Span, cts: Rate) -> Span {
        (duration + RESPONSE_MARGIN).saturating_sub(self.phy.sifs + self.phy.ack_airtime(cts))
    }

    /// [`Self::response_timeout`] of a block ACK.
    pub(super) fn block_ack_timeout(&self) -> Span {
        self.phy.sifs + self.phy.airtime(BLOCK_ACK, self.phy.basic_rate) + RESPONSE_MARGIN
    }

    /// Time from that timeout to the start of the backoff: EIFS after the frame, as at stations that received it in
    /// error (IEEE 802.11 §10.3.2.3.7), or zero.
    pub(super) fn timeout_ifs(&self) -> Span {
        if self.eifs_after_timeout { self.phy.difs().saturating_sub(RESPONSE_MARGIN) } else { Span::ZERO }
    }
}
