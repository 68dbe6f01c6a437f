//! Vectors of internet §1.2.

use super::*;

const SETTINGS: Settings =
    Settings { target: Span::from_millis(5), interval: Span::from_millis(100), mtu_time: Span::ZERO };

fn at_millis(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn drops_follow_the_law_of_codel() {
    // (c) Over target from 0 on, without ECN: the first drop after an interval, the others after interval / sqrt(count).
    let mut state = Cobalt::default();
    let mut rng = Rng::stream(1, "cobalt");
    let mut drops = Vec::new();
    for us in (0..402_000).step_by(100) {
        let now = Time::ZERO + Span::from_micros(us);
        if state.drops(&SETTINGS, (now, Span::from_millis(10)), 0, || false, &mut rng) {
            drops.push(us as f64 / 1000.0);
        }
    }
    let expected = [100.0, 170.711, 228.446, 278.446, 323.167, 363.992, 401.788];
    assert_eq!(drops.len(), expected.len(), "{drops:?}");
    assert!(drops.iter().zip(expected).all(|(found, law)| (0.0..=0.11).contains(&(found - law))), "{drops:?}");
}

#[test]
fn blue_rises_with_overflows_and_falls_with_empty_queues() {
    // (d)
    let mut state = Cobalt::default();
    (1..=3).for_each(|i| state.on_overflow(&SETTINGS, at_millis(10 * i)));
    (4..=8).for_each(|i| state.on_empty(&SETTINGS, at_millis(10 * i)));
    assert!((f64::from(state.blue) / f64::from(BLUE_UNIT) - 0.010498).abs() < 1e-6);
    // At most once in a target.
    let before = state.blue;
    state.on_overflow(&SETTINGS, at_millis(84));
    assert_eq!(state.blue, before);
    assert!(state.dropping && !state.is_at_rest(at_millis(1000)));
}
