//! What the names in classes of shapers stand for: nodes, and groups of flows.

use std::collections::BTreeMap;

use super::names::{matching, node_names};
use crate::ids::NodeId;
use crate::scenario::{
    BoundClass, FlowDef, HtbClassDef, LinkOptions, Queue, Scenario, ScenarioError, WorkloadDef, did_you_mean, join,
};

/// The flows and workloads that classes name, each a group with a number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Groups {
    flows: BTreeMap<String, u16>,
    workloads: BTreeMap<String, u16>,
}

impl Groups {
    pub(super) fn of_flow(&self, def: &FlowDef) -> u16 {
        def.name.as_ref().and_then(|name| self.flows.get(name)).copied().unwrap_or(0)
    }

    pub(super) fn of_workload(&self, def: &WorkloadDef) -> u16 {
        self.workloads.get(&def.name).copied().unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.flows.len() + self.workloads.len()
    }
}

/// Finds what the classes of all links name. A name that a user wrote is looked for at its own place first.
pub(super) fn bind(resolved: &Scenario, graph: &mut Scenario) -> Result<Groups, ScenarioError> {
    let mut groups = Groups::default();
    let mut links = std::mem::take(&mut graph.link);
    let has_classes = |options: &LinkOptions| {
        [Some(options), options.reverse.as_deref()]
            .into_iter()
            .flatten()
            .any(|way| way.queue.as_ref().is_some_and(has_htb))
    };
    if links.iter().any(|link| has_classes(&link.options)) {
        let names = node_names(graph)?;
        let mut binder = Binder { graph, names: &names, groups: &mut groups };
        for (path, options) in resolved.network.links() {
            binder.bind_link(&mut options.clone(), &path)?;
        }
        for (index, link) in links.iter_mut().enumerate() {
            binder.bind_link(&mut link.options, &format!("link[{index}]"))?;
        }
    }
    std::mem::swap(&mut graph.link, &mut links);
    Ok(groups)
}

fn has_htb(queue: &Queue) -> bool {
    matches!(queue, Queue::Htb(_)) || queue.inner().into_iter().any(|(_, inner)| has_htb(inner))
}

struct Binder<'a> {
    graph: &'a Scenario,
    names: &'a BTreeMap<&'a str, NodeId>,
    groups: &'a mut Groups,
}

impl Binder<'_> {
    fn bind_link(&mut self, options: &mut LinkOptions, path: &str) -> Result<(), ScenarioError> {
        if let Some(queue) = &mut options.queue {
            self.bind_queue(queue, &join(path, "queue"))?;
        }
        match &mut options.reverse {
            Some(reverse) => self.bind_link(reverse, &join(path, "reverse")),
            None => Ok(()),
        }
    }

    fn bind_queue(&mut self, queue: &mut Queue, path: &str) -> Result<(), ScenarioError> {
        if let Queue::Htb(def) = queue {
            for (index, class) in def.classes.iter_mut().enumerate() {
                self.bind_class(class, &join(path, &format!("classes[{index}]")))?;
            }
        }
        let places: Vec<String> = queue.inner().into_iter().map(|(place, _)| join(path, &place)).collect();
        queue.inner_mut().into_iter().zip(places).try_for_each(|(inner, place)| self.bind_queue(inner, &place))
    }

    fn bind_class(&mut self, class: &mut HtbClassDef, path: &str) -> Result<(), ScenarioError> {
        let nodes = matching(self.graph, self.names, &class.hosts, &join(path, "hosts"))?;
        class.bound = BoundClass { nodes: nodes.iter().map(|node| node.0).collect(), groups: Vec::new() };
        let flows: Vec<&str> = self.graph.flow.iter().filter_map(|flow| flow.name.as_deref()).collect();
        let workloads: Vec<&str> = self.graph.workload.iter().map(|workload| workload.name.as_str()).collect();
        for (field, wanted, known) in [("flows", &class.flows, flows), ("workloads", &class.workloads, workloads)] {
            for (index, name) in wanted.iter().enumerate() {
                if !known.contains(&name.as_str()) {
                    return Err(unknown(&join(path, &format!("{field}[{index}]")), field, name, &known));
                }
                let next = (self.groups.count() + 1) as u16;
                let groups = if field == "flows" { &mut self.groups.flows } else { &mut self.groups.workloads };
                class.bound.groups.push(*groups.entry(name.clone()).or_insert(next));
            }
        }
        Ok(())
    }
}

fn unknown(path: &str, field: &str, name: &str, known: &[&str]) -> ScenarioError {
    let error = ScenarioError::new(path, format!("none of the {field} has the name {name:?}"));
    let some = known.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    let hint = did_you_mean(name, known.iter().copied())
        .unwrap_or_else(|| if some.is_empty() { "give `name` to one".into() } else { format!("named: {some}") });
    error.with_hint(hint)
}
