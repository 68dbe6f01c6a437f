//! The headers of packets that enter a link: marks at random or by script, and what networks do to the ECN field against
//! RFC 3168.

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};
use tcp::{Ecn, Flags};

use super::Link;
use super::loss::Loss;
use crate::engine::context::Context;
use crate::ids::PacketId;
use crate::packet::{Packet, Payload};
use crate::qdisc::{QueueContext, QueuedPacket};
use crate::scenario::{EcnRewrite, Rewrite, RewriteOn, Strip};

/// The marks and the rewriting of a link.
#[derive(Debug)]
pub(crate) struct Marking {
    marks: Option<Chooser>,
    rewrite: EcnRewrite,
    rng: Rng,
    /// Packets rewritten, over the whole run; `None` where none can be.
    rewritten: Option<u64>,
}

/// A model that chooses packets, and its random stream.
#[derive(Debug)]
struct Chooser {
    model: Loss,
    rng: Rng,
}

impl Marking {
    /// Marks what `marks` chooses, and then rewrites; `None` if it would do neither.
    pub(crate) fn new(
        marks: Option<Loss>,
        rewrite: Option<&EcnRewrite>,
        rng: impl Fn(&'static str) -> Rng,
    ) -> Option<Box<Marking>> {
        let rewrite = rewrite.cloned().unwrap_or(EcnRewrite::Pass(Default::default()));
        let rewritten = (!matches!(rewrite, EcnRewrite::Pass(_))).then_some(0);
        let marks = marks.map(|model| Chooser { model, rng: rng("marks") });
        (marks.is_some() || rewritten.is_some())
            .then(|| Box::new(Marking { marks, rewrite, rng: rng("ecn"), rewritten }))
    }

    /// Packets rewritten, over the whole run; `None` where none can be.
    pub(crate) fn rewritten(&self) -> Option<u64> {
        self.rewritten
    }

    /// True if the packet is to be marked. The model counts, or draws for, every packet.
    fn chooses(&mut self, now: Time, packet: &Packet, size: Bytes) -> bool {
        let chosen = |chooser: &mut Chooser| {
            chooser.model.at_entrance(packet) || chooser.model.at_receiver(now, size, &mut chooser.rng)
        };
        self.marks.as_mut().is_some_and(chosen)
    }

    /// The ECN field that a packet goes on with.
    fn rewritten_field(&mut self, packet: &Packet) -> Ecn {
        let ecn = packet.ecn();
        let (Rewrite { p, on }, becomes) = match self.rewrite {
            EcnRewrite::Pass(_) | EcnRewrite::StripOptions(_) => return ecn,
            EcnRewrite::Bleach(rewrite) => (rewrite, Ecn::NotEct),
            EcnRewrite::BleachEct1(rewrite) => (rewrite, if ecn == Ecn::Ect1 { Ecn::Ect0 } else { ecn }),
            EcnRewrite::ClearCe(rewrite) => (rewrite, if ecn == Ecn::Ce { Ecn::Ect0 } else { ecn }),
            EcnRewrite::SetCe(rewrite) => (rewrite, if ecn == Ecn::NotEct { ecn } else { Ecn::Ce }),
        };
        let concerned = match on {
            RewriteOn::All => true,
            RewriteOn::Syn => is_syn(packet),
            RewriteOn::Data => packet.has_data(),
        };
        if concerned && self.rng.chance(p) { becomes } else { ecn }
    }

    /// True if the packet loses its options.
    fn strips(&mut self, packet: &Packet) -> bool {
        let EcnRewrite::StripOptions(Strip { p }) = self.rewrite else { return false };
        is_syn(packet) && self.rng.chance(p)
    }
}

fn is_syn(packet: &Packet) -> bool {
    matches!(&packet.payload, Payload::Tcp(segment) if segment.flags.contains(Flags::SYN))
}

impl Link {
    /// True if a packet is lost as it enters the link.
    #[inline]
    pub(super) fn is_lost_at_entrance(&mut self, ctx: &Context, id: PacketId) -> bool {
        self.lossy
            .as_mut()
            .is_some_and(|lossy| matches!(lossy.loss, Loss::Nth { .. }) && lossy.loss.at_entrance(&ctx.packets.get(id)))
    }

    /// A packet enters a link that marks or rewrites.
    #[cold]
    #[inline(never)]
    pub(super) fn mark_or_rewrite(&mut self, ctx: &mut Context, id: PacketId, size: Bytes) {
        let Some(marking) = &mut self.marking else { return };
        if marking.chooses(ctx.now, &ctx.packets.get(id), size) {
            let packet = QueuedPacket { packet: id, size, since: ctx.now };
            QueueContext::new(ctx, &mut self.metrics, Some(self.id), self.free_at).mark(&packet);
        }
        let packet = ctx.packets.get(id);
        let ecn = marking.rewritten_field(&packet);
        let changed = if marking.strips(&packet) { ctx.packets.strip_options(id) } else { ecn != packet.ecn() };
        ctx.packets.set_ecn(id, ecn);
        if let Some(count) = &mut marking.rewritten {
            *count += u64::from(changed);
        }
    }
}
