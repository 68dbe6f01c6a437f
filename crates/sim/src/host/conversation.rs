//! Drives conversations: hands them what happens at their connections and carries out what they say. A connection is a flow;
//! the first of a conversation is the flow of the scenario, the others come after all of those.

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Event as TcpEvent, SeqNo};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::host::app::App;
use crate::host::app::command::{Command, End, Input};
use crate::host::flow::Flow;
use crate::host::session::Session;
use crate::host::transport::Transport;
use crate::host::{Hosts, send_datagram};
use crate::ids::{EndpointId, FlowId};
use crate::network::Network;
use crate::packet::Packet;

/// What an end may have left to send when it is told that there is room: a frame of HTTP/2.
const LITTLE: u64 = 16_384;

impl Hosts {
    /// Handles an event of the application of a conversation: it starts, stops, or has something to do.
    pub(super) fn on_conversation(&mut self, ctx: &mut Context, network: &mut Network, id: FlowId, session: usize) {
        if self.flows[id.index()].stop.is_some_and(|stop| ctx.now >= stop) {
            self.stop_conversation(ctx.now, session);
        } else {
            let started = std::mem::replace(&mut self.sessions[session].started, true);
            self.tell(ctx, network, session, if started { Input::Due } else { Input::Start });
        }
        self.settle(ctx, network);
    }

    /// Handles a datagram of a conversation.
    pub(super) fn on_member_datagram(
        &mut self,
        ctx: &mut Context,
        network: &mut Network,
        packet: &Packet,
        number: u64,
    ) {
        let (id, reader) = (packet.to.flow(), End::of(packet.to));
        let flow = &mut self.flows[id.index()];
        let App::Conversation(member) = &flow.app else { return };
        let session = member.session;
        let metrics = &mut ctx.flows[id.index()].interval;
        metrics.on_read(packet.to, packet.payload_bytes());
        if reader == End::Sink {
            flow.read += packet.payload_bytes().0;
            metrics.on_message(ctx.now.since(packet.sent_at));
        }
        self.tell(ctx, network, session, Input::Datagram { reader, number, sent_at: packet.sent_at });
        self.settle(ctx, network);
    }

    /// Drains the ends that have something to say, until none has.
    pub(super) fn settle(&mut self, ctx: &mut Context, network: &mut Network) {
        while let Some(endpoint) = self.unsettled.pop_front() {
            let id = endpoint.flow();
            if self.flows[id.index()].is_foreign() {
                self.drain_foreign(ctx, network, endpoint);
                self.note_window(ctx.now, endpoint);
                continue;
            }
            while let Some(event) = self.flows[id.index()].side(endpoint).and_then(|side| side.connection.poll_event())
            {
                self.on_member_event(ctx, network, endpoint, event);
            }
            self.transmit(ctx, network, endpoint);
            self.note_window(ctx.now, endpoint);
            self.tell_room(ctx, network, endpoint);
        }
    }

    fn on_member_event(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId, event: TcpEvent) {
        let (id, end) = (endpoint.flow(), End::of(endpoint));
        let flow = &mut self.flows[id.index()];
        let App::Conversation(member) = &mut flow.app else { return };
        let (session, connection) = (member.session, member.connection);
        match event {
            TcpEvent::Connected if end == member.client => {
                flow.connected_at = Some(ctx.now);
                self.tell(ctx, network, session, Input::Connected(connection));
            }
            TcpEvent::Delivered(bytes) => {
                for _ in 0..flow.on_read(ctx, endpoint, bytes) {
                    self.tell(ctx, network, session, Input::Message { connection, reader: end });
                }
            }
            TcpEvent::Writable => flow.fill_send_buffer(end),
            TcpEvent::PeerClosed => {
                if connection > 0 {
                    flow.ended_at.get_or_insert(ctx.now);
                }
                flow.close_after_data(end);
            }
            _ => {}
        }
    }

