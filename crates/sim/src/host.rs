//! Hosts: drive the connections and their applications. After any input the connection is drained into the network,
//! its events go to the application, and a wake-up is pending at or before its next deadline.

use tcp::units::{Bytes, Span, Time};
use tcp::{Event as TcpEvent, Segment, Snapshot};

use crate::core::Core;
use crate::event::{EndpointId, Event, FlowId};
use crate::flow::{Flow, OnFull, Transport};
use crate::network::Network;
use crate::packet::{Envelope, Packet, Payload, TTL};

/// IPv4 without options.
const IP_HEADER: Bytes = Bytes(20);
const UDP_HEADER: Bytes = Bytes(8);
/// A write without end: more than any run can send.
const ENDLESS: u64 = 1 << 60;

/// All flows.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) flows: Vec<Flow>,
}

impl Hosts {
    /// A flow's application acts: it starts, writes, or stops.
    pub(crate) fn on_app(&mut self, core: &mut Core, network: &mut Network, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        if flow.finished {
            return;
        }
        if flow.stop.is_some_and(|stop| core.now >= stop) {
            flow.finish();
        } else {
            if !flow.started {
                flow.started = true;
                flow.app.start(core.now);
            }
            flow.tick(core, network, id);
        }
        self.settle(core, network, id.source());
    }

    /// An endpoint's deadline may have come.
    pub(crate) fn on_wake(&mut self, core: &mut Core, network: &mut Network, endpoint: EndpointId) {
        let now = core.now;
        let Some(side) = self.flows[endpoint.flow().index()].side(endpoint) else { return };
        if side.wake_at != Some(now) {
            return;
        }
        side.wake_at = None;
        side.connection.on_timeout(now);
        self.settle(core, network, endpoint);
    }

    /// A packet has reached its endpoint.
    pub(crate) fn on_packet(&mut self, core: &mut Core, network: &mut Network, packet: &Packet) {
        let flow = &mut self.flows[packet.to.flow().index()];
        match &packet.payload {
            Payload::Udp(bytes) => {
                let window = &mut core.flows[packet.to.flow().index()].window;
                window.delivered_bytes += *bytes;
                window.on_message(core.now.since(packet.sent_at));
            }
            Payload::Tcp(segment) => {
                if let Some(side) = flow.side(packet.to) {
                    side.connection.on_segment(core.now, segment);
                }
                self.settle(core, network, packet.to);
            }
        }
    }

    /// Drains a connection after an input.
    fn settle(&mut self, core: &mut Core, network: &mut Network, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        if !flow.started {
            return;
        }
        while let Some(event) = flow.side(endpoint).and_then(|side| side.connection.poll_event()) {
            flow.on_tcp_event(core, endpoint, event);
        }
        let (node, to) = (flow.node(endpoint), endpoint.peer());
        let destination = flow.node(to);
        let Flow { transport: Transport::Tcp(sides), highest_sent, window_area, .. } = flow else { return };
        let side = &mut sides[usize::from(!endpoint.is_source())];
        while let Some(segment) = side.connection.poll_segment(core.now) {
            let retransmission = endpoint.is_source() && was_sent_before(highest_sent, &segment);
            let size = IP_HEADER + segment.header() + Bytes(u64::from(segment.len));
            let envelope = Envelope { to, destination, size, sent_at: core.now, retransmission, ttl: TTL };
            let id = core.admit_segment(&envelope, &segment);
            network.originate(core, node, id);
        }
        if endpoint.is_source()
            && let Some(window) = side.connection.window()
        {
            window_area.becomes(core.now, window.cwnd);
        }
        if let Some(deadline) = side.connection.next_timeout()
            && side.wake_at.is_none_or(|pending| deadline < pending)
        {
            side.wake_at = Some(deadline);
            core.schedule(deadline, Event::Wake { endpoint });
        }
    }
}

/// True if the source has sent these bytes already; `highest_sent` is the number after the last it has.
fn was_sent_before(highest_sent: &mut u64, segment: &Segment) -> bool {
    let end = segment.end().0;
    let before = end <= *highest_sent;
    *highest_sent = end.max(*highest_sent);
    before && segment.len > 0
}

