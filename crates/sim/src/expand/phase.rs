//! Constant-rate sources of one period keep their phase: before a full drop-tail queue the same one always finds the room that a
//! departure has left.

use tcp::units::{Rate, Span};

use super::check::{interval_nanos, transport_of};
use super::graph::{forward_options, link, reverse_options};
use crate::scenario::{AppDef, CbrDef, FlowDef, LinkDef, Queue, Scenario, ScenarioWarning, StartJitter, TransportDef};

/// One warning for each period that several sources share, if they fill the slowest drop-tail queue together.
pub(super) fn warnings(resolved: &Scenario) -> Vec<ScenarioWarning> {
    let shorthand = resolved.network.links().into_iter().map(|(_, options)| link("", "", options));
    let Some(slowest) = shorthand.chain(resolved.link.iter().cloned()).filter_map(|def| slower_tail(&def)).min() else {
        return Vec::new();
    };
    let sources: Vec<(usize, u64, &CbrDef)> = resolved
        .flow
        .iter()
        .enumerate()
        .filter_map(|(i, flow)| source(flow).map(|(period, cbr)| (i, period, cbr)))
        .collect();
    let mut found = Vec::new();
    for (i, period, _) in &sources {
        let alike: Vec<_> = sources.iter().filter(|(_, other, _)| other == period).collect();
        let bytes: u64 = alike.iter().map(|(_, _, cbr)| cbr.size.0).sum();
        if alike.len() > 1 && alike[0].0 == *i && bytes as f64 * 8e9 / *period as f64 > slowest.as_bps() as f64 {
            let message = format!(
                "{} constant-rate sources of this period, without start_jitter, together exceed {slowest}: before a full queue their \
                 phase decides for the whole run whose packets are lost; give start_jitter, or rates that differ",
                alike.len()
            );
            found.push(ScenarioWarning::new(format!("flow[{i}].app.rate"), message));
        }
    }
    found
}

/// The rate of the slower direction with a drop-tail queue.
fn slower_tail(def: &LinkDef) -> Option<Rate> {
    let both = [forward_options(def), reverse_options(def)];
    both.into_iter().filter(|one| matches!(one.queue, Some(Queue::DropTail(_)))).filter_map(|one| one.rate).min()
}

/// The period in nanoseconds of a constant-rate source that starts exactly when it says.
fn source(flow: &FlowDef) -> Option<(u64, &CbrDef)> {
    let AppDef::Cbr(cbr) = &flow.app else { return None };
    let exact =
        flow.start_jitter == Some(StartJitter::Span(Span::ZERO)) && transport_of(&flow.app) == TransportDef::Udp;
    (exact && cbr.phases.is_empty()).then(|| (interval_nanos(cbr.rate, cbr.size) as u64, cbr))
}

#[cfg(test)]
mod tests {
    use crate::expand::{resolve, warnings};
    use crate::scenario::Scenario;

    fn of(flows: &str, queue: &str) -> Vec<String> {
        let network =
            format!(r#"{{"kind": "dumbbell", "pairs": 2, "bottleneck": {{"rate": "30Mbps", "queue": {queue}}}}}"#);
        let text = format!(r#"{{"duration": "1s", "network": {network}, "flow": [{flows}]}}"#);
        let given = Scenario::from_json(&text).unwrap();
        warnings(&given, &resolve(&given).unwrap()).iter().map(ToString::to_string).collect()
    }

    fn cbr(pair: u64, rate: &str, more: &str) -> String {
        let app = format!(r#"{{"kind": "cbr", "rate": "{rate}", "size": "1472B", "transport": "udp"}}"#);
        format!(r#"{{"from": "left{pair}", "to": "right{pair}", "app": {app}{more}}}"#)
    }

    #[test]
    fn sources_of_one_period_before_a_full_queue_are_named_once() {
        let two = |second: &str, more: &str| format!("{}, {}", cbr(0, "20Mbps", ""), cbr(1, second, more));
        let found = of(&two("20Mbps", ""), r#""100p""#);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("flow[0].app.rate: 2 constant-rate sources of this period"), "{found:?}");
        assert!(found[0].contains("exceed 30Mbps"), "{found:?}");
        assert_eq!(of(&cbr(0, "20Mbps", r#", "count": 3"#), r#""100p""#).len(), 1);
        assert!(of(&two("20.2Mbps", ""), r#""100p""#).is_empty(), "they drift");
        assert!(of(&two("20Mbps", r#", "start_jitter": "10ms""#), r#""100p""#).is_empty());
        assert!(of(&two("20Mbps", ""), r#"{"kind": "fq_codel"}"#).is_empty());
        assert!(of(&format!("{}, {}", cbr(0, "10Mbps", ""), cbr(1, "10Mbps", "")), r#""100p""#).is_empty(), "they fit");
    }

    #[test]
    fn a_count_adds_flows_behind_those_that_are_listed() {
        let resolved = |flows: &str| {
            let network = r#"{"kind": "dumbbell", "pairs": 2}"#;
            resolve(
                &Scenario::from_json(&format!(r#"{{"duration": "1s", "network": {network}, "flow": [{flows}]}}"#))
                    .unwrap(),
            )
        };
        let flow = |pair: u64, more: &str| format!(r#"{{"from": "left{pair}", "to": "right{pair}"{more}}}"#);
        let made = resolved(&format!("{}, {}", flow(0, r#", "count": 3"#), flow(1, ""))).unwrap();
        let from: Vec<&str> = made.flow.iter().map(|flow| flow.from.as_str()).collect();
        assert_eq!(from, ["left0", "left1", "left0", "left0"]);
        assert!(made.flow.iter().all(|flow| flow.count.is_none()));
        assert_eq!(resolve(&made).unwrap(), made);
        let refused = |more: &str| resolved(&flow(0, more)).unwrap_err().to_string();
        assert!(refused(r#", "count": 0"#).starts_with("flow[0].count: 0 is not a count from 1"));
        assert!(refused(r#", "count": 100001"#).starts_with("flow[0].count: 100001 is not"));
        assert!(refused(r#", "count": 2, "name": "x""#).starts_with("flow[0].count: stands beside name"));
    }
}
