//! Components, paths, and the probability that uniform placements are connected.

use tcp::rng::Rng;

use super::*;
use crate::mobility::Field;
use crate::radio::build;
use crate::scenario::RadioDef;

fn disc(range: f64) -> RadioRange {
    let text = format!(r#"{{"propagation": {{"kind": "range", "distance": "{range}m"}}}}"#);
    let def: RadioDef = serde_json::from_str(&text).unwrap();
    build::dcf::build(&build::with_defaults(&def, "").unwrap()).range()
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// Side and height of the field, range, nodes; P(connected), fraction in the largest component, P(a pair is connected):
/// means over 200 placements, computed by another program, to three digits.
const TABLE: [(f64, f64, f64, u64, [f64; 3]); 41] = [
    (500.0, 0.0, 15.0, 20, [0.000, 0.071, 0.003]),
    (500.0, 0.0, 15.0, 40, [0.000, 0.050, 0.003]),
    (500.0, 0.0, 15.0, 100, [0.000, 0.031, 0.003]),
    (500.0, 0.0, 40.0, 20, [0.000, 0.126, 0.021]),
    (500.0, 0.0, 40.0, 40, [0.000, 0.112, 0.026]),
    (500.0, 0.0, 40.0, 100, [0.000, 0.141, 0.050]),
    (500.0, 0.0, 100.0, 20, [0.000, 0.433, 0.259]),
    (500.0, 0.0, 100.0, 40, [0.085, 0.759, 0.644]),
    (500.0, 0.0, 100.0, 60, [0.455, 0.958, 0.928]),
    (500.0, 0.0, 100.0, 80, [0.815, 0.993, 0.989]),
    (500.0, 0.0, 100.0, 100, [0.940, 0.997, 0.996]),
    (500.0, 0.0, 250.0, 20, [0.990, 1.000, 0.999]),
    (500.0, 0.0, 250.0, 40, [1.000, 1.000, 1.000]),
    (500.0, 0.0, 250.0, 60, [1.000, 1.000, 1.000]),
    (500.0, 0.0, 250.0, 80, [1.000, 1.000, 1.000]),
    (500.0, 0.0, 250.0, 100, [1.000, 1.000, 1.000]),
    (1000.0, 0.0, 100.0, 20, [0.000, 0.150, 0.035]),
    (1000.0, 0.0, 100.0, 40, [0.000, 0.149, 0.047]),
    (1000.0, 0.0, 100.0, 60, [0.000, 0.169, 0.065]),
    (1000.0, 0.0, 100.0, 80, [0.000, 0.229, 0.102]),
    (1000.0, 0.0, 100.0, 100, [0.000, 0.299, 0.157]),
    (1000.0, 0.0, 250.0, 20, [0.040, 0.642, 0.498]),
    (1000.0, 0.0, 250.0, 40, [0.590, 0.955, 0.926]),
    (1000.0, 0.0, 250.0, 60, [0.885, 0.997, 0.994]),
    (1000.0, 0.0, 250.0, 80, [0.960, 0.999, 0.999]),
    (1000.0, 0.0, 250.0, 100, [0.990, 1.000, 1.000]),
    (2000.0, 0.0, 100.0, 20, [0.000, 0.090, 0.007]),
    (2000.0, 0.0, 100.0, 40, [0.000, 0.065, 0.008]),
    (2000.0, 0.0, 100.0, 60, [0.000, 0.058, 0.009]),
    (2000.0, 0.0, 100.0, 80, [0.000, 0.054, 0.010]),
    (2000.0, 0.0, 100.0, 100, [0.000, 0.053, 0.011]),
    (2000.0, 0.0, 250.0, 20, [0.000, 0.197, 0.062]),
    (2000.0, 0.0, 250.0, 40, [0.000, 0.232, 0.102]),
    (2000.0, 0.0, 250.0, 60, [0.000, 0.321, 0.176]),
    (2000.0, 0.0, 250.0, 80, [0.000, 0.495, 0.337]),
    (2000.0, 0.0, 250.0, 100, [0.010, 0.701, 0.572]),
    (25.0, 25.0, 40.0, 20, [1.0, 1.0, 1.0]),
    (25.0, 25.0, 40.0, 40, [1.0, 1.0, 1.0]),
    (25.0, 25.0, 40.0, 60, [1.0, 1.0, 1.0]),
    (25.0, 25.0, 40.0, 80, [1.0, 1.0, 1.0]),
    (25.0, 25.0, 40.0, 100, [1.0, 1.0, 1.0]),
];

#[test]
fn random_placements_are_as_connected_as_the_table_says() {
    const DRAWS: usize = 1000;
    for (side, height, range, nodes, expected) in TABLE {
        let field = Field::up_to(Point { x: side, y: side, z: height });
        let mut rng = Rng::stream(1, &format!("{side}/{range}/{nodes}"));
        let reach = disc(range);
        let mut seen: [Vec<f64>; 3] = Default::default();
        for _ in 0..DRAWS {
            let positions: Vec<Point> = (0..nodes).map(|_| field.random_position(&mut rng)).collect();
            let components = Components::new(&in_range_graph(&positions, &reach));
            let pairs: u64 = components.sizes.iter().map(|size| u64::from(size * (size - 1))).sum();
            seen[0].push(f64::from(u8::from(components.sizes.len() == 1)));
            seen[1].push(components.largest().len() as f64 / nodes as f64);
            seen[2].push(pairs as f64 / (nodes * (nodes - 1)) as f64);
        }
        for (index, (seen, expected)) in seen.iter().zip(expected).enumerate() {
            // The variance is estimated from our draws, which are more numerous; the table has means of 200. Four
            // standard errors of the difference: by chance one of 123 comparisons would exceed them in 130 runs of this
            // test, and the draws are fixed.
            let (seen, mut variance) = moments(seen);
            if index == 0 {
                // Laplace's rule of succession, so that 0 of many is not taken for impossible.
                let share = (seen * DRAWS as f64 + 1.0) / (DRAWS as f64 + 2.0);
                variance = share * (1.0 - share);
            }
            let allowed = 4.0 * (variance / DRAWS as f64 + variance / 200.0).sqrt() + 0.0005;
            let off = (seen - expected).abs();
            assert!(off < allowed, "{side} m, {range} m, {nodes} nodes, [{index}]: {seen} of {expected}");
        }
    }
}

#[test]
fn components_and_hops_of_a_small_graph() {
    // 0 - 1 - 2, 3 - 4, 5
    let graph: Graph = vec![vec![1], vec![0, 2], vec![1], vec![4], vec![3], vec![]];
    let components = Components::new(&graph);
    assert_eq!((components.of.clone(), components.sizes.clone()), (vec![0, 0, 0, 1, 1, 2], vec![3, 2, 1]));
    assert_eq!(components.largest(), [0, 1, 2]);
    assert_eq!(hops(&graph, NodeId(0), NodeId(2)), Some(2));
    assert_eq!(hops(&graph, NodeId(0), NodeId(0)), Some(0));
    assert_eq!(hops(&graph, NodeId(0), NodeId(4)), None);
}

/// The comparison by x finds every pair.
#[test]
fn every_pair_in_range_is_found() {
    let field = Field::up_to(Point { x: 1000.0, y: 300.0, z: 40.0 });
    let mut rng = Rng::stream(1, "placement");
    let (reach, positions) = (disc(90.0), (0..150).map(|_| field.random_position(&mut rng)).collect::<Vec<Point>>());
    for (i, neighbours) in in_range_graph(&positions, &reach).into_iter().enumerate() {
        let joined = |j: &u32| *j as usize != i && reach.in_range(positions[i], positions[*j as usize]);
        assert_eq!(neighbours, (0..150).filter(joined).collect::<Vec<u32>>(), "of {i}");
    }
}
