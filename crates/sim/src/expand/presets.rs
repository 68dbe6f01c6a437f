//! Presets of links: access lines (docs/topologies.md has their sources), and the paths that Pantheon emulates (Yan et al. 2018).
//!
//! A preset is written in the words of the schema. What a link has of its own comes before it; the rest of the preset follows the
//! link's own rates.

use serde_json::{Value, json};
use tcp::units::Rate;

use crate::scenario::{LinkOptions, ScenarioError, ServiceDef, did_you_mean, join};

/// Lines: their names, and rates down and up in kb/s.
const LINES: [(&str, u64, u64); 10] = [
    ("adsl2", 16_000, 1000),
    ("vdsl2", 50_000, 10_000),
    ("gpon", 1_000_000, 500_000),
    ("cable", 300_000, 20_000),
    ("cable_l4s", 300_000, 20_000),
    ("wifi", 200_000, 200_000),
    ("lte", 17_000, 13_000),
    ("nr", 150_000, 30_000),
    ("starlink", 130_000, 30_000),
    ("geo", 50_000, 5000),
];

/// Measured paths: their names, whether opportunities are random, kb/s, one-way delay in ms, queue in packets, probability of loss.
const MEASURED: [(&str, bool, u64, u64, u64, f64); 6] = [
    ("pantheon/nepal", true, 570, 28, 14, 0.0477),
    ("pantheon/mexico-cell", true, 2640, 88, 130, 0.0),
    ("pantheon/colombia-cell", true, 3040, 130, 426, 0.0),
    ("pantheon/india", false, 100_420, 27, 173, 0.0),
    ("pantheon/korea-china", false, 77_720, 51, 94, 0.0006),
    ("pantheon/california-mexico", false, 114_680, 45, 450, 0.0),
];

/// Policers: rates in Mb/s, and round-trip times in ms.
const POLICERS: [[u64; 2]; 6] = [[12, 20], [12, 100], [60, 20], [60, 100], [108, 20], [108, 100]];

/// Queues of 12 Mb/s and 60 ms: their names and sizes in bytes.
const BUFFERS: [(&str, u64); 4] = [("bdp/10", 9000), ("bdp/3", 30_000), ("bdp/2", 45_000), ("bdp", 90_000)];

/// Paths that merge ACKs: their names, and the times of their opportunities in ms.
const MERGED_ACKS: [(&str, &str); 2] =
    [("pantheon/acks-1-per-100ms", "100"), ("pantheon/acks-10-per-200ms", "200 200 200 200 200 200 200 200 200 200")];

/// The names of all presets.
pub(super) fn names() -> Vec<String> {
    let lines = LINES.iter().map(|(name, ..)| (*name).to_owned());
    let measured = MEASURED.iter().map(|(name, ..)| (*name).to_owned());
    let policers = POLICERS.iter().map(|[rate, rtt]| format!("pantheon/policer-{rate}-{rtt}"));
    let acks = MERGED_ACKS.iter().map(|(name, _)| (*name).to_owned());
    let buffers = BUFFERS.iter().map(|(name, _)| format!("pantheon/buffer-{name}"));
    lines.chain(measured).chain(policers).chain(acks).chain(buffers).collect()
}

/// The options with what their preset stands for, if they name one.
pub(super) fn with_preset(options: &LinkOptions, path: &str) -> Result<LinkOptions, ScenarioError> {
    let Some(name) = &options.preset else { return Ok(options.clone()) };
    let Some(preset) = line(name, options).or_else(|| pantheon(name, options.rate)) else {
        let (message, known) = (format!("unknown preset {name:?}"), names());
        let near = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_default();
        let hint = format!("{near}{}known: {}", if near.is_empty() { "" } else { " " }, known.join(", "));
        return Err(ScenarioError::new(join(path, "preset"), message).with_hint(hint));
    };
    let mut preset: LinkOptions = serde_json::from_value(preset).expect("a preset follows the schema");
    if options.service.as_deref().and_then(ServiceDef::own_rate).is_some() {
        preset.rate = None;
    }
    if let (Some(own), Some(back)) = (&options.reverse, &mut preset.reverse)
        && own.service.as_deref().and_then(ServiceDef::own_rate).is_some()
    {
        back.rate = None;
    }
    Ok(options.over(&preset))
}

