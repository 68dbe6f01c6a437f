//! Independently computed vectors, and statistics of long trajectories.

use super::*;
use tcp::units::Span;

fn mobility(text: &str) -> MobilityDef {
    serde_json::from_str(text).unwrap()
}

fn point(x: f64, y: f64, z: f64) -> Point {
    Point { x, y, z }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

fn near(a: Point, b: Point) -> bool {
    a.distance(b) < 1e-9
}

fn field(x: f64, y: f64, z: f64) -> Field {
    Field::up_to(point(x, y, z))
}

fn track(text: &str, start: Point, field: Field, seed: u64) -> Track {
    Track::new(&mobility(text), start, field, Rng::stream(seed, "node/n0/mobility"))
}

/// Vector 1.
#[test]
fn setdest_goes_straight_and_stops() {
    let orders = r#"{"kind": "setdest", "orders": [{"at": "10s", "x": 30, "y": 40, "speed": "5m/s"}]}"#;
    let mut track = track(orders, point(0.0, 0.0, 0.0), field(100.0, 100.0, 0.0), 1);
    assert_eq!(track.at(at(9.0)), point(0.0, 0.0, 0.0));
    assert!(near(track.at(at(12.0)), point(6.0, 8.0, 0.0)));
    assert_eq!(track.at(at(20.0)), point(30.0, 40.0, 0.0));
    assert_eq!(track.at(at(1e6)), point(30.0, 40.0, 0.0));
}

#[test]
fn a_later_order_overrides_and_one_without_speed_stops() {
    let orders = r#"{"kind": "setdest", "orders": [
        {"at": "0s", "x": 100, "y": 0, "speed": "10m/s"},
        {"at": "5s", "x": 50, "y": 100, "speed": "20m/s"},
        {"at": "7s", "x": 0, "y": 0, "speed": "0m/s"},
        {"at": "8s", "x": 50, "y": 0, "speed": "40m/s"}]}"#;
    let mut track = track(orders, point(0.0, 0.0, 3.0), field(100.0, 100.0, 5.0), 1);
    for (seconds, position) in [
        (4.0, point(40.0, 0.0, 3.0)),
        (5.0, point(50.0, 0.0, 3.0)),
        (6.0, point(50.0, 20.0, 3.0)),
        (7.5, point(50.0, 40.0, 3.0)),
        (8.5, point(50.0, 20.0, 3.0)),
        (9.0, point(50.0, 0.0, 3.0)),
    ] {
        assert!(near(track.at(at(seconds)), position), "{seconds} s: {:?}", track.at(at(seconds)));
    }
}

#[test]
fn waypoints_are_reached_in_time_or_all_at_once() {
    let text = r#"{"kind": "waypoints", "points": [
        {"at": "4s", "x": 40, "y": 0}, {"at": "9.1s", "x": 0, "y": 400, "z": 7, "jump": true},
        {"at": "10.1s", "x": 10, "y": 400}]}"#;
    let mut track = track(text, point(0.0, 0.0, 0.0), field(500.0, 500.0, 10.0), 1);
    for (seconds, position) in [
        (0.0, point(0.0, 0.0, 0.0)),
        (1.0, point(10.0, 0.0, 0.0)),
        (9.0, point(40.0, 0.0, 0.0)),
        (9.1, point(0.0, 400.0, 7.0)),
        (9.6, point(5.0, 400.0, 7.0)),
        (99.0, point(10.0, 400.0, 7.0)),
    ] {
        assert!(near(track.at(at(seconds)), position), "{seconds} s: {:?}", track.at(at(seconds)));
    }
}

/// Vector 2: without noise, from (95, 0, 50) along x at 5 m/s, in a box of +-100.
#[test]
fn gauss_markov_is_reflected_before_the_wall() {
    let MobilityDef::GaussMarkov(def) = mobility(r#"{"kind": "gauss_markov", "alpha": 1.0, "speed": "5m/s"}"#) else {
        unreachable!()
    };
    let walls = Field { low: point(-100.0, -100.0, 0.0), high: point(100.0, 100.0, 100.0) };
    let mut model = GaussMarkov::new(&def, walls, Rng::stream(1, "node/n0/mobility"));
    (model.direction.value, model.direction.mean) = (0.0, 0.0);
    let first = model.step(Time::ZERO, point(95.0, 0.0, 50.0));
    assert_eq!((first.end, model.direction.mean), (point(100.0, 0.0, 50.0), 0.0));
    let second = model.step(first.until, first.end);
    assert_eq!((second.until, second.end), (at(2.0), point(95.0, 0.0, 50.0)));
    assert_eq!(second.velocity, point(-5.0, 0.0, 0.0));
    assert_eq!((model.direction.mean, model.direction.value), (std::f64::consts::PI, std::f64::consts::PI));
    // It continues on the way back.
    assert!(near(model.step(second.until, second.end).end, point(90.0, 0.0, 50.0)));
}