    /// Tells a conversation what has happened, and carries out what it says.
    pub(super) fn tell(&mut self, ctx: &mut Context, network: &mut Network, session: usize, input: Input) {
        let this = &mut self.sessions[session];
        if this.over {
            return;
        }
        let mut commands = std::mem::take(&mut this.commands);
        this.conversation.on(ctx.now, input, &mut commands);
        this.over = this.conversation.is_over();
        if this.over {
            let flow = &mut self.flows[this.flows[0].index()];
            (flow.finished, flow.ended_at) = (true, Some(ctx.now));
            if let App::Conversation(member) = &mut flow.app {
                member.completed = true;
            }
        }
        for command in commands.drain(..) {
            self.carry_out(ctx, network, session, command);
        }
        self.sessions[session].commands = commands;
    }

    fn carry_out(&mut self, ctx: &mut Context, network: &mut Network, session: usize, command: Command) {
        let flow_of = |connection: usize| self.sessions[session].flow_of(connection);
        match command {
            Command::Wake(at) => ctx.schedule(at, Event::App { flow: flow_of(0) }),
            Command::TellRoom { connection, end } => {
                let id = flow_of(connection);
                if let App::Conversation(member) = &mut self.flows[id.index()].app {
                    member.wants_room[end as usize] = true;
                }
            }
            Command::Open(connection) => {
                let id = flow_of(connection);
                let flow = &mut self.flows[id.index()];
                (flow.started, flow.opened_at) = (true, Some(ctx.now));
                if let Transport::Foreign(foreign) = &mut flow.transport {
                    foreign.begin(ctx.now);
                    self.unsettled.extend([id.sink(), id.source()]);
                } else if let App::Conversation(member) = &flow.app {
                    self.unsettled.push_back(member.client.endpoint(id));
                }
            }
            Command::Send { connection, end, bytes } => {
                let id = flow_of(connection);
                self.send(ctx, network, end.endpoint(id), connection, bytes);
            }
            Command::Push { connection, end } => {
                let id = flow_of(connection);
                self.transmit(ctx, network, end.endpoint(id));
            }
            Command::Close(connection) => {
                let id = flow_of(connection);
                let flow = &mut self.flows[id.index()];
                let App::Conversation(member) = &flow.app else { return };
                let client = member.client;
                if let Transport::Foreign(foreign) = &mut flow.transport {
                    // Streams end by themselves; the connection is closed when nothing is left to do.
                    foreign.sides[client as usize].closes |= self.sessions[session].over;
                }
                flow.close_after_data(client);
                self.unsettled.push_back(client.endpoint(id));
            }
        }
    }

    /// Sends a message of a connection of the application, or a datagram.
    fn send(&mut self, ctx: &mut Context, network: &mut Network, from: EndpointId, connection: usize, bytes: Bytes) {
        let (id, end) = (from.flow(), End::of(from));
        let flow = &mut self.flows[id.index()];
        if end == End::Source {
            ctx.flows[id.index()].interval.offered_bytes += bytes;
        }
        let App::Conversation(member) = &mut flow.app else { return };
        let stream = &mut member.streams[end as usize];
        if matches!(flow.transport, Transport::Udp) {
            let number = stream.written;
            stream.written += 1;
            let ecn = if end == End::Source { flow.datagram_ecn } else { Ecn::NotEct };
            send_datagram(ctx, network, flow, from, bytes, ecn, number);
            return;
        }
        if let Transport::Foreign(foreign) = &mut flow.transport {
            member.answering |= end == End::Source;
            foreign.streams.send(end, connection, bytes, ctx.now);
            self.unsettled.push_back(from);
            return;
        }
        stream.written += bytes.0.next_multiple_of(member.unit.0);
        stream.messages.push_back((stream.written, ctx.now));
        member.answering |= end == End::Source;
        flow.fill_send_buffer(end);
        self.unsettled.push_back(from);
    }

