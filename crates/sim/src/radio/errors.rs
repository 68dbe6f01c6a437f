//! Bit error models: the probability that bits survive, given the signal-to-noise-and-interference ratio (SINR,
//! linear).

use tcp::units::{Rate, Span, Time};

/// A data rate with its modulation and the SINR that it needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RateMode {
    pub(crate) rate: Rate,
    /// SINR at which half of all frames of 1536 B survive.
    pub(crate) ratio: f64,
    /// Power below which frames at this rate are in error whatever the SINR, watts.
    pub(crate) sensitivity: f64,
    pub(crate) mode: Mode,
    pub(crate) header: PhyHeader,
}

impl RateMode {
    /// Probability that a frame of this length survives the interval between two instants, counted from its start.
    pub(super) fn survival(&self, length: Span, (from, to): (Span, Span), ratio: f64) -> f64 {
        let header = &self.header;
        let overlap = |start: Span, end: Span| to.min(end).saturating_sub(from.max(start)).as_secs_f64();
        let of_header = overlap(header.end.saturating_sub(header.length), header.end) / header.length.as_secs_f64();
        let payload = overlap(header.end, length.saturating_sub(header.tail)) * self.rate.as_bps() as f64;
        header.mode.survival(of_header * header.bits, ratio) * self.mode.survival(payload, ratio)
    }
}

/// What precedes the PSDU: preamble and PHY header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PhyHeader {
    /// Time from the start of the signal to the start of the PSDU.
    pub(crate) end: Span,
    /// Duration of the PHY header, the last part of that, and its bits.
    pub(crate) length: Span,
    pub(crate) bits: f64,
    pub(crate) mode: Mode,
    /// Signal extension: silence that belongs to the frame.
    pub(crate) tail: Span,
}

/// State of the reception in progress: probability of survival so far, and the SINR since an instant.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct ReceptionState {
    pub(super) survival: f64,
    pub(super) ratio: f64,
    pub(super) since: Time,
}

/// Modulation, with the code rate of OFDM.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Mode {
    /// OFDM: constellation points and convolutional code.
    Ofdm { points: u32, code: Code },
    /// 1 Mb/s.
    Dbpsk,
    /// 2 Mb/s.
    Dqpsk,
    /// 5.5 Mb/s.
    Cck5,
    /// 11 Mb/s.
    Cck11,
    /// 802.15.4 at 2.4 GHz.
    Oqpsk,
}

/// Rate of the convolutional code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
    /// 802.11n only.
    FiveSixths,
}

/// Distance spectrum of a convolutional code: factor, exponent of the first term, step of the exponents, terms.
struct Spectrum {
    factor: f64,
    first: i32,
    step: i32,
    terms: &'static [f64],
}

