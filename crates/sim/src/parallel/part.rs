//! A part of a world: the events of its nodes, and the mail of the other parts.

use tcp::units::Time;

use super::flow_log::{EndLog, FlowLog, WorkloadLog};
use super::plan::Division;
use crate::engine::crossing::{Crossing, EventPlace, Outbox};
use crate::engine::event::Event;
use crate::ids::{EndpointId, FlowId, LinkId, NodeId};
use crate::simulation::Simulation;
use crate::world::World;

/// What one part sends to another after a window.
#[derive(Debug, Default)]
pub struct Mail {
    packets: Vec<Crossing>,
    news: Vec<News>,
}

/// What a part tells the others besides packets.
#[derive(Clone, Copy, Debug)]
enum News {
    /// Packets to this endpoint, by the serial number of its flow, have another hash from this time on.
    Rehash { to: EndpointId, at: Time },
    /// The source of a flow has written a message; the offset of its end in the stream.
    Message { flow: FlowId, end: u64, at: Time },
}

/// A part of a world, which one thread simulates.
#[derive(Debug)]
pub struct Part {
    pub(super) simulation: Simulation,
    pub(super) division: Division,
    index: usize,
    /// By part: what it is sent next.
    outgoing: Vec<Mail>,
    /// What becomes of the flows of workloads.
    pub(super) log: WorkloadLog,
    /// Events that another part counts as well.
    repeated: u64,
    is_over: bool,
}

impl Part {
    /// Part `index` of a division; `simulation` is a run of the same scenario and seed that has not begun.
    pub fn new(mut simulation: Simulation, division: &Division, index: usize) -> Part {
        let world = &mut simulation.world;
        world.forget_description();
        let nodes = (0..world.network.nodes.len()).map(|node| NodeId(node as u32));
        let elsewhere = nodes.map(|node| division.part_of(node) != index).collect();
        world.ctx.outbox = Some(Box::new(Outbox { elsewhere, ..Outbox::default() }));
        let links = world.network.links.iter().enumerate();
        let leaving = links.filter(|(_, link)| division.part_of(link.from) == index && division.is_between(link));
        let leaving: Vec<LinkId> = leaving.map(|(id, _)| LinkId(id as u32)).collect();
        world.network.become_part(leaving.into_iter());
        for flow in &mut world.hosts.flows {
            // The source has started when its first packet comes, and nothing comes before.
            flow.started |= division.part_of(flow.sink) == index && division.part_of(flow.source) != index;
        }
        let outgoing = (0..division.parts()).map(|_| Mail::default()).collect();
        let (division, log) = (division.clone(), WorkloadLog::default());
        Part { simulation, division, index, outgoing, log, repeated: 0, is_over: false }
    }

    /// The earliest instant at which something may happen because of what this part holds, or has sent in the last window; nothing
    /// if it is over.
    fn next_time(&mut self) -> Option<Time> {
        let sent = self.outgoing.iter().flat_map(|mail| mail.packets.iter().map(|crossing| crossing.arrives)).min();
        let own = self.simulation.world.ctx.next_time();
        own.into_iter().chain(sent).min().filter(|_| !self.is_over)
    }

    /// Handles the events before `until`: at first the lookahead itself, then the lookahead after the earliest of what all parts have
    /// returned. Returns the earliest instant at which something may happen because of what this part holds or has just sent; nothing
    /// if the run is over.
    pub fn advance(&mut self, until: Time) -> Option<Time> {
        while !self.is_over
            && let Some(event) = self.simulation.world.ctx.next_before(until)
        {
            self.handle(event);
            self.note_inputs(matches!(event, Event::Arrive { .. }));
        }
        let outbox = self.simulation.world.ctx.outbox.as_mut().expect("a part has an outbox");
        for crossing in outbox.packets.drain(..) {
            let to = self.simulation.world.network.links[crossing.link.index()].to;
            let part = self.division.part_of(to.unwrap_or(crossing.packet.destination()));
            self.outgoing[part].packets.push(crossing);
        }
        self.next_time()
    }

    /// Events that this part has handled and no other part counts.
    pub fn events(&self) -> u64 {
        self.simulation.world.ctx.events - self.repeated
    }