/// A line, with its own rates or those of the options: forward is downstream.
fn line(name: &str, options: &LinkOptions) -> Option<Value> {
    let (_, down, up) = *LINES.iter().find(|(known, ..)| *known == name)?;
    let bps = |own: Option<Rate>, kbps: u64| own.map_or(kbps * 1000, Rate::as_bps);
    let (down, up) = (bps(options.rate, down), bps(options.reverse.as_ref().and_then(|back| back.rate), up));
    let [mut forward, back] = match name {
        "adsl2" => dsl(json!({"delay": "10ms", "framing": "pppoe_llcsnap"}), [("256kB", down), ("64kB", up)]),
        "vdsl2" => dsl(json!({"delay": "2ms", "framing": "pppoe_ptm"}), [("512kB", down), ("128kB", up)]),
        "gpon" => dsl(json!({"delay": "0.75ms"}), [("2MB", down), ("1MB", up)]),
        "cable" => [
            side(down, json!({"delay": "2ms", "queue": tenth_second(down), "service": boost(down)})),
            side(up, json!({"delay": "2ms", "queue": docsis_pie(up), "service": grants("2ms", 2)})),
        ],
        "cable_l4s" => cable_l4s(down, up),
        "wifi" => [down, up].map(|bps| {
            side(bps, json!({"delay": "0.1ms", "queue": {"kind": "fq_codel"}, "service": {"kind": "aggregate"}}))
        }),
        "lte" => {
            [down, up].map(|bps| side(bps, json!({"delay": "20ms", "queue": "3MB", "harq": {"p": 0.1, "rtt": "8ms"}})))
        }
        "nr" => [down, up].map(|bps| {
            let slots = json!({"kind": "aggregate", "access": "0s", "packets": 65_536, "time": "500us"});
            let harq = json!({"p": 0.1, "rtt": "4ms", "attempts": 4});
            side(bps, json!({"delay": "10ms", "queue": "6MB", "service": slots, "harq": harq}))
        }),
        "starlink" => [starlink_down(down), starlink(up, [20_000_000, 40_000_000], ["12ms", "20ms"], UP_LOSS)],
        _ => [
            side(down, json!({"delay": "280ms", "queue": "2MB"})),
            side(up, json!({"delay": "280ms", "queue": "2MB", "service": grants("40ms", 1)})),
        ],
    };
    forward["reverse"] = back;
    Some(forward)
}

fn rate(bps: u64) -> String {
    format!("{bps}bps")
}

/// One direction of a line: its rate, without a service unless `rest` has one.
fn side(bps: u64, rest: Value) -> Value {
    let mut side = json!({"rate": rate(bps), "service": {"kind": "rate"}});
    let Value::Object(rest) = rest else { return side };
    rest.into_iter().for_each(|(key, value)| side[key] = value);
    side
}

/// PIE of cable modems with the constants of RFC 8034, Appendix A.1.2, and its LATENCY_TARGET.
fn docsis_pie(bps: u64) -> Value {
    json!({
        "kind": "pie", "rules": "docsis", "limit": tenth_second(bps), "target": "10ms", "update": "16ms", "alpha": 0.25,
        "beta": 2.5, "max_burst": "142ms", "mean_packet": "1024B", "derandomise": true,
    })
}

/// A buffer of a tenth of a second.
fn tenth_second(bps: u64) -> Value {
    json!(format!("{}B", (bps / 80).max(1500)))
}

fn boost(bps: u64) -> Value {
    json!({"kind": "boost", "peak": rate(bps + bps / 5), "sustained": rate(bps), "bucket": "10MB"})
}

fn grants(map: &str, loops: u64) -> Value {
    json!({"kind": "request_grant", "map": map, "loop": loops})
}

/// Both directions of a line that differ in queue and rate alone.
fn dsl(common: Value, directions: [(&str, u64); 2]) -> [Value; 2] {
    directions.map(|(queue, bps)| {
        let mut rest = common.clone();
        rest["queue"] = json!(queue);
        side(bps, rest)
    })
}

fn cable_l4s(down: u64, up: u64) -> [Value; 2] {
    // The ramp is 2^19 ns wide; it ends at 1 ms, or begins where two frames of 2000 B have passed.
    const RANGE: u64 = 1 << 19;
    let queue = |bps: u64| {
        let two_frames = 2 * 2000 * 8 * 1_000_000_000 / bps.max(1);
        let min = two_frames.clamp(1_000_000 - RANGE, 65_535_000 - RANGE);
        json!({
            "kind": "dualpi2", "profile": "rfc", "target": "10ms",
            "l_aqm": {"kind": "ramp", "min": format!("{min}ns"), "range": format!("{RANGE}ns")},
            "scheduler": {"kind": "wrr", "classic_share": 26.0 / 256.0},
        })
    };
    [
        side(down, json!({"delay": "2ms", "queue": queue(down), "service": boost(down)})),
        side(up, json!({"delay": "2ms", "queue": queue(up), "service": grants("1ms", 2)})),
    ]
}

