//! The topologies of access lines: homes behind one core, one home with a shaper, a client with several lines.

use tcp::units::{Rate, Span};

use super::graph::{
    FlowEnds, LinkDefaults, Shorthand, Topology, count, link, link_with_defaults, node, reverse_options, within,
};
use super::limits::{MAX_NODES, MAX_ROUTERS};
use crate::scenario::{
    Access, AccessLine, Amount, CakeDef, Home, LinkOptions, Multihomed, Queue, Role, ScenarioError, Shaper, join,
};

const SERVER: LinkDefaults = LinkDefaults { mbps: 10_000, delay_us: 100, queue_packets: 1000 };
const CORE: LinkDefaults = LinkDefaults { mbps: 10_000, delay_us: 5000, queue_packets: 1000 };
const LAN: LinkDefaults = LinkDefaults { mbps: 1000, delay_us: 100, queue_packets: 1000 };
/// Of a line whose options have neither preset nor values.
const LINE: LinkDefaults = LinkDefaults { mbps: 10, delay_us: 10_000, queue_packets: 100 };
/// Most homes and paths: routers stand at both ends of their lines.
const MAX_LINES: u64 = MAX_ROUTERS / 4;

/// The link of a line that is named beside it.
fn line_link(preset: &str, own: &LinkOptions, path: &str) -> Result<LinkOptions, ScenarioError> {
    if own.preset.as_deref().is_some_and(|other| other != preset) {
        return Err(ScenarioError::new(join(path, "link.preset"), format!("stands beside preset = {preset:?}")));
    }
    let named = LinkOptions { preset: Some(preset.to_owned()), ..own.clone() };
    link_with_defaults(&named, &join(path, "link"), &LINE).map_err(|mut error| {
        error.path = error.path.replace("link.preset", "preset");
        error
    })
}

/// The servers and their links to the node `hub`.
fn add_servers(topology: &mut Topology, [prefix, hub]: [&str; 2], servers: u64, options: &LinkOptions, height: f64) {
    for i in 0..servers {
        let name = format!("{prefix}{i}");
        topology.links.push(link(&name, hub, options));
        let y = (i as f64 + 0.5) * height / servers as f64;
        topology.nodes.push(node(name, Role::Host, 0.0, y));
    }
}

impl Shorthand for Access {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        for (i, line) in self.lines.iter_mut().enumerate() {
            line.link = line_link(&line.preset, &line.link, &format!("network.lines[{i}]"))?;
        }
        self.server = link_with_defaults(&self.server, "network.server", &SERVER)?;
        self.core = link_with_defaults(&self.core, "network.core", &CORE)?;
        self.lan = link_with_defaults(&self.lan, "network.lan", &LAN)?;
        Ok(())
    }

    /// Servers, core, then home by home its line and hosts.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let servers = count("network.servers", self.servers, 1, MAX_NODES)?;
        count("network.lines", self.lines.len() as u64, 1, MAX_LINES)?;
        let (mut homes, mut hosts) = (0, servers);
        for (i, line) in self.lines.iter().enumerate() {
            let path = format!("network.lines[{i}]");
            homes += count(&join(&path, "homes"), line.homes, 1, MAX_LINES)?;
            count(&join(&path, "homes"), homes, 1, MAX_LINES)?;
            hosts += line.homes * count(&join(&path, "hosts"), line.hosts, 1, MAX_NODES)?;
            count(&join(&path, "hosts"), hosts, 1, MAX_NODES)?;
        }
        let mut topology = Topology::default();
        let height = (hosts - servers) as f64;
        add_servers(&mut topology, ["srv", "core"], servers, &self.server, height);
        topology.nodes.push(node("core".into(), Role::Router, 0.15 * height, height / 2.0));
        let (mut clients, mut home) = (Vec::new(), 0);
        for line in &self.lines {
            for _ in 0..line.homes {
                add_home(&mut topology, home, line, [&self.core, &self.lan], (&mut clients, height));
                home += 1;
            }
        }
        topology.flow_ends = downloads("srv", servers, &clients, self.flows);
        Ok(topology)
    }
}

/// The line of a home, and its hosts, the names of which join `clients`.
fn add_home(
    topology: &mut Topology,
    home: u64,
    line: &AccessLine,
    [core, lan]: [&LinkOptions; 2],
    (clients, height): (&mut Vec<String>, f64),
) {
    let (isp, gateway) = (format!("isp{home}"), format!("gw{home}"));
    let y = clients.len() as f64 + 0.5 * line.hosts as f64;
    topology.links.push(link("core", &isp, core));
    topology.links.push(link(&isp, &gateway, &line.link));
    topology.nodes.push(node(isp, Role::Router, 0.45 * height, y));
    for j in 0..line.hosts {
        let name = format!("home{home}_{j}");
        topology.links.push(link(&gateway, &name, lan));
        topology.nodes.push(node(name.clone(), Role::Host, height, clients.len() as f64 + 0.5));
        clients.push(name);
    }
    topology.nodes.push(node(gateway, Role::Gateway, 0.75 * height, y));
}

fn downloads(prefix: &str, servers: u64, clients: &[String], flows: u64) -> Vec<FlowEnds> {
    let client = |i: u64| clients[(i % clients.len() as u64) as usize].clone();
    (0..flows).map(|i| FlowEnds::new(format!("{prefix}{}", i % servers), client(i))).collect()
}

