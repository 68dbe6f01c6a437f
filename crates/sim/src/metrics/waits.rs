//! How long the packets of single flows wait in single queues.

use std::collections::BTreeMap;

use tcp::units::Span;

use super::Delays;
use crate::ids::{FlowId, LinkId};

/// Waiting times of transmitted packets of listed flows, by link and flow, in the measurement interval.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Further flows are of workloads, and share places.
    listed: usize,
    waits: BTreeMap<(LinkId, FlowId), Delays>,
}

impl Waits {
    pub(crate) fn new(listed: usize) -> Waits {
        Waits { listed, waits: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, link: LinkId, flow: FlowId, waited: Span) {
        if flow.index() < self.listed {
            self.waits.entry((link, flow)).or_default().add(waited);
        }
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self) {
        self.waits.clear();
    }

    /// Those of a link.
    pub(crate) fn of(&self, link: LinkId) -> impl Iterator<Item = (FlowId, &Delays)> {
        let range = (link, FlowId(0))..=(link, FlowId(u32::MAX));
        self.waits.range(range).map(|((_, flow), delays)| (*flow, delays))
    }
}
