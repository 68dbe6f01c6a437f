//! Applications whose ends answer each other: their times on paths where these are known, data both ways, conservation.

mod common;

use common::{events, fingerprint, one_flow, refusal, run};
use serde_json::{Value, json};
use sim::{FlowSummary, Summary};
use tcp::rng::Rng;

/// One flow with this application over 50 ms each way at 10 Gb/s.
fn ideal(app: &Value) -> Value {
    let mut world = one_flow("10Gbps", 50, "unlimited", "60s", json!({"cc": "cubic", "profile": "linux"}));
    world["flow"][0]["app"] = app.clone();
    world
}

fn application(summary: &Summary) -> Value {
    serde_json::to_value(summary.flows[0].application.as_ref().unwrap()).unwrap()
}

/// Holds a time against another, within transmissions at 10 Gb/s.
fn about(measured: Option<f64>, expected: f64) {
    let measured = measured.unwrap();
    assert!(measured >= expected && measured < expected + 1e-3, "{measured} {expected}");
}

#[test]
fn a_transfer_up_is_a_bulk_of_its_size() {
    for bytes in ["1B", "14480B", "300kB"] {
        let mut world = one_flow("5Mbps", 20, "10p", "5s", json!({"cc": "cubic"}));
        world["flow"][0]["app"] = json!({"kind": "bulk", "bytes": bytes});
        let bulk = (fingerprint(&world, 1), run(&world, 1).flows[0].completion_s);
        world["flow"][0]["app"] = json!({"kind": "transfer", "size": bytes});
        assert_eq!((fingerprint(&world, 1), run(&world, 1).flows[0].completion_s), bulk, "{bytes}");
    }
}

/// A write at once is a bulk of as many bytes whose connection stays open; later ones go at their times, behind one that has to wait.
#[test]
fn a_script_writes_at_its_times_over_one_connection() {
    let script = |writes: Value| run(&ideal(&json!({"kind": "script", "writes": writes})), 1).flows.swap_remove(0);
    let once = script(json!([["0s", "14480B"]]));
    assert_eq!(
        (once.measures.delivered_bytes, once.completion_s, once.app, once.transport),
        (14_480, None, "script", "tcp")
    );
    // The handshake, one way, and what delayed ACKs do not delay.
    about(once.measures.app_delay_s, 0.15);
    let later = script(json!([["1s", "1448B", {"every": "2s", "until": "9s"}], ["4s", "2896B"]]));
    assert_eq!(later.measures.delivered_bytes, 5 * 1448 + 2896);
    about(later.measures.app_delay_s, 0.05);
    about(later.connected_s, 0.1);
    let mut world = ideal(&json!({"kind": "script", "writes": [["0s", "1MB"], ["1ms", "1MB"]]}));
    world["tcp"]["send_buffer"] = json!("64kB");
    assert_eq!(run(&world, 1).flows[0].measures.delivered_bytes, 2_000_000);
}

#[test]
fn the_receiver_of_a_transfer_down_connects_and_asks() {
    let summary = run(&ideal(&json!({"kind": "transfer", "size": "14480B", "direction": "down"})), 1);
    let flow = &summary.flows[0];
    // Handshake, request and answer: two round trips.
    about(flow.connected_s, 0.1);
    about(flow.completion_s, 0.2);
    assert_eq!((flow.measures.delivered_bytes, flow.measures.sent_packets), (14_480, 10));
    let reverse = flow.reverse.as_ref().unwrap();
    assert_eq!((reverse.delivered_bytes, reverse.sent_packets), (400, 1));
    // 14 480 B and the request's are over before a window of ten segments is.
    let first = events(&ideal(&json!({"kind": "transfer", "size": "1B", "direction": "down"})), 1);
    assert!(first[0].contains("right0") || first[0].contains('<'), "{}", first[0]);
}