const HALF: Spectrum = Spectrum {
    factor: 1.0 / 2.0,
    first: 10,
    step: 2,
    terms: &[36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0],
};
const TWO_THIRDS: Spectrum = Spectrum {
    factor: 1.0 / 4.0,
    first: 6,
    step: 1,
    terms: &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
};
const THREE_QUARTERS: Spectrum = Spectrum {
    factor: 1.0 / 6.0,
    first: 5,
    step: 1,
    terms: &[
        42.0,
        201.0,
        1_492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};

const FIVE_SIXTHS: Spectrum = Spectrum {
    factor: 1.0 / 10.0,
    first: 4,
    step: 1,
    terms: &[
        92.0,
        528.0,
        8_694.0,
        79_453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
};

impl Mode {
    /// Bit error rate.
    fn bit_error(self, ratio: f64) -> f64 {
        match self {
            Mode::Ofdm { points, code } => coded(uncoded(points, ratio), code),
            Mode::Dbpsk => 0.5 * libm::exp(-22.0 * ratio),
            Mode::Dqpsk => {
                let (root, per_bit) = (std::f64::consts::SQRT_2, 11.0 * ratio);
                let factor = (root + 1.0) / (8.0 * std::f64::consts::PI * root).sqrt();
                factor / per_bit.sqrt() * libm::exp(-(2.0 - root) * per_bit)
            }
            Mode::Oqpsk => oqpsk(ratio),
            // Fits valid between 0.1 and 10.
            _ if ratio > 10.0 => 0.0,
            _ if ratio < 0.1 => 0.5,
            Mode::Cck5 => {
                let scaled = (ratio - 0.003_309_24) / 0.416_543_72;
                0.536_816_34 * libm::exp(-libm::pow(scaled, 1.028_898_14))
            }
            Mode::Cck11 => {
                let s = ratio;
                let above = 0.007_905_674_3 * s * s - 0.183_974_494_0 * s + 1.074_068_946_9;
                above / (s * s * s + 1.052_331_690_5 * s * s + 0.305_522_987_5 * s + 2.203_271_512_9)
            }
        }
    }

    /// Probability that all of `bits` bits survive.
    pub(super) fn survival(self, bits: f64, ratio: f64) -> f64 {
        if bits <= 0.0 { 1.0 } else { survival_of(self.bit_error(ratio), bits) }
    }
}

fn survival_of(error: f64, bits: f64) -> f64 {
    libm::exp(bits * libm::log1p(-error.clamp(0.0, 1.0)))
}

fn uncoded(points: u32, ratio: f64) -> f64 {
    match points {
        2 => 0.5 * libm::erfc(ratio.sqrt()),
        4 => 0.5 * libm::erfc((ratio / 2.0).sqrt()),
        points => {
            let side = f64::from(points).sqrt();
            let factor = (side - 1.0) / (side * libm::log2(side));
            factor * libm::erfc((3.0 * ratio / (2.0 * (f64::from(points) - 1.0))).sqrt())
        }
    }
}

/// The union bound over the first terms of the code's spectrum (NIST).
fn coded(error: f64, code: Code) -> f64 {
    let spectrum = match code {
        Code::Half => HALF,
        Code::TwoThirds => TWO_THIRDS,
        Code::ThreeQuarters => THREE_QUARTERS,
        Code::FiveSixths => FIVE_SIXTHS,
    };
    // Σ term · base^(first + k · step) by Horner's rule: ten times as fast as ten powers.
    let squared = 4.0 * error * (1.0 - error);
    let base = squared.sqrt();
    let step = if spectrum.step == 2 { squared } else { base };
    let sum = spectrum.terms.iter().rev().fold(0.0, |sum, term| sum * step + term);
    let first = (0..spectrum.first).fold(1.0, |power, _| power * base);
    (spectrum.factor * sum * first).min(1.0)
}

/// Bit error rate of O-QPSK with 16 chip sequences (IEEE 802.15.4, 2.4 GHz).
fn oqpsk(ratio: f64) -> f64 {
    let mut choose = 1.0;
    let mut sum = 0.0;
    for k in 1..=16_u32 {
        choose *= f64::from(17 - k) / f64::from(k);
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        if k >= 2 {
            sum += sign * choose * libm::exp(20.0 * ratio * (1.0 / f64::from(k) - 1.0));
        }
    }
    8.0 / 15.0 / 16.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(db: f64) -> f64 {
        libm::pow(10.0, db / 10.0)
    }

    /// Computed apart from this code.
    #[test]
    fn the_vectors() {
        let fastest = Mode::Ofdm { points: 64, code: Code::ThreeQuarters };
        let table = [
            (fastest.survival(12_288.0, linear(22.0)), 0.504_652, 5e-7),
            (fastest.survival(12_288.0, linear(24.0)), 0.999_003, 5e-7),
            (Mode::Dbpsk.survival(12_288.0, linear(-4.0)), 0.380_78, 5e-6),
            (Mode::Dqpsk.survival(12_288.0, linear(2.0)), 0.957_20, 5e-6),
            (Mode::Cck11.survival(12_288.0, linear(10.0)), 0.759_24, 5e-6),
            (Mode::Oqpsk.survival(1064.0, linear(-1.0)), 0.294_29, 5e-6),
            (Mode::Oqpsk.survival(1064.0, linear(0.0)), 0.842_08, 5e-6),
            (Mode::Oqpsk.survival(1064.0, linear(1.0)), 0.986_36, 5e-6),
        ];
        for (index, (measured, expected, within)) in table.into_iter().enumerate() {
            assert!((measured - expected).abs() < within, "vector {index}: {measured} of {expected}");
        }
    }

    /// The SINR at which half of all frames of 1536 B survive: the thresholds of the SINR rule.
    #[test]
    fn half_of_the_frames_survive_at_the_thresholds() {
        let ofdm = |points, code| Mode::Ofdm { points, code };
        let table = [
            (ofdm(2, Code::Half), 3.43),
            (ofdm(2, Code::ThreeQuarters), 6.29),
            (ofdm(4, Code::Half), 6.44),
            (ofdm(4, Code::ThreeQuarters), 9.30),
            (ofdm(16, Code::Half), 12.92),
            (ofdm(16, Code::ThreeQuarters), 16.02),
            (ofdm(64, Code::TwoThirds), 20.76),
            (ofdm(64, Code::ThreeQuarters), 22.00),
            (ofdm(64, Code::FiveSixths), 23.16),
        ];
        for (mode, db) in table {
            let chance = |db| mode.survival(12_288.0, linear(db));
            assert!(chance(db - 0.01) < 0.5 && chance(db + 0.01) > 0.5, "{mode:?}: {}", chance(db));
        }
    }

    #[test]
    fn no_bits_survive_no_signal_and_zero_bits_survive_anything() {
        for mode in [Mode::Dbpsk, Mode::Dqpsk, Mode::Cck5, Mode::Cck11, Mode::Ofdm { points: 2, code: Code::Half }] {
            assert!(mode.survival(1000.0, 0.0) < 1e-100 && mode.survival(0.0, 0.0) == 1.0, "{mode:?}");
        }
    }
}
