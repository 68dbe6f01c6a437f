//! Flows of workloads, which come and go: each takes a slot, the memory of the connection that was there before, and for as
//! long as it lives a session if its ends answer each other.

use std::sync::Arc;

use tcp::TcpConfig;
use tcp::rng::Rng;
use tcp::units::Bytes;

use crate::host::Hosts;
use crate::host::app::member::Member;
use crate::host::app::{App, plans};
use crate::host::flow::Flow;
use crate::host::session::Session;
use crate::host::transport::Transport;
use crate::ids::{FlowId, NodeId};
use crate::scenario::AppDef;

impl Hosts {
    /// A flow of a workload takes the slot `id`: `size` bytes over a connection of its own.
    pub(crate) fn open(&mut self, id: FlowId, ends: [NodeId; 2], size: Bytes, config: &Arc<TcpConfig>, seed: u64) {
        let before = self.vacate(id);
        self.occupy(id, Flow::transfer(ends, size, config, seed, id, before));
    }

    /// A flow of a workload takes the slot `id` with a conversation over one connection.
    pub(crate) fn open_conversation(
        &mut self,
        id: FlowId,
        ends: [NodeId; 2],
        app: &AppDef,
        config: &Arc<TcpConfig>,
        seed: u64,
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
        let (headers, app) = (config.headers(), member.with_writes_of(config.write_unit()));
        let transport = Transport::connection_after(self.vacate(id), config, seed, client);
        self.occupy(id, Flow { headers, ..Flow::new(ends, app, transport, id) });
    }

    /// What is left of the connection that was in a slot.
    fn vacate(&mut self, id: FlowId) -> Transport {
        match self.flows.get_mut(id.index()) {
            Some(before) => std::mem::replace(&mut before.transport, Transport::Udp),
            None => Transport::Udp,
        }
    }

    fn occupy(&mut self, id: FlowId, flow: Flow) {
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
