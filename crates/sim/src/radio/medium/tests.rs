//! The grid finds the same stations as a scan.

use tcp::rng::Rng;

use super::*;
use crate::mobility::Field;
use crate::radio::build;
use crate::radio::build::dcf::DcfRadio;
use crate::radio::grid::Grid;
use crate::scenario::{MobilityDef, RadioDef};

fn mobility(text: &str) -> MobilityDef {
    serde_json::from_str(text).unwrap()
}

/// 400 stations over 6 km: most move at random, some jump across the area, some rest until late.
fn crowd(seed: u64) -> Vec<Track> {
    let field = Field::up_to(Point { x: 6000.0, y: 6000.0, z: 50.0 });
    let mut positions = Rng::stream(seed, "places");
    let kinds = [
        mobility(r#"{"kind": "random_waypoint", "speed_min": "1m/s", "speed_max": "40m/s", "pause": "1s"}"#),
        mobility(r#"{"kind": "gauss_markov", "speed": "20m/s", "interval": "500ms"}"#),
        mobility(
            r#"{"kind": "waypoints", "points": [{"at": "20s", "x": 10, "y": 10, "jump": true},
                {"at": "20s", "x": 2900, "y": 10}, {"at": "20.5s", "x": 2900, "y": 2900}]}"#,
        ),
        mobility(r#"{"kind": "setdest", "orders": [{"at": "30s", "x": 0, "y": 0, "speed": "300m/s"}]}"#),
        mobility(r#"{"kind": "fixed"}"#),
    ];
    (0..400)
        .map(|i| {
            let kind = &kinds[[0, 0, 0, 1, 1, 2, 3, 4][i % 8]];
            Track::new(kind, field.random_position(&mut positions), field, Rng::stream(seed, &format!("node/{i}")))
        })
        .collect()
}

fn ns2() -> DcfRadio {
    let def = RadioDef { profile: crate::scenario::RadioProfile::Ns2, ..RadioDef::default() };
    build::dcf::build(&build::with_defaults(&def, "").unwrap())
}

#[test]
fn a_grid_finds_the_same_as_a_full_scan() {
    let radio = ns2();
    for seed in 0..3 {
        let mut with_grid = radio.medium(crowd(seed));
        let mut without = with_grid.clone();
        without.index.grid = None;
        let mut rng = Rng::stream(seed, "frames");
        let (mut now, mut a, mut b, mut found) = (Time::ZERO, Vec::new(), Vec::new(), 0);
        for _ in 0..4000 {
            now = now + Span::from_secs_f64(rng.exponential(0.02));
            let from = StationId(rng.below(400) as u32);
            with_grid.listeners_of(from, now, &mut a);
            without.listeners_of(from, now, &mut b);
            assert_eq!(a, b, "of {from:?} at {now:?}");
            assert!(with_grid.index.grid.as_ref().is_some_and(Grid::is_worthwhile));
            found += a.len();
        }
        assert!(found > 4000 * 5, "the test examines something");
    }
}

/// The cost of a frame is proportional to its listeners. With four times the stations on four times
/// the area, as many stations are examined per listener.
#[test]
fn the_cost_of_a_frame_does_not_grow_with_the_number_of_stations() {
    let mobility = mobility(r#"{"kind": "random_waypoint", "speed_min": "5m/s", "speed_max": "20m/s", "pause": "0s"}"#);
    for (stations, side) in [(500, 6_000.0), (2_000, 12_000.0), (8_000, 24_000.0)] {
        let field = Field::up_to(Point { x: side, y: side, z: 0.0 });
        let mut positions = Rng::stream(1, "places");
        let mut track = |i| {
            Track::new(&mobility, field.random_position(&mut positions), field, Rng::stream(1, &format!("node/{i}")))
        };
        let mut medium = ns2().medium((0..stations).map(&mut track).collect());
        let (mut now, mut found, mut examined, mut listeners) = (Time::ZERO, 0, 0, Vec::new());
        for frame in 0..2000 {
            now = now + Span::from_millis(5);
            let from = StationId(frame * 7919 % stations);
            medium.listeners_of(from, now, &mut listeners);
            found += listeners.len();
            examined += medium.index.examined(from, now);
        }
        assert!(found > 2000 * 8, "{stations} stations: the test examines something: {found}");
        let share = examined as f64 / found as f64;
        assert!(share < 4.0, "{stations} stations: {share:.2} examined per listener");
    }
}
