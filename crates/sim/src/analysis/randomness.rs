//! What of a world is random: where it is nothing, every seed gives the same run, and replicates are one run counted twice.

use std::collections::BTreeSet;

use tcp::units::Span;

use crate::expand::{forward_options, has_limit, reverse_options, transport_of};
use crate::scenario::{
    AppDef, ArrivalsDef, Draws, EcnRewrite, EndsDef, FabricEnds, GilbertElliottLoss, LinkOptions, LossModel, MarkModel,
    MobilityDef, Network, PathRouting, PeriodDef, PlacementDef, Queue, Scenario, ServiceDef, SizeDef, SpreadBy,
    StartJitter, TcpOptions, TransportDef, WorkloadDef,
};
use crate::simulation::Simulation;
use crate::world::World;

impl Simulation {
    /// What is drawn from the seed, in words; if it is nothing, every seed gives the same run. A draw may be without effect:
    /// loss on a link that nothing passes, the hash of a single flow.
    pub fn random_parts(&self) -> Vec<String> {
        let graph = &self.world.graph;
        let mut parts = parts_of_network(self.resolved());
        parts.extend(parts_of_starts(self.resolved(), graph.flow.len()).map(str::to_owned));
        parts.extend(parts_of_variation(&self.world));
        parts.extend(graph.workload.iter().any(is_random_workload).then(|| "flows of workloads".to_owned()));
        let apps = graph.flow.iter().any(|flow| is_random_app(&flow.app));
        parts.extend(apps.then(|| "applications".to_owned()));
        parts.extend(parts_of_algorithms(graph));
        parts.extend(is_random_routing(graph.network.routing()).then(|| "choices among equal paths".to_owned()));
        parts.extend(parts_of_links(graph));
        if graph.node.iter().any(|node| node.mobility.as_ref().is_some_and(is_random_mobility)) {
            parts.push("movement of nodes".to_owned());
        }
        parts.extend((!graph.channel.is_empty()).then(|| "channel access".to_owned()));
        parts
    }
}

/// What the expansion of the network draws.
fn parts_of_network(resolved: &Scenario) -> Vec<String> {
    let (mut placed, mut ends, mut more) = (false, false, None);
    match &resolved.network {
        Network::RandomWired(network) => (placed, ends, more) = (true, network.flows > 0, Some("topology")),
        Network::Adhoc(network) => {
            placed =
                !matches!(network.placement, PlacementDef::Grid(_) | PlacementDef::Line(_) | PlacementDef::List(_));
            ends = network.flows > 0;
        }
        Network::Infrastructure(_) => placed = true,
        Network::LeafSpine(fabric) => ends = fabric.flows > 0 && fabric.ends == FabricEnds::Permutation,
        Network::FatTree(fabric) => ends = fabric.flows > 0 && fabric.ends == FabricEnds::Permutation,
        Network::WiredCumWireless(network) => (placed, ends) = (true, network.flows > 0),
        Network::Constellation(network) => {
            (placed, ends) = (network.nodes > 0, network.nodes > 0 && network.flows > 0);
            let jitter = network.handover_jitter.is_some_and(|jitter| jitter > Span::ZERO);
            more = jitter.then_some("handover times");
        }
        Network::Dumbbell(_)
        | Network::Star(_)
        | Network::Lan(_)
        | Network::ParkingLot(_)
        | Network::Access(_)
        | Network::Home(_)
        | Network::Multihomed(_)
        | Network::Graph(_) => {}
    }
    let named = [more, placed.then_some("placement"), ends.then_some("ends of flows")];
    named.into_iter().flatten().map(str::to_owned).collect()
}

fn parts_of_starts(resolved: &Scenario, flows: usize) -> Option<&'static str> {
    let is_drawn = |jitter: Option<StartJitter>| jitter.is_some_and(|jitter| jitter != StartJitter::Span(Span::ZERO));
    let generated = flows > resolved.flow.len() && is_drawn(resolved.traffic.start_jitter);
    (generated || resolved.flow.iter().any(|flow| is_drawn(flow.start_jitter))).then_some("starts of flows")
}

