//! The keys `tcp.start` and `tcp.cwnd_validation`: what they stand for, and what is refused.

use serde_json::{Value, json};
use sim::scenario::TcpOptions;
use tcp::TcpConfig;
use tcp::cc::{Begin, Exit, Growth, SearchConfig, StartConfig, Value as Setting};
use tcp::settings::CwndValidation;

fn resolved(tcp: &Value) -> Result<TcpConfig, String> {
    let options = TcpOptions::from_json(&tcp.to_string(), "tcp").map_err(|error| error.to_string())?;
    options.resolve("tcp").map_err(|error| error.to_string())
}

#[test]
fn a_text_stands_for_a_table() {
    let exit = |start: Value| resolved(&json!({"cc": "reno", "start": start})).unwrap().start.unwrap().exit;
    for name in ["hystart", "hystart++", "search"] {
        assert_eq!(exit(json!(name)), exit(json!({"exit": name})), "{name}");
    }
    assert_eq!(exit(json!("standard")), exit(json!({})));
    assert_eq!(
        exit(json!({"exit": "search", "drain": false, "thresh": 0.3, "extra_bins": 20})),
        Exit::Search(SearchConfig { thresh: 0.3, extra_bins: 20, drain: false })
    );
    let rapid = resolved(&json!({"cc": "reno", "recovery": "sack", "start": "rapid"})).unwrap().start.unwrap();
    assert_eq!(rapid, StartConfig { begin: Begin::InitialWindow, growth: Growth::Rapid, exit: Exit::HyStartPlusPlus });
    assert_eq!(resolved(&json!({"cc": "bbr"})).unwrap().start, None);
}

/// What a run writes down is a scenario of its own, with CUBIC's HyStart off.
#[test]
fn everything_written_down_means_the_same() {
    for tcp in [
        json!({"profile": "linux", "cc": "cubic", "start": "search"}),
        json!({"cc": "reno", "start": "standard"}),
        json!({"cc": "reno", "start": "jump"}),
        json!({"cc": "reno", "start": {"resume": {"max_jump": "100p", "saved": {"cwnd": "1MB", "rtt": "50ms"}, "beta": 0.6}}}),
    ] {
        let config = resolved(&tcp).unwrap();
        let all = TcpOptions::of(
            serde_json::from_value(tcp.get("profile").cloned().unwrap_or(json!("rfc"))).unwrap(),
            &config,
        );
        assert_eq!(all.resolve("tcp").unwrap(), config);
        assert!(
            config.cc.values.iter().all(|(name, value)| !["hystart", "hystart_plus_plus"].contains(&name) || value == Setting::Flag(false))
        );
    }
    let plain = TcpOptions::default().resolve("tcp").unwrap();
    assert_eq!(TcpOptions::of(tcp::settings::ProfileName::Rfc, &plain).start, None, "nothing new in other runs");
}

