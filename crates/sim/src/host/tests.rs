use crate::engine::event::Event;
use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// The largest number of messages stored at once in `seconds` of 250 per second, twice what the path carries.
fn max_messages(transport: &str, seconds: u64) -> usize {
    let text = format!(
        r#"{{"duration": "{seconds}s", "network": {{"kind": "dumbbell", "bottleneck": {{"rate": "1Mbps"}}}},
            "tcp": {{"send_buffer": "64kB"}},
            "flow": [{{"from": "left0", "to": "right0",
                       "app": {{"kind": "cbr", "rate": "250pps", "size": "1000B", "transport": "{transport}"}}}}]}}"#
    );
    let mut run = Simulation::new(&Scenario::from_json(&text).unwrap(), 1).unwrap();
    let mut max = 0;
    while let Some(event) = run.world.ctx.next().filter(|event| *event != Event::Stop) {
        run.handle(event);
        max = max.max(run.world.hosts.flows[0].messages.len());
    }
    max
}

#[test]
fn the_record_of_messages_does_not_grow_with_the_run() {
    assert_eq!(max_messages("udp", 20), 0, "a datagram carries the time of its message itself");
    // What the send buffer holds, and the one that waits for room in it.
    assert!((1..=65).contains(&max_messages("tcp", 5)));
    assert_eq!(max_messages("tcp", 20), max_messages("tcp", 40));
}