/// Both halves of a connection carry all their data, whatever the network does to it, and segments with data carry ACKs.
#[test]
fn data_goes_both_ways_over_one_connection() {
    let mut world = one_flow("10Mbps", 10, "20p", "60s", json!({"cc": "cubic", "profile": "rfc"}));
    world["flow"][0]["app"] = json!({"kind": "transfer", "size": "3MB"});
    let alone = run(&world, 1).flows.swap_remove(0);
    world["flow"][0]["app"] = json!({"kind": "transfer", "direction": {"kind": "both", "up": "3MB", "down": "2MB"}});
    let clean = run(&world, 1);
    let (flow, reverse) = (&clean.flows[0], clean.flows[0].reverse.as_ref().unwrap());
    assert_eq!((flow.measures.delivered_bytes, reverse.delivered_bytes), (3_000_000, 2_000_000));
    // Both directions of the link are used at once: one after the other take 4.2 s.
    assert!(flow.completion_s.unwrap() < 3.5, "{:?}", flow.completion_s);
    // With as many ACKs as alone, as many packets would come from the sink as data and ACKs together.
    let packets = flow.measures.ack_packets;
    assert!(packets < reverse.sent_packets + alone.measures.ack_packets, "{packets}, {}", reverse.sent_packets);
    world["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.02});
    world["network"]["bottleneck"]["reverse"] = json!({"loss": {"kind": "packet", "p": 0.03}});
    for ecn in ["off", "accecn"] {
        world["tcp"]["ecn"] = json!(ecn);
        let lossy = run(&world, 1);
        let (flow, reverse) = (&lossy.flows[0], lossy.flows[0].reverse.as_ref().unwrap());
        assert_eq!((flow.measures.delivered_bytes, reverse.delivered_bytes), (3_000_000, 2_000_000), "{ecn}");
        assert!(reverse.dropped_packets > 20 && reverse.retransmitted_packets >= reverse.dropped_packets / 2);
        assert_eq!(reverse.sent_packets, reverse.received_packets + reverse.dropped_packets);
        let sum = lossy.conservation;
        assert_eq!(sum.sent, sum.delivered + sum.dropped + sum.in_flight);
    }
}

/// Data both ways over one connection gets at least what two connections get that send against each other. (ACKs behind data
/// arrive in clumps either way: Zhang, Shenker, Clark, SIGCOMM 1991.)
#[test]
fn one_connection_carries_as_much_as_two_against_each_other() {
    for algorithm in ["newreno", "cubic", "bbr", "vegas"] {
        let mut world = one_flow("10Mbps", 20, "67p", "20s", json!({"cc": algorithm, "profile": "linux"}));
        world["flow"] = json!([{"from": "left0", "to": "right0"}, {"from": "right0", "to": "left0"}]);
        let two: f64 = run(&world, 1).flows.iter().map(|flow| flow.measures.goodput_bps).sum();
        world["flow"] = json!([{"from": "left0", "to": "right0",
                                "app": {"kind": "transfer", "size": "1GB", "direction": "both"}}]);
        let flow = run(&world, 1).flows.swap_remove(0);
        let both = flow.measures.goodput_bps + flow.reverse.unwrap().goodput_bps;
        assert!(both > 0.95 * two, "{algorithm}: {both} {two}");
    }
}

#[test]
fn requests_take_a_round_trip_and_what_the_server_takes() {
    let app = json!({"kind": "request_response", "requests": 5, "response": "14480B", "think": "300ms", "server_time": "7ms"});
    let summary = run(&ideal(&app), 1);
    let app_summary = application(&summary);
    let number = |key: &str| app_summary[key].as_f64();
    assert_eq!((number("requests"), number("connections_opened")), (Some(5.0), Some(1.0)));
    about(number("request_p50_s"), 0.107);
    // The first opens the connection.
    about(number("request_max_s"), 0.207);
    about(summary.flows[0].completion_s, 0.1 + 5.0 * 0.107 + 4.0 * 0.3);
    let mut each = app;
    each["per_connection"] = json!(2);
    let summary = run(&ideal(&each), 1);
    assert_eq!(application(&summary)["connections_opened"], 3);
    about(summary.flows[0].completion_s, 0.3 + 5.0 * 0.107 + 4.0 * 0.3);
    let of: Vec<Option<u32>> = summary.flows.iter().map(|flow| flow.connection_of).collect();
    assert_eq!(of, [None, Some(0), Some(0)]);
    // Two answers, two, one.
    let delivered: Vec<u64> = summary.flows.iter().map(|flow| flow.measures.delivered_bytes).collect();
    assert_eq!(delivered, [2 * 14_480, 2 * 14_480, 14_480]);
    about(Some(summary.flows[1].start_s), 2.0 * 0.107 + 0.1 + 2.0 * 0.3);
}

/// RFC 5681 §4.1: what a sender does with its window while the client thinks.
#[test]
fn a_window_that_rests_is_lost_with_idle_restart() {
    let app = json!({"kind": "request_response", "requests": 6, "response": "500kB", "think": "2s"});
    let with = |restart: bool| {
        let mut world = ideal(&app);
        world["tcp"]["slow_start_after_idle"] = json!(restart);
        let summary = application(&run(&world, 1));
        [summary["request_cwnd_bytes"].as_f64().unwrap(), summary["request_p50_s"].as_f64().unwrap()]
    };
    let [[low, slow], [high, fast]] = [true, false].map(with);
    assert!(low < 16.0 * 1448.0 && high > 150_000.0, "{low} {high}");
    // Slow start from ten segments takes five round trips for 346.
    assert!(slow > 0.45 && fast < 0.35, "{slow} {fast}");
}

/// Acceptance W5: 12 objects of one packet, 50 ms each way: the document at 200 ms, the last object at 500.
#[test]
fn a_page_takes_the_round_trips_of_its_connections() {
    let page = json!({"kind": "page", "objects": 12, "object_size": "1kB", "html": "1kB", "depth": 1});
    let summary = run(&ideal(&page), 1);
    let app = application(&summary);
    about(app["page_load_s"].as_f64(), 0.5);
    about(app["first_object_s"].as_f64(), 0.3);
    assert_eq!((&app["objects"], &app["connections_opened"], summary.flows.len()), (&json!(13), &json!(6), 6));
    assert_eq!(summary.flows[0].completion_s, app["page_load_s"].as_f64());
    let mut h2 = page;
    h2["protocol"] = json!("h2");
    let summary = run(&ideal(&h2), 1);
    about(application(&summary)["page_load_s"].as_f64(), 0.3);
    assert_eq!(summary.flows.len(), 1);
    // 2652 kB in 71 requests, whatever is drawn; with HTTP/2 the server never holds more than a frame of unsent data.
    for protocol in ["h1", "h2"] {
        let app = application(&run(&ideal(&json!({"kind": "page", "protocol": protocol})), 7));
        assert!((app["page_bytes"].as_f64().unwrap() - 2_652_000.0).abs() < 71.0, "{app}");
        assert_eq!(app["objects"], 71);
    }
}

/// Acceptance W5: the arithmetic of an ideal link, where a chunk takes its bits over the rate and 80 ms, within 2 %.
#[test]
fn a_video_over_a_real_transport_is_near_the_ideal_one() {
    // An open window and 40 ms each way; headers of 52 B to 1448 B of payload.
    let video = |mbps: f64| {
        let rate = format!("{}kbps", mbps * 1000.0 * 1500.0 / 1448.0);
        let tcp =
            json!({"cc": "cubic", "profile": "linux", "initial_window": "10000p", "slow_start_after_idle": false});
        let mut world = one_flow(&rate, 40, "unlimited", "300s", tcp);
        world["flow"][0]["app"] = json!({"kind": "video"});
        application(&run(&world, 1))
    };
    let near = |measured: &Value, expected: f64| {
        let measured = measured.as_f64().unwrap();
        assert!((measured / expected - 1.0).abs() < 0.02, "{measured} {expected}");
    };
    let slow = video(0.25);
    near(&slow["bitrate_mean_bps"], 309_375.0);
    near(&slow["stall_s"], 41.36);
    assert_eq!((&slow["switches"], &slow["chunks"]), (&json!(1), &json!(48)));
    for (mbps, kbps) in [(2.0, 1841.67), (5.0, 3987.50), (20.0, 4017.71)] {
        let app = video(mbps);
        near(&app["bitrate_mean_bps"], 1e3 * kbps);
        assert_eq!(app["stall_s"], 0.0);
    }
    // The first chunk besides takes the handshake of 80 ms.
    near(&video(2.0)["startup_s"], 1.58 + 0.08);
}

#[test]
fn a_video_call_measures_its_frames_and_gives_up_a_dead_path() {
    let mut world = one_flow("20Mbps", 40, "100p", "30s", json!({"cc": "cubic"}));
    world["flow"][0]["app"] = json!({"kind": "rtc"});
    let clean = run(&world, 1);
    let app = application(&clean);
    // 40 ms and four packets of 1228 B.
    assert!((0.0415..0.0425).contains(&app["frame_delay_p50_s"].as_f64().unwrap()), "{app}");
    assert_eq!((&app["frames_late_ratio"], &app["freeze_s"]), (&json!(0.0), &json!(0.0)));
    assert!((app["rate_mean_bps"].as_f64().unwrap() / 1e6 - 1.0).abs() < 0.03, "{app}");
    // A report each second.
    assert!((28..=30).contains(&clean.flows[0].reverse.as_ref().unwrap().delivered_bytes.div_euclid(52)));
    // A queue of two seconds that another flow fills.
    world["network"]["bottleneck"] = json!({"rate": "2Mbps", "delay": "40ms", "queue": "333p"});
    world["flow"].as_array_mut().unwrap().push(json!({"from": "left0", "to": "right0", "start": "2s"}));
    let bloated = application(&run(&world, 1));
    assert!(
        bloated["frame_delay_p95_s"].as_f64() > Some(0.5) && bloated["frames_late_ratio"].as_f64() > Some(0.5),
        "{bloated}"
    );
    world["network"]["bottleneck"]["changes"] = json!([{"at": "10s", "up": false}]);
    let dead = application(&run(&world, 1));
    assert!((14.0..19.0).contains(&dead["breaker_s"].as_f64().unwrap()), "{dead}");
    assert_eq!(dead["breaker_rule"], "rtcp_timeout");
}

/// A call over 40 ms without loss: R loses 0.024 for each of 60 ms.
#[test]
fn a_call_on_a_clean_path_has_the_rating_of_its_delay() {
    let mut world = one_flow("10Gbps", 40, "unlimited", "20s", json!({}));
    world["flow"][0]["app"] = json!({"kind": "voice"});
    let summary = run(&world, 1);
    let call = application(&summary);
    assert!((call["r_factor"].as_f64().unwrap() - (93.2 - 0.024 * 60.0)).abs() < 0.01, "{call}");
    assert_eq!(call["voice_loss_ratio"], 0.0);
    // 172 B each 20 ms, at 0 s and at 20 s too: 68.8 kb/s above UDP, 80 kb/s with the headers of UDP and IP.
    assert_eq!(summary.flows[0].measures.sent_packets, 1001);
    assert!((summary.flows[0].measures.goodput_bps - 68_800.0).abs() < 200.0);
    world["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.05});
    let lossy = application(&run(&world, 1));
    assert!((0.03..0.07).contains(&lossy["voice_loss_ratio"].as_f64().unwrap()), "{lossy}");
    assert!(lossy["r_factor"].as_f64().unwrap() < 80.0);
}

#[test]
fn an_application_stops_when_its_flow_does() {
    let mut world = ideal(&json!({"kind": "request_response", "requests": 1000, "per_connection": 20}));
    world["flow"][0]["stop"] = json!("5s");
    let summary = run(&world, 1);
    let flow = &summary.flows[0];
    // Of fifty connections three were opened.
    let is_syn = |line: &&String| line.contains("sent ") && line.contains("< ") && line.contains(" S ");
    assert_eq!((summary.flows.len(), events(&world, 1).iter().filter(is_syn).count()), (3, 3));
    assert_eq!((flow.completion_s, flow.lifetime_s, flow.in_flight_packets), (None, 5.0, 0));
    assert_eq!(summary.network.completion.as_ref().unwrap().flows_unfinished, 1);
    assert!((40..50).contains(&application(&summary)["requests"].as_u64().unwrap()));
    assert_eq!(summary.conservation.in_flight, 0);
}

/// What holds in every world: packets are conserved, and what arrived was sent. `run` checks flows and links too.
#[test]
fn packets_are_conserved_in_both_directions() {
    let apps = [
        json!({"kind": "transfer", "size": "200kB", "direction": "both"}),
        json!({"kind": "transfer", "size": "100kB", "direction": "down"}),
        json!({"kind": "request_response", "requests": 20, "per_connection": 3, "think": {"kind": "exponential", "mean": "50ms"}}),
        json!({"kind": "voice"}),
        json!({"kind": "incast", "rounds": 5}),
        json!({"kind": "page", "objects": 8}),
        json!({"kind": "page", "objects": 8, "protocol": "h2"}),
        json!({"kind": "video", "chunks": 5}),
        json!({"kind": "rtc", "control": "loss"}),
    ];
    let mut rng = Rng::stream(1, "worlds");
    for number in 0..40 {
        let mut world = one_flow("4Mbps", 1 + rng.below(40), "30p", "8s", json!({"cc": "cubic"}));
        let bottleneck = &mut world["network"]["bottleneck"];
        bottleneck["loss"] = json!({"kind": "packet", "p": 0.05 * rng.uniform()});
        bottleneck["reverse"] = json!({"loss": {"kind": "packet", "p": 0.05 * rng.uniform()}});
        bottleneck["duplicate"] = json!({"p": 0.01});
        bottleneck["jitter"] = json!({"kind": "exponential", "mean": "2ms"});
        let flow =
            |app: &Value| json!({"from": "left0", "to": "right0", "app": app, "start": format!("{}ms", number * 7)});
        let chosen: Vec<Value> = (0..3).map(|_| flow(&apps[rng.below(apps.len() as u64) as usize])).collect();
        world["flow"] = json!(chosen);
        let sum = run(&world, number).conservation;
        assert_eq!(sum.sent + sum.duplicated, sum.delivered + sum.dropped + sum.in_flight, "world {number}");
    }
}

fn refused(app: &Value) -> String {
    refusal(&ideal(app))
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    for (app, start) in [
        (json!({"kind": "transfer"}), "flow[0].app.size: missing key `size`"),
        (json!({"kind": "transfer", "size": "0B"}), "flow[0].app.size: 0B is not a size from 1B to"),
        (
            json!({"kind": "transfer", "size": "1B", "direction": "left"}),
            "flow[0].app.direction: \"left\" is not a direction",
        ),
        (
            json!({"kind": "transfer", "direction": {"kind": "both", "up": "1B"}}),
            "flow[0].app.direction.down: missing key `down`",
        ),
        (
            json!({"kind": "request_response", "requests": 0}),
            "flow[0].app.requests: 0 is not a number from 1 to 1000000",
        ),
        (
            json!({"kind": "request_response", "per_connection": 0}),
            "flow[0].app.per_connection: 0 is not a number of requests",
        ),
        (
            json!({"kind": "request_response", "requests": 100_000, "per_connection": 1}),
            "flow[0].app.per_connection: 100000 requests are 100000 connections; at most 10000",
        ),
        (json!({"kind": "request_response", "think": "soon"}), "flow[0].app.think: "),
        (json!({"kind": "incast", "servers": 2}), "flow[0].app.servers: 2 servers, but from = \"left0\" names 1 nodes"),
        (json!({"kind": "incast", "total": "1B", "each": "1B"}), "flow[0].app.total: 1B in all and 1B each"),
        (json!({"kind": "voice", "codec": "opus"}), "flow[0].app.codec: "),
        (json!({"kind": "page", "depth": 71}), "flow[0].app.depth: 71 is not a number of levels from 1 to 70"),
        (json!({"kind": "page", "connections": 0}), "flow[0].app.connections: 0 is not a number from 1 to 256"),
        (json!({"kind": "video", "ladder": ["2Mbps", "1Mbps"]}), "flow[0].app.ladder[1]: 1Mbps is not above 2Mbps"),
        (json!({"kind": "video", "chunk": "0s"}), "flow[0].app.chunk: 0s is not a time from 1ms"),
        (json!({"kind": "video", "buffer": "1s"}), "flow[0].app.buffer: 1s is not a time from 4s"),
        (
            json!({"kind": "video", "rule": {"kind": "fixed", "level": 6}}),
            "flow[0].app.rule.level: 6 is not a level from 0 to 5",
        ),
        (json!({"kind": "rtc", "fps": 0}), "flow[0].app.fps: 0 is not a number from 0.1 to 1000"),
        (json!({"kind": "rtc", "rate_min": "2Mbps"}), "flow[0].app.rate_min: 2Mbps is not a rate up to `rate`, 1Mbps"),
        (json!({"kind": "voice", "playout": "late"}), "flow[0].app.playout: "),
        (json!({"kind": "script", "writes": []}), "flow[0].app.writes: 0 writes; from 1 to 100000"),
        (json!({"kind": "script", "writes": [["1s", "0B"]]}), "flow[0].app.writes[0][1]: 0B is not a size from 1B"),
        (
            json!({"kind": "script", "writes": [["1s", "1B"], ["1s", "1B"]]}),
            "flow[0].app.writes[1][0]: 1s is not after the write before",
        ),
        (
            json!({"kind": "script", "writes": [["1s", "1B", {"every": "0s", "until": "2s"}]]}),
            "flow[0].app.writes[0][2].every: 0s is not a time from 1ns",
        ),
        (
            json!({"kind": "script", "writes": [["1s", "1B", {"every": "1s", "until": "0s"}]]}),
            "flow[0].app.writes[0][2].until: 0s is not a time from 1s",
        ),
    ] {
        let error = refused(&app);
        assert!(error.starts_with(start), "{error}");
    }
    let many = json!({"kind": "request_response", "requests": 10_000, "per_connection": 1});
    let flow = json!({"from": "left0", "to": "right0", "app": many});
    let mut world = ideal(&many);
    world["flow"] = json!(vec![flow; 11]);
    assert!(refusal(&world).starts_with("flow: 110000 connections of all applications; at most 100000"));
    let mut world = ideal(&json!({"kind": "voice"}));
    world["flow"][0]["silent"] = json!(true);
    assert!(refusal(&world).starts_with("flow[0].silent: does not go with"));
}

#[test]
fn an_application_over_many_hosts_gives_the_same_bits_each_time() {
    let app = json!({"kind": "request_response", "requests": 30, "per_connection": 4,
                     "think": {"kind": "exponential", "mean": "20ms"}});
    let results: Vec<FlowSummary> = (0..2).map(|_| run(&ideal(&app), 3).flows.swap_remove(2)).collect();
    assert_eq!(results[0], results[1]);
}
