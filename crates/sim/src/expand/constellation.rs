//! Constellations: presets, checks, and the nodes they stand for.

use tcp::units::{Bytes, Rate, Span};

use super::constellation_profiles::{Habits, preset_of};
use super::graph::{FlowEnds, LinkDefaults, Shorthand, Topology, count, link_with_defaults, node, within};
use super::ground;
use super::limits::MAX_SATELLITES;
use crate::scenario::{
    Constellation, DelayDef, GslPolicy, HtbClassDef, JitterDef, LinkOptions, Network, NodeDef, Pattern, PerDraw, Queue,
    Role, ScenarioError, TerminalDef, UniformDelay, join,
};

/// The constellation with nothing left to its preset.
fn with_preset(def: &Constellation) -> Result<Constellation, ScenarioError> {
    let (preset, habits) = (preset_of(def.preset), Habits::of(def.profile));
    let pattern = def.pattern.unwrap_or(preset.pattern);
    let planes = count("network.planes", def.planes.unwrap_or(preset.planes), 1, MAX_SATELLITES)?;
    let satellites = count("network.satellites", def.satellites.unwrap_or(preset.satellites), 1, MAX_SATELLITES)?;
    count("network.satellites", planes * satellites, 1, MAX_SATELLITES)
        .map_err(|e| e.with_hint(format!("{planes} planes of {satellites}")))?;
    let (p, s) = (planes as f64, satellites as f64);
    let (spacing, phase) = match pattern {
        Pattern::Star if planes == 6 => (31.6, 180.0 / s),
        Pattern::Star => (180.0 / p, 180.0 / s),
        Pattern::Delta | Pattern::Geo => (360.0 / p, 360.0 * preset.phasing / (p * s)),
    };
    let seconds = |s: u64| Span::from_millis(1000 * s);
    let interval = def.handover_interval.unwrap_or(seconds(preset.interval_s));
    let [up, down] = with_jitter(def, preset.jitter_us, &habits);
    let full = Constellation {
        terminals: ground::listed(def)?,
        nodes: def.nodes,
        placement: ground::placement(def)?,
        pattern: Some(pattern),
        planes: Some(planes),
        satellites: Some(satellites),
        altitude_km: def.altitude_km.or(Some(preset.altitude_km)),
        inclination_deg: def.inclination_deg.or(Some(preset.inclination_deg)),
        node_deg: def.node_deg.or(Some(preset.node_deg)),
        node_spacing_deg: def.node_spacing_deg.or(Some(spacing)),
        phase_deg: def.phase_deg.or(Some(phase)),
        elevation_deg: def.elevation_deg.or(Some(preset.elevation_deg)),
        latitude_limit_deg: def.latitude_limit_deg.or(Some(habits.latitude_limit_deg(def.preset))),
        seam: def.seam.or(Some(false)),
        seam_longitude_deg: def.seam_longitude_deg.or(Some(10.0)),
        gsl_policy: def.gsl_policy.or(habits.gsl_policy).or(Some(preset.policy)),
        handover_interval: Some(interval),
        handover_jitter: def.handover_jitter.or(Some(habits.handover_jitter(interval))),
        handover_outage: def.handover_outage.or(Some(habits.handover_outage(preset.outage_ms))),
        handover_requeue: def.handover_requeue.or(Some(habits.handover_requeue)),
        shared_downlink: def.shared_downlink.or(Some(habits.shared_downlink)),
        isl_interval: def.isl_interval.or(Some(seconds(10))),
        route_interval: def.route_interval.or(Some(seconds(1))),
        start_at: def.start_at.or(Some(Span::ZERO)),
        uplink: link(&up, "network.uplink", preset.rates[0], 50, &habits)?,
        downlink: link(&down, "network.downlink", preset.rates[1], 50, &habits)?,
        isl: link(&def.isl, "network.isl", preset.rates[2], preset.isl_queue, &habits)?,
        ..def.clone()
    };
    check(&full)?;
    Ok(full)
}

/// The links to and from the ground with the jitter of medium access, unless one has its own.
fn with_jitter(def: &Constellation, max_us: [u64; 2], habits: &Habits) -> [LinkOptions; 2] {
    let says = def.uplink.jitter.is_some() || def.downlink.jitter.is_some();
    let of = |(options, max_us): (&LinkOptions, u64)| {
        let own = (habits.has_medium_access && max_us > 0 && !says).then(|| {
            let delay = DelayDef::Uniform(UniformDelay { max: Span::from_micros(max_us) });
            Box::new(JitterDef { delay, per: PerDraw::Packet, reorder: false, correlation: 0.0 })
        });
        LinkOptions { jitter: options.jitter.clone().or(own), ..options.clone() }
    };
    [(&def.uplink, max_us[0]), (&def.downlink, max_us[1])].map(of)
}

/// The links of one sort. A rate of 0 stands for 1.5 Mbps.
fn link(
    options: &LinkOptions,
    path: &str,
    mbps: u64,
    queue: u64,
    habits: &Habits,
) -> Result<LinkOptions, ScenarioError> {
    let given = [
        (
            "preset",
            options.preset.is_some(),
            "a preset is a line on the ground, with a delay and a way back of its own",
        ),
        ("delay", options.delay.is_some(), "the delay is that of the distance"),
        ("reverse", options.reverse.is_some(), "each direction has a key of its own, or is like the other"),
        ("changes", !options.changes.is_empty(), "satellites make the changes"),
        (
            "queue",
            options.queue.as_ref().is_some_and(names_flows),
            "its queues do not tell hosts and flows apart by name",
        ),
    ];
    for (field, is_given, why) in given {
        if is_given {
            return Err(ScenarioError::new(join(path, field), format!("has no meaning in a constellation: {why}")));
        }
    }
    let mut options = options.clone();
    if habits.framing > Bytes::ZERO {
        options.overhead.get_or_insert(habits.framing);
    }
    if mbps == 0 && options.service.as_ref().is_none_or(|service| service.own_rate().is_none()) {
        options.rate = options.rate.or(Rate::from_bps(1_500_000));
    }
    let full = link_with_defaults(&options, path, &LinkDefaults { mbps, delay_us: 0, queue_packets: queue })?;
    Ok(LinkOptions { delay: None, ..full })
}