    /// The run of this part.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Stop => {
                self.is_over = true;
                self.repeated += u64::from(self.index > 0);
            }
            Event::App { flow } => self.on_app(flow, event),
            Event::Wake { endpoint } => {
                self.simulation.handle(event);
                self.tell_rehash(endpoint);
            }
            Event::Arrive { .. } | Event::LinkReady { .. } => self.simulation.handle(event),
            Event::Arrival { .. } => {
                self.repeated += u64::from(self.index > 0);
                self.on_arrival(event);
            }
            _ => {
                if event == Event::WarmupEnds {
                    self.log.warmup_ended = Some(self.place());
                }
                self.repeated += u64::from(self.index > 0);
                self.simulation.handle(event);
            }
        }
    }

    /// The event being handled.
    fn place(&self) -> EventPlace {
        self.simulation.world.ctx.outbox.as_ref().expect("a part has an outbox").place
    }

    /// A flow of a workload arrives, in every part.
    fn on_arrival(&mut self, event: Event) {
        self.simulation.handle(event);
        let World { hosts, workloads, .. } = &self.simulation.world;
        if self.log.flows.len() == workloads.slots.len() {
            return;
        }
        self.log.arrivals.push(self.place());
        self.log.flows.push(FlowLog::default());
        let id = FlowId((workloads.listed() + workloads.slots.len() - 1) as u32);
        let flow = &hosts.flows[id.index()];
        if self.division.part_of(flow.source) == self.index {
            // Not an input, but the state that the next one is compared with.
            let [is_closed, waits] = flow.end_state(id.source());
            let end = EndLog { is_closed, waits, ..EndLog::default() };
            self.log.flows.iter_mut().last().expect("one was added").ends[0] = end;
        }
    }

    /// Notes what the last event has changed of flows of workloads.
    #[inline]
    fn note_inputs(&mut self, delivers: bool) {
        let World { ctx, hosts, workloads, .. } = &mut self.simulation.world;
        let (listed, outbox) = (workloads.listed(), ctx.outbox.as_mut().expect("a part has an outbox"));
        if outbox.inputs.is_empty() && outbox.drops.is_empty() {
            return;
        }
        for id in outbox.inputs.drain(..) {
            let Some(log) = self.log.flow(id, listed) else { continue };
            let flow = &hosts.flows[id.index()];
            for (node, endpoint) in [(flow.source, id.source()), (flow.sink, id.sink())] {
                if self.division.part_of(node) == self.index {
                    log.on_input(outbox.place, flow, endpoint);
                }
            }
            if delivers {
                log.delivered = outbox.place;
            }
        }
        for (id, place) in outbox.drops.drain(..) {
            if let Some(log) = self.log.flow(id, listed) {
                log.dropped = log.dropped.max(place);
            }
        }
    }

    /// The application of a flow acts, where its source is.
    fn on_app(&mut self, id: FlowId, event: Event) {
        let flow = &self.simulation.world.hosts.flows[id.index()];
        let [source, sink] = [flow.source, flow.sink].map(|node| self.division.part_of(node));
        if source != self.index {
            self.repeated += 1;
            return;
        }
        self.simulation.handle(event);
        if sink != source {
            let messages = &mut self.simulation.world.hosts.flows[id.index()].messages;
            let news = messages.drain(..).map(|(end, at)| News::Message { flow: id, end, at });
            self.outgoing[sink].news.extend(news);
        }
    }

    fn tell_rehash(&mut self, endpoint: EndpointId) {
        let ctx = &self.simulation.world.ctx;
        let (to, at) = (ctx.by_serial(endpoint.peer()), ctx.now);
        if ctx.rehashes.has_changed(to, at) {
            let others = self.outgoing.iter_mut().enumerate().filter(|(part, _)| *part != self.index);
            others.for_each(|(_, mail)| mail.news.push(News::Rehash { to, at }));
        }
    }

    /// True if there is something to be sent to that part.
    pub fn has_mail(&self, to: usize) -> bool {
        let Mail { packets, news } = &self.outgoing[to];
        !(packets.is_empty() && news.is_empty())
    }

    /// Puts what is to be sent to another part into `mail`, which is empty.
    pub fn send(&mut self, to: usize, mail: &mut Mail) {
        std::mem::swap(&mut self.outgoing[to], mail);
    }

    /// Receives what another part has sent, and leaves `mail` empty.
    pub fn receive(&mut self, mail: &mut Mail) {
        let Mail { packets, news } = mail;
        let world = &mut self.simulation.world;
        for item in news.drain(..) {
            match item {
                News::Rehash { to, at } => world.ctx.rehashes.add(to, at),
                News::Message { flow, end, at } => world.hosts.flows[flow.index()].messages.push_back((end, at)),
            }
        }
        packets.drain(..).for_each(|crossing| world.network.enter(&mut world.ctx, crossing));
    }
}
