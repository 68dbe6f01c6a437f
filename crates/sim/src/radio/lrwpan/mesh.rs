//! Mesh-under flooding (RFC 4944 §11 with the broadcast header of §11.1): every frame is broadcast, and
//! whoever is not its destination repeats it once.

use tcp::units::{Span, Time};

use super::LrWpanMac;
use super::mesh_station::{MeshFrame, MeshStation};
use super::sixlowpan::FrameSizes;
use super::station::CurrentDatagram;
use crate::engine::context::Context;
use crate::engine::event::RadioEvent;
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::radio::frame::{Content, Fragment, Frame, MeshHeader};
use crate::radio::lrwpan::reassembly::Progress;
use crate::radio::service::{MacIndication, MacRequest, TrafficClass};

/// A repetition waits for a whole number of milliseconds below this.
const MAX_JITTER_MS: u64 = 10;

/// A datagram on its way: it lives as long as some frame of it waits or is on the air.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Flood {
    content: Content,
    originator: StationId,
    to: Option<StationId>,
    frames: u32,
    delivered: bool,
}

/// The datagrams that are being flooded.
#[derive(Clone, Debug, Default)]
pub(super) struct Floods {
    floods: Vec<Option<Flood>>,
}

impl Floods {
    fn insert(&mut self, flood: Flood) -> u32 {
        let free = self.floods.iter().position(Option::is_none);
        let index = free.unwrap_or(self.floods.len());
        if free.is_none() {
            self.floods.push(None);
        }
        self.floods[index] = Some(flood);
        index as u32
    }

    fn get(&mut self, id: u32) -> &mut Flood {
        self.floods[id as usize].as_mut().expect("a frame belongs to a flood")
    }

    /// Packets of an originator that have not arrived.
    pub(super) fn packets(&self, originator: StationId) -> u64 {
        let open = |flood: &&Flood| flood.originator == originator && !flood.delivered && flood.content.is_packet();
        self.floods.iter().flatten().filter(open).count() as u64
    }
}

impl LrWpanMac {
    /// Queues the frames of a datagram for flooding.
    pub(super) fn flood(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        request: MacRequest,
        sizes: FrameSizes,
        radius: u8,
    ) {
        let mesh = &mut self.stations[at.index()].mesh;
        if mesh.queue.len() + sizes.count as usize > self.rules.queue_limit {
            self.air.messages.release(request.content);
            return self.air.indications.push_back(MacIndication::QueueFull { request });
        }
        let MacRequest { content, to, .. } = request;
        let frames = sizes.count;
        let id = self.floods.insert(Flood { content, originator: at, to, frames, delivered: false });
        let station = &mut self.stations[at.index()];
        station.last_tag += 1;
        for index in 0..frames {
            station.mesh.number = station.mesh.number.wrapping_add(1);
            let header = MeshHeader { flood: id, number: station.mesh.number, hops_left: radius };
            let fragment = Fragment { tag: station.last_tag, index, count: frames };
            station.mesh.queue.push_back(MeshFrame { header, psdu: sizes.psdu(index), fragment });
        }
        if station.current.is_none() {
            self.next_datagram(ctx, at);
        }
    }

    /// The next frame of a station's queue, as a datagram of its own.
    pub(super) fn next_mesh_frame(&mut self, now: Time, at: StationId) -> Option<CurrentDatagram> {
        let frame = self.stations[at.index()].mesh.queue.pop_front()?;
        let content = self.floods.get(frame.header.flood).content;
        let request = MacRequest { content, to: None, size: frame.psdu, since: now, class: TrafficClass::Other };
        let sizes = FrameSizes::one(frame.psdu);
        Some(CurrentDatagram {
            request,
            sizes,
            tag: frame.fragment.tag,
            index: 0,
            attempts: 0,
            numbered: false,
            forgiven: 0,
            delivered: false,
            mesh: Some(frame),
        })
    }

    /// Handles a frame: the destination takes it, all others repeat it if it may go on.
    pub(super) fn on_mesh_frame(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, header: MeshHeader) {
        let flood = *self.floods.get(header.flood);
        if flood.originator == at || !self.stations[at.index()].mesh.remember(flood.originator, header.number) {
            return;
        }
        if flood.to.is_none_or(|to| to == at) {
            self.take_mesh_frame(ctx, at, frame, header.flood);
        }
        if flood.to == Some(at) || header.hops_left == 0 {
            return;
        }
        let station = &mut self.stations[at.index()];
        let due = ctx.now + Span::from_millis(station.rng.below(MAX_JITTER_MS));
        let header = MeshHeader { hops_left: header.hops_left - 1, ..header };
        station.mesh.repeats.push((due, MeshFrame { header, psdu: frame.size, fragment: frame.fragment }));
        self.floods.get(header.flood).frames += 1;
        ctx.schedule(due, self.event(RadioEvent::Repeat { station: at }));
    }

    /// Reassembles a datagram at its destination.
    fn take_mesh_frame(&mut self, ctx: &mut Context, at: StationId, frame: &Frame, id: u32) {
        let Flood { content, originator, delivered, .. } = *self.floods.get(id);
        // A broadcast is never marked as delivered: it has many destinations.
        if delivered {
            return;
        }
        if frame.fragment.count > 1 {
            match self.stations[at.index()].reassembly.add(ctx.now, originator, frame.fragment) {
                Progress::Complete(_) => {}
                Progress::Incomplete(expires) => {
                    if let Some(expires) = expires {
                        ctx.schedule(expires, self.event(RadioEvent::ReassemblyTimeout { station: at }));
                    }
                    return;
                }
            }
        }
        match content {
            Content::Packet(packet) => {
                self.floods.get(id).delivered = true;
                self.air.indications.push_back(MacIndication::Packet { at, from: originator, packet });
            }
            Content::Message(message) => {
                self.air.messages.retain(content);
                self.air.indications.push_back(MacIndication::Message { at, from: originator, message });
            }
        }
    }

    /// Queues the repetitions that are due; a full queue loses them.
    pub(super) fn on_repeat(&mut self, ctx: &mut Context, at: StationId) {
        let MeshStation { queue, repeats, .. } = &mut self.stations[at.index()].mesh;
        let due: Vec<MeshFrame> = repeats.extract_if(.., |(due, _)| *due <= ctx.now).map(|(_, frame)| frame).collect();
        let room = self.rules.queue_limit.saturating_sub(queue.len()).min(due.len());
        let (kept, lost) = due.split_at(room);
        queue.extend(kept);
        lost.iter().for_each(|frame| self.end_mesh_frame(frame.header.flood));
        if self.stations[at.index()].current.is_none() {
            self.next_datagram(ctx, at);
        }
    }

    /// One frame of a flood is gone; with the last one an undelivered packet is lost.
    pub(super) fn end_mesh_frame(&mut self, id: u32) {
        let flood = self.floods.get(id);
        flood.frames -= 1;
        if flood.frames > 0 {
            return;
        }
        let Flood { content, delivered, .. } = *flood;
        self.floods.floods[id as usize] = None;
        self.air.messages.release(content);
        if content.is_packet() && !delivered {
            self.air.indications.push_back(MacIndication::Dropped { content, reason: DropReason::Loss });
        }
    }
}

#[cfg(test)]
mod tests;
