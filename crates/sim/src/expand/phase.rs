//! Constant-rate sources of one period keep their phase: before a full drop-tail queue the same one always finds the room that a
//! departure has left.

use std::collections::BTreeMap;

use tcp::units::{Rate, Span};

use super::check::{interval_nanos, transport_of};
use super::graph::direction_options;
use super::paths::Paths;
use crate::ids::LinkId;
use crate::scenario::{AppDef, CbrDef, FlowDef, Queue, Scenario, ScenarioWarning, StartJitter, TransportDef};

/// Sources of one period, by the index of their flow.
type Alike<'a> = Vec<(usize, &'a CbrDef)>;

/// One warning for each period that several sources share, if they fill a drop-tail queue that they meet at.
pub(super) fn warnings(resolved: &Scenario, graph: &Scenario) -> Vec<ScenarioWarning> {
    let mut periods: BTreeMap<u64, Alike<'_>> = BTreeMap::new();
    for (i, flow) in resolved.flow.iter().enumerate() {
        if let Some((period, cbr)) = source(flow) {
            periods.entry(period).or_default().push((i, cbr));
        }
    }
    periods.retain(|_, alike| alike.len() > 1);
    if periods.is_empty() {
        return Vec::new();
    }
    let paths = Paths::of(graph);
    periods.iter().filter_map(|(period, alike)| warning(graph, &paths, *period, alike)).collect()
}

/// The warning of sources of one period: it names the slowest link that they fill.
fn warning(graph: &Scenario, paths: &Paths<'_>, period: u64, alike: &[(usize, &CbrDef)]) -> Option<ScenarioWarning> {
    let mut meetings: BTreeMap<LinkId, Alike<'_>> = BTreeMap::new();
    for &(i, cbr) in alike {
        let flow = &graph.flow[i];
        for link in paths.between(&flow.from, &flow.to).into_iter().flatten() {
            meetings.entry(link).or_default().push((i, cbr));
        }
    }
    let full = meetings.iter().filter_map(|(link, met)| {
        let rate = tail_rate(graph, *link)?;
        let bytes: u64 = met.iter().map(|(_, cbr)| cbr.size.0).sum();
        (met.len() > 1 && bytes as f64 * 8e9 / period as f64 > rate.as_bps() as f64).then_some((rate, met))
    });
    let (rate, met) = full.min_by_key(|(rate, _)| *rate)?;
    let message = format!(
        "{} constant-rate sources of this period, without start_jitter, together exceed {rate}: before a full queue their phase \
         decides for the whole run whose packets are lost; give start_jitter, or rates that differ",
        met.len()
    );
    Some(ScenarioWarning::new(format!("flow[{}].app.rate", met[0].0), message))
}

/// The rate of a direction of a link with a drop-tail queue.
fn tail_rate(graph: &Scenario, link: LinkId) -> Option<Rate> {
    let options = direction_options(&graph.link, link.index());
    options.rate.filter(|_| matches!(options.queue, Some(Queue::DropTail(_))))
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
    use crate::expand::resolve;
    use crate::expand::warnings::said;
    use crate::scenario::Scenario;

    fn of(flows: &str, queue: &str) -> Vec<String> {
        let network =
            format!(r#"{{"kind": "dumbbell", "pairs": 2, "bottleneck": {{"rate": "30Mbps", "queue": {queue}}}}}"#);
        let text = format!(r#"{{"duration": "1s", "network": {network}, "flow": [{flows}]}}"#);
        said(&text)
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
        let back = r#"{"kind": "fq_codel"}, "reverse": {"queue": "100p"}"#;
        assert!(of(&two("20Mbps", ""), back).is_empty(), "the queue of the other direction");
        let other_way = cbr(1, "20Mbps", "").replace("left", "?").replace("right", "left").replace('?', "right");
        assert!(of(&format!("{}, {other_way}", cbr(0, "20Mbps", "")), r#""100p""#).is_empty(), "they do not meet");
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
