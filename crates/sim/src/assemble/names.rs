//! Nodes by their names.

use std::collections::BTreeMap;

use crate::ids::NodeId;
use crate::scenario::{Scenario, ScenarioError, did_you_mean};

/// Nodes by name.
pub(super) fn node_names(graph: &Scenario) -> Result<BTreeMap<&str, NodeId>, ScenarioError> {
    let mut names = BTreeMap::new();
    for (index, node) in graph.node.iter().enumerate() {
        if names.insert(node.name.as_str(), NodeId(index as u32)).is_some() {
            return Err(ScenarioError::new(
                format!("node[{index}].name"),
                format!("{:?} is the name of two nodes", node.name),
            ));
        }
    }
    Ok(names)
}

pub(super) fn find_node(names: &BTreeMap<&str, NodeId>, name: &str, path: &str) -> Result<NodeId, ScenarioError> {
    names.get(name).copied().ok_or_else(|| {
        let some: Vec<&str> = names.keys().copied().take(8).collect();
        let more = if names.len() > some.len() { format!(", … ({} in all)", names.len()) } else { String::new() };
        let near = did_you_mean(name, names.keys().copied()).map_or(String::new(), |near| format!("{near} "));
        ScenarioError::new(path, format!("unknown node {name:?}"))
            .with_hint(format!("{near}nodes: {}{more}", some.join(", ")))
    })
}

/// The nodes whose names match one of the patterns, in their order.
pub(super) fn matching(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    patterns: &[String],
    path: &str,
) -> Result<Vec<NodeId>, ScenarioError> {
    let mut chosen = vec![false; graph.node.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        let place = format!("{path}[{index}]");
        if !pattern.contains(['*', '?']) {
            chosen[find_node(names, pattern, &place)?.index()] = true;
            continue;
        }
        let mut found =
            names.iter().filter(|(name, _)| matches(pattern, name)).map(|(_, node)| node.index()).peekable();
        if found.peek().is_none() {
            let some: Vec<&str> = names.keys().copied().take(8).collect();
            let message = format!("no node has a name like {pattern:?}");
            return Err(ScenarioError::new(place, message).with_hint(format!("nodes: {}, …", some.join(", "))));
        }
        found.for_each(|node| chosen[node] = true);
    }
    Ok((0..).map(NodeId).zip(chosen).filter(|(_, chosen)| *chosen).map(|(node, _)| node).collect())
}

/// True if a name matches a pattern in which `*` stands for any letters and `?` for one.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<char>>());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[n] => (p, n) = (p + 1, n + 1),
            // The last star takes one letter more.
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, does) in [
            ("*", "srv1", true),
            ("*", "é", true),
            ("?", "é", true),
            ("srv*", "srv12", true),
            ("srv*", "srv", true),
            ("srv*", "xsrv1", false),
            ("srv?", "srv12", false),
            ("srv??", "srv12", true),
            ("srv1", "srv12", false),
            ("*1*2", "srv1x12", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("", "", true),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, name), does, "{pattern} {name}");
        }
    }
}