/// What `vary` changes here: nothing of what a network lacks.
fn parts_of_variation(world: &World) -> Vec<String> {
    let vary = &world.resolved.vary;
    let links = &world.graph.link;
    let options = || links.iter().flat_map(|link| [forward_options(link), reverse_options(link)]);
    let delays = vary.delays > 0.0 && options().any(|way| way.delay > Some(Span::ZERO));
    let buffers = vary.buffers > 0 && options().any(|way| way.queue.as_ref().is_some_and(has_limit));
    let named = [
        delays.then(|| format!("access delays (± {} %)", 100.0 * vary.delays)),
        buffers.then(|| format!("buffers (± {} packets)", vary.buffers)),
        (world.background > 0).then(|| format!("datagrams in the background ({} %)", 100.0 * vary.background)),
    ];
    named.into_iter().flatten().collect()
}

/// True if arrivals, sizes or ends are drawn.
fn is_random_workload(def: &WorkloadDef) -> bool {
    let draws_times = match &def.arrivals {
        ArrivalsDef::Constant(_) | ArrivalsDef::List(_) => false,
        ArrivalsDef::Closed(closed) => !matches!(closed.think, PeriodDef::Constant(_)),
        ArrivalsDef::Poisson(_) | ArrivalsDef::Weibull(_) | ArrivalsDef::Pareto(_) => true,
    };
    let draws_sizes = !matches!(def.size, None | Some(SizeDef::Constant(_) | SizeDef::List(_)));
    let names_one = |names: &[String]| matches!(names, [name] if !name.contains(['*', '?']));
    let draws_ends = def.ends != EndsDef::AllToAll && !(names_one(&def.from) && names_one(&def.to));
    draws_times || draws_sizes || draws_ends
}

/// True if salts or flowlets are drawn. (Packets in turn draw nothing.)
fn is_random_routing(routing: Option<&PathRouting>) -> bool {
    matches!(routing, Some(PathRouting::Ecmp(ecmp)) if !matches!(ecmp.by, SpreadBy::Packet(_)))
}

fn is_random_app(app: &AppDef) -> bool {
    let is_drawn = |period: &PeriodDef| !matches!(period, PeriodDef::Constant(_));
    match app {
        AppDef::OnOff(on_off) => is_drawn(&on_off.on) || is_drawn(&on_off.off),
        AppDef::RequestResponse(def) => [&def.think, &def.server_time].into_iter().flatten().any(is_drawn),
        AppDef::Incast(def) => def.jitter > Span::ZERO,
        AppDef::Page(def) => def.object_size.is_none() && def.objects > 0,
        AppDef::Rtc(_) => true,
        AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::Script(_) | AppDef::Transfer(_) => false,
        AppDef::Responsiveness(_) | AppDef::Video(_) | AppDef::Voice(_) => false,
    }
}

fn is_random_mobility(mobility: &MobilityDef) -> bool {
    matches!(mobility, MobilityDef::RandomWaypoint(_) | MobilityDef::GaussMarkov(_))
}

/// Algorithms that draw, by name.
fn parts_of_algorithms(graph: &Scenario) -> Option<String> {
    let algorithm_of = |options: &TcpOptions| options.resolve("tcp").expect("a world that was built").cc.algorithm;
    let common = algorithm_of(&graph.tcp);
    let mut names = BTreeSet::new();
    for options in graph.workload.iter().map(|workload| &workload.tcp) {
        let algorithm = algorithm_of(options);
        names.extend(algorithm.requirements.random.then_some(algorithm.name));
    }
    for flow in
        graph.flow.iter().filter(|flow| flow.transport.is_none() && transport_of(&flow.app) == TransportDef::Tcp)
    {
        let algorithm = if flow.tcp.is_empty() { common } else { algorithm_of(&flow.tcp) };
        names.extend(algorithm.requirements.random.then_some(algorithm.name));
    }
    (!names.is_empty()).then(|| format!("congestion control ({})", names.into_iter().collect::<Vec<_>>().join(", ")))
}

