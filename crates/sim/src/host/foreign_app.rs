//! What applications do over the streams of a whole transport, and what they are told.

use tcp::units::{Bytes, Time};

use crate::engine::context::Context;
use crate::foreign::ForeignEvent;
use crate::host::app::App;
use crate::host::app::command::{End, Input};
use crate::host::flow::{Flow, OnFull};
use crate::host::streams::Reading;
use crate::host::transport::Transport;
use crate::host::{ENDLESS, Hosts};
use crate::ids::EndpointId;
use crate::network::Network;

impl Hosts {
    /// Passes on what an end of a transport reports.
    pub(super) fn on_foreign_event(
        &mut self,
        ctx: &mut Context,
        network: &mut Network,
        endpoint: EndpointId,
        event: ForeignEvent,
    ) {
        let (now, by) = (ctx.now, End::of(endpoint));
        let flow = &mut self.flows[endpoint.flow().index()];
        let Transport::Foreign(foreign) = &mut flow.transport else { return };
        let side = &mut foreign.sides[by as usize];
        match event {
            ForeignEvent::Connected => {
                side.connected = true;
                self.on_foreign_connected(ctx, network, endpoint);
            }
            ForeignEvent::Closed(code) => side.closed = Some(code),
            ForeignEvent::Writable(stream) => foreign.streams.on_writable(by, stream),
            ForeignEvent::Opened(stream) | ForeignEvent::Readable(stream) => {
                let Some(end) = side.end.as_deref_mut() else { return };
                foreign.streams.on_seen(now, by, stream, end);
                if matches!(event, ForeignEvent::Readable(_)) && side.closed.is_none() {
                    let reading = foreign.streams.read(now, by, stream, end, &side.setup.place);
                    self.on_foreign_reading(ctx, network, endpoint, &reading);
                }
            }
        }
    }

    fn on_foreign_connected(&mut self, ctx: &mut Context, network: &mut Network, endpoint: EndpointId) {
        let flow = &mut self.flows[endpoint.flow().index()];
        let by = End::of(endpoint);
        match &flow.app {
            App::Conversation(member) if by == member.client => {
                let (session, connection) = (member.session, member.connection);
                flow.connected_at = Some(ctx.now);
                self.tell(ctx, network, session, Input::Connected(connection));
            }
            App::Conversation(_) => {}
            _ if by == End::Source => flow.connected_at = Some(ctx.now),
            _ => {}
        }
    }

    /// An end has read from a stream: the application is told of the messages that are complete.
    fn on_foreign_reading(
        &mut self,
        ctx: &mut Context,
        network: &mut Network,
        endpoint: EndpointId,
        reading: &Reading,
    ) {
        let (now, reader, id) = (ctx.now, End::of(endpoint), endpoint.flow());
        let flow = &mut self.flows[id.index()];
        let metrics = &mut ctx.flows[id.index()].interval;
        metrics.on_read(endpoint, Bytes(reading.bytes));
        if reader == End::Sink {
            if reading.bytes > 0 {
                flow.first_byte_at.get_or_insert(now);
            }
            flow.read += reading.bytes;
        }
        let has_messages = flow.app.has_messages() || matches!(flow.app, App::Conversation(_));
        if reader == End::Sink && has_messages {
            reading.messages.iter().for_each(|message| metrics.on_message(now.since(message.written_at)));
        }
        let App::Conversation(member) = &flow.app else {
            return flow.on_stream_read(now, reader, reading.fin);
        };
        let session = member.session;
        for message in &reading.messages {
            self.tell(ctx, network, session, Input::Message { connection: message.lane, reader });
        }
        let ended = self.sessions[session].over && !reading.messages.is_empty();
        if let Transport::Foreign(foreign) = &mut self.flows[id.index()].transport {
            // Who has read the last message closes.
            foreign.sides[reader as usize].closes |= ended;
        }
    }
}

impl Flow {
    /// True if a whole transport carries it.
    #[inline]
    pub(super) fn is_foreign(&self) -> bool {
        matches!(self.transport, Transport::Foreign(_))
    }

    /// The sink of an application that only writes has read: it closes after the last byte.
    fn on_stream_read(&mut self, now: Time, reader: End, fin: bool) {
        let complete = self.app.is_finite() && self.app.write() == Some(Bytes(self.read));
        if reader == End::Sink && (fin || complete) {
            self.ended_at.get_or_insert(now);
            if let Transport::Foreign(foreign) = &mut self.transport {
                foreign.sides[End::Sink as usize].closes = fin;
            }
        }
    }

    /// The application writes to its stream.
    pub(super) fn write_to_stream(&mut self, now: Time, amount: Option<Bytes>) {
        let is_finite = self.app.is_finite();
        let Transport::Foreign(foreign) = &mut self.transport else { return };
        let wanted = amount.map_or(ENDLESS, |bytes| bytes.0);
        let drops = self.on_full == OnFull::Drop && self.app.has_messages();
        if drops && foreign.streams.pending() > 0 {
            return;
        }
        foreign.streams.append(wanted, is_finite, now);
        // The rest is known once the transport has been offered it.
        self.blocked = if drops { Bytes::ZERO } else { Bytes(wanted) };
    }

    /// An end has been offered what there was to write.
    pub(super) fn after_foreign_write(&mut self, ctx: &mut Context, endpoint: EndpointId) {
        let Transport::Foreign(foreign) = &self.transport else { return };
        if !endpoint.is_source() || self.blocked == Bytes::ZERO {
            return;
        }
        self.blocked = Bytes(foreign.streams.pending());
        if !self.finished {
            self.after_write(ctx, endpoint.flow());
        }
    }
}
