//! The flow state of DSR in ns-2.35: stations remember the path of a flow, so that most packets travel without it.

use tcp::units::{Bytes, Span, Time};

use super::cache::Path;
use super::sizes::Sizes;
use super::source_route::SourceRoute;
use crate::ids::StationId;

/// Packets of a new flow that list their path.
const LISTED_AT_FIRST: u32 = 3;
/// One packet lists it again when none has done so for this long.
const LISTED_AGAIN: Span = Span::from_millis(5_000);
/// How long a flow that is not used is remembered.
const TIMEOUT: Span = Span::from_millis(60_000);
/// The options with the number of a flow and with its timeout.
const FLOW: Bytes = Bytes(4);
const FLOW_TIMEOUT: Bytes = Bytes(4);

/// A path that packets from this station have taken.
#[derive(Clone, Debug)]
struct Flow {
    path: Path,
    /// Packets that have listed it, and when the last of them did.
    listed: u32,
    listed_at: Time,
    until: Time,
}

/// The flows that begin at a station, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows(Vec<Flow>);

impl Flows {
    /// How the next packet travels if the cache has this path: the newest flow to its end is kept as long as it is no longer.
    pub(super) fn route(&mut self, now: Time, found: Path) -> SourceRoute {
        let newest = self.0.iter().rposition(|flow| flow.path.last() == found.last());
        let kept =
            newest.map(|index| &self.0[index]).filter(|flow| flow.until >= now && flow.path.len() <= found.len());
        let path = kept.map_or(found, |flow| flow.path.clone());
        let known = self.0.iter().rposition(|flow| flow.path == path && flow.until >= now);
        let index = known.unwrap_or_else(|| {
            self.0.retain(|flow| flow.path != path);
            self.0.push(Flow { path: path.clone(), listed: 0, listed_at: now, until: now });
            self.0.len() - 1
        });
        let is_newest = known.is_none() || known == newest;
        let flow = &mut self.0[index];
        flow.until = now + TIMEOUT;
        let header = if flow.listed < LISTED_AT_FIRST || flow.listed_at + LISTED_AGAIN < now {
            flow.listed += 1;
            flow.listed_at = now;
            Some(Sizes::Growing.source_route(path.len()) + FLOW_TIMEOUT + FLOW)
        } else {
            None
        };
        SourceRoute {
            path,
            salvages: 0,
            is_listed: header.is_some(),
            header: header.unwrap_or(if is_newest { Bytes::ZERO } else { FLOW }),
        }
    }

    /// Ends all flows over a link.
    pub(super) fn remove_link(&mut self, from: StationId, to: StationId) {
        self.0.retain(|flow| !flow.path.windows(2).any(|link| link == [from, to]));
    }
}