/// Loss by the medium, and queues that draw.
fn parts_of_links(graph: &Scenario) -> Vec<String> {
    let mut all: Vec<LinkOptions> = graph.link.iter().map(|link| link.options.clone()).collect();
    if let Network::Constellation(network) = &graph.network {
        all.extend([&network.uplink, &network.downlink, &network.isl].map(Clone::clone));
    }
    let reverse: Vec<LinkOptions> = all.iter().filter_map(|link| link.reverse.as_deref().cloned()).collect();
    all.extend(reverse);
    let loses = all.iter().any(|link| link.loss.as_ref().is_some_and(is_random_loss));
    let queues: BTreeSet<&str> = all.iter().filter_map(|link| link.queue.as_ref()).flat_map(random_queues).collect();
    let mut parts: Vec<String> = loses.then(|| "loss on links".to_owned()).into_iter().collect();
    let draws = |name: &str, is_random: fn(&LinkOptions) -> bool| all.iter().any(is_random).then(|| name.to_owned());
    parts.extend(draws("service of links", is_random_service));
    parts.extend(draws("effects of links", has_random_effects));
    parts.extend(draws("marks on links", |link| link.marks.as_deref().is_some_and(are_random_marks)));
    parts.extend(draws("rewritten ECN fields", |link| {
        link.ecn.as_ref().and_then(EcnRewrite::share).is_some_and(is_open)
    }));
    if !queues.is_empty() {
        parts.push(format!("queues ({})", queues.into_iter().collect::<Vec<_>>().join(", ")));
    }
    parts
}

/// True if an event of this probability is neither certain nor impossible.
fn is_open(p: f64) -> bool {
    p > 0.0 && p < 1.0
}

fn is_random_loss(model: &LossModel) -> bool {
    match model {
        LossModel::None(_) | LossModel::Nth(_) => false,
        LossModel::Packet(loss) => is_open(loss.p),
        LossModel::Bit(loss) => is_open(loss.ber),
        LossModel::Byte(loss) => is_open(loss.rate),
        LossModel::GilbertElliott(loss) => is_random_chain(loss),
    }
}

fn are_random_marks(model: &MarkModel) -> bool {
    match model {
        MarkModel::Packet(marks) => is_open(marks.p),
        MarkModel::GilbertElliott(marks) => is_random_chain(marks),
        MarkModel::Nth(_) => false,
    }
}

fn is_random_chain(model: &GilbertElliottLoss) -> bool {
    [model.good_to_bad, model.bad_to_good, model.loss_good, model.loss_bad].into_iter().any(is_open)
}

fn is_random_service(link: &LinkOptions) -> bool {
    match link.service.as_deref() {
        Some(ServiceDef::Poisson(_) | ServiceDef::Slots(_)) => true,
        Some(ServiceDef::OnOff(on_off)) => {
            [&on_off.on, &on_off.off].into_iter().any(|period| !matches!(period, PeriodDef::Constant(_)))
        }
        Some(ServiceDef::Aggregate(aggregate)) => aggregate.jitter.is_some(),
        _ => false,
    }
}

fn has_random_effects(link: &LinkOptions) -> bool {
    let LinkOptions { jitter, reorder, duplicate, corrupt, harq, .. } = link;
    jitter.is_some() || reorder.is_some() || duplicate.is_some() || corrupt.is_some() || harq.is_some()
}

/// The names of the disciplines that draw, a queue and those inside it.
fn random_queues(queue: &Queue) -> Vec<&'static str> {
    let own = match queue {
        Queue::Red(_) => Some("red"),
        Queue::FqCodel(_) => Some("fq_codel"),
        Queue::Pie(_) => Some("pie"),
        Queue::FqPie(_) => Some("fq_pie"),
        Queue::Choke(_) => Some("choke"),
        Queue::Cobalt(_) => Some("cobalt"),
        Queue::Sfq(_) => Some("sfq"),
        Queue::Cake(_) => Some("cake"),
        Queue::DropTail(_) | Queue::Codel(_) | Queue::Drr(_) | Queue::Fq(_) => None,
        Queue::DualPi2(def) => (def.with_defaults().draws == Some(Draws::Random)).then_some("dualpi2"),
        Queue::Tbf(_) | Queue::Policer(_) | Queue::Priority(_) | Queue::Htb(_) => None,
    };
    own.into_iter().chain(queue.inner().into_iter().flat_map(|(_, inner)| random_queues(inner))).collect()
}
