//! The propagation delay of a link.

use tcp::units::{Span, Time};

use crate::ids::NodeId;
use crate::orbit::path::PropagationPath;
use crate::orbit::shared_downlink::SharedDownlink;

/// Propagation delay.
#[derive(Debug)]
pub(crate) enum Delay {
    /// Constant.
    Fixed(Span),
    /// By the distance of the ends when the transmission starts.
    Path(Box<PropagationPath>),
    /// By the distance of the terminal that is the destination when the transmission starts.
    Shared(Box<SharedDownlink>),
}

impl Delay {
    /// A delay that is never below up to `until`, as long as the link is not changed.
    pub(super) fn least(&self, until: Time) -> Span {
        match self {
            Delay::Fixed(span) => *span,
            Delay::Path(path) => path.least_delay(until),
            Delay::Shared(downlink) => downlink.least_delay(until),
        }
    }

    /// Of a transmission to `destination` that starts now.
    pub(super) fn at(&self, now: Time, destination: NodeId) -> Span {
        match self {
            Delay::Fixed(span) => *span,
            Delay::Path(path) => path.delay(now),
            Delay::Shared(downlink) => downlink.delay(destination, now),
        }
    }
}
