//! Settings of TCP that have no effect beside others, and algorithms that do not hear the marks that their connection asks for.

use tcp::cc::Value;
use tcp::settings::{EcnMode, RecoveryKind};

use super::check::transport_of;
use crate::scenario::{FlowDef, Scenario, ScenarioWarning, TcpOptions, TransportDef, join};

/// Warnings about the settings of a scenario as it was written, `given`, with nothing left to a default, and as a `graph`, which
/// lists all flows.
pub(super) fn warnings(given: &Scenario, resolved: &Scenario, graph: &Scenario) -> Vec<ScenarioWarning> {
    let flows = given.flow.iter().zip(&resolved.flow).enumerate();
    let own = flows.map(|(i, (given, resolved))| (format!("flow[{i}].tcp"), &given.tcp, &resolved.tcp));
    // Datagrams share the common settings and use none of them.
    let uses = |flow: &FlowDef| {
        flow.tcp.is_empty() && flow.transport.is_none() && transport_of(&flow.app) == TransportDef::Tcp
    };
    let unused = TcpOptions::default();
    let common = if graph.flow.iter().any(uses) { &resolved.tcp } else { &unused };
    let all = std::iter::once(("tcp".to_owned(), &given.tcp, common)).chain(own);
    all.flat_map(|(path, given, resolved)| of_settings(&path, given, resolved)).collect()
}

/// What a jumbo frame of 9000 B holds behind 40 B of headers.
const JUMBO_MSS: u64 = 8960;

fn of_settings(path: &str, given: &TcpOptions, resolved: &TcpOptions) -> Vec<ScenarioWarning> {
    let mut found = Vec::new();
    // Where all is written, as in the graph of a scenario, nobody asked for it.
    let all_written = given == resolved;
    if let Some(recovery) = resolved.recovery.filter(|recovery| *recovery != RecoveryKind::Rack && !all_written) {
        for (key, value) in [("tlp", given.tlp), ("frto", given.frto), ("undo", given.undo)] {
            if value == Some(true) {
                let message = format!("has no effect with recovery {}: it belongs to rack", word(&recovery));
                found.push(ScenarioWarning::new(join(path, key), message));
            }
        }
    }
    if let Some((cwnd, most)) = resolved.unused_saved() {
        let message = format!("cwnd \"{cwnd}\" is below four initial windows ({most}): it will not be used");
        found.push(ScenarioWarning::new(join(path, "start.resume.saved"), message));
    }
    if let Some(mss) = given.mss.filter(|mss| mss.0 > JUMBO_MSS) {
        let message = format!(
            "segments of {} B fit into no frame: one of 9000 B, the largest in use, holds {JUMBO_MSS} B",
            mss.0
        );
        found.push(ScenarioWarning::new(join(path, "mss"), message));
    }
    let algorithm = resolved.cc.as_ref().and_then(|cc| tcp::cc::find(&cc.name));
    let answers = resolved.cc.as_ref().is_some_and(|cc| cc.params.get("ecn") == Some(&Value::Flag(true)));
    let deaf = algorithm
        .filter(|algorithm| algorithm.requirements.owns_window && algorithm.requirements.ecn.is_none() && !answers);
    if let (Some(algorithm), Some(ecn)) = (deaf, resolved.ecn.filter(|ecn| *ecn != EcnMode::Off)) {
        let message = format!(
            "{} does not answer to marks: with ecn {} a queue that marks neither drops its packets nor slows it down",
            algorithm.name,
            word(&ecn)
        );
        found.push(ScenarioWarning::new(join(path, "ecn"), message));
    }
    found.extend(without_time_outs(path, given, resolved));
    found
}

/// An algorithm that reads the fine time-outs of its profile's recovery, beside another, which has none.
fn without_time_outs(path: &str, given: &TcpOptions, resolved: &TcpOptions) -> Option<ScenarioWarning> {
    let cc = resolved.cc.as_ref()?;
    let (profile, recovery) = (cc.profile.as_deref()?, resolved.recovery?);
    let own = tcp::cc::find(&cc.name)?.recovery(profile)?;
    let reads = own == RecoveryKind::Vegas && recovery != own;
    let place = join(if given.recovery.is_some() { path } else { "tcp" }, "recovery");
    let message = format!(
        "{} in profile {profile} reads the time-outs of recovery {}; with {} they never come",
        cc.name,
        word(&own),
        word(&recovery)
    );
    reads.then(|| ScenarioWarning::new(place, message))
}

