//! What a scenario may say and seldom means. Each warning names the field as the user wrote it, and changes nothing.

use tcp::units::{Bytes, Rate, Span};

use super::graph::{link, reverse_options};
use super::{gains, phase, reach, shared_buffer, tcp_warnings};
use crate::scenario::{
    Amount, CakeDef, DualPi2Def, DualPi2Scheduler, HtbDef, LinkDef, LinkOptions, Overhead, PolicerDef, Queue, RedDef,
    Scenario, ScenarioWarning, ServiceDef, TbfDef, WrrDef, join,
};

/// A datagram of full size.
const FULL: Bytes = Bytes(1500);

/// What is to be known of a scenario as it was written, `given`, with nothing left to a default, and as a `graph`; each thing once.
pub fn warnings(given: &Scenario, resolved: &Scenario, graph: &Scenario) -> Vec<ScenarioWarning> {
    let (mut found, duration) = (Vec::new(), resolved.duration);
    for (path, options) in resolved.network.links() {
        of_link(&link("", "", options), &path, duration, &mut found);
    }
    for (i, def) in resolved.link.iter().enumerate() {
        of_link(def, &format!("link[{i}]"), duration, &mut found);
    }
    found.extend(phase::warnings(resolved, graph));
    found.extend(tcp_warnings::warnings(given, resolved, graph));
    found.extend(reach::of_window(given, graph));
    found.extend(shared_buffer::warnings(resolved, graph));
    found
}

/// Of both directions of a link. A queue that the other direction takes over from the link has one warning.
fn of_link(def: &LinkDef, path: &str, duration: Span, found: &mut Vec<ScenarioWarning>) {
    let has_own = |reverse: &LinkOptions| reverse.queue.is_some() || reverse.service.is_some();
    let own = def.options.reverse.as_deref().is_some_and(has_own);
    let reverse_path = if own { join(path, "reverse") } else { path.to_owned() };
    for (path, options) in [(path, &def.options), (&reverse_path, &reverse_options(def))] {
        let mut warn = |place: String, message: String| {
            if !found.iter().any(|known| known.path == place) {
                found.push(ScenarioWarning::new(place, message));
            }
        };
        let service = options.service.as_deref();
        service.into_iter().for_each(|service| of_service(service, duration, &join(path, "service"), &mut warn));
        let Some(queue) = &options.queue else { continue };
        of_queue(queue, options, (&join(path, "queue"), options.rate), &mut warn);
    }
}

/// Of lists of rates and opportunities: units that cannot be meant, and what begins after the run.
fn of_service(service: &ServiceDef, duration: Span, path: &str, warn: &mut impl FnMut(String, String)) {
    const MEANT: std::ops::RangeInclusive<u64> = 10_000..=1_000_000_000_000;
    let (key, mean, first) = match service {
        ServiceDef::Trace(trace) => {
            let first = trace.times.as_ref().and_then(|times| times.millis.first());
            ("times", trace.mean_rate(), first.map(|first| trace.offset + Span::from_millis(u64::from(*first))))
        }
        ServiceDef::RateTrace(trace) => {
            let served = trace.points.iter().flat_map(|points| points.iter()).find(|(_, rate)| rate.as_bps() > 0);
            ("points", trace.mean_rate(), served.map(|(at, _)| *at))
        }
        _ => return,
    };
    if let Some(first) = first.filter(|first| *first >= duration) {
        let message =
            format!("nothing is served before {first}, and the run ends at {duration}: let the times begin at 0");
        warn(join(path, key), message);
    } else if let Some(mean) = mean.filter(|mean| !MEANT.contains(&mean.as_bps())) {
        warn(join(path, key), format!("the mean rate is {mean}: is the unit of the file another one?"));
    }
}

