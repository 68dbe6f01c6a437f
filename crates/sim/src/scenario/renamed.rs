//! Renamed keys and values: an old name is an error that says the new one.

use super::error::ScenarioError;

/// A name that no longer exists.
struct Renamed {
    /// Key of the table that had the key, or key that had the value.
    within: &'static str,
    old: &'static str,
    new: &'static str,
}

const fn renamed(within: &'static str, old: &'static str, new: &'static str) -> Renamed {
    Renamed { within, old, new }
}

const RENAMED: &[Renamed] = &[
    renamed("tcp", "descent", "cwnd_reduction"),
    renamed("cwnd_reduction", "at_once", "immediate"),
    renamed("tcp", "bundles", "tso_psh"),
    renamed("tcp", "idle_restart", "slow_start_after_idle"),
    renamed("tcp", "one_way_agent", "agent"),
    renamed("tcp", "headers", "agent.headers"),
    renamed("tcp", "whole_segments", "agent.whole_segments"),
    renamed("tcp", "tick_phase", "agent.tick_phase"),
    renamed("network", "handoff_interval", "handover_interval"),
    renamed("network", "handoff_jitter", "handover_jitter"),
    renamed("network", "handoff_requeue", "handover_requeue"),
];

/// A profile or parameter of an algorithm that has another name, or another algorithm.
struct OfAlgorithm {
    algorithm: &'static str,
    old: &'static str,
    new: &'static str,
}

const fn of(algorithm: &'static str, old: &'static str, new: &'static str) -> OfAlgorithm {
    OfAlgorithm { algorithm, old, new }
}

const OF_ALGORITHMS: &[OfAlgorithm] = &[
    of("ewphcc", "seed", "`code`"),
    of("ewphcc", "seed_fixed", "`code_fixed`"),
    of("asran", "seed", "`code`"),
    of("fr", "seed", "`report`"),
    of("fr", "seed_quirks", "`code`"),
    of("cubic", "seed", "the algorithm `hystart_report`"),
    of("cubic", "curr_rtt_bug", "a parameter of `hystart_report`"),
    of("cubic", "unit_mix", "a parameter of `hystart_report`"),
    of("cubic", "hystart_skip_first", "a parameter of `hystart_report`"),
    of("htcp", "ns3_quirks", "`quirks`"),
];

/// What to say of a profile or parameter of `algorithm` that no longer has this name, or is another's.
pub(super) fn of_algorithm(algorithm: &str, old: &str) -> Option<String> {
    if old == "beta_ecn" && matches!(algorithm, "dctcp" | "prague") {
        return Some("dctcp and prague have a reduction of their own for marks".to_owned());
    }
    let row = OF_ALGORITHMS.iter().find(|row| row.algorithm == algorithm && row.old == old)?;
    Some(format!("`{old}` is now {}", row.new))
}

/// An error, with the new name if it is about a renamed key or value.
pub(super) fn explain(error: ScenarioError) -> ScenarioError {
    let unknown = |what: &str| error.message.strip_prefix(what).and_then(|rest| rest.split('`').next());
    let (old, place) = if let Some(key) = unknown("unknown key `") {
        (key, error.path.strip_suffix(key).unwrap_or(&error.path).trim_end_matches('.'))
    } else if let Some(value) = unknown("unknown value `") {
        (value, error.path.as_str())
    } else {
        return error;
    };
    let within = place.rsplit('.').next().unwrap_or_default();
    match RENAMED.iter().find(|row| row.old == old && row.within == within) {
        Some(row) => {
            let message = format!("`{}` is now `{}`", row.old, row.new);
            ScenarioError { message, hint: None, ..error }
        }
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;

    /// The error of a scenario with `value` at `key` of `within`.
    fn error_of(within: &str, key: &str, value: &str) -> ScenarioError {
        let entry = format!("{key:?}: {value:?}");
        let tcp = if within == "tcp" { entry.as_str() } else { "" };
        let (kind, network) = match within {
            "network" => ("constellation", format!(", {entry}")),
            _ => ("dumbbell", String::new()),
        };
        let text = format!(
            r#"{{"duration": "1s", "network": {{"kind": {kind:?}{network}}}, "tcp": {{{tcp}}},
                "flow": [{{"from": "left0", "to": "right0", "tcp": {{{tcp}}}}}]}}"#
        );
        Scenario::from_json(&text).unwrap_err()
    }

    #[test]
    fn every_old_name_is_refused_with_the_new_one() {
        for row in RENAMED {
            let error = match row.within {
                "tcp" | "network" => error_of(row.within, row.old, "1s"),
                key => error_of("tcp", key, row.old),
            };
            assert_eq!(error.message, format!("`{}` is now `{}`", row.old, row.new), "{error}");
            assert!(error.path.ends_with(row.old) || error.path.ends_with(row.within), "{error}");
        }
    }

    #[test]
    fn every_old_name_of_an_algorithm_is_refused_with_the_new_one() {
        for row in OF_ALGORITHMS {
            let choices = [format!(r#""profile": {:?}"#, row.old), format!("{:?}: true", row.old)];
            let errors = choices.map(|choice| {
                let cc = format!(r#"{{"name": {:?}, {choice}}}"#, row.algorithm);
                let text = format!(
                    r#"{{"duration": "1s", "network": {{"kind": "dumbbell", "pairs": 1}},
                        "flow": [{{"from": "left0", "to": "right0", "cc": {cc}}}]}}"#
                );
                crate::expand(&Scenario::from_json(&text).unwrap(), 1).unwrap_err().message
            });
            assert!(errors.contains(&format!("`{}` is now {}", row.old, row.new)), "{errors:?}");
        }
    }

    #[test]
    fn other_mistakes_stay_what_they_are() {
        assert!(error_of("tcp", "descend", "1s").message.starts_with("unknown key `descend`"));
        assert!(error_of("tcp", "handoff_interval", "1s").message.starts_with("unknown key"));
    }
}
