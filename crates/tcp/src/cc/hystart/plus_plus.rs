//! HyStart++ (RFC 9406): when the RTT rises, slow start goes on at a quarter of its pace before it ends.
//!
//! A round whose minimum RTT exceeds that of the round before by an eighth, within bounds, begins conservative slow start
//! (CSS). If the RTT falls below what began it, the rise was chance and slow start goes on; after five rounds of CSS it is
//! over. It serves the first slow start of a connection alone. There is no ACK train: spacing says little where ACKs
//! are bunched.

use super::params::{CSS_GROWTH, CSS_ROUNDS, MAX_RISE, MIN_RISE, RISE};
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, View};
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// RFC 9406 §4.3: N_RTT_SAMPLE.
const SAMPLES: u32 = 8;

/// The constants of RFC 9406 §4.3 that are parameters.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// 1 / MIN_RTT_DIVISOR, within MIN_RTT_THRESH and MAX_RTT_THRESH.
    rise: f64,
    least_rise: Span,
    most_rise: Span,
    /// CSS_GROWTH_DIVISOR.
    growth: u64,
    /// CSS_ROUNDS.
    rounds: u32,
}

/// The first slow start of a connection.
#[derive(Debug)]
pub(in crate::cc) struct PlusPlus {
    form: Form,
    /// windowEnd: the round is over when this has been acknowledged.
    round_end: SeqNo,
    /// Minimum RTT of the round before; absent if it had no sample.
    last: Option<Span>,
    /// Minimum RTT of this round.
    current: Option<Span>,
    samples: u32,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt: what the RTT had risen to.
    baseline: Span,
    /// Rounds that have ended in it; the one in which it began counts.
    rounds: u32,
    /// Acknowledged bytes that are not yet a quarter of anything.
    left: u64,
}

impl PlusPlus {
    /// With the parameters of an algorithm.
    pub(in crate::cc) fn new(values: &ParamValues) -> PlusPlus {
        let millis = |name| Span::from_secs_f64(values.number(name) * 1e-3);
        let form = Form {
            rise: values.number("hystart_rise"),
            least_rise: millis("hystart_least_rise"),
            most_rise: millis("hystart_most_rise"),
            growth: values.number("css_growth") as u64,
            rounds: values.number("css_rounds") as u32,
        };
        PlusPlus { form, round_end: SeqNo::FIRST_DATA, last: None, current: None, samples: 0, css: None }
    }

    /// With the constants of RFC 9406 §4.3.
    pub(in crate::cc) fn standard() -> PlusPlus {
        PlusPlus::new(&ParamValues::defaults(&[RISE, MIN_RISE, MAX_RISE, CSS_GROWTH, CSS_ROUNDS]))
    }

    pub(in crate::cc) fn is_conservative(&self) -> bool {
        self.css.is_some()
    }

