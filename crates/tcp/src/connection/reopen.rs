//! A connection in the place of one that is over.

use super::Connection;
use super::memory::Memory;

impl Connection {
    /// Takes the memory out of a connection that is over.
    pub fn take_memory(&mut self) -> Memory {
        Memory { sender: self.sender.take() }
    }

    /// Uses the memory of another, which is over, from the end of the handshake on.
    pub fn use_memory(&mut self, memory: Memory) {
        if let Some(handshake) = &mut self.handshake {
            handshake.memory = memory;
        }
    }

    /// Seeds the algorithm's random numbers with this instead of the settings' seed, until the handshake is complete: so
    /// connections may share their settings.
    pub fn set_seed(&mut self, seed: u64) {
        if let Some(handshake) = &mut self.handshake {
            handshake.seed = seed;
        }
    }
}
