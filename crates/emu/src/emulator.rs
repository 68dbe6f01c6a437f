//! The network of a scenario with packets from outside, by a clock that is handed in.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, Sender};

use sim::{
    EndpointId, FlowId, Incoming, NodeId, Outcome, Outside, Packet, Payload, Record, Scenario, ScenarioError,
    Simulation, Sink,
};
use tcp::Ecn;
use tcp::units::{Bytes, Span, Time};

use crate::flows::{Ends, Flows, Program};
use crate::packet::{Headers, TCP, Tuple, UDP, set_ecn};
use crate::store::{Store, is_outside};

/// Flows that programs may open; packets of later ones count as those of the last one between the same hosts.
const MAX_FLOWS: usize = 1024;

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its node in the scenario.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// The flows of the scenario are carried from outside too: the sink of the first has this port, that of each other the next one.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The port of the first.
    pub port: u16,
    /// How many they are.
    pub flows: u16,
}

/// What an emulation is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts.
    pub hosts: Vec<Host>,
    /// Flows of the scenario that come from outside.
    pub carried: Option<Carried>,
    /// Bytes before the IP header of each packet, which pass as they are.
    pub header: usize,
}

/// What becomes of a packet from outside.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Delivered { number: u64, at: Time, to: EndpointId, destination: NodeId, ecn: Ecn },
    Dropped { number: u64 },
    Copied { number: u64 },
}

/// Tells what becomes of packets from outside.
#[derive(Debug)]
struct Gate(Sender<Fate>);

/// The number of a packet from outside.
fn number_of(packet: &Packet) -> Option<u64> {
    match packet.payload {
        Payload::Udp(datagram) => Some(datagram.number).filter(|number| is_outside(*number)),
        Payload::Tcp(_) => None,
    }
}

impl Sink for Gate {
    fn record(&mut self, at: Time, record: &Record<'_>) {
        let fate = match record {
            Record::Delivered { packet } => number_of(packet).map(|number| Fate::Delivered {
                number,
                at,
                to: packet.to,
                destination: packet.destination,
                ecn: packet.ecn(),
            }),
            Record::Dropped { packet, .. } => number_of(packet).map(|number| Fate::Dropped { number }),
            _ => None,
        };
        // The emulator outlives what it simulates, but for the end of the run.
        let _ = fate.map(|fate| self.0.send(fate));
    }

    fn copied(&mut self, packet: &Packet) {
        let _ = number_of(packet).map(|number| self.0.send(Fate::Copied { number }));
    }

    fn finish(self: Box<Self>) -> String {
        String::new()
    }
}

/// A packet that leaves the network.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// Index of the host that it is for.
    pub host: usize,
    /// When its last bit has arrived.
    pub due: Time,
    number: u64,
    ecn: Ecn,
}

/// Packets that are in no table of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To addresses that no host has, such as those of multicast.
    pub unrouted: u64,
    /// Not of IP, or cut.
    pub unreadable: u64,
    /// Five-tuples that found no place of their own.
    pub joined_flows: u64,
}

/// A network in real time.
#[derive(Debug)]
pub struct Emulator {
    simulation: Simulation,
    fates: Receiver<Fate>,
    settings: Settings,
    nodes: Vec<NodeId>,
    flows: Flows,
    store: Store,
    outgoing: VecDeque<Outgoing>,
    counts: Counts,
    is_over: bool,
}

impl Emulator {
    /// Builds the network of `scenario` with `seed`.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`], and if a host is no node.
    pub fn new(scenario: &Scenario, seed: u64, settings: Settings) -> Result<Emulator, ScenarioError> {
        let (sender, fates) = mpsc::channel();
        let outside = Outside { slots: MAX_FLOWS, carries_listed: settings.carried.is_some() };
        let simulation = Simulation::with_outside(scenario, seed, Box::new(Gate(sender)), outside)?;
        let node = |host: &Host| {
            simulation
                .node(&host.name)
                .ok_or_else(|| ScenarioError::new("emulate.hosts", format!("{:?} is no node", host.name)))
        };
        let nodes = settings.hosts.iter().map(node).collect::<Result<_, _>>()?;
        let (flows, store, outgoing) = (Flows::default(), Store::default(), VecDeque::new());
        let counts = Counts::default();
        Ok(Emulator { simulation, fates, settings, nodes, flows, store, outgoing, counts, is_over: false })
    }

