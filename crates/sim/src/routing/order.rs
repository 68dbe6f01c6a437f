//! What breaks ties among equal paths: the names of nodes, and of parallel links what they are. The order of a file does not.

use std::collections::BTreeMap;

use crate::ids::LinkId;
use crate::scenario::{LinkDef, Scenario};

/// The order of the nodes of a network, and of its parallel links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// By node: its place among all.
    pub(crate) nodes: Vec<u32>,
    parallel: BTreeMap<usize, u32>,
}

impl Order {
    pub(crate) fn of(graph: &Scenario) -> Order {
        let nodes = by_name(graph.node.iter().map(|node| node.name.as_str()));
        Order { nodes, parallel: parallel(&graph.link) }
    }

    /// Nodes with these places, without parallel links.
    #[cfg(test)]
    pub(crate) fn of_nodes(places: impl Iterator<Item = u32>) -> Order {
        Order { nodes: places.collect(), parallel: BTreeMap::new() }
    }

    /// The number of a link among those of its direction that join the same two nodes.
    pub(crate) fn number(&self, link: LinkId) -> u32 {
        self.parallel.get(&(link.index() / 2)).copied().unwrap_or(0)
    }
}

/// Of each duplex link that is parallel to others its number among them, in the order of what the links are: links that differ in
/// nothing may change places.
fn parallel(links: &[LinkDef]) -> BTreeMap<usize, u32> {
    let mut joined: BTreeMap<[&str; 2], Vec<usize>> = BTreeMap::new();
    for (index, LinkDef { from, to, .. }) in links.iter().enumerate() {
        joined.entry([from.min(to), from.max(to)]).or_default().push(index);
    }
    let mut numbers = BTreeMap::new();
    for mut group in joined.into_values().filter(|group| group.len() > 1) {
        group.sort_by_cached_key(|link| serde_json::to_string(&links[*link]).expect("a link is text as JSON"));
        numbers.extend(group.into_iter().zip(0..));
    }
    numbers
}

/// The place of each node among all in the order of their names; numbers in names count as numbers, so that n2 is before n10.
fn by_name<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let names: Vec<&str> = names.collect();
    let mut sorted: Vec<usize> = (0..names.len()).collect();
    sorted.sort_by_cached_key(|node| (parts(names[*node]), names[*node]));
    let mut places = vec![0; names.len()];
    (0..).zip(sorted).for_each(|(place, node)| places[node] = place);
    places
}

/// Of each run of digits, and of each run of other letters, what it is compared by.
fn parts(name: &str) -> Vec<(bool, usize, &[u8])> {
    let runs = name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    runs.map(|run| {
        let digits = &run[run.iter().take_while(|letter| **letter == b'0').count()..];
        if run[0].is_ascii_digit() { (false, digits.len(), digits) } else { (true, 0, run) }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_numbers() {
        let names = ["n10", "n2", "m", "n02", "n", "agg1_10", "agg1_9", "7", "70000000000000000000000000", "71"];
        let mut sorted = names;
        by_name(names.into_iter()).iter().zip(names).for_each(|(place, name)| sorted[*place as usize] = name);
        let right = ["7", "71", "70000000000000000000000000", "agg1_9", "agg1_10", "m", "n", "n02", "n2", "n10"];
        assert_eq!(sorted, right);
    }

    #[test]
    fn parallel_links_have_numbers_by_what_they_are() {
        let link = |from: &str, to: &str, rate: &str| -> LinkDef {
            serde_json::from_value(serde_json::json!({ "from": from, "to": to, "rate": rate, "delay": "1ms" })).unwrap()
        };
        let links =
            [link("a", "b", "2Mbps"), link("b", "c", "1Mbps"), link("b", "a", "5Mbps"), link("a", "b", "1Mbps")];
        let numbers = parallel(&links);
        assert_eq!(numbers.keys().copied().collect::<Vec<_>>(), [0, 2, 3]);
        let turned: Vec<LinkDef> = links.iter().rev().cloned().collect();
        let again = parallel(&turned);
        assert!((0..4).all(|link| numbers.get(&link) == again.get(&(3 - link))));
        assert_eq!(numbers.values().copied().collect::<std::collections::BTreeSet<_>>(), [0, 1, 2].into());
    }
}
