//! Loss by the medium. A link has a random stream of its own.

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};

use super::draw::Correlated;
use super::effects::Stretches;
use crate::packet::Packet;

/// A loss model with its state.
#[derive(Clone, Debug)]
pub(crate) enum Loss {
    /// Nothing is lost.
    None,
    /// Each packet is lost with this probability.
    Packet(f64, Correlated),
    /// Each bit is in error with this probability; one error loses the packet.
    Bit(f64),
    /// Each byte is in error with this probability; one error loses the packet.
    Byte(f64),
    /// Two states, each with its loss probability, stepped per packet (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability of leaving the good state.
        good_to_bad: f64,
        /// Probability of leaving the bad state.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
        /// The state.
        bad: bool,
    },
    /// Within stretches of time.
    During(Stretches, Box<Loss>),
    /// The data-bearing packets with these 0-based numbers, in ascending order, counted as they enter the link.
    Nth {
        /// The numbers.
        numbers: Vec<u64>,
        /// Number of data-bearing packets so far.
        seen: u64,
    },
}

impl Loss {
    /// True if a packet is lost as it enters the link. Only the scripted model acts there: its numbers count packets as a
    /// trace at the entrance shows them.
    pub(crate) fn at_entrance(&mut self, packet: &Packet) -> bool {
        let Loss::Nth { numbers, seen } = self else { return false };
        if !packet.has_data() {
            return false;
        }
        *seen += 1;
        numbers.binary_search(&(*seen - 1)).is_ok()
    }

    /// True if a packet of this size is lost at the receiving end.
    pub(crate) fn at_receiver(&mut self, now: Time, size: Bytes, rng: &mut Rng) -> bool {
        match self {
            Loss::None | Loss::Nth { .. } => false,
            Loss::During(stretches, loss) => stretches.act(now) && loss.at_receiver(now, size, rng),
            Loss::Packet(p, draws) => draws.chance(*p, rng),
            // p = 1 - (1 - BER)^(8 L)
            Loss::Bit(ber) => rng.chance(-libm::expm1(8.0 * size.as_f64() * libm::log1p(-*ber))),
            // p = 1 - (1 - e)^L
            Loss::Byte(rate) => rng.chance(-libm::expm1(size.as_f64() * libm::log1p(-*rate))),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad, bad } => {
                let leave = if *bad { *bad_to_good } else { *good_to_bad };
                *bad ^= rng.chance(leave);
                rng.chance(if *bad { *loss_bad } else { *loss_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(mut loss: Loss, size: u64) -> f64 {
        let mut rng = Rng::stream(1, "loss");
        let n = 200_000;
        (0..n).filter(|_| loss.at_receiver(Time::ZERO, Bytes(size), &mut rng)).count() as f64 / f64::from(n)
    }

    /// Five standard errors of a share of 200,000 draws.
    fn near(measured: f64, p: f64) -> bool {
        (measured - p).abs() < 5.0 * f64::sqrt(p * (1.0 - p) / 200_000.0)
    }

    #[test]
    fn shares_of_lost_packets() {
        assert!(near(share(Loss::Packet(0.01, Correlated::of(0.0)), 1000), 0.01));
        // 1e-4 per byte of 552 bytes is 5.4 %; here per bit of 69 bytes, the same number of trials.
        assert!(near(share(Loss::Bit(1e-4), 69), 1.0 - f64::powi(1.0 - 1e-4, 552)));
        // At 1e-4 per byte a frame of 590 B (PPP 2, IP 20, TCP 32, payload 536) is lost with 5.73 %.
        assert!(near(share(Loss::Byte(1e-4), 590), 0.0573));
        assert_eq!(share(Loss::None, 1000), 0.0);
    }

    #[test]
    fn gilbert_elliott_spends_its_stationary_share_in_the_bad_state() {
        let model = |loss_good, loss_bad| Loss::GilbertElliott {
            good_to_bad: 0.2,
            bad_to_good: 0.6,
            loss_good,
            loss_bad,
            bad: false,
        };
        // Stationary share of the bad state: 0.2 / (0.2 + 0.6). Correlated draws: variance (1 + l) / (1 - l) with l = 0.2.
        assert!((share(model(0.0, 1.0), 1000) - 0.25).abs() < 5.0 * f64::sqrt(0.25 * 0.75 * 1.5 / 200_000.0));
    }
}