    /// Ends a conversation before its time: what has not been sent is discarded, connections close.
    fn stop_conversation(&mut self, now: Time, session: usize) {
        let Session { flows, over, started, .. } = &mut self.sessions[session];
        if std::mem::replace(over, true) || !*started {
            return;
        }
        for id in flows.iter() {
            let flow = &mut self.flows[id.index()];
            // What has not been opened has no SYN to send.
            if !flow.started {
                continue;
            }
            match &mut flow.transport {
                Transport::Tcp(sides) => {
                    for side in sides.iter_mut() {
                        side.connection.abandon_unsent();
                        side.connection.shutdown_write();
                    }
                }
                Transport::Foreign(foreign) => foreign.sides.iter_mut().for_each(|side| side.closes = true),
                Transport::Udp => {}
            }
            self.unsettled.extend([id.source(), id.sink()]);
        }
        let first = &mut self.flows[flows[0].index()];
        (first.finished, first.ended_at) = (true, Some(now));
    }

    /// Tells a conversation that an end has little left to send, if it asked for that.
    fn tell_room(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        let App::Conversation(member) = &mut flow.app else { return };
        let end = End::of(endpoint);
        if !member.wants_room[end as usize] {
            return;
        }
        let (session, connection) = (member.session, member.connection);
        let written = member.streams[end as usize].written;
        let snapshot = flow.side(endpoint).and_then(|side| side.connection.snapshot());
        let sent = snapshot.map_or(0, |snapshot| (snapshot.snd_nxt - SeqNo::FIRST_DATA).0);
        if written.saturating_sub(sent) <= LITTLE {
            if let App::Conversation(member) = &mut self.flows[endpoint.flow().index()].app {
                member.wants_room[end as usize] = false;
            }
            self.tell(ctx, network, session, Input::Room { connection, end });
        }
    }

    /// Takes the window with which a server has begun an answer: idle restart happens as it sends.
    fn note_window(&mut self, now: Time, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        let App::Conversation(member) = &mut flow.app else { return };
        if !endpoint.is_source() || !std::mem::take(&mut member.answering) {
            return;
        }
        let session = &mut self.sessions[member.session];
        if let Some(cwnd) = flow.cwnd(now) {
            session.answer_cwnds += 1;
            session.answer_cwnd_bytes += cwnd.0;
        }
    }
}

impl Flow {
    /// An end has read bytes; returns how many messages end with them.
    fn on_read(&mut self, ctx: &mut Context, endpoint: EndpointId, bytes: u64) -> usize {
        let App::Conversation(member) = &mut self.app else { return 0 };
        let reader = End::of(endpoint);
        let metrics = &mut ctx.flows[endpoint.flow().index()].interval;
        metrics.on_read(endpoint, Bytes(bytes));
        if reader == End::Sink {
            self.first_byte_at.get_or_insert(ctx.now);
            self.read += bytes;
        }
        let stream = &mut member.streams[reader.peer() as usize];
        stream.read += bytes;
        let mut messages = 0;
        while let Some((_, written_at)) = stream.messages.pop_front_if(|(end, _)| *end <= stream.read) {
            messages += 1;
            if reader == End::Sink {
                metrics.on_message(ctx.now.since(written_at));
            }
        }
        messages
    }

    /// Gives the send buffer of an end what it takes of the messages written.
    fn fill_send_buffer(&mut self, end: End) {
        let (App::Conversation(member), Transport::Tcp(sides)) = (&mut self.app, &mut self.transport) else { return };
        let (stream, connection) = (&mut member.streams[end as usize], &mut sides[end as usize].connection);
        if stream.taken < stream.written {
            stream.taken += connection.write(stream.written - stream.taken);
        }
        if stream.closing && stream.taken == stream.written {
            connection.shutdown_write();
        }
    }

    fn close_after_data(&mut self, end: End) {
        if let App::Conversation(member) = &mut self.app {
            member.streams[end as usize].closing = true;
        }
        self.fill_send_buffer(end);
    }
}
