//! The messages that wait at a station or are in the air.

use super::frame::Content;
use crate::ids::MessageId;
use crate::packet::message::Message;

/// The messages that somebody still needs: the station that sends one, and its frames in the air.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    messages: Vec<Option<Message>>,
    users: Vec<u32>,
    free: Vec<MessageId>,
}

impl Messages {
    /// Takes a message in for one user.
    pub(crate) fn insert(&mut self, message: Message) -> MessageId {
        let id = self.free.pop().unwrap_or(MessageId(self.messages.len() as u32));
        if id.0 as usize == self.messages.len() {
            self.messages.push(None);
            self.users.push(0);
        }
        self.messages[id.0 as usize] = Some(message);
        self.users[id.0 as usize] = 1;
        id
    }

    /// A message that is not lent.
    pub(crate) fn get(&self, id: MessageId) -> &Message {
        self.messages[id.0 as usize].as_ref().expect("a message is with one station at a time")
    }

    /// Lends a message to whom it has come to.
    pub(crate) fn lend(&mut self, id: MessageId) -> Message {
        self.messages[id.0 as usize].take().expect("a message is with one station at a time")
    }

    /// A lent message comes back, from a user that has done with it.
    pub(crate) fn give_back(&mut self, id: MessageId, message: Message) {
        self.messages[id.0 as usize] = Some(message);
        self.release(Content::Message(id));
    }

    /// Another user, if `content` is a message.
    pub(crate) fn retain(&mut self, content: Content) {
        if let Content::Message(id) = content {
            self.users[id.0 as usize] += 1;
        }
    }

    /// One user less, if `content` is a message.
    pub(crate) fn release(&mut self, content: Content) {
        let Content::Message(id) = content else { return };
        let left = &mut self.users[id.0 as usize];
        *left -= 1;
        if *left == 0 {
            self.messages[id.0 as usize] = None;
            self.free.push(id);
        }
    }
}