/// A value as a scenario writes it.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::warnings;

    fn said(tcp: &Value) -> Vec<String> {
        let text = json!({
            "duration": "1s",
            "network": {"kind": "dumbbell", "pairs": 1},
            "tcp": tcp,
            "flow": [{"from": "left0", "to": "right0"}],
        });
        warnings::said(&text.to_string())
    }

    #[test]
    fn what_is_written_in_vain_is_named() {
        for (recovery, keys) in [("newreno", 3), ("sack", 3), ("rack", 0)] {
            let tcp = json!({"cc": "cubic", "recovery": recovery, "tlp": true, "frto": true, "undo": true});
            assert_eq!(said(&tcp).len(), keys, "{recovery}");
        }
        assert!(
            said(&json!({"profile": "linux", "cc": "cubic", "recovery": "sack"})).is_empty(),
            "a default is not written"
        );
        assert!(said(&json!({"mss": "64kB"}))[0].starts_with("tcp.mss: segments of 64000 B fit into no frame"));
        assert!(said(&json!({"mss": "8960B"})).is_empty());
        assert!(said(&json!({"cc": "bbr3", "ecn": "l4s"}))[0].starts_with("tcp.ecn: bbr3 does not answer to marks"));
        for tcp in [json!({"cc": "bbr3"}), json!({"cc": "prague"}), json!({"cc": "cubic", "ecn": "classic"})] {
            assert!(said(&tcp).is_empty(), "{tcp}");
        }
        for (cc, recovery, is_warned) in [
            (json!("ewphcc"), "rack", true),
            (json!("ewphcc"), "vegas", false),
            (json!({"name": "vegas", "profile": "ns2"}), "sack", true),
            (json!({"name": "vegas", "profile": "linux"}), "rack", false),
            (json!({"name": "reno", "profile": "ns2"}), "rack", false),
        ] {
            let found = said(&json!({"cc": cc, "recovery": recovery}));
            let wanted = format!("reads the time-outs of recovery vegas; with {recovery} they never come");
            assert_eq!(
                found.iter().any(|m| m.starts_with("tcp.recovery: ") && m.ends_with(&wanted)),
                is_warned,
                "{cc}"
            );
        }
        let answers = json!({"cc": {"name": "bbr3", "profile": "linux", "ecn": true}, "ecn": "l4s"});
        assert!(said(&answers).is_empty(), "{answers}");
    }

    #[test]
    fn settings_that_only_datagrams_would_share_are_none() {
        let beside = |app: Value| {
            let text = json!({
                "duration": "1s",
                "network": {"kind": "dumbbell", "pairs": 2},
                "tcp": {"cc": "ewphcc", "recovery": "rack"},
                "flow": [
                    {"from": "left0", "to": "right0", "tcp": {"recovery": "vegas"}},
                    {"from": "left1", "to": "right1", "app": app},
                ],
            });
            warnings::said(&text.to_string()).iter().any(|message| message.starts_with("tcp.recovery: "))
        };
        assert!(!beside(json!({"kind": "cbr", "transport": "udp", "rate": "1Mbps", "size": "1000B"})));
        assert!(beside(json!({"kind": "bulk"})));
    }

    #[test]
    fn what_flows_with_settings_of_their_own_take_from_the_common_ones_is_named_too() {
        let text = json!({
            "duration": "1s",
            "network": {"kind": "dumbbell", "pairs": 1},
            "tcp": {"mss": "64kB"},
            "flow": [{"from": "left0", "to": "right0", "tcp": {"nagle": false}}],
        });
        let found = warnings::said(&text.to_string());
        assert!(found.iter().any(|message| message.starts_with("tcp.mss: segments of 64000 B")), "{found:?}");
    }
}
