//! The store of messages of routing, ARP and association that are queued or on the air.

use super::frame::Content;
use super::service::MacRequest;
use crate::engine::context::Context;
use crate::engine::trace::{Mpdu, MpduContent};
use crate::ids::MessageId;
use crate::packet::Packet;
use crate::packet::message::Message;

/// Messages by reference count: one reference for the sender's request, one for each frame and indication.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    messages: Vec<Option<Message>>,
    references: Vec<u32>,
    free: Vec<MessageId>,
}

impl Messages {
    /// Adds a message with one reference.
    pub(crate) fn insert(&mut self, message: Message) -> MessageId {
        let id = self.free.pop().unwrap_or(MessageId(self.messages.len() as u32));
        if id.0 as usize == self.messages.len() {
            self.messages.push(None);
            self.references.push(0);
        }
        self.messages[id.0 as usize] = Some(message);
        self.references[id.0 as usize] = 1;
        id
    }

    /// A message; it must not be lent.
    pub(crate) fn get(&self, id: MessageId) -> &Message {
        self.messages[id.0 as usize].as_ref().expect("a message is lent to one station at a time")
    }

    /// Lends a message to its receiver.
    pub(crate) fn lend(&mut self, id: MessageId) -> Message {
        self.messages[id.0 as usize].take().expect("a message is lent to one station at a time")
    }

    /// Takes a lent message back and drops the receiver's reference.
    pub(crate) fn give_back(&mut self, id: MessageId, message: Message) {
        self.messages[id.0 as usize] = Some(message);
        self.release(Content::Message(id));
    }

    /// A request on the air, for the trace; if it is `delivered`, its packet may have left the network.
    pub(super) fn mpdu(&self, ctx: &Context, request: MacRequest, sequence: u32, delivered: bool) -> Mpdu {
        let content = match request.content {
            Content::Packet(_) if delivered => MpduContent::Repeated,
            Content::Packet(id) => {
                let packet = ctx.packets.get(id);
                MpduContent::Packet(Packet { to: ctx.by_serial(packet.to), ..packet })
            }
            Content::Message(id) => MpduContent::Message(self.get(id).clone()),
        };
        Mpdu { sequence, size: request.size, content }
    }

    /// Adds a reference, if `content` is a message.
    pub(crate) fn retain(&mut self, content: Content) {
        if let Content::Message(id) = content {
            self.references[id.0 as usize] += 1;
        }
    }

    /// Drops a reference, if `content` is a message.
    pub(crate) fn release(&mut self, content: Content) {
        let Content::Message(id) = content else { return };
        let left = &mut self.references[id.0 as usize];
        *left -= 1;
        if *left == 0 {
            self.messages[id.0 as usize] = None;
            self.free.push(id);
        }
    }
}