/// True of classes that take packets by the names of nodes, flows or workloads.
fn names_flows(queue: &Queue) -> bool {
    let by_name =
        |class: &HtbClassDef| !(class.hosts.is_empty() && class.flows.is_empty() && class.workloads.is_empty());
    matches!(queue, Queue::Htb(def) if def.classes.iter().any(by_name))
        || queue.inner().into_iter().any(|(_, inner)| names_flows(inner))
}

fn check(full: &Constellation) -> Result<(), ScenarioError> {
    let angles = [
        ("altitude_km", full.altitude_km, [150.0, 100_000.0]),
        ("inclination_deg", full.inclination_deg, [0.0, 180.0]),
        ("node_deg", full.node_deg, [-360.0, 360.0]),
        ("node_spacing_deg", full.node_spacing_deg, [0.0, 360.0]),
        ("phase_deg", full.phase_deg, [0.0, 360.0]),
        ("elevation_deg", full.elevation_deg, [0.0, 89.0]),
        ("latitude_limit_deg", full.latitude_limit_deg, [0.0, 90.0]),
        ("seam_longitude_deg", full.seam_longitude_deg, [0.0, 180.0]),
    ];
    for (field, value, range) in angles {
        within(&join("network", field), value.expect("filled"), range)?;
    }
    let spans = [
        ("handover_interval", full.handover_interval, Span::from_millis(100)),
        ("isl_interval", full.isl_interval, Span::from_millis(100)),
        ("route_interval", full.route_interval, Span::from_millis(10)),
    ];
    for (field, span, least) in spans {
        let (span, most) = (span.expect("filled"), Span::from_millis(3_600_000));
        if !(least..=most).contains(&span) {
            let message = format!("{span} is not from {least} to {most}");
            return Err(ScenarioError::new(join("network", field), message));
        }
    }
    check_choice(full)?;
    let (jitter, interval) = (full.handover_jitter.expect("filled"), full.handover_interval.expect("filled"));
    if jitter >= interval {
        let message = format!("{jitter} is not below handover_interval ({interval})");
        return Err(ScenarioError::new("network.handover_jitter", message));
    }
    let stars = full.pattern == Some(Pattern::Star);
    if full.seam == Some(true) && !stars {
        return Err(ScenarioError::new("network.seam", "only pattern = \"star\" has a seam"));
    }
    Ok(())
}

/// Gateways, and what terminals that choose their satellites together do not go with.
fn check_choice(full: &Constellation) -> Result<(), ScenarioError> {
    let names = full.terminals.iter().filter_map(|terminal| match terminal {
        TerminalDef::Place(place) => Some(&place.name),
        TerminalDef::City(_) => None,
    });
    let names: Vec<&String> = names.collect();
    if let Some((index, name)) = full.gateways.iter().enumerate().find(|(_, name)| !names.contains(name)) {
        let message = format!("{name:?} is not one of the terminals");
        return Err(ScenarioError::new(format!("network.gateways[{index}]"), message).with_hint(format!("{names:?}")));
    }
    let alone = full.gsl_policy != Some(GslPolicy::Together);
    if alone && !full.gateways.is_empty() {
        let error = ScenarioError::new("network.gateways", "each terminal chooses its satellite by itself");
        return Err(error.with_hint("gsl_policy = \"together\", or leave them out"));
    }
    if !alone && full.handover_jitter.is_some_and(|jitter| jitter > Span::ZERO) {
        let message = "terminals that choose together do so at the same time";
        return Err(
            ScenarioError::new("network.handover_jitter", message).with_hint("leave it out, or another gsl_policy")
        );
    }
    if full.handover_outage.expect("filled") >= full.handover_interval.expect("filled") {
        let message = format!("{} is not below handover_interval", full.handover_outage.expect("filled"));
        return Err(ScenarioError::new("network.handover_outage", message));
    }
    Ok(())
}

impl Shorthand for Constellation {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        *self = with_preset(self)?;
        Ok(())
    }

    /// Terminals first, since routes lead to them; then satellites, plane by plane.
    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let full = Constellation { terminals: ground::all(self, seed)?, ..self.clone() };
        let mut topology = Topology::default();
        for terminal in &full.terminals {
            let TerminalDef::Place(place) = terminal else { continue };
            topology.nodes.push(node(place.name.clone(), Role::Host, place.lon_deg, place.lat_deg));
        }
        let ends = |i: u64| if full.nodes > 0 { ground::random_ends(i, &full, seed) } else { ground::halves(i, &full) };
        let name = |i: usize| topology.nodes[i].name.clone();
        topology.flow_ends = (0..self.flows).map(ends).map(|[from, to]| FlowEnds::new(name(from), name(to))).collect();
        for plane in 0..full.planes.expect("filled") {
            for number in 0..full.satellites.expect("filled") {
                let name = format!("sat{plane}.{number}");
                topology.nodes.push(NodeDef {
                    name,
                    role: Role::Satellite,
                    x: None,
                    y: None,
                    z: None,
                    mobility: None,
                    shared_buffer: None,
                });
            }
        }
        // Its flows are listed from here on.
        let listed = Constellation { flows: 0, nodes: 0, placement: None, ..full };
        topology.network = Network::Constellation(Box::new(listed));
        Ok(topology)
    }
}