impl Shorthand for Home {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        self.link = line_link(&self.preset, &self.link, "network")?;
        self.server = link_with_defaults(&self.server, "network.server", &SERVER)?;
        self.core = link_with_defaults(&self.core, "network.core", &CORE)?;
        self.lan = link_with_defaults(&self.lan, "network.lan", &LAN)?;
        Ok(())
    }

    /// Servers, core, the line; with a shaper the modem, and a link without delay to the gateway on which it acts.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let servers = count("network.servers", self.servers, 1, MAX_NODES / 2)?;
        let hosts = count("network.hosts", self.hosts, 1, MAX_NODES / 2)?;
        let line = AccessLine { preset: self.preset.clone(), homes: 1, hosts, link: self.link.clone() };
        let (mut topology, mut clients, height) = (Topology::default(), Vec::new(), hosts as f64);
        add_servers(&mut topology, ["srv", "core"], servers, &self.server, height);
        topology.nodes.push(node("core".into(), Role::Router, 0.15 * height, height / 2.0));
        add_home(&mut topology, 0, &line, [&self.core, &self.lan], (&mut clients, height));
        if let Some(shaper) = &self.shaper {
            let options = shaper_link(shaper, &self.link)?;
            // The line ends at the modem, which the shaper separates from the gateway.
            topology.links.iter_mut().filter(|line| line.to == "gw0").for_each(|line| line.to = "modem0".into());
            topology.links.push(link("modem0", "gw0", &options));
            topology.nodes.push(node("modem0".into(), Role::Router, 0.6 * height, height / 2.0));
        }
        topology.flow_ends = downloads("srv", servers, &clients, self.flows);
        Ok(topology)
    }
}

/// The link between modem and gateway: fast, with CAKE in front of it in both directions.
fn shaper_link(shaper: &Shaper, line: &LinkOptions) -> Result<LinkOptions, ScenarioError> {
    let cake = match &shaper.queue {
        None => CakeDef::default(),
        Some(Queue::Cake(cake)) if cake.rate.is_none() => cake.clone(),
        Some(Queue::Cake(_)) => {
            return Err(ScenarioError::new("network.shaper.queue.rate", "follows from `down` and `up`; leave it out"));
        }
        Some(_) => {
            let message = "a shaper is CAKE, { kind = \"cake\", … } without rate";
            return Err(ScenarioError::new("network.shaper.queue", message));
        }
    };
    let part_of = |rate: Option<Rate>, part: f64, key: &str| {
        within(&format!("network.shaper.{key}"), part, [0.01, 1.0])?;
        Ok(Rate::from_bps((rate.map_or(0.0, |rate| rate.as_bps() as f64) * part) as u64))
    };
    let back = reverse_options(&link("", "", line));
    let down = CakeDef { rate: part_of(line.rate, shaper.down, "down")?, ingress: true, ..cake.clone() };
    let up = CakeDef { rate: part_of(back.rate, shaper.up, "up")?, ..cake };
    let queue = |cake: CakeDef| Some(Queue::Cake(cake));
    let reverse = LinkOptions { queue: queue(up), ..LinkOptions::default() };
    let options = LinkOptions {
        rate: Rate::from_bps(100_000_000_000),
        delay: Some(Span::ZERO),
        queue: queue(down),
        reverse: Some(Box::new(reverse)),
        ..LinkOptions::default()
    };
    link_with_defaults(&options, "network.shaper", &LAN)
}

impl Shorthand for Multihomed {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        for (i, path) in self.paths.iter_mut().enumerate() {
            *path = link_with_defaults(path, &format!("network.paths[{i}]"), &LINE)?;
        }
        self.server = link_with_defaults(&self.server, "network.server", &CORE)?;
        Ok(())
    }

    /// Servers, the node m where the lines meet, and the client; each line ends at a node of its own, which names it.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let servers = count("network.servers", self.servers, 1, MAX_NODES)?;
        let paths = count("network.paths", self.paths.len() as u64, 1, MAX_LINES)?;
        let mut topology = Topology::default();
        let height = paths.max(servers) as f64;
        add_servers(&mut topology, ["s", "m"], servers, &self.server, height);
        topology.nodes.push(node("m".into(), Role::Router, 0.6 * height, height / 2.0));
        topology.nodes.push(node("c".into(), Role::Host, 2.0 * height, height / 2.0));
        let joint = LinkOptions {
            rate: Rate::from_bps(100_000_000_000),
            delay: Some(Span::ZERO),
            queue: Some(Queue::drop_tail(Amount::Unlimited)),
            ..LinkOptions::default()
        };
        let joint = link_with_defaults(&joint, "network.paths", &LAN)?;
        for (i, path) in self.paths.iter().enumerate() {
            let name = format!("path{i}");
            topology.links.push(link("m", &name, &joint));
            topology.links.push(link(&name, "c", path));
            let y = (i as f64 + 0.5) * height / paths as f64;
            topology.nodes.push(node(name, Role::Router, 1.2 * height, y));
        }
        topology.flow_ends = downloads("s", servers, &["c".to_owned()], self.flows);
        Ok(topology)
    }
}
