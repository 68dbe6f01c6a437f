//! Messages of routing and address resolution on their way.

use super::frame::{Content, MessageId};

/// What such a message says.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Message {
    /// Placeholder of tests.
    Text(String),
}

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

    pub(crate) fn get(&self, id: MessageId) -> &Message {
        self.messages[id.0 as usize].as_ref().expect("a message lives as long as it has users")
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
