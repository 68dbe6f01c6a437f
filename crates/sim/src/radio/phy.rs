//! Timing of the 802.11 PHYs: slot time, interframe spaces and airtime.

use tcp::units::{Bytes, Rate, Span};

/// Modulation family, which decides the airtime.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Coding {
    /// DSSS and CCK: a preamble at a fixed rate, then the PSDU, rounded up to whole microseconds, though not in ns-2.
    Dsss { preamble: Span, whole_micros: bool },
    /// OFDM of 20 MHz: a preamble of 20 us and symbols of 4 us; 802.11g adds a signal extension of 6 us.
    Ofdm { extension: Span },
}

/// A PHY with its rates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Phy {
    pub(crate) coding: Coding,
    pub(crate) slot: Span,
    pub(crate) sifs: Span,
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

impl Phy {
    /// Airtime of an MPDU.
    pub(crate) fn airtime(&self, frame: Bytes, rate: Rate) -> Span {
        match self.coding {
            Coding::Dsss { preamble, whole_micros } => {
                let bits = rate.transmission_time(frame);
                let micros = bits.as_nanos().div_ceil(1000);
                preamble + if whole_micros { Span::from_micros(micros) } else { bits }
            }
            Coding::Ofdm { extension } => {
                // service 16 bits, tail 6 bits; N_DBPS = rate x 4 us
                let per_symbol = rate.as_bps() * 4 / 1_000_000;
                let symbols = (22 + 8 * frame.0).div_ceil(per_symbol.max(1));
                Span::from_micros(20 + 4 * symbols) + extension
            }
        }
    }

    /// DIFS = SIFS + 2 slots.
    pub(crate) fn difs(&self) -> Span {
        self.sifs + self.slot * 2
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