    /// Takes the RTT sample of an ACK in slow start; true if slow start is over.
    pub(in crate::cc) fn on_ack(&mut self, ack: &Ack, view: &View) -> bool {
        if view.snd_una >= self.round_end {
            self.round_end = view.snd_nxt;
            (self.last, self.current, self.samples) = (self.current, None, 0);
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= self.form.rounds {
                    return true;
                }
            }
        }
        if let Some(sample) = ack.rtt {
            self.current = Some(self.current.map_or(sample.latest, |least| least.min(sample.latest)));
            self.samples = self.samples.saturating_add(1);
            self.judge();
        }
        false
    }

    fn judge(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= SAMPLES) else { return };
        match (self.css, self.last) {
            // RFC 9406 §4.2: the rise was spurious
            (Some(css), _) if current < css.baseline => self.css = None,
            // RFC 9406 §4.2: currentRoundMinRTT >= lastRoundMinRTT + clamp(lastRoundMinRTT / 8, 4 ms, 16 ms)
            (None, Some(last)) if current >= last + self.rise(last) => {
                self.css = Some(Css { baseline: current, rounds: 0, left: 0 });
            }
            _ => {}
        }
    }

    fn rise(&self, last: Span) -> Span {
        let rise = Span::from_nanos((last.as_nanos() as f64 * self.form.rise) as u64);
        rise.min(self.form.most_rise).max(self.form.least_rise)
    }

    /// What of `acked` counts for growth: all of it, in CSS a quarter.
    pub(in crate::cc) fn growth(&mut self, acked: Bytes) -> Bytes {
        let Some(css) = &mut self.css else { return acked };
        let due = acked.0 + css.left;
        css.left = due % self.form.growth;
        Bytes(due / self.form.growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::config::CcConfig;
    use crate::cc::parameters::Value;
    use crate::cc::signals::RttSample;

    const MSS: Bytes = Bytes(1460);

    /// A round of `samples` ACKs with that RTT; true if slow start ended in it.
    fn round(sender: &mut PlusPlus, number: u64, samples: u64, rtt_us: u64) -> bool {
        let rtt = Span::from_micros(rtt_us);
        let ack = Ack { acked: MSS, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
        let at = |i| SeqNo(number * 1000 + i);
        let view = |i| View { snd_una: at(i), snd_nxt: at(1000), mss: MSS, ..View::default() };
        (0..samples).any(|i| sender.on_ack(&ack, &view(i)))
    }

    fn with(changed: &[(&str, f64)]) -> PlusPlus {
        let changed: Vec<_> = changed.iter().map(|(name, value)| ((*name).to_owned(), Value::Number(*value))).collect();
        PlusPlus::new(&CcConfig::by_name("cubic", Some("hystart++"), &changed).unwrap().values)
    }

    fn after(last_us: u64, current_us: u64) -> PlusPlus {
        let mut sender = with(&[]);
        round(&mut sender, 1, 8, last_us);
        round(&mut sender, 2, 8, current_us);
        sender
    }

    #[test]
    fn p1_p2_an_eighth_more_begins_css() {
        for (last, current, css) in [
            (100_000, 112_400, false),
            (100_000, 112_500, true),
            (20_000, 23_999, false),
            (20_000, 24_000, true),
            (400_000, 415_999, false),
            (400_000, 416_000, true),
        ] {
            assert_eq!(after(last, current).is_conservative(), css, "{last} {current}");
        }
    }

    #[test]
    fn seven_samples_are_too_few() {
        let mut sender = after(100_000, 100_000);
        round(&mut sender, 3, 7, 200_000);
        assert!(!sender.is_conservative());
    }

    #[test]
    fn p3_css_grows_by_a_quarter() {
        let mut sender = after(100_000, 200_000);
        let grown: u64 = (0..8).map(|_| sender.growth(MSS).0).sum();
        assert_eq!(grown, 2 * MSS.0);
        let grown: u64 = (0..8).map(|_| sender.growth(Bytes(1)).0).sum();
        assert_eq!(grown, 2, "what is left over is kept");
        assert_eq!(after(100_000, 100_000).growth(MSS), MSS);
    }

    #[test]
    fn p4_a_round_below_the_baseline_ends_css() {
        let mut sender = after(100_000, 120_000);
        round(&mut sender, 3, 8, 120_000);
        assert!(sender.is_conservative());
        round(&mut sender, 4, 8, 119_999);
        assert!(!sender.is_conservative());
    }

    #[test]
    fn five_rounds_of_css_end_slow_start() {
        let mut sender = after(100_000, 120_000);
        let ended = (3..20).find(|number| round(&mut sender, *number, 8, 120_000));
        // Rounds 2 to 6 were conservative; the first ACK of round 7 tells that they are over.
        assert_eq!(ended, Some(7));
    }

    #[test]
    fn the_constants_are_parameters() {
        let rises = [("hystart_rise", 0.25), ("hystart_least_rise", 2.0), ("hystart_most_rise", 20.0)];
        let rise = |last_ms| with(&rises).rise(Span::from_millis(last_ms));
        assert_eq!([4, 40, 400].map(rise), [2, 10, 20].map(Span::from_millis));
        let mut sender = with(&[("css_growth", 2.0), ("css_rounds", 1.0)]);
        round(&mut sender, 1, 8, 100_000);
        round(&mut sender, 2, 8, 200_000);
        assert_eq!(sender.growth(MSS), Bytes(MSS.0 / 2));
        assert!(round(&mut sender, 3, 8, 200_000));
    }
}
