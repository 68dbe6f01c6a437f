//! The gains of PIE, which `tc` counts in sixteenths.

use crate::scenario::join;

/// Gains that look like those of `tc`.
pub(super) fn warn_of([alpha, beta]: [f64; 2], path: &str, warn: &mut impl FnMut(String, String)) {
    for (key, gain, usual, most) in [("alpha", alpha, 0.125, 2.0), ("beta", beta, 1.25, 20.0)] {
        let (times, meant) = (gain / usual, gain / 16.0);
        let message =
            format!("{gain} per second is {times} times RFC 8033's {usual}; tc's \"{key} {gain}\" is {meant}");
        if gain > most {
            warn(join(path, key), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expand::warnings::said;

    #[test]
    fn gains_of_pie_that_are_those_of_tc_are_warned_of() {
        for kind in ["pie", "fq_pie"] {
            let gains = |more: &str| {
                said(&format!(
                    r#"{{"duration": "1s", "flow": [{{"from": "left0", "to": "right0"}}], "network": {{
                        "kind": "dumbbell", "bottleneck": {{"queue": {{"kind": "{kind}", {more}}}}}}}}}"#
                ))
            };
            let alpha = "alpha: 4 per second is 32 times RFC 8033's 0.125; tc's \"alpha 4\" is 0.25";
            let beta = "beta: 25 per second is 20 times RFC 8033's 1.25; tc's \"beta 25\" is 1.5625";
            assert_eq!(gains(r#""alpha": 4"#), [format!("network.bottleneck.queue.{alpha}")]);
            assert_eq!(gains(r#""beta": 25"#), [format!("network.bottleneck.queue.{beta}")]);
            assert!(gains(r#""alpha": 2, "beta": 20"#).is_empty());
        }
    }
}
