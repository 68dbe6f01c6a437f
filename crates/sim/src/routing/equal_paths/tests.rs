//! Choices among equal paths: the vectors of their hash, how evenly they spread, and what polarisation leaves unused.

use std::collections::BTreeSet;

use super::*;
use crate::routing::Routes;

/// A fat tree without hosts of its own: a host on each edge switch. Nodes by pod: edges, aggregations; then cores, then hosts.
struct FatTree {
    edges: Vec<Edge>,
    order: Order,
    half: u32,
}

impl FatTree {
    fn new(k: u32) -> FatTree {
        let half = k / 2;
        let (cores, hosts) = (k * k, k * k + half * half);
        let mut pairs = Vec::new();
        for (pod, a) in (0..k).flat_map(|pod| (0..half).map(move |a| (pod, a))) {
            let agg = pod * k + half + a;
            pairs.extend((0..half).map(|edge| (pod * k + edge, agg)));
            pairs.extend((0..half).map(|c| (agg, cores + a * half + c)));
        }
        pairs.extend((0..k * half).map(|i| (i / half * k + i % half, hosts + i)));
        let both = pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).enumerate();
        let edge = |(i, (a, b))| Edge { link: LinkId(i as u32), from: NodeId(a), to: NodeId(b), up: true };
        FatTree { edges: both.map(edge).collect(), order: Order::of_nodes(0..hosts + k * half), half }
    }

    /// The core switches that flows with these keys pass from the first host to the last, each once for each flow.
    fn cores(&self, paths: &mut EqualPaths, keys: impl Iterator<Item = u64>) -> Vec<NodeId> {
        let routes = Routes::shortest(&self.order, &self.edges);
        paths.find(&self.order, &self.edges);
        let nodes = self.order.nodes.len() as u32;
        let (from, to) = (nodes - 2 * self.half * self.half, nodes - 1);
        let mut passed = Vec::new();
        for key in keys {
            let (mut here, mut hops) = (NodeId(from), 0);
            while here != NodeId(to) {
                let link = paths.choose(Time::ZERO, here, NodeId(to), key).or_else(|| routes.next(here, NodeId(to)));
                here = self.edges[link.unwrap().index()].to;
                hops += 1;
                passed.extend((hops == 3).then_some(here));
            }
            assert_eq!(hops, 6);
        }
        passed
    }
}

fn salts(nodes: usize) -> Vec<u64> {
    let mut rng = Rng::stream(1, "topology/ecmp");
    (0..nodes).map(|_| rng.next_u64()).collect()
}

#[test]
fn the_hash_gives_the_vectors() {
    let row = |salt, count| (1..=16).map(|key| choice(key, salt, count)).collect::<Vec<_>>();
    assert_eq!(row(0, 4), [1, 2, 0, 0, 0, 0, 0, 0, 3, 1, 1, 0, 1, 1, 1, 1]);
    assert_eq!(row(1, 4), [0, 0, 2, 0, 0, 0, 0, 3, 0, 1, 1, 1, 0, 1, 1, 2]);
    assert_eq!(row(0, 3), [1, 1, 2, 2, 0, 1, 1, 1, 0, 2, 2, 1, 1, 0, 1, 2]);
}

#[test]
fn sixteen_flows_on_four_paths_leave_the_fullest_with_six_on_average() {
    let trials = 10_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for salt in salts(trials) {
        let mut loads = [0.0_f64; 4];
        (0..16).for_each(|flow| loads[choice(2 * flow + 1, salt, 4) as usize] += 1.0);
        let most = loads.into_iter().fold(0.0, f64::max);
        (sum, squares) = (sum + most, squares + most * most);
    }
    let (mean, n) = (sum / trials as f64, trials as f64);
    let error = ((squares / n - mean * mean) / n).sqrt();
    assert!((mean - 6.138).abs() < 3.0 * error, "{mean} +- {error}");
}

#[test]
fn flows_spread_evenly_over_the_paths_between_pods() {
    for k in [4, 6] {
        let tree = FatTree::new(k);
        let mut paths = EqualPaths::new(Spread::Flow, salts(tree.order.nodes.len()));
        let flows = 10_000;
        let cores = tree.cores(&mut paths, (0..flows).map(|flow| 2 * flow + 1));
        let ways = (k * k / 4) as usize;
        let expected = flows as f64 / ways as f64;
        let used: BTreeSet<NodeId> = cores.iter().copied().collect();
        assert_eq!(used.len(), ways);
        let count = |core: &NodeId| cores.iter().filter(|passed| *passed == core).count() as f64;
        let chi2: f64 = used.iter().map(|core| (count(core) - expected).powi(2) / expected).sum();
        // The 0.999 quantiles of chi-square with 3 and 8 degrees of freedom.
        assert!(chi2 < if k == 4 { 16.266 } else { 26.124 }, "k {k}: {chi2}");
    }
}

#[test]
fn one_salt_for_all_leaves_paths_unused() {
    for k in [4, 6, 8] {
        let tree = FatTree::new(k);
        let mut paths = EqualPaths::new(Spread::Flow, vec![4711; tree.order.nodes.len()]);
        let cores = tree.cores(&mut paths, (0..2000).map(|flow| 2 * flow + 1));
        let used = cores.into_iter().collect::<BTreeSet<_>>().len() as u32;
        assert_eq!(k * k / 4 - used, (k / 2) * (k / 2) - k / 2);
    }
}

#[test]
fn packets_take_turns_and_flowlets_stay_until_a_gap() {
    let tree = FatTree::new(8);
    let (from, to) = (NodeId(0), NodeId(tree.order.nodes.len() as u32 - 1));
    let links_of = |paths: &mut EqualPaths, times: &[u64]| -> Vec<LinkId> {
        paths.find(&tree.order, &tree.edges);
        let at = |us: &u64| Time::ZERO + Span::from_micros(*us);
        times.iter().map(|us| paths.choose(at(us), from, to, 1).unwrap()).collect()
    };
    let turns = links_of(&mut EqualPaths::new(Spread::Packet(BTreeMap::new()), salts(tree.order.nodes.len())), &[0; 8]);
    assert_eq!(turns[..4], turns[4..]);
    assert!(turns[..4].is_sorted() && turns[0] < turns[1]);
    let routers = (0..tree.order.nodes.len()).map(|node| Flowlets::new(Rng::stream(1, &node.to_string()))).collect();
    let mut paths = EqualPaths::new(Spread::Flowlet(Span::from_micros(500), routers), salts(tree.order.nodes.len()));
    // Pauses of exactly the gap, then longer ones.
    let times: Vec<u64> = (0..10).map(|i| 500 * i).chain((0..20).map(|i| 10_000 + 501 * i)).collect();
    let links = links_of(&mut paths, &times);
    assert!(links[..10].iter().all(|link| *link == links[0]));
    assert_eq!(links[10..].iter().collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn a_dead_link_leaves_its_set() {
    let mut tree = FatTree::new(4);
    let (from, to) = (NodeId(0), NodeId(tree.order.nodes.len() as u32 - 1));
    let mut paths = EqualPaths::new(Spread::Flow, salts(tree.order.nodes.len()));
    paths.find(&tree.order, &tree.edges);
    let first = paths.set(from, to).unwrap()[0];
    tree.edges[first.index()].up = false;
    paths.find(&tree.order, &tree.edges);
    // One of two is left: no choice, and the ordinary routes have it.
    assert_eq!(paths.set(from, to), None);
    assert_ne!(Routes::shortest(&tree.order, &tree.edges).next(from, to), Some(first));
}
