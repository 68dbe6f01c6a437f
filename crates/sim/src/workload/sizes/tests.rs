use super::*;
use serde_json::{Value, json};

fn sizes(def: Value) -> Sizes {
    Sizes::of(&serde_json::from_value(def).unwrap())
}

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() <= relative, "{found} {expected}");
}

/// The value that a document prints with this last digit.
fn prints_as(found: f64, expected: f64, last_digit: f64) {
    assert!((found - expected).abs() <= last_digit / 2.0, "{found} {expected}");
}

/// Squared coefficient of variation of a piecewise linear distribution: the integral of x^2 over a segment is (a^2 + ab + b^2)/3.
fn cv2(points: &[(f64, f64)]) -> f64 {
    let part = |pair: &[(f64, f64)]| {
        let [(a, p), (b, q)] = [pair[0], pair[1]];
        (q - p) * (a * a + a * b + b * b) / 3.0
    };
    let (square, mean) = (points.windows(2).map(part).sum::<f64>(), Sizes::Cdf(points.to_vec()).mean());
    square / (mean * mean) - 1.0
}

/// Share of all bytes that are in flows above `size`.
fn bytes_above(points: &[(f64, f64)], size: f64) -> f64 {
    let part = |pair: &[(f64, f64)]| {
        let [(a, p), (b, q)] = [pair[0], pair[1]];
        let from = a.max(size.min(b));
        (q - p) * (b - from) / (b - a) * (from + b) / 2.0
    };
    points.windows(2).map(part).sum::<f64>() / Sizes::Cdf(points.to_vec()).mean()
}

#[test]
fn the_two_clusters_have_the_means_and_quantiles_of_their_tables() {
    let search = sizes(json!({"kind": "web_search"}));
    assert_eq!(search.mean(), 1_711_250.0);
    prints_as(cv2(&WEB_SEARCH), 5.3722, 1e-4);
    for (u, size) in [(0.25, 25_000.0), (0.5, 73_076.923), (0.9, 5e6), (0.99, 23_333_333.3)] {
        close(search.quantile(u), size, 1e-8);
    }
    prints_as(1.0 - search.exceeds(100e3), 0.542, 1e-3);
    prints_as(1.0 - bytes_above(&WEB_SEARCH, 100e3), 0.0102, 1e-4);
    prints_as(bytes_above(&WEB_SEARCH, 1e6), 0.950, 1e-3);
    prints_as(bytes_above(&WEB_SEARCH, 10e6), 0.351, 1e-3);
    let mining = sizes(json!({"kind": "data_mining"}));
    prints_as(mining.mean(), 12_658_198.6, 0.1);
    prints_as(cv2(&DATA_MINING), 45.83, 0.01);
    close(1.0 - mining.exceeds(10e3), 0.8, 1e-12);
    prints_as(bytes_above(&DATA_MINING, 10e6), 0.990, 1e-3);
}

#[test]
fn vectors_of_the_continuous_distributions() {
    let Sizes::Lognormal { mu, .. } = sizes(json!({"kind": "lognormal", "mean": "100kB", "sigma": 1.5})) else {
        panic!()
    };
    prints_as(mu, 10.387925, 1e-6);
    prints_as(libm::exp(mu), 32_465.0, 1.0);
    let by_median = sizes(json!({"kind": "lognormal", "median": "32465B", "sigma": 1.5}));
    close(by_median.mean(), 100e3, 2e-5);
    let pareto = sizes(json!({"kind": "pareto", "shape": 1.2, "min": "1kB", "max": "100MB"}));
    prints_as(pareto.mean(), 5400.0, 0.1);
    for (u, size, last_digit) in
        [(0.5, 1781.8, 0.1), (0.9, 6812.9, 0.1), (0.99, 46_412.0, 1.0), (0.999, 315_965.0, 1.0)]
    {
        prints_as(pareto.quantile(u), size, last_digit);
    }
    close(sizes(json!({"kind": "pareto", "shape": 1.0, "min": "1kB", "max": "1MB"})).mean(), 6914.67, 1e-5);
    close(sizes(json!({"kind": "pareto", "shape": 1.5, "min": "1kB"})).mean(), 3000.0, 1e-12);
}

#[test]
fn draws_follow_their_distribution() {
    // Kolmogorov-Smirnov on 10^5 draws: p > 0.001 below 1.95/sqrt(n). The mean within five standard errors.
    let mut rng = Rng::stream(3, "workload/test/sizes");
    for def in [
        json!({"kind": "web_search"}),
        json!({"kind": "exponential", "mean": "1MB"}),
        json!({"kind": "lognormal", "mean": "10MB", "sigma": 1.0}),
        json!({"kind": "pareto", "shape": 1.2, "min": "100kB", "max": "1GB"}),
        json!({"kind": "uniform", "min": "1MB", "max": "3MB"}),
        json!({"kind": "cdf", "points": [[100_000, 0.25], [1_000_000, 0.5], [2_000_000, 1.0]]}),
    ] {
        let mut sizes = sizes(def.clone());
        let mut drawn: Vec<f64> = (0..100_000).map(|_| sizes.draw(&mut rng).as_f64()).collect();
        let mean = drawn.iter().sum::<f64>() / 1e5;
        let deviation = (drawn.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
        assert!((mean - sizes.mean()).abs() < 5.0 * deviation / 1e5_f64.sqrt(), "{def}: {mean} {}", sizes.mean());
        drawn.sort_unstable_by(f64::total_cmp);
        // Beside the atom, where the distribution function steps.
        let off = |(index, size): (usize, &f64)| {
            let share = 1.0 - sizes.exceeds(*size);
            (share - index as f64 / 1e5).max((index + 1) as f64 / 1e5 - share)
        };
        let furthest = drawn.iter().enumerate().filter(|(_, size)| **size > 100_000.0).map(off).fold(0.0, f64::max);
        assert!(furthest < 1.95 / 1e5_f64.sqrt(), "{def}: {furthest}");
    }
}

#[test]
fn an_atom_and_a_list() {
    let mut rng = Rng::stream(1, "test");
    let mut atom = sizes(json!({"kind": "cdf", "points": [[1000, 0.5], [3000, 1.0]]}));
    assert_eq!(atom.mean(), 500.0 + 1000.0);
    let small = (0..10_000).filter(|_| atom.draw(&mut rng) == Bytes(1000)).count();
    assert!((4_750..5_250).contains(&small), "{small}");
    let mut list = sizes(json!({"kind": "list", "bytes": ["1kB", "2kB"]}));
    assert_eq!([0; 3].map(|_| list.draw(&mut rng).0), [1000, 2000, 1000]);
    assert_eq!(sizes(json!({"kind": "exponential", "mean": "1B"})).draw(&mut Rng::stream(2, "small")).0.min(1), 1);
}

#[test]
fn whole_segments_are_counted_exactly() {
    assert_eq!(sizes(json!({"kind": "constant", "bytes": "10kB"})).mean_segments(1460.0), 7.0);
    assert_eq!(sizes(json!({"kind": "list", "bytes": ["1460B", "1461B"]})).mean_segments(1460.0), 1.5);
    // A large flow has half a segment more than its size divided by that of a segment.
    for kind in ["web_search", "data_mining"] {
        let sizes = sizes(json!({"kind": kind}));
        let near = sizes.mean() / 1460.0 + 0.5;
        close(sizes.mean_segments(1460.0), near, 1e-3);
    }
}
