use super::*;
use crate::scenario::Scenario;
use crate::simulation::Simulation;

fn run(more: &str) -> Simulation {
    let text = format!(
        r#"{{"duration": "10s", "network": {{"kind": "dumbbell", "pairs": 1}},
            "workload": [{{"name": "web", "from": ["left0"], "to": ["right0"], "size": {{"kind": "constant", "bytes": "1kB"}},
                           "arrivals": {{"kind": "constant", "interval": "10ms"}}{more}}}]}}"#
    );
    Simulation::new(&Scenario::from_json(&text).unwrap(), 1).unwrap()
}

#[test]
fn too_many_alive_end_the_run() {
    let mut run = run("");
    run.advance(1000);
    let before = run.now();
    let Workloads { slots, free, .. } = &mut run.world.workloads;
    // As if so many flows were there and did nothing.
    let idle = Slot { phase: Phase::Alive, ..slots[0] };
    slots.resize(opening::MOST_ALIVE + free.len(), idle);
    while !run.advance(1 << 10) {}
    let reason = run.exceeded().unwrap();
    assert!(
        reason.starts_with("too_many_alive: 100000 flows exist at once at ") && reason.contains("\"web\""),
        "{reason}"
    );
    assert!(run.now() > before && run.now() <= before + Span::from_millis(10));
}

#[test]
fn slots_are_as_many_as_flows_alive() {
    let mut run = run("");
    while !run.advance(1 << 10) {
        let workloads = &run.world.workloads;
        assert!(workloads.slots.len() <= 12 && run.world.hosts.flows.len() == workloads.slots.len());
        let used = workloads.in_use().count();
        assert_eq!(used + workloads.free.len(), workloads.slots.len());
    }
    assert_eq!(run.world.workloads.next_serial, 1000, "the last at the very end");
}