#[test]
fn errors_name_the_key_and_the_remedy() {
    for (tcp, said) in [
        (
            json!({"cc": "bbr", "start": "search"}),
            "tcp.start: bbr has a start of its own (leave `start` out, or use a window-based",
        ),
        (
            json!({"cc": "bbr3", "start": {"resume": {}, "exit": "search"}}),
            "tcp.start.exit: bbr3 has a start of its own (resume alone)",
        ),
        (
            json!({"cc": "bbr", "start": {"resume": {"beta": 0.6}}}),
            "tcp.start.resume.beta: bbr has no ssthresh to go back to (leave it out)",
        ),
        (
            json!({"cc": {"name": "bbr3", "ecn": true}, "ecn": "classic"}),
            "tcp.cc.ecn: has no effect with ecn \"classic\": it reads how much is marked (tcp.ecn = \"dctcp\" or \"l4s\")",
        ),
        (
            json!({"ecn_option": "all"}),
            "tcp.ecn_option: has no effect with ecn \"off\": the option is AccECN's (tcp.ecn = \"accecn\" or \"l4s\")",
        ),
        (
            json!({"cc": "cubic", "start": "serch"}),
            "tcp.start: unknown value `serch`, known: `standard`, `hystart`, `hystart++`, `search`, `rapid`, `resume`, `jump` (did you mean search?)",
        ),
        (
            json!({"cc": "reno", "start": "rapid"}),
            "tcp.start.growth: rapid needs loss reports by SACK (recovery = \"sack\" or \"rack\")",
        ),
        (
            json!({"cc": "bbr", "cwnd_validation": "rfc7661"}),
            "tcp.cwnd_validation: bbr sets its window itself (linux or none; ",
        ),
        (
            json!({"cwnd_validation": "linus"}),
            "tcp.cwnd_validation: unknown value `linus`, known: `linux`, `none`, `ratelimited`, `rfc7661` (did you mean linux?)",
        ),
        (
            json!({"cwnd_validation": 3}),
            "tcp.cwnd_validation: 3 is not a text (linux, none, ratelimited, rfc7661), true or false",
        ),
        (
            json!({"cc": {"name": "dctcp", "beta_ecn": 0.8}}),
            "tcp.cc.beta_ecn: dctcp and prague have a reduction of their own for marks",
        ),
        (
            json!({"cc": "reno", "start": {"resume": {}, "jump": "2iw"}}),
            "tcp.start: resume and jump exclude each other",
        ),
        (json!({"cc": "reno", "start": {"jump": "2ix"}}), "tcp.start.jump: "),
        (json!({"cc": "reno", "start": {"jump": "0iw"}}), "tcp.start.jump: "),
        (
            json!({"cc": "reno", "start": {"jump": "1bdp"}}),
            "tcp.start.jump: \"1bdp\" is not a window of at least one segment",
        ),
        (
            json!({"cc": "reno", "start": {"resume": {"beta": 0.4}}}),
            "tcp.start.resume.beta: 0.4 is not a number from 0.5 to 1",
        ),
        (json!({"cc": "cubic", "start": 3}), "tcp.start: 3 is not a text such as \"search\", or a table"),
        (
            json!({"cc": "cubic", "start": {"exits": "search"}}),
            "tcp.start.exits: unknown key `exits`, known: `resume`, `jump`",
        ),
        (
            json!({"cc": {"name": "cubic", "hystart": true}, "start": "search"}),
            "tcp.start.exit: stands beside tcp.cc.hystart: both decide what ends slow start (give one)",
        ),
        (
            json!({"cc": {"name": "cubic", "hystart_rise": 0.5}, "start": "search"}),
            "tcp.cc.hystart_rise: has no effect beside `start`",
        ),
        (json!({"cc": "reno", "start": {"drain": false}}), "tcp.start.drain: has no effect: it belongs to SEARCH"),
        (json!({"cc": "reno", "start": {"exit": "search", "thresh": 1.0}}), "tcp.start.thresh: 1 is not a share"),
        (
            json!({"cc": "reno", "start": {"exit": "search", "extra_bins": 60}}),
            "tcp.start.extra_bins: 60 is not a count from 1 to 50",
        ),
    ] {
        let error = resolved(&tcp).unwrap_err();
        assert!(error.starts_with(said), "{error}");
    }
}

/// Truth values stay valid; what a run writes down has the text.
#[test]
fn truth_values_stand_for_linux_and_none() {
    for (written, kind, text) in [(true, CwndValidation::Linux, "linux"), (false, CwndValidation::None, "none")] {
        let config = resolved(&json!({"cwnd_validation": written})).unwrap();
        assert_eq!(config.cwnd_validation, kind);
        let all = TcpOptions::of(tcp::settings::ProfileName::Rfc, &config);
        assert_eq!(serde_json::to_value(&all).unwrap()["cwnd_validation"], text);
    }
}

/// A saved window below four initial windows is worth a warning.
#[test]
fn a_saved_window_that_is_too_small_is_named() {
    let all = |cwnd: &str| {
        let saved = json!({"cwnd": cwnd, "rtt": "50ms"});
        let config = resolved(&json!({"cc": "reno", "start": {"resume": {"saved": saved}}})).unwrap();
        TcpOptions::of(tcp::settings::ProfileName::Rfc, &config).unused_saved()
    };
    assert!(all("10p").is_some() && all("40p").is_none());
}
