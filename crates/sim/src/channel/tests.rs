//! Protocols at work on a channel.
