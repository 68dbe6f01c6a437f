//! The engine for a page without a server: what its worker asks for.

mod algorithm;
mod document;
mod lab;
mod toml;
mod tracks;

#[cfg(target_arch = "wasm32")]
pub mod memory;

pub use document::Document;
pub use lab::Lab;
pub use toml::{read, write};
pub use tracks::{Shown, Track, Tracks};
