//! Timing of the 802.11 PHYs: slot time, interframe spaces and airtime.

use tcp::units::{Bytes, Rate, Span};

/// Modulation family, which decides the airtime.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Coding {
    /// DSSS and CCK: a preamble at a fixed rate, then the PSDU, which may be rounded up to whole microseconds.
    Dsss { preamble: Span, whole_micros: bool },
    /// OFDM of 20 MHz: a preamble of 20 us and symbols of 4 us; 802.11g adds a signal extension of 6 us.
    Ofdm { extension: Span },
    /// 802.11n with one spatial stream of 20 MHz: HT rates have a mixed-format preamble of 36 us, all others are OFDM.
    Ht,
}

/// A PHY with its rates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Phy {
    pub(crate) coding: Coding,
    pub(crate) slot: Span,
    pub(crate) sifs: Span,
    /// Slots of the interframe space before a backoff: 2 in the DCF, 3 for best effort in EDCA (AIFSN).
    pub(crate) ifs_slots: u64,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    /// Rate of unicast data frames; the maximum if rate control adapts it.
    pub(crate) data_rate: Rate,
    /// Rate of RTS, CTS and ACK, unless the data rate is lower.
    pub(crate) control_rate: Rate,
    /// Rate of broadcasts; the lowest of the basic rate set.
    pub(crate) basic_rate: Rate,
}

/// Size of an RTS.
const RTS: Bytes = Bytes(20);
/// Size of a CTS and of an ACK.
const CTS: Bytes = Bytes(14);
/// Size of a compressed block ACK, and of a request for one.
pub(super) const BLOCK_ACK: Bytes = Bytes(32);
pub(super) const BLOCK_ACK_REQUEST: Bytes = Bytes(24);

/// True for the rates HtMcs0 to HtMcs7 with the long guard interval: 802.11a has none of the multiples of 6.5 Mb/s.
pub(super) fn is_ht(rate: Rate) -> bool {
    rate.as_bps().is_multiple_of(6_500_000)
}

/// Duration of a PSDU in OFDM symbols of 4 us, with 16 service bits and 6 tail bits.
fn ofdm(psdu: Bytes, rate: Rate) -> Span {
    let per_symbol = rate.as_bps() * 4 / 1_000_000;
    Span::from_micros(4 * (22 + 8 * psdu.0).div_ceil(per_symbol.max(1)))
}

impl Phy {
    /// Airtime of an MPDU.
    pub(crate) fn airtime(&self, frame: Bytes, rate: Rate) -> Span {
        match self.coding {
            Coding::Dsss { preamble, whole_micros } => {
                let bits = rate.transmission_time(frame);
                let micros = bits.as_nanos().div_ceil(1000);
                preamble + if whole_micros { Span::from_micros(micros) } else { bits }
            }
            Coding::Ofdm { extension } => Span::from_micros(20) + ofdm(frame, rate) + extension,
            Coding::Ht => Span::from_micros(if is_ht(rate) { 36 } else { 20 }) + ofdm(frame, rate),
        }
    }

    /// DIFS = SIFS + 2 slots; in EDCA its place is taken by AIFS.
    pub(crate) fn difs(&self) -> Span {
        self.sifs + self.slot * self.ifs_slots
    }

    /// EIFS = SIFS + DIFS + an ACK at the lowest basic rate.
    pub(crate) fn eifs(&self) -> Span {
        self.sifs + self.difs() + self.ack_airtime(self.basic_rate)
    }

    /// Airtime of an RTS.
    pub(crate) fn rts_airtime(&self, rate: Rate) -> Span {
        self.airtime(RTS, rate)
    }

    /// Airtime of a CTS, and of an ACK.
    pub(crate) fn ack_airtime(&self, rate: Rate) -> Span {
        self.airtime(CTS, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(coding: Coding, (slot, sifs): (u64, u64), data: &str, control: &str, basic: &str) -> Phy {
        Phy {
            coding,
            slot: Span::from_micros(slot),
            sifs: Span::from_micros(sifs),
            ifs_slots: 2,
            cw_min: 31,
            cw_max: 1023,
            data_rate: data.parse().unwrap(),
            control_rate: control.parse().unwrap(),
            basic_rate: basic.parse().unwrap(),
        }
    }

    /// EIFS, RTS, CTS and the data frame of a 1500 B datagram, in microseconds.
    #[test]
    fn the_timing_table() {
        let long = Coding::Dsss { preamble: Span::from_micros(192), whole_micros: true };
        let short = Coding::Dsss { preamble: Span::from_micros(96), whole_micros: true };
        let a = Coding::Ofdm { extension: Span::ZERO };
        let g = Coding::Ofdm { extension: Span::from_micros(6) };
        let table = [
            (phy(long, (20, 10), "1Mbps", "1Mbps", "1Mbps"), 50, 364, 352, 304, 12_480),
            (phy(long, (20, 10), "2Mbps", "1Mbps", "1Mbps"), 50, 364, 352, 304, 6_336),
            (phy(long, (20, 10), "5.5Mbps", "1Mbps", "1Mbps"), 50, 364, 352, 304, 2_427),
            (phy(long, (20, 10), "11Mbps", "1Mbps", "1Mbps"), 50, 364, 352, 304, 1_310),
            (phy(long, (20, 10), "11Mbps", "2Mbps", "1Mbps"), 50, 364, 272, 248, 1_310),
            (phy(short, (20, 10), "11Mbps", "2Mbps", "1Mbps"), 50, 268, 176, 152, 1_214),
            (phy(a, (9, 16), "6Mbps", "6Mbps", "6Mbps"), 34, 94, 52, 44, 2_072),
            (phy(a, (9, 16), "24Mbps", "24Mbps", "6Mbps"), 34, 94, 28, 28, 536),
            (phy(a, (9, 16), "54Mbps", "24Mbps", "6Mbps"), 34, 94, 28, 28, 248),
            (phy(g, (9, 10), "54Mbps", "24Mbps", "6Mbps"), 28, 88, 34, 34, 254),
        ];
        for (phy, difs, eifs, rts, cts, data) in table {
            let data_frame = phy.airtime(Bytes(1536), phy.data_rate);
            let measured = [
                phy.difs(),
                phy.eifs(),
                phy.rts_airtime(phy.control_rate),
                phy.ack_airtime(phy.control_rate),
                data_frame,
            ];
            assert_eq!(measured.map(|span| span.as_nanos() / 1000), [difs, eifs, rts, cts, data], "{phy:?}");
        }
    }
}