/// Each wall reverses its own component, and the mean with it.
#[test]
fn gauss_markov_reflects_on_every_axis() {
    let MobilityDef::GaussMarkov(def) = mobility(r#"{"kind": "gauss_markov", "alpha": 1.0, "speed": "10m/s"}"#) else {
        unreachable!()
    };
    let walls = field(100.0, 100.0, 100.0);
    let pi = std::f64::consts::PI;
    // start, direction, pitch; mean direction and pitch after
    let cases = [
        (point(1.0, 50.0, 50.0), pi, 0.0, 0.0, 0.0),
        (point(50.0, 99.0, 50.0), pi / 2.0, 0.0, -pi / 2.0, 0.0),
        (point(50.0, 1.0, 50.0), -pi / 2.0, 0.0, pi / 2.0, 0.0),
        (point(50.0, 50.0, 99.0), 0.0, pi / 4.0, 0.0, -pi / 4.0),
        (point(99.0, 99.0, 50.0), pi / 4.0, 0.0, -3.0 * pi / 4.0, 0.0),
    ];
    for (start, direction, pitch, mean_direction, mean_pitch) in cases {
        let mut model = GaussMarkov::new(&def, walls, Rng::stream(1, "node/n0/mobility"));
        (model.direction.value, model.direction.mean) = (direction, direction);
        (model.pitch.value, model.pitch.mean) = (pitch, pitch);
        let back = model.step(Time::ZERO, start);
        assert!((model.direction.mean - mean_direction).abs() < 1e-12, "{start:?}: {}", model.direction.mean);
        assert!((model.pitch.mean - mean_pitch).abs() < 1e-12, "{start:?}: {}", model.pitch.mean);
        assert!((back.velocity.length() - 10.0).abs() < 1e-9 && walls.contains(back.end));
    }
}

/// Without walls in the way, speed has the stationary moments of its recursion.
#[test]
fn gauss_markov_has_its_mean_speed_and_its_spread() {
    let mut rng = Rng::stream(5, "drift");
    let mut drift = gauss_markov::Ar1 { value: 5.0, mean: 5.0, noise: 2.0 };
    let (steps, memory) = (200_000, 0.85);
    let mut values = Vec::with_capacity(steps);
    for _ in 0..steps {
        drift.step(memory, &mut rng);
        values.push(drift.value);
    }
    let n = steps as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    // The recursion s' = a s + sqrt(1 - a^2) N has variance 4; its mean over n steps has 4 (1 + a) / (1 - a) / n, its
    // sample variance 2 * 16 (1 + a^2) / (1 - a^2) / n. Four standard errors.
    assert!((mean - 5.0).abs() < 4.0 * (4.0 * (1.0 + memory) / (1.0 - memory) / n).sqrt(), "{mean}");
    let spread = 4.0 * (32.0 * (1.0 + memory * memory) / (1.0 - memory * memory) / n).sqrt();
    assert!((variance - 4.0).abs() < spread, "{variance}");
}

const WANDERERS: [&str; 4] = [
    r#"{"kind": "random_waypoint", "speed_min": "1m/s", "speed_max": "20m/s", "pause": "0s"}"#,
    r#"{"kind": "random_waypoint", "speed_min": "1m/s", "speed_max": "20m/s", "pause": "3s", "steady": true}"#,
    r#"{"kind": "gauss_markov", "speed": "12m/s", "interval": "500ms"}"#,
    // A step is as long as the box is wide.
    r#"{"kind": "gauss_markov", "speed": "25m/s", "speed_noise": 5.0}"#,
];

#[test]
fn a_trajectory_has_no_gaps_and_stays_in_the_field() {
    let walls = field(25.0, 25.0, 25.0);
    for text in WANDERERS {
        for seed in 0..5 {
            let mut track = track(text, point(12.0, 3.0, 20.0), walls, seed);
            let mut leg = track.leg(Time::ZERO);
            for _ in 0..500 {
                let next = track.leg(leg.until);
                assert_eq!((leg.at(leg.until), next.at(next.from)), (leg.end, next.start));
                assert!(leg.end.distance(next.start) == 0.0, "{text}: {leg:?} {next:?}");
                // Just before its end a leg is as near to it as its speed allows.
                let before = leg.at(Time::from_nanos(leg.until.as_nanos().saturating_sub(1).max(leg.from.as_nanos())));
                assert!(before.distance(leg.end) < 1e-6 || leg.from == leg.until, "{text}: {leg:?}");
                assert!(walls.contains(leg.end) && walls.contains(leg.start));
                leg = next;
            }
        }
    }
}

