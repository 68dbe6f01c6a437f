//! Defaults that what is given beside them puts out of reach: a target of delay that the limit of a queue does not hold, thresholds above
//! it, and the window of tuned hosts on a path that an untuned one would not fill.

use tcp::units::{Bytes, Rate, Span};

use super::graph::direction_options;
use super::paths::Paths;
use crate::scenario::{
    Amount, AppDef, Buffers, ChokeDef, CobaltDef, CodelDef, DropTailDef, PieDef, Queue, Scenario, ScenarioWarning,
};

/// A datagram of full size.
const FULL: Bytes = Bytes(1500);
/// More nodes than this: no paths are computed for a warning.
const MAX_NODES: usize = 1000;

/// Warns of a queue of this rate one of whose limit and target, or threshold, is a default and makes the other vain.
pub(super) fn of_queue(queue: &Queue, rate: Option<Rate>, warn: &mut impl FnMut(&str, String)) {
    let (limit, usual) = match queue {
        Queue::Codel(def) => (def.limit, (CodelDef::default().limit, CodelDef::default().target, def.target)),
        Queue::Cobalt(def) => (def.limit, (CobaltDef::default().limit, CobaltDef::default().target, def.target)),
        Queue::Pie(def) => (def.limit, (PieDef::default().limit, PieDef::default().target, def.target)),
        Queue::Choke(def) => return of_choke(def, warn),
        Queue::DropTail(DropTailDef { limit, mark_threshold: Some(threshold), .. }) => {
            if matches!(limit, Amount::Packets(packets) if *packets <= threshold.saturating_add(1)) {
                warn(
                    "mark_threshold",
                    format!("{threshold} packets are never in a queue of {limit}: nothing is marked"),
                );
            }
            return;
        }
        _ => return,
    };
    let (usual_limit, usual_target, target) = usual;
    let Some(rate) = rate.filter(|_| limit == usual_limit || target == usual_target) else { return };
    let bytes = match limit {
        Amount::Packets(packets) => FULL.as_f64() * packets as f64,
        Amount::Bytes(bytes) => bytes.as_f64(),
        Amount::Unlimited | Amount::Bdp { .. } => return,
    };
    let holds = Span::from_secs_f64(8.0 * bytes / rate.as_bps() as f64);
    if holds <= target {
        let which = if limit == usual_limit { "the default" } else { "it" };
        let message =
            format!("{which}, {limit}, is sent within {holds} at {rate}, and never reaches the target of {target}");
        warn("limit", format!("{message}: raise limit, or lower target"));
    }
}

/// CHOKe's thresholds do not follow its limit.
fn of_choke(def: &ChokeDef, warn: &mut impl FnMut(&str, String)) {
    let usual = ChokeDef::default();
    let Amount::Packets(limit) = def.limit else { return };
    for (key, threshold, default) in [
        ("min_threshold", def.min_threshold, usual.min_threshold),
        ("max_threshold", def.max_threshold, usual.max_threshold),
    ] {
        if threshold >= limit as f64 && (threshold == default || def.limit == usual.limit) {
            warn("limit", format!("{} is below {key}, {threshold} packets: raise it, or give {key}", def.limit));
            return;
        }
    }
}

/// Long paths which the hosts of profile `linux` cannot fill, without a word, since nobody has tuned them.
pub(super) fn of_window(given: &Scenario, graph: &Scenario) -> Option<ScenarioWarning> {
    let settings = |index: usize| match given.flow.get(index) {
        Some(flow) => flow.tcp.over(&given.tcp),
        None => given.tcp.clone(),
    };
    let is_long = |index: &usize| match &graph.flow[*index].app {
        AppDef::Bulk(bulk) => bulk.bytes.is_none_or(|bytes| bytes > Buffers::STOCK_WINDOW),
        _ => false,
    };
    let flows: Vec<usize> =
        (0..graph.flow.len()).filter(|index| is_long(index) && settings(*index).has_stock_buffers_unsaid()).collect();
    if flows.is_empty() || graph.node.len() > MAX_NODES {
        return None;
    }
    let paths = Paths::of(graph);
    let longest = flows.into_iter().filter_map(|index| {
        let flow = &graph.flow[index];
        let forth = paths.between(&flow.from, &flow.to)?;
        let back = paths.between(&flow.to, &flow.from)?;
        let of = |link: &crate::ids::LinkId| direction_options(&graph.link, link.index());
        let rate = forth.iter().filter_map(|link| of(link).rate).min()?;
        let trip: f64 = forth.iter().chain(&back).filter_map(|link| of(link).delay).map(Span::as_secs_f64).sum();
        Some((rate.as_bps() as f64 * trip / 8.0, rate, trip))
    });
    let (bytes, rate, trip) = longest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let stock = Buffers::STOCK_WINDOW;
    (bytes > stock.as_f64()).then(|| {
        let message = format!(
            "left out: {rate} over {:.0} ms need a window of {:.1} MB; profile linux has that of a host that nobody has tuned, \
             {stock}, {:.0} Mb/s: write \"stock\" for it, or \"tuned\" for 16 MiB",
            trip * 1e3,
            bytes / 1e6,
            8.0 * stock.as_f64() / trip / 1e6
        );
        ScenarioWarning::new("tcp.buffers", message)
    })
}

