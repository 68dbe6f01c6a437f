//! What a part notes of the flows of workloads, so that it can be found out at the end of the run when each of them was over.
//!
//! A flow is over when its sink has read all, and leaves its slot when both ends are closed and none of its packets exists. That
//! is known to nobody while its ends are in two parts.

use crate::engine::crossing::EventPlace;
use crate::host::flow::Flow;
use crate::ids::{EndpointId, FlowId};

/// An end of a flow, in the part where it is.
#[derive(Clone, Debug, Default)]
pub(super) struct EndLog {
    pub(super) is_closed: bool,
    /// It waits for a time.
    pub(super) waits: bool,
    /// The last event that changed this, and the one that closed it.
    pub(super) changed: EventPlace,
    pub(super) closed_by: Option<EventPlace>,
    /// Its inputs since it is closed.
    pub(super) late_inputs: Vec<EventPlace>,
}

/// A flow of a workload.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowLog {
    /// Source and sink.
    pub(super) ends: [EndLog; 2],
    /// Its sink had read all.
    pub(super) over: Option<EventPlace>,
    /// The last events by which one of its packets ceased to exist.
    pub(super) delivered: EventPlace,
    pub(super) dropped: EventPlace,
}

/// What a part has noted.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkloadLog {
    /// Arrivals, which every part notes, and the flows in their order.
    pub(super) arrivals: Vec<EventPlace>,
    pub(super) flows: Vec<FlowLog>,
    pub(super) warmup_ended: Option<EventPlace>,
}

impl FlowLog {
    /// An input has changed an end that is in this part.
    pub(super) fn on_input(&mut self, place: EventPlace, flow: &Flow, endpoint: EndpointId) {
        let [is_closed, waits] = flow.end_state(endpoint);
        let end = &mut self.ends[usize::from(!endpoint.is_source())];
        if (is_closed, waits) != (end.is_closed, end.waits) {
            (end.is_closed, end.waits, end.changed) = (is_closed, waits, place);
        }
        if is_closed {
            end.closed_by.get_or_insert(place);
            end.late_inputs.push(place);
        }
        if !endpoint.is_source() && flow.ended_at.is_some() {
            self.over.get_or_insert(place);
        }
    }

    /// Takes what another part has noted: `[source, sink]` is true of the ends that are there.
    pub(super) fn join(&mut self, other: &FlowLog, [source, sink]: [bool; 2]) {
        if source {
            self.ends[0] = other.ends[0].clone();
        }
        if sink {
            self.ends[1] = other.ends[1].clone();
            self.over = other.over;
        }
        self.delivered = self.delivered.max(other.delivered);
        self.dropped = self.dropped.max(other.dropped);
    }

    /// When the flow was over; nothing if it is not. An error where an end has given up before: only who knows both ends at
    /// every moment can tell when.
    pub(super) fn over(&self) -> Result<Option<EventPlace>, ()> {
        let given_up = |end: &EndLog| end.closed_by.is_some_and(|closed| self.over.is_none_or(|over| closed < over));
        if self.ends.iter().any(given_up) { Err(()) } else { Ok(self.over) }
    }

    /// When nothing of the flow existed any more: the event, and whether it was noticed at once, as it is at an end of the flow.
    /// `in_flight` packets exist now.
    pub(super) fn vanished(&self, in_flight: u64) -> Result<Option<Vanished>, ()> {
        let [one, other] = &self.ends;
        if in_flight > 0 || one.waits || other.waits || !(one.is_closed || other.is_closed) {
            return Ok(None);
        }
        let closed = one.changed.max(other.changed);
        let at = closed.max(self.delivered).max(self.dropped);
        if at == closed || at == self.delivered {
            return Ok(Some(Vanished { closed, at, noticed: Some(at) }));
        }
        if !(one.is_closed && other.is_closed) {
            return Err(());
        }
        let inputs = one.late_inputs.iter().chain(&other.late_inputs);
        Ok(Some(Vanished { closed, at, noticed: inputs.copied().filter(|input| *input >= at).min() }))
    }
}

/// How a flow came to an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vanished {
    /// Its ends were closed.
    pub(super) closed: EventPlace,
    /// Nothing of it existed any more.
    pub(super) at: EventPlace,
    /// The first input after that, if there was any: a deadline that has become stale.
    pub(super) noticed: Option<EventPlace>,
}

impl WorkloadLog {
    /// The notes of a flow of a workload.
    pub(super) fn flow(&mut self, id: FlowId, listed: usize) -> Option<&mut FlowLog> {
        self.flows.get_mut(id.index().checked_sub(listed)?)
    }
}
