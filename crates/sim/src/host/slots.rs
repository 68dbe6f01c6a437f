//! Flows of workloads, which come and go: each takes a slot, the memory of the connection that was there before, and for as
//! long as it lives a session if its ends answer each other.

use tcp::rng::Rng;
use tcp::units::Bytes;

use crate::host::Hosts;
use crate::host::app::command::End;
use crate::host::app::member::Member;
use crate::host::app::{App, plans};
use crate::host::flow::Flow;
use crate::host::session::Session;
use crate::host::transport::{Carrier, Transport};
use crate::ids::{FlowId, NodeId};
use crate::scenario::AppDef;

impl Hosts {
    /// A flow of a workload takes the slot `id`: `size` bytes over a connection of its own.
    pub(crate) fn open(&mut self, id: FlowId, ends: [NodeId; 2], size: Bytes, carrier: Carrier) {
        self.occupy(id, ends, App::Bulk { bytes: Some(size) }, End::Source, carrier);
    }

    /// A flow of a workload takes the slot `id` with a conversation over one connection.
    pub(crate) fn open_conversation(
        &mut self,
        id: FlowId,
        ends: [NodeId; 2],
        app: &AppDef,
        carrier: Carrier,
        rng: Rng,
    ) {
        let conversation = plans::conversation_of(app, 1, rng).expect("an application whose ends answer each other");
        let session = Session::new(conversation, vec![id]);
        let number = match self.free_sessions.pop() {
            Some(number) => {
                self.sessions[number] = session;
                number
            }
            None => {
                self.sessions.push(session);
                self.sessions.len() - 1
            }
        };
        let client = plans::client_of(app);
        let member = App::Conversation(Box::new(Member::new(number, 0, client, plans::has_end(app))));
        self.occupy(id, ends, member, client, carrier);
    }

    /// Puts a flow into a slot, in the memory of the connection that was there before.
    fn occupy(&mut self, id: FlowId, ends: [NodeId; 2], app: App, client: End, carrier: Carrier) {
        let before = match self.flows.get_mut(id.index()) {
            Some(before) => std::mem::replace(&mut before.transport, Transport::Udp),
            None => Transport::Udp,
        };
        let (headers, unit) = carrier.units();
        let transport = carrier.connection_after(before, client);
        let flow = Flow { headers, ..Flow::new(ends, app.with_writes_of(unit), transport, id) };
        match self.flows.get_mut(id.index()) {
            Some(before) => *before = flow,
            None => self.flows.push(flow),
        }
    }

    /// The conversation of a flow, if it has one.
    pub(crate) fn session_of(&self, id: FlowId) -> Option<&Session> {
        match &self.flows[id.index()].app {
            App::Conversation(member) => Some(&self.sessions[member.session]),
            _ => None,
        }
    }

    /// A flow of a workload is gone, and its conversation with it.
    pub(crate) fn close_conversation(&mut self, id: FlowId) {
        if let App::Conversation(member) = &self.flows[id.index()].app {
            self.free_sessions.push(member.session);
        }
    }
}
