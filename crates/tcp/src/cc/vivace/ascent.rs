//! The step up the gradient: a confidence that amplifies it and a bound that holds it (Vivace 2018).

use crate::cc::parameters::ParamValues;

/// What decides how long a step is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ascent {
    /// theta_0, in Mb/s.
    theta: f64,
    bound: f64,
    bound_step: f64,
    /// Steps in a row in one direction; below zero downwards.
    in_a_row: i32,
    /// How often the bound was raised: k.
    raised: i32,
}

impl Ascent {
    pub(super) fn new(values: &ParamValues) -> Ascent {
        Ascent {
            theta: values.number("step"),
            bound: values.number("bound"),
            bound_step: values.number("bound_step"),
            in_a_row: 0,
            raised: 0,
        }
    }

    /// The change of a `rate` in Mb/s for this gradient of utility per Mb/s.
    pub(super) fn step(&mut self, gradient: f64, rate: f64) -> f64 {
        let direction = if gradient > 0.0 { 1 } else { -1 };
        if self.in_a_row.signum() != direction {
            (self.in_a_row, self.raised) = (0, 0);
        }
        self.in_a_row = self.in_a_row.saturating_add(direction);
        let change = self.theta * self.amplifier() * gradient;
        let most = self.most() * rate;
        if change.abs() > most {
            self.raised = self.raised.saturating_add(1);
            return most * f64::from(direction);
        }
        // The bound falls to the least that would have allowed this step.
        while self.raised > 0 && change.abs() <= (self.bound + self.bound_step * f64::from(self.raised - 1)) * rate {
            self.raised -= 1;
        }
        change
    }

    /// m(tau): tau up to 3, 2 tau - 3 beyond.
    fn amplifier(&self) -> f64 {
        let tau = f64::from(self.in_a_row.unsigned_abs());
        if tau <= 3.0 { tau } else { 2.0 * tau - 3.0 }
    }

    /// omega = omega_0 + k delta
    fn most(&self) -> f64 {
        self.bound + self.bound_step * f64::from(self.raised)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::config::CcConfig;

    fn ascent() -> Ascent {
        Ascent::new(&CcConfig::by_name("vivace", None, &[]).unwrap().values)
    }

    #[test]
    fn confidence_amplifies_steps_in_one_direction() {
        let mut ascent = ascent();
        let steps: Vec<f64> = (0..5).map(|_| ascent.step(0.5, 1000.0)).collect();
        assert_eq!(steps, [0.5, 1.0, 1.5, 2.5, 3.5]);
        assert_eq!(ascent.step(-0.5, 1000.0), -0.5);
    }

    #[test]
    fn the_bound_grows_while_it_is_met_and_falls_to_what_is_needed() {
        let mut ascent = ascent();
        let steps: Vec<f64> = (0..3).map(|_| ascent.step(-1e6, 100.0)).collect();
        for (step, wanted) in steps.into_iter().zip([-5.0, -15.0, -25.0]) {
            assert!((step - wanted).abs() < 1e-9, "{step}");
        }
        assert_eq!(ascent.raised, 3);
        // The fourth step in a row: five times 3 Mb/s.
        assert_eq!((ascent.step(-3.0, 100.0), ascent.raised), (-15.0, 1));
        assert_eq!((ascent.step(1e6, 100.0), ascent.raised), (5.0, 1), "a new direction begins anew");
    }
}
