//! Packets from outside, in a run that follows the clock of its caller: those of real programs, or of flows that another engine
//! carries. What becomes of them the caller's [`Sink`] learns.

use tcp::Ecn;
use tcp::units::{Bytes, Span, Time};

use crate::assemble::assemble;
use crate::engine::event::{Event, EventKey};
use crate::engine::trace::Sink;
use crate::ids::{EndpointId, FlowId, NodeId};
use crate::packet::header::TTL;
use crate::packet::{Datagram, PacketHeader};
use crate::scenario::{Dscp, Scenario, ScenarioError};
use crate::simulation::{EventMode, Simulation};
use crate::world::{Outside, World};

/// A packet that enters the network.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The end of its flow that it is for.
    pub to: EndpointId,
    /// Size of the IP datagram.
    pub size: Bytes,
    /// What its transport carries.
    pub payload: Bytes,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its code point, 0 to 63.
    pub dscp: u8,
    /// Its transport has sent these bytes before.
    pub retransmission: bool,
    /// What records call it: [`Datagram::number`].
    pub number: u64,
}

impl Simulation {
    /// Builds a run of `scenario` that packets enter from `outside`. It has events for each hop, in the order of time.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`].
    pub fn with_outside(
        scenario: &Scenario,
        seed: u64,
        sink: Box<dyn Sink>,
        outside: Outside,
    ) -> Result<Simulation, ScenarioError> {
        let mut simulation = Simulation::of(assemble(scenario, seed, Some(sink), outside)?, EventMode::PerHop);
        simulation.world.forget_description();
        Ok(simulation)
    }

    /// A node by its name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.world.graph.node.iter().position(|node| node.name == name).map(|index| NodeId(index as u32))
    }

    /// Opens a flow between two nodes at `at`; none if all slots are taken. `transport` is what summaries call it.
    pub fn open(&mut self, at: Time, ends: [NodeId; 2], transport: &'static str) -> Option<FlowId> {
        let World { ctx, hosts, series, listed, slots: (first, left), .. } = &mut self.world;
        *left = left.checked_sub(1)?;
        ctx.advance_to_input(at.max(ctx.now));
        let id = FlowId(*first as u32);
        *first += 1;
        let flow = &mut hosts.flows[id.index()];
        ([flow.source, flow.sink], flow.opened_at) = (ends, Some(ctx.now));
        let known = &mut ctx.ends[id.index()];
        [known.source, known.sink] = ends;
        (listed[id.index()].transport, listed[id.index()].start) = (transport, ctx.now);
        series.add_flow();
        Some(id)
    }

    /// When something happens next.
    pub fn next_event(&mut self) -> Option<Time> {
        self.world.ctx.next_time()
    }

    /// Handles what is due before an input at `at`; true if the duration of the scenario is over, at which it stops.
    ///
    /// # Panics
    ///
    /// As [`Simulation::run`].
    pub fn advance_to_input(&mut self, at: Time) -> bool {
        let until = EventKey::new(at, Event::INPUT);
        while let Some(event) = self.world.ctx.next_before_key(until) {
            if event == Event::Stop {
                return true;
            }
            self.handle(event);
        }
        self.check_if_due();
        false
    }

    /// A packet enters at `at`, or now if that is over; what is due before has been handled.
    pub fn enter(&mut self, at: Time, packet: &Incoming) {
        let World { ctx, network, hosts, .. } = &mut self.world;
        ctx.advance_to_input(at.max(ctx.now));
        let &Incoming { to, size, payload, ecn, dscp, retransmission, number } = packet;
        let flow = &hosts.flows[to.flow().index()];
        ctx.ends[to.flow().index()].dscp = Dscp::of(dscp);
        let header = PacketHeader { to, destination: flow.node(to), size, sent_at: ctx.now, retransmission, ttl: TTL };
        let id = ctx.admit_datagram(&header, Datagram { bytes: payload, ecn, number, carried: false });
        network.originate(ctx, flow.node(to.peer()), id);
    }

    /// The program at an end of a flow has been given so many bytes in order.
    pub fn deliver(&mut self, to: EndpointId, bytes: Bytes) {
        let World { ctx, hosts, .. } = &mut self.world;
        ctx.flows[to.flow().index()].interval.on_read(to, bytes);
        if !to.is_source() {
            hosts.flows[to.flow().index()].read += bytes.0;
        }
    }

    /// The data of a flow has come to its end.
    pub fn end(&mut self, flow: FlowId) {
        let now = self.world.ctx.now;
        self.world.hosts.flows[flow.index()].ended_at.get_or_insert(now);
    }

    /// The clock of the caller has come to `at`: the run lasts until then.
    pub fn lasts_until(&mut self, at: Time) {
        self.advance_to_input(at);
        let ctx = &mut self.world.ctx;
        ctx.advance_to_input(at.max(ctx.now));
    }

    /// The least round trip of a packet of 1500 bytes and its ACK between two of these nodes.
    pub fn least_base_rtt(&self, nodes: &[NodeId]) -> Option<Span> {
        let pairs =
            nodes.iter().flat_map(|from| nodes.iter().map(move |to| (*from, *to))).filter(|(from, to)| from != to);
        pairs.filter_map(|(from, to)| self.world.network.base_rtt(from, to, FlowId(0))).min()
    }
}
