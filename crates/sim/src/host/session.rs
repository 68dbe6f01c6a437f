//! A conversation, its connections, and what is measured of it.

use tcp::units::Time;

use crate::host::app::command::{Command, TransportCounts};
use crate::host::app::conversation::{AppSummary, Conversation};
use crate::host::flow::Flow;
use crate::ids::FlowId;

/// A conversation and its connections.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) conversation: Conversation,
    /// By the number of the connection.
    pub(crate) flows: Vec<FlowId>,
    pub(crate) started: bool,
    pub(crate) over: bool,
    pub(crate) commands: Vec<Command>,
    pub(crate) answer_cwnds: u64,
    pub(crate) answer_cwnd_bytes: u64,
}

impl Session {
    pub(crate) fn new(conversation: Conversation, flows: Vec<FlowId>) -> Session {
        let (started, over, commands) = (false, false, Vec::new());
        Session { conversation, flows, started, over, commands, answer_cwnds: 0, answer_cwnd_bytes: 0 }
    }

    /// The flow that carries a connection of the application: a whole transport carries all of them over one.
    pub(crate) fn flow_of(&self, connection: usize) -> FlowId {
        self.flows.get(connection).copied().unwrap_or(self.flows[0])
    }

    /// What the application measured.
    pub(crate) fn summary(&self, flows: &[Flow], warmup: Time, now: Time) -> AppSummary {
        let timeouts = |id: &FlowId| flows[id.index()].totals().timeouts;
        let counts = TransportCounts {
            timeouts: self.flows.iter().map(|id| u64::from(timeouts(id))).sum(),
            answer_cwnd_bytes: (self.answer_cwnds > 0)
                .then(|| self.answer_cwnd_bytes as f64 / self.answer_cwnds as f64),
        };
        let summary = self.conversation.summary(warmup, now, counts);
        if flows[self.flows[0].index()].foreign().is_some() { summary.over_one_connection() } else { summary }
    }

    /// Memory that its records take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.conversation.held_bytes()
    }

    /// The time that says how a user was served: the mean of his requests, or his page's.
    pub(crate) fn user_time_s(&self) -> Option<f64> {
        let counts = TransportCounts { timeouts: 0, answer_cwnd_bytes: None };
        match self.conversation.summary(Time::ZERO, Time::ZERO, counts) {
            AppSummary::RequestResponse(requests) => requests.request_s,
            AppSummary::Page(page) => page.page_load_s,
            _ => None,
        }
    }
}