/// `rate` is that of what the queue stands before.
fn of_queue(
    queue: &Queue,
    options: &LinkOptions,
    (path, rate): (&str, Option<Rate>),
    warn: &mut impl FnMut(String, String),
) {
    let is_steady = options.changes.is_empty() && options.service.is_none();
    reach::of_queue(queue, rate.filter(|_| is_steady), &mut |key, message| warn(join(path, key), message));
    match queue {
        Queue::Red(def) => rate.into_iter().for_each(|rate| of_red(def, rate, path, warn)),
        Queue::Pie(def) => gains::warn_of([def.alpha, def.beta], path, warn),
        Queue::FqPie(def) => gains::warn_of([def.alpha, def.beta], path, warn),
        Queue::Cake(def) => of_cake(def, options, path, warn),
        Queue::DualPi2(def) => of_dualpi2(def, path, warn),
        Queue::Htb(def) => of_htb(def, path, warn),
        Queue::Tbf(TbfDef { burst: Some(burst), .. }) | Queue::Policer(PolicerDef { burst: Some(burst), .. })
            if *burst < FULL =>
        {
            let message = format!("{burst} is below a datagram of {FULL}: larger ones than the burst never pass");
            warn(join(path, "burst"), message);
        }
        _ => {}
    }
    let rate = match queue {
        Queue::Tbf(def) => rate.map(|rate| rate.min(def.rate)),
        // Its classes have rates of their own.
        Queue::Htb(_) => None,
        _ => rate,
    };
    for (place, inner) in queue.inner() {
        of_queue(inner, options, (&join(path, &place), rate), warn);
    }
}

/// RED's automatic thresholds follow from the rate, its limit does not.
fn of_red(def: &RedDef, rate: Rate, path: &str, warn: &mut impl FnMut(String, String)) {
    let limit = def.with_defaults().limit.unwrap_or(Amount::Unlimited);
    let holds = match limit {
        Amount::Packets(packets) => packets as f64,
        Amount::Bytes(bytes) => bytes.as_f64() / def.automatic()[0],
        Amount::Unlimited | Amount::Bdp { .. } => return,
    };
    let [min, max] = def.thresholds(rate);
    let (threshold, effect) = match (def.min_threshold, def.max_threshold) {
        (None, _) if min >= holds => (format!("min_threshold is {min:.0} packets"), "RED never acts"),
        (_, None) if max > holds => {
            (format!("max_threshold is {max:.0} packets"), "the queue overflows before max_p is reached")
        }
        _ => return,
    };
    let message = format!(
        "{limit} is below what is automatic, at {rate} {threshold}: {effect}; raise it, or give the thresholds"
    );
    warn(join(path, "limit"), message);
}

/// A shaper of a line has a lower rate than the line.
fn of_cake(def: &CakeDef, options: &LinkOptions, path: &str, warn: &mut impl FnMut(String, String)) {
    let (Some(rate), Some(line)) = (def.rate, highest_rate(options)) else { return };
    let on_line = match &options.framing {
        Some(Overhead::Framed(framing)) => framing.on_line(FULL),
        _ => FULL + options.overhead.unwrap_or_default(),
    };
    let shaped = match &def.overhead {
        Overhead::Framed(framing) => framing.on_line(FULL),
        Overhead::Raw => on_line,
    };
    // With more overhead than the link has, a shaper of a higher rate may still be the slower one.
    let is_faster =
        u128::from(shaped.0) * u128::from(line.as_bps()) < u128::from(on_line.0) * u128::from(rate.as_bps());
    if rate > line && is_faster {
        let message =
            format!("{rate} is above the rate of the link ({line}): the shaper never holds a full packet back");
        warn(join(path, "rate"), message);
    }
}

/// A class sends within its rate whatever the one above it may.
fn of_htb(def: &HtbDef, path: &str, warn: &mut impl FnMut(String, String)) {
    for (index, class) in def.classes.iter().enumerate() {
        let children = def.classes.iter().filter(|other| other.parent.as_ref() == Some(&class.name));
        let sum: u64 = children.map(|child| child.rate.as_bps()).fold(0, u64::saturating_add);
        let ceiling = class.ceiling.unwrap_or(class.rate);
        if let Some(asked) = Rate::from_bps(sum).filter(|asked| *asked > ceiling) {
            let message =
                format!("children have {asked} in any case, above the ceiling of {ceiling}, which they will exceed");
            warn(join(path, &format!("classes[{index}]")), message);
        }
    }
}

/// The scheduler's guard against starvation is the share of the classic queue.
fn of_dualpi2(def: &DualPi2Def, path: &str, warn: &mut impl FnMut(String, String)) {
    if let Some(DualPi2Scheduler::Wrr(WrrDef { classic_share: Some(0.0) })) = def.scheduler {
        let message = "0 lets classic flows starve: their queue sends nothing as long as the other one holds packets";
        warn(join(path, "scheduler.classic_share"), message.to_owned());
    }
}

