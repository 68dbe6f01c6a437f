//! The bytes of packets that are in the network, by the numbers that the simulation knows them by.

/// Tells numbers of packets from outside from those of simulated datagrams.
const OUTSIDE: u64 = 1 << 63;

/// A packet on its way.
#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    /// What its receiver has when it arrives; none of TCP, where that is what is acknowledged.
    payload: Option<u64>,
    /// It and the copies that links have made of it.
    copies: u32,
}

/// Packets by number.
#[derive(Debug, Default)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

/// True for the number of a packet from outside.
pub(crate) fn is_outside(number: u64) -> bool {
    number & OUTSIDE != 0
}

impl Store {
    /// Puts a packet in, with the payload that its receiver has when it arrives; its number.
    pub(crate) fn insert(&mut self, bytes: &[u8], payload: Option<u64>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        (slot.payload, slot.copies) = (payload, 1);
        index as u64 | OUTSIDE
    }

    fn slot(&mut self, number: u64) -> &mut Slot {
        &mut self.slots[(number & !OUTSIDE) as usize]
    }

    /// The bytes of a packet.
    pub(crate) fn bytes(&mut self, number: u64) -> &mut [u8] {
        &mut self.slot(number).bytes
    }

    /// What its receiver has when it arrives; none of TCP.
    pub(crate) fn payload(&mut self, number: u64) -> Option<u64> {
        self.slot(number).payload
    }

    /// A link has copied it.
    pub(crate) fn copied(&mut self, number: u64) {
        self.slot(number).copies += 1;
    }

    /// It, or a copy of it, has left the network.
    pub(crate) fn release(&mut self, number: u64) {
        let slot = self.slot(number);
        slot.copies -= 1;
        if slot.copies == 0 {
            self.free.push((number & !OUTSIDE) as usize);
        }
    }

    /// Packets that are in the network.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_stays_until_its_last_copy_has_left() {
        let mut store = Store::default();
        let first = store.insert(b"abc", Some(1));
        let second = store.insert(b"defg", Some(2));
        assert!(is_outside(first) && !is_outside(7));
        store.copied(first);
        store.release(first);
        assert_eq!((store.bytes(first).to_vec(), store.held()), (b"abc".to_vec(), 2));
        store.release(first);
        assert_eq!(store.insert(b"h", None), first);
        assert_eq!(
            (store.bytes(first).to_vec(), store.bytes(second).len(), store.payload(second)),
            (b"h".to_vec(), 4, Some(2))
        );
    }
}
