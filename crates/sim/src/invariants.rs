//! What holds at every moment of every run. A violation is a bug of the engine: the run panics with a message that says what,
//! when, and with which seed it happens again. That time never goes back is checked by `engine/event_list.rs`, that each
//! second of a battery is accounted for by `radio/energy.rs`.

use tcp::Snapshot;
use tcp::units::Bytes;

use crate::metrics::Tally;
use crate::world::World;

/// Events between two checks, at least, and for each flow and link: a check goes over all of them, and the larger the world is, the
/// fewer of them have done anything since the last one. In a release build that is less than a hundredth of the work.
const RELEASE_INTERVAL: (u64, u64) = (1 << 16, 16);
/// Events between two checks in a debug build, the one of tests.
const DEBUG_INTERVAL: (u64, u64) = (1 << 10, 1);
/// No cwnd is larger: TCP can announce windows of 2^30 bytes (RFC 7323 §2.3), algorithms may go beyond.
const MAX_CWND: Bytes = Bytes(1 << 50);

/// Events until the next check of a world.
pub(crate) fn interval(world: &World) -> u64 {
    let (least, for_each) = if cfg!(debug_assertions) { DEBUG_INTERVAL } else { RELEASE_INTERVAL };
    least.max(for_each * (world.ctx.flows.len() + world.network.links.len()) as u64)
}

/// Checks every flow, sender and link: at intervals, so that a fault is found near its cause, and at the end of every run.
///
/// # Panics
///
/// If an invariant is violated; the message has the time, the seed and the number of the event.
pub(crate) fn check(world: &World) {
    let describe =
        |what: String| format!("{what}, at {} (seed {}, event {})", world.ctx.now, world.seed, world.ctx.events);
    let mut alive = vec![0; world.ctx.flows.len()];
    world.ctx.packets.iter().for_each(|packet| alive[packet.to.flow().index()] += 1);
    for (index, (flow, in_flight)) in world.ctx.flows.iter().zip(alive).enumerate() {
        if let Some(fault) = imbalance(&flow.tally, in_flight) {
            panic!("{}", describe(format!("packet conservation violated for flow {index}: {fault}")));
        }
    }
    for (index, flow) in world.hosts.flows.iter().enumerate() {
        for snapshot in flow.snapshots() {
            if let Some(fault) = sender_fault(&snapshot) {
                panic!("{}", describe(format!("flow {index}: {fault}")));
            }
        }
    }
    for (index, link) in world.network.links.iter().enumerate() {
        let (metrics, held) = (&link.metrics, link.holds());
        if metrics.offered != metrics.delivered + metrics.dropped() + held {
            panic!("{}", describe(format!("packet conservation violated for link {index}: {metrics:?}, {held} held")));
        }
    }
}

/// The imbalance of a flow of which `in_flight` packets exist: sent + duplicated = delivered + dropped + in flight.
fn imbalance(tally: &Tally, in_flight: u64) -> Option<String> {
    let known = tally.delivered + tally.dropped + in_flight;
    (tally.sent + tally.duplicated != known).then(|| format!("{tally:?}, {in_flight} in flight"))
}

/// The violation in the state of a sender, if there is one.
fn sender_fault(s: &Snapshot) -> Option<String> {
    if s.snd_una > s.snd_nxt {
        return Some(format!("snd_una {} is beyond snd_nxt {}", s.snd_una, s.snd_nxt));
    }
    // RFC 5681 §2: FlightSize is what was sent and not acknowledged.
    if s.snd_nxt - s.snd_una != s.flight {
        return Some(format!("flight is {}, but {} to {} are not acknowledged", s.flight, s.snd_una, s.snd_nxt));
    }
    // RFC 6675 §4: each octet counts at most twice, once as sent and once as sent again.
    if s.pipe.0 > 2 * s.flight.0 {
        return Some(format!("pipe is {} with {} not acknowledged", s.pipe, s.flight));
    }
    if s.sacked > s.flight || s.lost > s.flight {
        return Some(format!("{} SACKed and {} lost of {}", s.sacked, s.lost, s.flight));
    }
    if s.window.cwnd == Bytes::ZERO || s.window.cwnd > MAX_CWND {
        return Some(format!("cwnd is {}", s.window.cwnd));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    fn run_for(events: u64) -> Simulation {
        let text = r#"{"duration": "5s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1,
            "bottleneck": {"rate": "2Mbps", "delay": "10ms", "queue": "20p"}}}"#;
        let mut run = Simulation::new(&Scenario::from_json(text).unwrap(), 7).unwrap();
        run.advance(events);
        run
    }

    #[test]
    fn a_running_simulation_violates_nothing() {
        for events in [0, 1, 10, 500, 2_000] {
            check(&run_for(events).world);
        }
    }

    #[test]
    #[should_panic(expected = "packet conservation violated for flow 0")]
    fn a_packet_too_many_is_seen_with_the_seed() {
        let mut run = run_for(500);
        run.world.ctx.flows[0].tally.sent += 1;
        check(&run.world);
    }

    #[test]
    #[should_panic(expected = "(seed 7, event 500)")]
    fn the_message_says_how_to_repeat_it() {
        let mut run = run_for(500);
        run.world.network.links[0].metrics.offered += 1;
        check(&run.world);
    }

    #[test]
    #[should_panic(expected = "packet conservation violated for flow 0")]
    fn the_end_of_a_run_shows_what_happened_after_the_last_check() {
        let mut run = run_for(500);
        run.world.ctx.flows[0].tally.sent += 1;
        assert!(500 < interval(&run.world), "no check was due before the end");
        run.finish();
    }

    #[test]
    fn checks_are_as_frequent_as_their_work_allows() {
        let mut run = run_for(0);
        let small = interval(&run.world);
        run.world.ctx.flows.resize_with(1_000_000, Default::default);
        assert!(interval(&run.world) >= small.max(1_000_000));
    }

    #[test]
    #[should_panic(expected = "packet conservation violated for flow 0")]
    fn steps_of_a_run_do_not_put_a_check_off() {
        let mut run = run_for(500);
        run.world.ctx.flows[0].tally.sent += 1;
        run.next_check = 600;
        (0..100).for_each(|_| assert!(!run.advance(1)));
    }

    #[test]
    fn impossible_senders_are_detected() {
        let good = run_for(500).world.hosts.flows[0].snapshot().unwrap();
        assert_eq!(sender_fault(&good), None);
        let faults: [fn(&mut Snapshot); 5] = [
            |s| s.window.cwnd = Bytes::ZERO,
            |s| s.window.cwnd = Bytes(u64::MAX),
            |s| s.pipe = Bytes(3 * s.flight.0),
            |s| s.snd_una = s.snd_nxt + Bytes(1),
            |s| s.lost = s.flight + Bytes(1),
        ];
        for fault in faults {
            let mut bad = good;
            fault(&mut bad);
            assert!(sender_fault(&bad).is_some(), "{bad:?}");
        }
    }
}