/// The highest rate at which a link sends one packet after the other, ever; none if several may leave at one instant.
fn highest_rate(options: &LinkOptions) -> Option<Rate> {
    match options.service.as_deref() {
        Some(ServiceDef::Trace(_) | ServiceDef::Poisson(_) | ServiceDef::Aggregate(_)) => None,
        Some(ServiceDef::Boost(boost)) => Some(boost.peak),
        Some(ServiceDef::Slots(slots)) => Some(slots.rate[1]),
        Some(ServiceDef::RateTrace(trace)) => {
            trace.points.iter().flat_map(|points| points.iter()).filter_map(|(_, rate)| rate.0).max()
        }
        Some(ServiceDef::Rate(_) | ServiceDef::OnOff(_) | ServiceDef::RequestGrant(_)) | None => {
            options.rate.into_iter().chain(options.changes.iter().filter_map(|change| change.rate)).max()
        }
    }
}

/// The warnings of a scenario (JSON text), each with its path; one without flows gets one from its first node to its last.
#[cfg(test)]
pub(super) fn said(text: &str) -> Vec<String> {
    let mut given = Scenario::from_json(text).unwrap();
    if given.flow.is_empty() {
        let nodes = super::dispatch::topology(&super::resolve(&given).unwrap(), 1).unwrap().nodes;
        let ends = serde_json::json!([{"from": nodes[0].name, "to": nodes[nodes.len() - 1].name}]);
        given.flow = serde_json::from_value(ends).unwrap();
    }
    let resolved = super::resolve(&given).unwrap();
    let graph = super::graph_of(&resolved, 1).unwrap().graph;
    warnings(&given, &resolved, &graph).iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::said;

    fn of(network: &str, rest: &str) -> Vec<String> {
        let text = format!(r#"{{"duration": "1s", "network": {network}{rest}}}"#);
        said(&text)
    }

    fn of_bottleneck(options: &str) -> Vec<String> {
        of(&format!(r#"{{"kind": "dumbbell", "bottleneck": {{{options}}}}}"#), "")
    }

    fn of_graph(options: &str) -> Vec<String> {
        let nodes = r#""node": [{"name": "a"}, {"name": "b"}]"#;
        of(
            r#"{"kind": "graph"}"#,
            &format!(r#", {nodes}, "link": [{{"from": "a", "to": "b", "delay": "1ms", {options}}}]"#),
        )
    }

    #[test]
    fn units_that_nobody_means_and_traces_of_later_are_warned_of() {
        let rates =
            |points: &str| of_bottleneck(&format!(r#""service": {{"kind": "rate_trace", "points": {points}}}"#));
        let at = "network.bottleneck.service.";
        let slow = rates(r#"[["0s", "10bps"], ["1s", "20bps"], ["2s", "5bps"]]"#);
        assert_eq!(slow, [format!("{at}points: the mean rate is 11bps: is the unit of the file another one?")]);
        assert_eq!(rates(r#"[["0s", "2000Gbps"]]"#).len(), 1);
        assert!(
            rates(r#"[["0s", "10kbps"]]"#).is_empty() && rates(r#"[["0s", "0bps"], ["500ms", "1Mbps"]]"#).is_empty()
        );
        let later = rates(r#"[["0s", "0bps"], ["1s", "1Mbps"]]"#);
        assert!(later[0].contains("nothing is served before 1s, and the run ends at 1s"), "{later:?}");
        let times = |times: &str, rest: &str| {
            of_bottleneck(&format!(r#""service": {{"kind": "trace", "times": "{times}"}}{rest}"#))
        };
        let many = "60001 60002";
        assert!(times(many, "")[0].starts_with(&format!("{at}times: nothing is served before 60001ms")));
        assert!(times("1 2", "").is_empty());
        let back = format!(r#", "reverse": {{"service": {{"kind": "trace", "times": "{many}"}}}}"#);
        assert!(times("1 2", &back)[0].starts_with("network.bottleneck.reverse.service.times: "));
    }

    #[test]
    fn a_bucket_that_holds_no_datagram_is_warned_of() {
        for kind in ["tbf", "policer"] {
            let of = |burst: &str| {
                of_bottleneck(&format!(
                    r#""queue": {{"kind": "{kind}", "rate": "1Mbps", "burst": "{burst}", "queue": "9p"}}"#
                ))
            };
            assert!(of("1499B")[0].contains("burst: 1499B is below a datagram of 1500B"), "{:?}", of("1499B"));
            assert!(of("1500B").is_empty());
        }
    }

    #[test]
    fn a_classic_share_of_nothing_starves_in_every_place_where_the_queue_may_stand() {
        let starves = ": 0 lets classic flows starve: their queue sends nothing as long as the other one holds packets";
        let dualpi2 = r#"{"kind": "dualpi2", "scheduler": {"kind": "wrr", "classic_share": 0}}"#;
        let queue = format!(r#""queue": {dualpi2}"#);
        let place = |path: &str| vec![format!("{path}.scheduler.classic_share{starves}")];
        assert_eq!(of_bottleneck(&queue), place("network.bottleneck.queue"));
        assert_eq!(of_graph(&format!(r#""rate": "10Mbps", {queue}"#)), place("link[0].queue"));
        let reverse = format!(r#""rate": "10Mbps", "reverse": {{{queue}}}"#);
        assert_eq!(of_graph(&reverse), place("link[0].reverse.queue"));
        let inside = format!(r#""queue": {{"kind": "tbf", "rate": "1Mbps", "queue": {dualpi2}}}"#);
        assert_eq!(of_bottleneck(&inside), place("network.bottleneck.queue.queue"));
        for share in ["0.01", "0.1"] {
            assert!(of_bottleneck(&queue.replace(": 0}", &format!(": {share}}}"))).is_empty(), "{share}");
        }
        assert!(of_bottleneck(r#""queue": {"kind": "dualpi2"}"#).is_empty());
    }

    #[test]
    fn a_shaper_above_the_rate_of_its_link_never_binds() {
        let message = "20Mbps is above the rate of the link (10Mbps): the shaper never holds a full packet back";
        let at = |path: &str| vec![format!("{path}.queue.rate: {message}")];
        let cake = |rate: &str| format!(r#""rate": "10Mbps", "queue": {{"kind": "cake", "rate": "{rate}"}}"#);
        assert_eq!(of_bottleneck(&cake("20Mbps")), at("network.bottleneck"));
        assert_eq!(of_graph(&cake("20Mbps")), at("link[0]"));
        for below in ["10Mbps", "9Mbps"] {
            assert!(of_bottleneck(&cake(below)).is_empty(), "{below}");
        }
        assert!(of_bottleneck(r#""rate": "10Mbps", "queue": {"kind": "cake"}"#).is_empty());
        // 1518 B at 10.1 Mb/s take longer than 1500 B at 10 Mb/s.
        let framed = |rate: &str| {
            let queue = format!(r#""queue": {{"kind": "cake", "rate": "{rate}", "overhead": "docsis"}}"#);
            of_bottleneck(&format!(r#""rate": "10Mbps", {queue}"#))
        };
        assert!(framed("10.1Mbps").is_empty());
        assert_eq!(framed("20Mbps"), at("network.bottleneck"));
    }

    #[test]
    fn automatic_thresholds_of_red_above_its_limit_are_named() {
        let red = |more: &str| of_bottleneck(&format!(r#""rate": "1Gbps", "queue": {{"kind": "red"{more}}}"#));
        let never = "network.bottleneck.queue.limit: 100p is below what is automatic, at 1Gbps min_threshold is 312 packets: RED never \
                     acts; raise it, or give the thresholds";
        assert_eq!(red(r#", "limit": "100p""#), [never]);
        assert!(
            red(r#", "limit": "400p""#)[0].contains("max_threshold is 938 packets: the queue overflows before max_p")
        );
        assert!(red(r#", "limit": "100kB""#)[0].contains("100kB is below"));
        for fits in [
            r#", "limit": "1000p""#,
            r#", "limit": "unlimited""#,
            r#", "limit": "100p", "min_threshold": 15, "max_threshold": 45"#,
            r#", "limit": "100p", "profile": "ns3""#,
        ] {
            assert!(red(fits).is_empty(), "{fits}");
        }
        // Inside a shaper it is the shaper's rate that counts.
        let inside = |rate: &str| {
            of_bottleneck(&format!(
                r#""rate": "1Gbps", "queue": {{"kind": "tbf", "rate": "{rate}", "queue": {{"kind": "red", "limit": "100p"}}}}"#
            ))
        };
        assert!(inside("10Mbps").is_empty());
        assert!(inside("500Mbps")[0].starts_with("network.bottleneck.queue.queue.limit: "));
    }

    #[test]
    fn the_slower_direction_of_a_link_is_looked_at_too() {
        let queue = r#""queue": {"kind": "cake", "rate": "90Mbps"}"#;
        let slow = "90Mbps is above the rate of the link (10Mbps): the shaper never holds a full packet back";
        let inherited = of_graph(&format!(r#""rate": "100Mbps", {queue}, "reverse": {{"rate": "10Mbps"}}"#));
        assert_eq!(inherited, [format!("link[0].queue.rate: {slow}")]);
        let own = of_graph(&format!(r#""rate": "100Mbps", "reverse": {{"rate": "10Mbps", {queue}}}"#));
        assert_eq!(own, [format!("link[0].reverse.queue.rate: {slow}")]);
    }

    #[test]
    fn a_link_that_is_faster_at_times_may_need_its_shaper() {
        let cake = r#""queue": {"kind": "cake", "rate": "20Mbps"}"#;
        for (options, warns) in [
            (r#""rate": "10Mbps", "changes": [{"at": "0.5s", "rate": "30Mbps"}]"#, false),
            (r#""rate": "10Mbps", "changes": [{"at": "0.5s", "rate": "15Mbps"}]"#, true),
            (r#""service": {"kind": "boost", "peak": "30Mbps", "sustained": "10Mbps", "bucket": "1MB"}"#, false),
            (r#""service": {"kind": "boost", "peak": "15Mbps", "sustained": "10Mbps", "bucket": "1MB"}"#, true),
            (r#""service": {"kind": "poisson", "rate": "10Mbps"}"#, false),
            (r#""rate": "10Mbps", "service": {"kind": "aggregate"}"#, false),
            (r#""service": {"kind": "rate_trace", "points": [["0s", "10Mbps"], ["0.5s", "30Mbps"]]}"#, false),
            (r#""service": {"kind": "rate_trace", "points": [["0s", "10Mbps"], ["0.5s", "15Mbps"]]}"#, true),
        ] {
            assert_eq!(!of_bottleneck(&format!("{options}, {cake}")).is_empty(), warns, "{options}");
        }
    }

    #[test]
    fn every_kind_of_network_says_where_its_links_are() {
        let cake = r#"{"rate": "10Mbps", "queue": {"kind": "cake", "rate": "20Mbps"}}"#;
        for (kind, places) in [
            ("dumbbell", &["access", "bottleneck"][..]),
            ("star", &["source", "sink"]),
            ("lan", &["access", "core"]),
            ("parking_lot", &["access", "link"]),
            ("leaf_spine", &["host_link", "fabric"]),
            ("fat_tree", &["link"]),
            ("access", &["server", "core", "lan"]),
            ("home", &["server", "core", "lan"]),
            ("multihomed", &["server"]),
            ("random_wired", &["links"]),
            ("infrastructure", &["backbone"]),
            ("wired_cum_wireless", &["access", "core"]),
            (
                r#"constellation", "terminals": ["Berkeley", "Boston"], "preset": "iridium"#,
                &["uplink", "downlink", "isl"],
            ),
        ] {
            for place in places {
                let found = of(&format!(r#"{{"kind": "{kind}", "{place}": {cake}}}"#), "");
                assert_eq!(found.len(), 1, "{kind} {place}");
                assert!(found[0].starts_with(&format!("network.{place}.queue.rate: ")), "{found:?}");
            }
        }
        let lines = of(&format!(r#"{{"kind": "access", "lines": [{{"preset": "gpon", "link": {cake}}}]}}"#), "");
        assert!(lines[0].starts_with("network.lines[0].link.queue.rate: "), "{lines:?}");
        let home = of(&format!(r#"{{"kind": "home", "preset": "gpon", "link": {cake}}}"#), "");
        assert!(home[0].starts_with("network.link.queue.rate: "), "{home:?}");
        let paths = of(&format!(r#"{{"kind": "multihomed", "paths": [{{"preset": "wifi"}}, {cake}]}}"#), "");
        assert!(paths[0].starts_with("network.paths[1].queue.rate: "), "{paths:?}");
    }
}
