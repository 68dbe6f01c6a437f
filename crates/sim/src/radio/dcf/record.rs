//! Frames for the trace.

use tcp::units::Span;

use super::block_ack::Mpdu as Unacknowledged;
use super::{DcfMac, Station};
use crate::engine::context::Context;
use crate::engine::trace::{Mpdu, Record};
use crate::radio::frame::{Frame, Kind};

impl DcfMac {
    /// Records a frame whose transmission begins, with what it carries.
    #[cold]
    #[inline(never)]
    pub(super) fn record(&mut self, ctx: &mut Context, frame: &Frame, airtime: Span) {
        let Station { current, block_acks, .. } = &mut self.stations[frame.from.index()];
        let carries = matches!(frame.kind, Kind::Data(_) | Kind::Aggregate);
        let mpdus: Vec<Mpdu> = match (current.filter(|_| carries), frame.to) {
            (Some(current), Some(to)) if current.block_ack => {
                let window = &block_acks.originator(to).window;
                let mpdu =
                    |sent: &Unacknowledged| self.air.messages.mpdu(ctx, sent.request, sent.sequence, sent.delivered);
                window.iter().map(mpdu).collect()
            }
            (Some(current), _) => {
                vec![self.air.messages.mpdu(ctx, current.request, current.sequence, current.delivered)]
            }
            (None, _) => Vec::new(),
        };
        ctx.record(&Record::Frame { frame: frame.recorded(self.channel, airtime), mpdus: &mpdus });
    }
}
