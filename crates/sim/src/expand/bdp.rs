//! Limits of queues in bandwidth-delay products become bytes: the rate of the link times the longest round trip of a flow that
//! passes it: propagation, and what jitter adds in the mean.

use tcp::units::{Bytes, Rate, Span};

use super::graph::{forward_options, reverse_options};
use super::paths::Paths;
use crate::ids::LinkId;
use crate::scenario::{Amount, DelayDef, LinkOptions, Network, Queue, Scenario, ScenarioError, ServiceDef, join};

/// Longest round trips by direction of each link: forward, reverse.
type RoundTrips = Vec<[Span; 2]>;

/// Replaces the limits in BDP of an expanded scenario by bytes.
pub(super) fn fill(graph: &mut Scenario) -> Result<(), ScenarioError> {
    if let Network::Constellation(network) = &graph.network {
        let links = [("uplink", &network.uplink), ("downlink", &network.downlink), ("isl", &network.isl)];
        return match links.into_iter().find(|(_, link)| in_bdp(link)) {
            Some((name, _)) => {
                let message = "has a limit in BDP, and round trips over satellites change; give packets or bytes";
                Err(ScenarioError::new(format!("network.{name}.queue"), message))
            }
            None => Ok(()),
        };
    }
    if !graph.link.iter().any(|link| in_bdp(&link.options)) {
        return Ok(());
    }
    let (trips, longest) = round_trips(graph);
    for (index, link) in graph.link.iter_mut().enumerate() {
        let [forth, back] = trips[index].map(|trip| if trip == Span::ZERO { longest } else { trip });
        let (rate, reverse) = (link.options.rate, reverse_options(link));
        let link = &mut link.options;
        let path = format!("link[{index}]");
        let other = in_bdp(&reverse).then(|| reverse.queue.clone()).flatten();
        set(link.queue.as_mut(), rate, forth, &join(&path, "queue"))?;
        // The two directions may differ in rate and round trip: the reverse one gets a queue of its own.
        if let Some(mut queue) = other {
            set(Some(&mut queue), reverse.rate, back, &join(&path, "queue"))?;
            let same = link.queue.as_ref() == Some(&queue);
            if link.reverse.is_some() || !same {
                link.reverse.get_or_insert_default().queue = Some(queue);
            }
        }
    }
    Ok(())
}

/// True if a limit of a queue is in BDP.
fn in_bdp(options: &LinkOptions) -> bool {
    let is_bdp = |queue: &Queue| limits(&mut queue.clone()).iter().any(|limit| matches!(limit, Amount::Bdp { .. }));
    options.queue.as_ref().is_some_and(is_bdp) || options.reverse.as_deref().is_some_and(in_bdp)
}

/// All limits of a queue and of those inside it.
fn limits(queue: &mut Queue) -> Vec<&mut Amount> {
    match queue {
        Queue::DropTail(def) => vec![&mut def.limit],
        Queue::Red(def) => def.limit.iter_mut().collect(),
        Queue::Codel(def) => vec![&mut def.limit],
        Queue::FqCodel(def) => std::iter::once(&mut def.limit).chain(&mut def.device).collect(),
        Queue::Choke(def) => vec![&mut def.limit],
        Queue::Cobalt(def) => vec![&mut def.limit],
        Queue::Pie(def) => vec![&mut def.limit],
        Queue::FqPie(def) => vec![&mut def.limit],
        Queue::Drr(def) => vec![&mut def.limit],
        Queue::Sfq(def) => vec![&mut def.limit],
        Queue::Fq(def) => vec![&mut def.limit],
        Queue::DualPi2(def) => def.limit.iter_mut().collect(),
        Queue::Cake(_) => Vec::new(),
        Queue::Tbf(_) | Queue::Policer(_) | Queue::Priority(_) | Queue::Htb(_) => {
            queue.inner_mut().into_iter().flat_map(limits).collect()
        }
    }
}

fn set(queue: Option<&mut Queue>, rate: Option<Rate>, trip: Span, path: &str) -> Result<(), ScenarioError> {
    for limit in queue.map_or(Vec::new(), limits) {
        if let Amount::Bdp { millionths } = *limit {
            if trip == Span::ZERO {
                let message = format!("{limit} means a round trip, and no flow has one: give packets or bytes");
                return Err(ScenarioError::new(path, message).with_hint("for instance \"100p\" or \"64kB\""));
            }
            let bits = rate.map_or(0.0, |rate| rate.as_bps() as f64) * trip.as_secs_f64();
            let bytes = libm::round(bits / 8.0 * millionths as f64 / 1e6) as u64;
            // A packet must fit.
            *limit = Amount::Bytes(Bytes(bytes.max(1500)));
        }
    }
    Ok(())
}

/// The longest round trip over each link, 0 where no flow passes, and the longest of all.
fn round_trips(graph: &Scenario) -> (RoundTrips, Span) {
    let paths = Paths::of(graph);
    let delays: Vec<[Span; 2]> =
        graph.link.iter().map(|link| [forward_options(link), reverse_options(link)].map(|way| one_way(&way))).collect();
    let (mut trips, mut longest) = (vec![[Span::ZERO; 2]; graph.link.len()], Span::ZERO);
    let flows = graph.flow.iter().map(|flow| (&flow.from, &flow.to));
    for (from, to) in flows.chain(emulated(graph)) {
        let Some((forth, back)) = paths.between(from, to).zip(paths.between(to, from)) else { continue };
        let passed: Vec<LinkId> = forth.into_iter().chain(back).collect();
        let delay = |link: &LinkId| delays[link.index() / 2][link.index() % 2];
        let trip = passed.iter().map(delay).fold(Span::ZERO, |sum, delay| sum + delay);
        longest = longest.max(trip);
        for link in passed {
            let known = &mut trips[link.index() / 2][link.index() % 2];
            *known = (*known).max(trip);
        }
    }
    (trips, longest)
}

/// The pairs of hosts between which programs may send.
fn emulated(graph: &Scenario) -> impl Iterator<Item = (&String, &String)> {
    let hosts = graph.emulate.as_ref().map_or(&[][..], |emulate| &emulate.hosts);
    hosts.iter().enumerate().flat_map(|(index, from)| hosts[index + 1..].iter().map(move |to| (from, to)))
}

/// Propagation delay; the mean, if its service draws it.
fn one_way(options: &LinkOptions) -> Span {
    match options.service.as_deref() {
        Some(ServiceDef::Slots(slots)) => slots.delay.map_or(options.delay, |[least, most]| Some((least + most) / 2)),
        _ => options.delay,
    }
    .unwrap_or_default()
        + mean_jitter(options)
}

/// What jitter that always acts adds in the mean.
fn mean_jitter(options: &LinkOptions) -> Span {
    let Some(jitter) = options.jitter.as_deref().filter(|_| options.during.is_empty()) else { return Span::ZERO };
    match &jitter.delay {
        DelayDef::Constant(constant) => constant.length,
        DelayDef::Uniform(uniform) => uniform.max / 2,
        DelayDef::Normal(normal) => normal.mean,
        DelayDef::Exponential(exponential) => exponential.mean,
        DelayDef::Pareto(pareto) => pareto.mean,
        DelayDef::File(file) => {
            // Linear between its points.
            let seconds = file.points.iter().flatten().map(|(share, delay)| (*share, delay.as_secs_f64()));
            let points: Vec<(f64, f64)> = seconds.collect();
            let area = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
            Span::from_secs_f64(points.windows(2).map(area).sum())
        }
    }
}
