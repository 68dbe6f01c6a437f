//! Starts of flows: `start`, and a random time after it. Two flows that start at the same instant on equal paths stay in step
//! (phase effects), and a world without any chance is the same in every replicate.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use crate::host::flow::Flow;
use crate::ids::FlowId;
use crate::network::Network;
use crate::scenario::{FlowDef, Scenario, StartJitter};

/// In place of a base RTT where there is none: over the air, or where no path exists at time 0.
const WITHOUT_BASE_RTT: Span = Span::from_millis(100);

/// When a flow starts. The draw depends on seed and flow alone, so that it is the same for every congestion control.
pub(super) fn draw(
    graph: &Scenario,
    def: &FlowDef,
    network: &Network,
    (id, flow): (FlowId, &Flow),
    rng: impl FnOnce() -> Rng,
) -> Span {
    let most = match def.start_jitter {
        None | Some(StartJitter::Span(Span::ZERO)) => return def.start,
        Some(StartJitter::Span(span)) => span,
        Some(StartJitter::BaseRtt) => network.base_rtt(flow.source, flow.sink, id).unwrap_or(WITHOUT_BASE_RTT),
    };
    // It starts before it stops.
    let end = flow.stop.unwrap_or(Time::ZERO + graph.duration);
    let most = most.min(end.since(Time::ZERO + def.start));
    def.start + Span::from_secs_f64(rng().uniform() * most.as_secs_f64())
}

/// Writes the starts into the graph, which then says them without jitter.
pub(super) fn set(graph: &mut Scenario, drawn: Vec<Span>) {
    for (flow, start) in graph.flow.iter_mut().zip(drawn) {
        (flow.start, flow.start_jitter) = (start, None);
    }
}
