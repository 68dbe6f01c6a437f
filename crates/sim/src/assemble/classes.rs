//! What the names in shapers stand for: nodes and groups of flows of classes, and flows that probe for controllers.

use std::collections::BTreeMap;

use super::names::{matching, node_names};
use crate::expand::transport_of;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::scenario::{
    AutorateDef, BoundClass, CakeDef, FlowDef, HtbClassDef, LinkOptions, Queue, Scenario, ScenarioError, TbfDef,
    TransportDef, WorkloadDef, did_you_mean, join,
};

/// The flows and workloads that classes name, each a group with a number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Groups {
    flows: BTreeMap<String, u16>,
    workloads: BTreeMap<String, u16>,
    /// Probing flows and the links of what they control.
    pub(super) probes: Vec<(FlowId, LinkId)>,
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
            .any(|way| way.queue.as_ref().is_some_and(has_names))
    };
    if links.iter().any(|link| has_classes(&link.options)) {
        let names = node_names(graph)?;
        let mut binder = Binder { graph, names: &names, groups: &mut groups, link: Vec::new() };
        for (path, options) in resolved.network.links() {
            binder.bind_link(&mut options.clone(), &path)?;
        }
        for (index, link) in links.iter_mut().enumerate() {
            let [forth, back] = [0, 1].map(|way| LinkId(2 * index as u32 + way));
            let shared = link.options.reverse.as_ref().is_none_or(|reverse| reverse.queue.is_none());
            binder.link = if shared { vec![forth, back] } else { vec![forth] };
            let path = format!("link[{index}]");
            let reverse = link.options.reverse.take();
            binder.bind_link(&mut link.options, &path)?;
            binder.link = vec![back];
            link.options.reverse = reverse;
            if let Some(reverse) = &mut link.options.reverse {
                binder.bind_link(reverse, &join(&path, "reverse"))?;
            }
        }
    }
    std::mem::swap(&mut graph.link, &mut links);
    Ok(groups)
}

fn has_names(queue: &Queue) -> bool {
    let own = matches!(queue, Queue::Htb(_)) || queue.autorate().is_some();
    own || queue.inner().into_iter().any(|(_, inner)| has_names(inner))
}

struct Binder<'a> {
    graph: &'a Scenario,
    names: &'a BTreeMap<&'a str, NodeId>,
    groups: &'a mut Groups,
    /// The links of the queue: both directions, where they have the same one; none while only names are looked for.
    link: Vec<LinkId>,
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
        if let Queue::Tbf(TbfDef { autorate: Some(def), .. }) | Queue::Cake(CakeDef { autorate: Some(def), .. }) = queue
        {
            self.bind_probe(def, &join(path, "autorate.probe"))?;
        }
        let places: Vec<String> = queue.inner().into_iter().map(|(place, _)| join(path, &place)).collect();
        queue.inner_mut().into_iter().zip(places).try_for_each(|(inner, place)| self.bind_queue(inner, &place))
    }

    fn bind_probe(&mut self, def: &mut AutorateDef, path: &str) -> Result<(), ScenarioError> {
        let flows = &self.graph.flow;
        let Some(index) = flows.iter().position(|flow| flow.name.as_ref() == Some(&def.probe)) else {
            let known: Vec<&str> = flows.iter().filter_map(|flow| flow.name.as_deref()).collect();
            return Err(unknown(path, "flows", &def.probe, &known));
        };
        if transport_of(&flows[index].app) != TransportDef::Udp {
            let error = ScenarioError::new(path, format!("{:?} does not send datagrams", def.probe));
            return Err(
                error.with_hint("app = { kind = \"cbr\", rate = \"20pps\", size = \"64B\", transport = \"udp\" }")
            );
        }
        def.bound = Some(index as u32);
        self.groups.probes.extend(self.link.iter().map(|link| (FlowId(index as u32), *link)));
        Ok(())
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