/// Loss of `starlink`, packets of all, such that CUBIC has what was measured (docs/topologies.md).
const DOWN_LOSS: f64 = 0.001;
const UP_LOSS: f64 = 0.0105;

/// The direction in which delays vary: by 20 ms at most from packet to packet, 10 ms in the mean, by which they are shorter beside
/// it, and by 30 to 50 ms around the beginning of a slot.
fn starlink_down(bps: u64) -> Value {
    let mut side = starlink(bps, [60_000_000, 200_000_000], ["2ms", "10ms"], DOWN_LOSS);
    side["service"]["edge"] = json!({"after": "140ms", "before": "75ms", "extra": "30ms", "extra_to": "50ms"});
    side["jitter"] = json!({"kind": "uniform", "max": "20ms"});
    side
}

/// One direction, whose slots have a rate and a delay between these; this part of its packets is lost.
fn starlink(bps: u64, [least, most]: [u64; 2], delay: [&str; 2], lost: f64) -> Value {
    let slots = json!({"kind": "slots", "rate": [rate(least), rate(most)], "delay": delay});
    // Bursts of five packets in the mean.
    let loss = json!({"kind": "gilbert_elliott", "good_to_bad": 0.2 * lost / (1.0 - lost), "bad_to_good": 0.2});
    let mut side = side(bps, json!({"queue": tenth_second(bps), "service": slots, "loss": loss}));
    side["rate"] = json!(rate((least + most) / 2));
    side
}

