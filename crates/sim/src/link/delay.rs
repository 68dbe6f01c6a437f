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
    /// The same, by the terminal that is the destination.
    Shared(Box<SharedDownlink>),
}

impl Delay {
    /// Of a transmission to `destination` that starts now.
    pub(super) fn at(&self, now: Time, destination: NodeId) -> Span {
        match self {
            Delay::Fixed(span) => *span,
            Delay::Path(path) => path.delay(now),
            Delay::Shared(downlink) => downlink.delay(destination, now),
        }
    }
}
