//! What links change in packets.

use super::{DAMAGED, DEMOTED, PacketStore, RARE};
use crate::ids::PacketId;
use crate::packet::Packet;
use tcp::Ecn;

impl PacketStore {
    /// Sets CE in an ECN-capable packet; returns the packet.
    pub(crate) fn mark(&mut self, id: PacketId) -> Packet {
        let packed = &mut self.packets[id.0 as usize];
        if packed.ecn != Ecn::NotEct {
            packed.ecn = Ecn::Ce;
        }
        self.get(id)
    }

    /// A link has damaged a packet: its destination drops it.
    pub(crate) fn damage(&mut self, id: PacketId) {
        self.packets[id.0 as usize].bits |= DAMAGED;
    }

    /// Overwrites the ECN field of a packet.
    pub(crate) fn set_ecn(&mut self, id: PacketId, ecn: Ecn) {
        self.packets[id.0 as usize].ecn = ecn;
    }

    /// Overwrites the options SACK-permitted, timestamps and AccECN of a SYN; false if it has none of them.
    pub(crate) fn strip_options(&mut self, id: PacketId) -> bool {
        let packed = *self.packed(id);
        if !packed.has(RARE) {
            return false;
        }
        let rare = &mut self.rare[packed.stamps.value as usize];
        let had =
            rare.timestamps.is_some() || rare.ecn_bytes.is_some() || rare.syn.is_some_and(|syn| syn.sack_permitted);
        (rare.timestamps, rare.ecn_bytes) = (None, None);
        if let Some(syn) = &mut rare.syn {
            syn.sack_permitted = false;
        }
        had
    }

    /// Sets the DSCP of a packet to lower effort.
    pub(crate) fn demote(&mut self, id: PacketId) {
        self.packets[id.0 as usize].bits |= DEMOTED;
    }

    /// True if the DSCP of a packet is lower effort whatever its flow asks for.
    pub(crate) fn is_demoted(&self, id: PacketId) -> bool {
        self.packed(id).has(DEMOTED)
    }
}
