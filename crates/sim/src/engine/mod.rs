//! What drives a run: events, the list of those to come, the context that every handler receives, and the trace.

pub(crate) mod context;
pub(crate) mod crossing;
pub(crate) mod event;
pub(crate) mod event_list;
pub(crate) mod excerpt;
pub(crate) mod flow_ends;
pub(crate) mod json_log;
pub(crate) mod rehashes;
pub(crate) mod trace;
