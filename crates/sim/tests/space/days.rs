//! A day of paths, against a separate calculation in another language. Means within 0.5 %, extremes within 1 %.

use serde_json::json;
use sim::{GroundTracks, PathSeries, ground_tracks};
use tcp::units::Span;

use super::common::scenario;
use super::iridium;

const DAY_S: u64 = 86_400;

/// The reference calculation looks at handovers each 60 s and at the path each 120 s.
fn day(terminals: &[&str], altitude_km: f64) -> GroundTracks {
    let every = json!({"altitude_km": altitude_km, "handover_interval": "60s", "isl_interval": "60s"});
    look(terminals, every, 120.0)
}

fn look(terminals: &[&str], changes: serde_json::Value, step_s: f64) -> GroundTracks {
    let scenario = scenario(&iridium(terminals, changes));
    ground_tracks(&scenario, 1, Span::ZERO, Span::from_millis(1000 * DAY_S), Span::from_secs_f64(step_s)).unwrap()
}

/// Least, mean and greatest delay in milliseconds; every instant has a path.
fn statistics(path: &PathSeries) -> [f64; 3] {
    let delays: Vec<f64> = path.delay_s.iter().map(|delay| 1e3 * delay.expect("all day reachable")).collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    [delays.iter().copied().fold(f64::INFINITY, f64::min), mean, delays.iter().copied().fold(0.0, f64::max)]
}

fn close(what: &str, is: [f64; 3], should: [f64; 3]) {
    for ((is, should), within) in is.iter().zip(should).zip([0.01, 0.005, 0.01]) {
        assert!((is / should - 1.0).abs() <= within, "{what}: {is} is not {should}");
    }
}

#[test]
fn delays_between_cities_over_a_day() {
    let table = [
        (["Berkeley", "Boston"], [20.5, 54.0, 132.1]),
        (["New York", "London"], [28.5, 64.5, 119.9]),
        (["London", "Tokyo"], [40.3, 66.2, 107.7]),
        (["Dhaka", "New York"], [49.3, 63.8, 104.8]),
        (["Dhaka", "Nairobi"], [24.7, 66.6, 135.4]),
        (["Sao Paulo", "Sydney"], [51.8, 68.4, 94.8]),
    ];
    for (ends, should) in table {
        let tracks = day(&ends, 780.0);
        let is = statistics(&tracks.paths[0]);
        println!("{ends:?} {is:.2?}");
        close(&format!("{ends:?}"), is, should);
    }
}

#[test]
fn delay_rises_a_little_with_altitude() {
    let table = [(780.0, 54.04), (840.0, 54.43), (900.0, 55.52), (960.0, 56.69), (1020.0, 57.92)];
    for (altitude, mean) in table {
        let [_, is, _] = statistics(&day(&["Berkeley", "Boston"], altitude).paths[0]);
        println!("{altitude} km: {is:.3} ms");
        assert!((is / mean - 1.0).abs() <= 0.005, "{altitude} km: {is} is not {mean}");
    }
}

#[test]
fn hand_overs_per_terminal_and_hour() {
    // 7.05 at 780 km and 6.52 at 1020 km over the nine cities of the reference, the first attachments counted.
    let cities = ["Berkeley", "Boston", "New York", "London", "Tokyo", "Dhaka", "Nairobi", "Sao Paulo", "Sydney"];
    for (altitude, should) in [(780.0, 7.05), (1020.0, 6.52)] {
        let terminals = day(&cities, altitude).terminals;
        let all: usize = terminals.iter().map(|terminal| terminal.handovers.len()).sum();
        let is = all as f64 / cities.len() as f64 / 24.0;
        assert!((is / should - 1.0).abs() <= 0.005, "{altitude} km: {is} is not {should}");
    }
}

#[test]
fn ns_2_measures_the_same_delays() {
    // ns-2's own example: a packet each 60.01 s, checks each 10 s: 20.69, 53.79 and 132.36 ms.
    let tracks = look(&["Berkeley", "Boston"], json!({}), 60.01);
    let is = statistics(&tracks.paths[0]);
    println!("{is:.2?}");
    close("checks each 10 s", is, [20.69, 53.79, 132.36]);
    assert!(tracks.paths[0].hops.iter().all(|hops| (3..=11).contains(hops)));
}