/// A path of Pantheon: both directions serve in the same way, and losses meet the data only.
fn pantheon(name: &str, own: Option<Rate>) -> Option<Value> {
    let rate = |kbps: u64| own.map_or(format!("{kbps}kbps"), |rate| rate.to_string());
    let path = |kbps: u64, delay: String, queue: String, back: Value| json!({"rate": rate(kbps), "delay": delay, "queue": queue, "reverse": back});
    if let Some((_, random, kbps, delay, queue, p)) = MEASURED.iter().find(|(known, ..)| *known == name) {
        let mut found = path(*kbps, format!("{delay}ms"), format!("{queue}p"), json!({"queue": "unlimited"}));
        if *random {
            found["service"] = json!({"kind": "poisson", "rate": rate(*kbps)});
        }
        if *p > 0.0 {
            found["loss"] = json!({"kind": "packet", "p": p});
        }
        return Some(found);
    }
    if let Some((_, times)) = MERGED_ACKS.iter().find(|(known, _)| *known == name) {
        let back = json!({"queue": "unlimited", "service": {"kind": "trace", "times": times}});
        return Some(path(12_000, "10ms".into(), "unlimited".into(), back));
    }
    if let Some((_, bytes)) = BUFFERS.iter().find(|(known, _)| name == format!("pantheon/buffer-{known}")) {
        return Some(path(12_000, "30ms".into(), format!("{bytes}B"), json!({"queue": "unlimited"})));
    }
    let [mbps, rtt] = *POLICERS.iter().find(|[mbps, rtt]| name == format!("pantheon/policer-{mbps}-{rtt}"))?;
    Some(path(1000 * mbps, format!("{}ms", rtt / 2), "1p".into(), json!({"queue": "1p"})))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::graph::{LinkDefaults, link_with_defaults};

    const DEFAULTS: LinkDefaults = LinkDefaults { mbps: 1, delay_us: 1, queue_packets: 1 };

    fn filled(options: Value) -> Result<LinkOptions, ScenarioError> {
        link_with_defaults(&serde_json::from_value(options).unwrap(), "network.bottleneck", &DEFAULTS)
    }

    #[test]
    fn every_preset_is_a_link_and_stays_the_same_when_it_is_read_again() {
        assert_eq!(names().len(), 28);
        for name in names() {
            let once = filled(json!({"preset": name})).unwrap_or_else(|error| panic!("{name}: {error}"));
            let again = filled(serde_json::to_value(&once).unwrap()).unwrap();
            assert_eq!(once, again, "{name}");
        }
    }

    #[test]
    fn values_of_the_link_come_before_those_of_its_preset() {
        let cable = filled(json!({"preset": "cable", "rate": "100Mbps", "reverse": {"delay": "5ms"}})).unwrap();
        let back = cable.reverse.as_deref().unwrap();
        assert_eq!((cable.rate.unwrap().as_bps(), back.rate.unwrap().as_bps()), (100_000_000, 20_000_000));
        let Some(ServiceDef::Boost(boost)) = cable.service.as_deref() else { panic!("a cable has boost") };
        assert_eq!(boost.peak.as_bps(), 120_000_000);
        assert_eq!(serde_json::to_value(&cable.queue).unwrap()["limit"], "1250kB");
        assert_eq!((cable.delay.unwrap().to_string(), back.delay.unwrap().to_string()), ("2ms".into(), "5ms".into()));
        let nepal = filled(json!({"preset": "pantheon/nepal", "queue": "20p"})).unwrap();
        let value = serde_json::to_value(&nepal).unwrap();
        assert_eq!((&value["queue"]["limit"], &value["loss"]["p"]), (&json!("20p"), &json!(0.0477)));
        assert_eq!((value["rate"].as_str(), value["reverse"]["rate"].as_str()), (Some("570kbps"), Some("570kbps")));
        assert!(nepal.reverse.unwrap().loss.is_none());
    }

    /// What a row of docs/topologies.md names: its numbers, and those of the line that it says it is like.
    fn numbers_of_row(name: &str) -> Vec<f64> {
        let page = include_str!("../../../../docs/topologies.md");
        let row = page.lines().find(|row| row.starts_with(&format!("| `{name}` |"))).unwrap();
        let words = row.split(|c: char| !c.is_ascii_digit() && c != '.');
        let mut numbers: Vec<f64> = words.filter_map(|word| word.trim_matches('.').parse().ok()).collect();
        if let Some((_, like)) = row.split_once("as `") {
            numbers.extend(numbers_of_row(like.split('`').next().unwrap()));
        }
        numbers
    }

    /// The ways in which a row may write the number of a key; `bps` is the rate of its direction.
    fn spellings(value: &Value, bps: f64) -> Vec<f64> {
        if let Some(number) = value.as_f64() {
            return vec![number, 256.0 * number];
        }
        let text = value.as_str().unwrap_or_default();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(number) = text[..end].parse::<f64>() else { return Vec::new() };
        match &text[end..] {
            "bps" => vec![number / 1e6, number / bps],
            "B" => vec![number, number * 8e3 / bps],
            "ns" => vec![number / 1e3, number / 1e6, (number + f64::from(1 << 19)) / 1e6],
            "us" => vec![number, number / 1e3],
            _ => vec![number],
        }
    }

    /// Numbers of a table and of those inside it that the row does not name, but for zeros; a chain of losses counts by its ratio and bursts.
    fn unnamed(table: &Value, bps: f64, known: &[f64], found: &mut Vec<String>) {
        let names = |way: &f64| known.iter().any(|number| (way / number - 1.0).abs() < 1e-9);
        let told = |found: &mut Vec<String>, key: &str, value: &Value, ways: Vec<f64>| {
            if !ways.is_empty() && !ways.iter().any(names) {
                found.push(format!("{key} = {value}"));
            }
        };
        if let Some(bad) = table["bad_to_good"].as_f64() {
            let good = table["good_to_bad"].as_f64().unwrap();
            told(found, "loss", table, vec![libm::round(1e6 * good / (good + bad)) / 1e4]);
            return told(found, "bursts", table, vec![1.0 / bad]);
        }
        let drawn = table["service"]["rate"].is_array();
        for (key, value) in table.as_object().unwrap() {
            match value {
                Value::Object(_) if key != "reverse" => unnamed(value, bps, known, found),
                Value::Array(items) => items.iter().for_each(|item| told(found, key, item, spellings(item, bps))),
                Value::String(text) if text == "0s" => {}
                // The mean of the rates that slots draw.
                _ if key == "rate" && drawn => {}
                _ => told(found, key, value, spellings(value, bps)),
            }
        }
    }

    #[test]
    fn no_line_has_a_number_that_its_row_does_not_name() {
        for (name, down, up) in LINES {
            let forward = line(name, &LinkOptions::default()).unwrap();
            let (known, mut found) = (numbers_of_row(name), Vec::new());
            for (side, kbps) in [(&forward, down), (&forward["reverse"], up)] {
                unnamed(side, 1e3 * kbps as f64, &known, &mut found);
            }
            assert_eq!(found, Vec::<String>::new(), "{name}: docs/topologies.md");
        }
    }

    #[test]
    fn an_unknown_preset_is_refused_with_all_names() {
        let error = filled(json!({"preset": "cabel"})).unwrap_err().to_string();
        assert!(error.starts_with("network.bottleneck.preset: unknown preset \"cabel\""), "{error}");
        assert!(error.contains("did you mean cable?") && error.contains("pantheon/policer-108-100"), "{error}");
        let nested = filled(json!({"rate": "1Mbps", "reverse": {"preset": "cable"}})).unwrap_err().to_string();
        assert!(nested.starts_with("network.bottleneck.reverse.preset: "), "{nested}");
    }
}
