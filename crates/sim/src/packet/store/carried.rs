//! The payloads of packets whose bytes are carried: those of whole transports. Copies of a packet share one.

use super::{CARRIED, PacketStore, RARE};
use crate::ids::PacketId;
use crate::packet::{Datagram, PacketHeader};

/// The payloads that exist.
#[derive(Debug, Default)]
pub(super) struct CarriedPayloads {
    payloads: Vec<CarriedPayload>,
    free: Vec<u32>,
    /// That of the packet which left last.
    left: Box<[u8]>,
}

#[derive(Debug, Default)]
struct CarriedPayload {
    bytes: Box<[u8]>,
    packets: u32,
}

impl CarriedPayloads {
    /// Takes the payload of a packet in; returns its number.
    pub(super) fn insert(&mut self, bytes: Box<[u8]>) -> u32 {
        let payload = CarriedPayload { bytes, packets: 1 };
        let Some(number) = self.free.pop() else {
            self.payloads.push(payload);
            return self.payloads.len() as u32 - 1;
        };
        self.payloads[number as usize] = payload;
        number
    }

    /// Another packet has it too.
    pub(super) fn share(&mut self, number: u32) {
        self.payloads[number as usize].packets += 1;
    }

    /// A packet that has it leaves.
    pub(super) fn release(&mut self, number: u32) {
        let payload = &mut self.payloads[number as usize];
        payload.packets -= 1;
        self.left = if payload.packets > 0 {
            payload.bytes.clone()
        } else {
            self.free.push(number);
            std::mem::take(&mut payload.bytes)
        };
    }

    /// The bytes of a payload.
    pub(super) fn bytes(&self, number: u32) -> &[u8] {
        &self.payloads[number as usize].bytes
    }

    /// The bytes of the packet that left last.
    pub(super) fn left(&self) -> &[u8] {
        &self.left
    }

    /// Takes the bytes of the packet that left last.
    pub(super) fn take_left(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.left)
    }

    /// Memory that they take.
    pub(super) fn held_bytes(&self) -> u64 {
        let slot = size_of::<CarriedPayload>() + size_of::<u32>();
        self.payloads.iter().map(|payload| (payload.bytes.len() + slot) as u64).sum()
    }
}

impl PacketStore {
    /// Inserts a datagram whose payload is carried.
    #[cold]
    pub(crate) fn insert_carried(&mut self, header: &PacketHeader, datagram: Datagram, payload: Box<[u8]>) -> PacketId {
        let number = self.carried.insert(payload).into();
        let id = self.insert_datagram(header, Datagram { number, ..datagram });
        self.packets[id.0 as usize].bits |= CARRIED;
        id
    }

    /// The bytes of a carried datagram that exists.
    pub(crate) fn payload(&self, datagram: &Datagram) -> &[u8] {
        self.carried.bytes(datagram.number as u32)
    }

    /// The bytes of the carried packet that left last.
    pub(crate) fn left_payload(&self) -> &[u8] {
        self.carried.left()
    }

    /// Takes the bytes of the carried packet that left last.
    pub(crate) fn take_left_payload(&mut self) -> Box<[u8]> {
        self.carried.take_left()
    }

    /// Frees what a packet has elsewhere.
    #[cold]
    #[inline(never)]
    pub(super) fn free_beside(&mut self, slot: usize) {
        let packed = &self.packets[slot];
        if packed.has(RARE) {
            self.free_rare.push(packed.stamps.value);
        } else {
            self.carried.release(packed.ack as u32);
        }
    }
}
