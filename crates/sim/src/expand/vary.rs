//! What a seed varies of an expanded scenario (`vary`): delays of links at ends of flows, and limits of queues. The datagrams in the
//! background are made where paths are known (`assemble/background.rs`).

use std::collections::{BTreeMap, BTreeSet};

use tcp::rng::Rng;
use tcp::units::{Bytes, Span};

use super::bounds::refuse;
use super::graph::{reverse_options, within};
use crate::ids::LinkId;
use crate::routing::Order;
use crate::scenario::{Amount, LinkDef, LinkOptions, Queue, Scenario, ScenarioError, VaryDef};

const MOST_DELAYS: f64 = 0.5;
const MOST_BUFFERS: u64 = 1000;
const MOST_BACKGROUND: f64 = 0.1;
const PACKET: u64 = 1500;

/// Refuses amounts out of their range.
pub(super) fn check(vary: &VaryDef) -> Result<(), ScenarioError> {
    within("vary.delays", vary.delays, [0.0, MOST_DELAYS])?;
    within("vary.background", vary.background, [0.0, MOST_BACKGROUND])?;
    if vary.buffers > MOST_BUFFERS {
        return Err(refuse("vary", "buffers", vary.buffers, &format!("a count up to {MOST_BUFFERS}")));
    }
    Ok(())
}

/// Draws delays and limits. Streams are named by the ends of a link, so that another link elsewhere changes nothing.
pub(super) fn apply(graph: &mut Scenario, seed: u64) {
    let VaryDef { delays, buffers, .. } = graph.vary;
    if delays == 0.0 && buffers == 0 {
        return;
    }
    let ends = ends_of_flows(graph);
    let order = Order::of(graph);
    for (index, link) in graph.link.iter_mut().enumerate() {
        let number = order.number(LinkId(2 * index as u32));
        let name = format!("vary/{}/{}/{number}", link.from, link.to);
        if delays > 0.0 && [&link.from, &link.to].into_iter().any(|end| ends.contains(end)) {
            let factor = 1.0 + delays * (2.0 * Rng::stream(seed, &format!("{name}/delay")).uniform() - 1.0);
            stretch(&mut link.options, factor);
        }
        if buffers > 0 {
            move_limits(link, buffers, seed, &name);
        }
    }
    (graph.vary.delays, graph.vary.buffers) = (0.0, 0);
}

/// The nodes at which listed flows begin or end, and those with one link.
fn ends_of_flows(graph: &Scenario) -> BTreeSet<String> {
    let mut links: BTreeMap<&str, u32> = BTreeMap::new();
    for end in graph.link.iter().flat_map(|link| [&link.from, &link.to]) {
        *links.entry(end).or_default() += 1;
    }
    let leaves = links.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name.to_owned());
    leaves.chain(graph.flow.iter().flat_map(|flow| [flow.from.clone(), flow.to.clone()])).collect()
}

/// Both directions of a cable have the same length.
fn stretch(options: &mut LinkOptions, factor: f64) {
    for delay in options.delay.iter_mut().chain(options.reverse.as_mut().and_then(|reverse| reverse.delay.as_mut())) {
        *delay = Span::from_secs_f64(delay.as_secs_f64() * factor);
    }
}

/// The two directions have a draw each, so that a queue given once becomes two.
fn move_limits(link: &mut LinkDef, most: u64, seed: u64, name: &str) {
    let mut back = reverse_options(link).queue;
    let draw = |way: &str| Rng::stream(seed, &format!("{name}/{way}")).below(2 * most + 1);
    if let Some(queue) = &mut link.options.queue {
        move_limit(queue, draw("queue"), most);
    }
    if let Some(queue) = &mut back {
        move_limit(queue, draw("reverse"), most);
        if link.options.reverse.is_some() || link.options.queue != back {
            link.options.reverse.get_or_insert_default().queue = back;
        }
    }
}

/// Moves a limit by `drawn - most` packets; one packet is left.
fn move_limit(queue: &mut Queue, drawn: u64, most: u64) {
    match queue {
        Queue::DropTail(def) => match &mut def.limit {
            Amount::Packets(count) => *count = (*count + drawn).saturating_sub(most).max(1),
            Amount::Bytes(Bytes(size)) => *size = (*size + drawn * PACKET).saturating_sub(most * PACKET).max(PACKET),
            Amount::Bdp { .. } | Amount::Unlimited => {}
        },
        _ => queue.inner_mut().into_iter().for_each(|inner| move_limit(inner, drawn, most)),
    }
}

/// True if some limit of a queue can be moved.
pub(crate) fn has_limit(queue: &Queue) -> bool {
    let is_limited = |amount: &Amount| matches!(amount, Amount::Packets(_) | Amount::Bytes(_) | Amount::Bdp { .. });
    match queue {
        Queue::DropTail(def) => is_limited(&def.limit),
        _ => queue.inner().into_iter().any(|(_, inner)| has_limit(inner)),
    }
}