    /// What it is made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A host has sent these bytes at `at`, which never decreases from call to call.
    pub fn enter(&mut self, host: usize, bytes: &[u8], at: Time) {
        let Some(headers) = bytes.get(self.settings.header..).and_then(Headers::of) else {
            self.counts.unreadable += 1;
            return;
        };
        let Some(to) = self.host_with(headers.tuple.to.0).filter(|to| *to != host) else {
            self.counts.unrouted += 1;
            return;
        };
        if self.advance(at) && self.ends_with_scenario() {
            return;
        }
        let ends = Ends { from: host, to };
        let Some(place) = self.flows.find(headers.tuple).or_else(|| self.open(at, headers.tuple, ends)) else {
            self.counts.unrouted += 1;
            return;
        };
        let to = self.flows.receiver(place, headers.tuple, ends);
        let told = headers.tcp.map_or_else(Default::default, |tcp| self.flows.on_segment(place, to, &headers, &tcp));
        let arrives = headers.tcp.is_none().then_some(headers.payload as u64);
        let number = self.store.insert(bytes, arrives);
        let incoming = Incoming {
            to,
            size: Bytes(headers.size as u64),
            payload: Bytes(headers.payload as u64),
            ecn: headers.ecn,
            dscp: headers.dscp,
            retransmission: told.retransmission,
            number,
        };
        self.simulation.enter(at, &incoming);
        if told.received > 0 {
            self.simulation.deliver(to.peer(), Bytes(told.received.into()));
        }
        if told.ends {
            self.simulation.end(to.flow());
        }
        self.collect();
    }

    fn host_with(&self, address: IpAddr) -> Option<usize> {
        self.settings.hosts.iter().position(|host| host.addresses.contains(&address))
    }

    /// Opens the flow of a packet that is the first of its five-tuple.
    fn open(&mut self, at: Time, tuple: Tuple, hosts: Ends) -> Option<usize> {
        let carried = |port: u16| {
            let Carried { port: first, flows } = self.settings.carried?;
            port.checked_sub(first).filter(|index| *index < flows).map(|index| FlowId(index.into()))
        };
        // The ports of carried flows are those of their sinks, so that who sends first does not matter.
        if let Some(flow) = carried(tuple.to.1) {
            return Some(self.flows.open(Program { flow, tuple, hosts }));
        }
        if let Some(flow) = carried(tuple.from.1) {
            let hosts = Ends { from: hosts.to, to: hosts.from };
            return Some(self.flows.open(Program { flow, tuple: tuple.turned(), hosts }));
        }
        let transport = match tuple.protocol {
            TCP => "tcp",
            UDP => "udp",
            _ => "other",
        };
        match self.simulation.open(at, [self.nodes[hosts.from], self.nodes[hosts.to]], transport) {
            Some(flow) => Some(self.flows.open(Program { flow, tuple, hosts })),
            None => {
                self.counts.joined_flows += 1;
                let place = self.flows.between(hosts)?;
                Some(self.flows.join(tuple, place))
            }
        }
    }

    /// True if it carries the flows of the scenario, which end with it; programs end by themselves.
    pub fn ends_with_scenario(&self) -> bool {
        self.settings.carried.is_some()
    }

    /// Handles what is due at `now`; true if the duration of the scenario is over, after which carried flows do nothing.
    pub fn advance(&mut self, now: Time) -> bool {
        if !(self.is_over && self.ends_with_scenario()) {
            self.is_over |= self.simulation.advance_to_input(now);
            self.collect();
        }
        self.is_over
    }

    /// Takes note of what has become of packets.
    fn collect(&mut self) {
        while let Ok(fate) = self.fates.try_recv() {
            match fate {
                Fate::Copied { number } => self.store.copied(number),
                Fate::Dropped { number } => self.store.release(number),
                Fate::Delivered { number, at, to, destination, ecn } => {
                    if let Some(payload) = self.store.payload(number) {
                        self.simulation.deliver(to, Bytes(payload));
                    }
                    let host = self.nodes.iter().position(|node| *node == destination);
                    let host = host.expect("packets from outside are for hosts");
                    self.outgoing.push_back(Outgoing { host, due: at, number, ecn });
                }
            }
        }
    }

    /// The next packet that leaves, passed to `write` with the bytes that its host receives; none if none is due.
    pub fn leave<T>(&mut self, write: impl FnOnce(&Outgoing, &[u8]) -> T) -> Option<T> {
        let outgoing = self.outgoing.pop_front()?;
        let bytes = self.store.bytes(outgoing.number);
        set_ecn(&mut bytes[self.settings.header..], outgoing.ecn);
        let written = write(&outgoing, bytes);
        self.store.release(outgoing.number);
        Some(written)
    }

    /// When something happens next.
    pub fn next_event(&mut self) -> Option<Time> {
        self.simulation.next_event()
    }

    /// The least round trip between two hosts without a queue.
    pub fn least_base_rtt(&self) -> Option<Span> {
        self.simulation.least_base_rtt(&self.nodes)
    }

    /// The flows of programs in the order of their first packets.
    pub fn programs(&self) -> &[Program] {
        &self.flows.programs
    }

    /// Packets that are in no table.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Ends the run at `now`; that of carried flows where the scenario ends, if nobody has looked since.
    pub fn finish(mut self, now: Time) -> Outcome {
        if self.ends_with_scenario() {
            self.advance(now);
        }
        if !self.is_over {
            self.simulation.lasts_until(now);
        }
        self.simulation.finish()
    }
}