#[cfg(test)]
mod tests {
    use crate::expand::warnings::said;

    fn of(tcp: &str, bottleneck: &str) -> Vec<String> {
        said(&format!(
            r#"{{"duration": "1s", "tcp": {{{tcp}}}, "network": {{"kind": "dumbbell", "access": {{"rate": "40Gbps", "delay": "0.5ms"}},
                "bottleneck": {{{bottleneck}}}}}}}"#
        ))
    }

    fn of_queue(queue: &str) -> Vec<String> {
        of("", &format!(r#""rate": "1Gbps", "delay": "1ms", "queue": {{{queue}}}"#))
    }

    #[test]
    fn targets_beyond_a_limit_are_named_with_it() {
        for kind in ["codel", "cobalt", "pie"] {
            let found = of_queue(&format!(r#""kind": "{kind}", "limit": "100p""#));
            assert_eq!(found.len(), 1, "{kind}: {found:?}");
            assert!(
                found[0].starts_with("network.bottleneck.queue.limit: it, 100p, is sent within 1200us at 1Gbps"),
                "{found:?}"
            );
            assert!(of_queue(&format!(r#""kind": "{kind}", "limit": "2000p""#)).is_empty());
            assert!(
                of_queue(&format!(r#""kind": "{kind}", "limit": "100p", "target": "2ms""#)).is_empty(),
                "both are given"
            );
            let late = of_queue(&format!(r#""kind": "{kind}", "target": "2s""#));
            assert!(late[0].contains("the default, 1000p, is sent within 12ms"), "{late:?}");
        }
    }

    #[test]
    fn thresholds_beyond_a_limit_are_named_with_it() {
        let choke = of_queue(r#""kind": "choke", "limit": "50p""#);
        assert_eq!(
            choke,
            ["network.bottleneck.queue.limit: 50p is below max_threshold, 60 packets: raise it, or give max_threshold"]
        );
        assert!(of_queue(r#""kind": "choke", "limit": "50p", "min_threshold": 10, "max_threshold": 30"#).is_empty());
        assert_eq!(of_queue(r#""kind": "drop_tail", "limit": "21p", "mark_threshold": 20"#).len(), 1);
        assert!(of_queue(r#""kind": "drop_tail", "limit": "22p", "mark_threshold": 20"#).is_empty());
    }

    #[test]
    fn a_long_path_asks_which_hosts_are_meant() {
        let long = r#""rate": "20Gbps", "delay": "9ms", "queue": "100000p""#;
        let found = of(r#""profile": "linux""#, long);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("tcp.buffers: left out: 20Gbps over 19 ms need a window of 47.5 MB"), "{found:?}");
        for tcp in [
            r#""profile": "linux", "buffers": "tuned""#,
            r#""profile": "linux", "buffers": "stock""#,
            r#""profile": "rfc""#,
        ] {
            assert!(of(tcp, long).is_empty(), "{tcp}");
        }
        for given in [r#""recv_buffer": "4MB""#, r#""send_buffer": "4MB""#, r#""recv_autotune": false"#] {
            assert!(
                of(&format!(r#""profile": "linux", {given}"#), long).is_empty(),
                "{given}: the rest is that of tuned hosts"
            );
        }
        assert!(of(r#""profile": "linux""#, r#""rate": "1Gbps", "delay": "9ms""#).is_empty(), "2.5 MB");
    }
}
