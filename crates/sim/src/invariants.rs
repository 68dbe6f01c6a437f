//! What holds at every moment of every run. A violation is a bug of ours: the run stops with a sentence that says what,
//! when, and with which seed it can be seen again. That time never goes back is checked by `schedule.rs`, that each packet
//! and each second of a battery is accounted for at the end by `summary/collect.rs` and `radio/energy.rs`.

use tcp::Snapshot;
use tcp::units::Bytes;

use crate::metrics::Tally;
use crate::simulation::Simulation;

/// A release build looks again after so many events: less than a thousandth of the work.
const RARELY: u64 = 1 << 16;
/// A debug build, the one of tests, looks this often.
const OFTEN: u64 = 1 << 10;
/// No window is larger: 2^30 bytes are the most that TCP can announce (RFC 7323 §2.3), algorithms may go beyond.
const MOST: Bytes = Bytes(1 << 50);

/// How many events may pass between two looks.
pub(crate) const fn distance() -> u64 {
    if cfg!(debug_assertions) { OFTEN } else { RARELY }
}

/// Looks at everything. Panics with the seed if something cannot be.
pub(crate) fn check(run: &Simulation) {
    let place = |what: String| format!("{what}, at {} (seed {}, event {})", run.core.now, run.seed, run.core.events);
    let mut alive = vec![0; run.core.flows.len()];
    run.core.packets.iter().for_each(|packet| alive[packet.to.flow().index()] += 1);
    for (index, (flow, in_flight)) in run.core.flows.iter().zip(alive).enumerate() {
        if let Some(fault) = conserved(&flow.tally, in_flight) {
            panic!("{}", place(format!("flow {index} lost count of its packets: {fault}")));
        }
    }
    for (index, flow) in run.hosts.flows.iter().enumerate() {
        if let Some(fault) = flow.snapshot().as_ref().and_then(sane) {
            panic!("{}", place(format!("flow {index}: {fault}")));
        }
    }
    for (index, link) in run.network.links.iter().enumerate() {
        let (metrics, held) = (&link.metrics, link.holds());
        if metrics.offered != metrics.delivered + metrics.dropped() + held {
            panic!("{}", place(format!("link {index} lost count of its packets: {metrics:?}, {held} held")));
        }
    }
}

/// What is wrong with the books of a flow of which `in_flight` packets exist.
fn conserved(tally: &Tally, in_flight: u64) -> Option<String> {
    let known = tally.delivered + tally.dropped + in_flight;
    (tally.sent != known).then(|| format!("{tally:?}, {in_flight} in flight"))
}

/// What cannot be in the state of a sender.
fn sane(s: &Snapshot) -> Option<String> {
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
        return Some(format!("{} reported and {} lost of {}", s.sacked, s.lost, s.flight));
    }
    if s.window.cwnd == Bytes::ZERO || s.window.cwnd > MOST {
        return Some(format!("cwnd is {}", s.window.cwnd));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn run_for(events: u64) -> Simulation {
        let text = r#"{"duration": "5s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1,
            "bottleneck": {"rate": "2Mbps", "delay": "10ms", "queue": "20p"}}}"#;
        let mut run = Simulation::new(&Scenario::from_json(text).unwrap(), 7).unwrap();
        run.advance(events);
        run
    }

    #[test]
    fn a_run_under_way_is_sane() {
        for events in [0, 1, 10, 500, 2_000] {
            check(&run_for(events));
        }
    }

    #[test]
    #[should_panic(expected = "lost count of its packets")]
    fn a_packet_too_many_is_seen_with_the_seed() {
        let mut run = run_for(500);
        run.core.flows[0].tally.sent += 1;
        check(&run);
    }

    #[test]
    #[should_panic(expected = "(seed 7, event 500)")]
    fn the_message_says_how_to_repeat_it() {
        let mut run = run_for(500);
        run.network.links[0].metrics.offered += 1;
        check(&run);
    }

    #[test]
    fn senders_that_cannot_be_are_refused() {
        let good = run_for(500).hosts.flows[0].snapshot().unwrap();
        assert_eq!(sane(&good), None);
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
            assert!(sane(&bad).is_some(), "{bad:?}");
        }
    }
}
