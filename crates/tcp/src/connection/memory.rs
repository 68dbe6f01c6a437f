//! The memory of a connection that is over, for the next one in its place: most flows are short, and making room for their
//! senders again and again is a good part of what they cost.

use crate::sender::Sender;

/// The memory of a connection that is over.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) sender: Option<Box<Sender>>,
}

impl Memory {
    /// A sender in this memory.
    pub(super) fn hold(self, mut sender: Sender) -> Box<Sender> {
        match self.sender {
            Some(mut before) => {
                sender.take_memory(&mut before);
                *before = sender;
                before
            }
            None => Box::new(sender),
        }
    }
}

#[cfg(test)]
mod tests;