#[test]
fn evaluating_more_often_changes_nothing() {
    for text in WANDERERS {
        let new = || track(text, point(12.0, 3.0, 20.0), field(25.0, 25.0, 25.0), 7);
        let (mut often, mut seldom) = (new(), new());
        for second in 1..=60 {
            for tenth in 1..=10 {
                often.at(at(f64::from(second - 1) + f64::from(tenth) / 10.0));
            }
            assert_eq!(often.at(at(f64::from(second))), seldom.at(at(f64::from(second))), "{text}");
        }
    }
}

/// Vector 3, and E[1/v] from the durations: square of 1 km, no pause.
#[test]
fn random_waypoint_has_its_mean_leg_and_slowness() {
    let text = r#"{"kind": "random_waypoint", "speed_min": "5m/s", "speed_max": "25m/s", "pause": "0s"}"#;
    let mut track = track(text, point(500.0, 500.0, 0.0), field(1000.0, 1000.0, 0.0), 3);
    let (mut lengths, mut slowness) = (Vec::new(), Vec::new());
    let mut leg = track.leg(Time::ZERO);
    for _ in 0..50_000 {
        lengths.push(leg.start.distance(leg.end));
        slowness.push(1.0 / leg.velocity.length());
        leg = track.leg(leg.until);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Standard deviation of a leg 0.248 L; neighbours share an end, which at most doubles the variance of the mean.
    assert!((mean(&lengths) - 521.4).abs() < 4.0 * 248.0 * (2.0_f64 / 50_000.0).sqrt(), "{}", mean(&lengths));
    // E[1/v] = ln 5 / 20 = 0.080472 s/m; E[1/v^2] = 1/125, so the standard deviation of 1/v is 0.0390.
    assert!((mean(&slowness) - 0.080_472).abs() < 4.0 * 0.0390 / 50_000_f64.sqrt(), "{}", mean(&slowness));
}

/// A steady start has the stationary distribution that the ordinary start approaches: fraction of resting nodes,
/// moments of positions and of speeds.
#[test]
fn a_steady_start_is_stationary() {
    let walls = field(1000.0, 1000.0, 0.0);
    let kind = |steady: bool| {
        format!(
            r#"{{"kind": "random_waypoint", "speed_min": "1m/s", "speed_max": "20m/s", "pause": "60s", "steady": {steady}}}"#
        )
    };
    const NODES: u64 = 20_000;
    // Means over nodes: resting or not, squared distance from the middle, speed of moving ones.
    let means = |text: &str, when: f64| {
        let mut sums = [0.0; 3];
        let mut moving = 0.0;
        for node in 0..NODES {
            let mut track = track(text, point(500.0, 500.0, 0.0), walls, node);
            let leg = track.leg(at(when));
            let position = track.at(at(when));
            let rests = leg.velocity.length() == 0.0;
            sums[0] += f64::from(u8::from(rests));
            sums[1] += ((position.x - 500.0).powi(2) + (position.y - 500.0).powi(2)) / 1e6;
            if !rests {
                sums[2] += leg.velocity.length();
                moving += 1.0;
            }
        }
        [sums[0] / NODES as f64, sums[1] / NODES as f64, sums[2] / moving]
    };
    // E[P] / (E[P] + E[D] E[1/v]) = 60 / (60 + 521.4 * ln 20 / 19) = 0.42190; speed (max - min) / ln(max / min) =
    // 6.3424.
    let (rests, speed) = (60.0 / (60.0 + 521.405 * 20_f64.ln() / 19.0), 19.0 / 20_f64.ln());
    let [now, later, grown] = [means(&kind(true), 0.0), means(&kind(true), 300.0), means(&kind(false), 3000.0)];
    let n = NODES as f64;
    for [rest_share, spread, mean_speed] in [now, later, grown] {
        assert!((rest_share - rests).abs() < 4.0 * (rests * (1.0 - rests) / n).sqrt(), "{rest_share} of {rests}");
        // Speed of density 1/v: E[v^2] = (max^2 - min^2) / (2 ln 20) = 66.59, so its standard deviation is 5.13.
        let error = 5.13 / (n * (1.0 - rests)).sqrt();
        assert!((mean_speed - speed).abs() < 4.0 * error, "{mean_speed} of {speed}");
        // Positions concentrate in the middle: less than the 1/6 of a uniform distribution; the three agree. Standard
        // deviation below 0.13.
        assert!(spread < 0.15 && (spread - now[1]).abs() < 4.0 * 0.13 * (2.0 / n).sqrt(), "{spread} and {}", now[1]);
    }
}