impl Flow {
    /// The sender's state for a trace.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].connection.snapshot(),
            Transport::Udp => None,
        }
    }

    /// The application writes what is due, and names the next tick.
    fn tick(&mut self, core: &mut Core, network: &mut Network, id: FlowId) {
        let amount = self.app.write();
        if let Some(bytes) = amount {
            core.flows[id.index()].window.offered_bytes += bytes;
        }
        match &mut self.transport {
            Transport::Udp => {
                let bytes = amount.unwrap_or(Bytes::ZERO);
                let envelope = Envelope {
                    to: id.sink(),
                    destination: self.sink,
                    size: IP_HEADER + UDP_HEADER + bytes,
                    sent_at: core.now,
                    retransmission: false,
                    ttl: TTL,
                };
                let packet = core.admit_datagram(&envelope, bytes);
                network.originate(core, self.source, packet);
            }
            Transport::Tcp(_) => self.write(core.now, amount),
        }
        if self.blocked == Bytes::ZERO {
            self.schedule_tick(core, id);
        }
        if self.app.is_finite() && self.blocked == Bytes::ZERO {
            self.finish();
        }
    }

    fn schedule_tick(&mut self, core: &mut Core, id: FlowId) {
        if let Some(next) = self.app.next_tick(core.now)
            && self.stop.is_none_or(|stop| next < stop)
        {
            core.schedule(next, Event::App { flow: id });
        }
    }

    fn write(&mut self, now: Time, amount: Option<Bytes>) {
        let Transport::Tcp(sides) = &mut self.transport else { return };
        let connection = &mut sides[0].connection;
        let wanted = amount.map_or(ENDLESS, |bytes| bytes.0);
        if self.on_full == OnFull::Drop && self.app.has_messages() && connection.send_space() < Bytes(wanted) {
            return;
        }
        self.blocked = Bytes(wanted - connection.write(wanted));
        self.written += wanted;
        if self.app.has_messages() {
            self.messages.push_back((self.written, now));
        }
    }

    /// The application ends: what was not sent is given up, the connection closes.
    fn finish(&mut self) {
        self.finished = true;
        if let Transport::Tcp(sides) = &mut self.transport {
            if !self.app.is_finite() {
                sides[0].connection.abandon_unsent();
            }
            sides[0].connection.close();
        }
    }

    fn on_tcp_event(&mut self, core: &mut Core, endpoint: EndpointId, event: TcpEvent) {
        let id = endpoint.flow();
        match event {
            TcpEvent::Connected if endpoint.is_source() => self.connected_at = Some(core.now),
            TcpEvent::Delivered(bytes) if !endpoint.is_source() => self.on_delivered(core, id, bytes),
            TcpEvent::Writable if endpoint.is_source() && !self.finished => self.on_writable(core, id),
            // The sink has nothing to say: it closes when the source has.
            TcpEvent::PeerClosed if !endpoint.is_source() => {
                if let Some(side) = self.side(endpoint) {
                    side.connection.close();
                }
            }
            _ => {}
        }
    }

    fn on_delivered(&mut self, core: &mut Core, id: FlowId, bytes: u64) {
        let window = &mut core.flows[id.index()].window;
        window.delivered_bytes += Bytes(bytes);
        self.read += bytes;
        while let Some((_, written_at)) = self.messages.pop_front_if(|(end, _)| *end <= self.read) {
            window.on_message(core.now.since(written_at));
        }
        if self.app.is_finite() && Some(Bytes(self.read)) == self.app.write() {
            self.completed_at = Some(core.now);
        }
    }

    /// There is room again for what did not fit.
    fn on_writable(&mut self, core: &mut Core, id: FlowId) {
        let Transport::Tcp(sides) = &mut self.transport else { return };
        self.blocked -= Bytes(sides[0].connection.write(self.blocked.0));
        if self.blocked > Bytes::ZERO {
            return;
        }
        if self.app.is_finite() {
            self.finish();
        } else {
            self.schedule_tick(core, id);
        }
    }

    /// Start of the flow to the last byte, for a flow that ends.
    pub(crate) fn completion(&self, start: Time) -> Option<Span> {
        self.completed_at.map(|at| at.since(start))
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    /// Most messages that were remembered at once in `seconds` of 250 per second, twice what the path carries.
    fn most_messages(transport: &str, seconds: u64) -> usize {
        let text = format!(
            r#"{{"duration": "{seconds}s", "network": {{"kind": "dumbbell", "bottleneck": {{"rate": "1Mbps"}}}},
                "tcp": {{"send_buffer": "64kB"}},
                "flow": [{{"from": "left0", "to": "right0",
                           "app": {{"kind": "cbr", "rate": "250pps", "size": "1000B", "transport": "{transport}"}}}}]}}"#
        );
        let mut run = Simulation::new(&Scenario::from_json(&text).unwrap(), 1).unwrap();
        let mut most = 0;
        while let Some(event) = run.core.next().filter(|event| *event != Event::Stop) {
            run.handle(event);
            most = most.max(run.hosts.flows[0].messages.len());
        }
        most
    }

    #[test]
    fn what_is_remembered_of_messages_does_not_grow_with_the_run() {
        assert_eq!(most_messages("udp", 20), 0, "a datagram carries the time of its message itself");
        // What the send buffer holds, and the one that waits for room in it.
        assert!((1..=65).contains(&most_messages("tcp", 5)));
        assert_eq!(most_messages("tcp", 20), most_messages("tcp", 40));
    }
}
