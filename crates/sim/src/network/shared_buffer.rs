//! Memory that the ports of a switch share, with dynamic thresholds: Choudhury and Hahne, Dynamic queue length thresholds for
//! shared-memory packet switches, IEEE/ACM Transactions on Networking 6(2), 1998.
//!
//! What is held is read from the queues as a packet comes, so that it is right whatever they drop, and costs nothing elsewhere.

use tcp::units::Bytes;

use super::Network;
use crate::engine::context::Context;
use crate::ids::{LinkId, NodeId, PacketId};
use crate::link::Link;
use crate::packet::DropReason;
use crate::scenario::SharedBufferDef;

/// The memories of a network.
#[derive(Debug, Default)]
pub(crate) struct SharedBuffers {
    /// By node.
    of: Vec<Option<SharedBuffer>>,
}

/// The memory of a node.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    def: SharedBufferDef,
    ports: Vec<LinkId>,
    /// Most that its queues held, a packet that came included.
    pub(crate) max: Bytes,
    /// Packets that found no room, over the whole run.
    pub(crate) refused: u64,
}

impl SharedBuffer {
    /// True if a packet of `size` may enter the queue of a port that holds `own`, while all ports hold `held`.
    fn admits(&self, own: Bytes, held: Bytes, size: Bytes) -> bool {
        let free = self.def.size.saturating_sub(held);
        own.as_f64() < self.def.alpha * free.as_f64() && size <= free
    }
}

impl Network {
    /// A packet enters the queue of a link, if the memory of its switch has room.
    #[inline]
    pub(super) fn enqueue(&mut self, ctx: &mut Context, link: LinkId, id: PacketId, size: Bytes) {
        if let Some(memories) = &mut self.shared_buffers
            && !memories.admits(&self.links, link, size)
        {
            let here = &mut self.links[link.index()];
            let reason = if here.up { DropReason::Queue } else { DropReason::LinkDown };
            here.metrics.offered += 1;
            here.metrics.on_dropped(reason);
            return ctx.drop(id, reason, Some(link));
        }
        self.links[link.index()].send(ctx, id);
    }
}

impl SharedBuffers {
    /// Those of nodes that have one; `None` if none has.
    pub(crate) fn new(
        defs: impl Iterator<Item = Option<SharedBufferDef>>,
        links: &[Link],
    ) -> Option<Box<SharedBuffers>> {
        let memory = |def| SharedBuffer { def, ports: Vec::new(), max: Bytes::ZERO, refused: 0 };
        let mut all = SharedBuffers { of: defs.map(|def| def.map(memory)).collect() };
        for (index, link) in links.iter().enumerate() {
            if let Some(memory) = &mut all.of[link.from.index()] {
                memory.ports.push(LinkId(index as u32));
            }
        }
        all.of.iter().any(Option::is_some).then(|| Box::new(all))
    }

    /// The memory of a node, if its ports share one.
    pub(crate) fn of(&self, node: NodeId) -> Option<&SharedBuffer> {
        self.of[node.index()].as_ref()
    }

    /// The run in parts is over: a node is that of its own part.
    pub(crate) fn take(&mut self, node: NodeId, theirs: &SharedBuffers) {
        self.of[node.index()] = theirs.of[node.index()].clone();
    }

    /// Asks for room for a packet that is to enter the queue of a link; false if there is none.
    #[inline(never)]
    pub(super) fn admits(&mut self, links: &[Link], link: LinkId, size: Bytes) -> bool {
        let to = &links[link.index()];
        let Some(memory) = &mut self.of[to.from.index()] else { return true };
        let held = memory.ports.iter().fold(Bytes::ZERO, |sum, port| sum + links[port.index()].queue_bytes());
        let size = to.on_link(size);
        if memory.admits(to.queue_bytes(), held, size) {
            memory.max = memory.max.max(held + size);
            return true;
        }
        memory.refused += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(size: u64, alpha: f64) -> SharedBuffer {
        SharedBuffer {
            def: SharedBufferDef { size: Bytes(size), alpha },
            ports: Vec::new(),
            max: Bytes::ZERO,
            refused: 0,
        }
    }

    /// Equation 3 of the paper: n busy ports hold alpha B / (1 + n alpha) each.
    #[test]
    fn busy_ports_settle_where_the_paper_says() {
        for (alpha, ports) in [(0.5, 1), (1.0, 1), (2.0, 1), (1.0, 4), (2.0, 3), (8.0, 2)] {
            let memory = memory(3_000_000, alpha);
            let mut held = vec![0_u64; ports];
            while let Some(port) = (0..ports).min_by_key(|port| held[*port]) {
                let all = held.iter().sum();
                if !memory.admits(Bytes(held[port]), Bytes(all), Bytes(1500)) {
                    break;
                }
                held[port] += 1500;
            }
            let settled = 3e6 * alpha / (1.0 + ports as f64 * alpha);
            assert!(held.iter().all(|held| (*held as f64 - settled).abs() <= 3000.0), "{alpha} {held:?} {settled}");
        }
    }

    #[test]
    fn a_packet_needs_room_whatever_the_threshold() {
        assert!(memory(3000, 1000.0).admits(Bytes(1500), Bytes(1500), Bytes(1500)));
        assert!(!memory(3000, 1000.0).admits(Bytes(1500), Bytes(1501), Bytes(1500)));
        assert!(!memory(3000, 1.0).admits(Bytes::ZERO, Bytes(3000), Bytes(40)));
    }
}
