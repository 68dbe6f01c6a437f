//! `transfer`: a known number of bytes, up, down, or both ways over one connection.

use serde::Serialize;
use tcp::units::Bytes;

use super::command::{Command, End, Input};

/// One transfer.
#[derive(Debug)]
pub(crate) struct Transfer {
    shape: Shape,
    /// Messages that have not arrived.
    missing: u8,
}

/// Who sends what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    Up(Bytes),
    Down { request: Bytes, size: Bytes },
    Both { up: Bytes, down: Bytes },
}

/// What a transfer measured; its time is the flow's completion time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TransferSummary {
    /// Bytes from `from` to `to`.
    pub size_bytes: u64,
    /// Bytes from `to` to `from`, with `direction = "both"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_size_bytes: Option<u64>,
}

impl Transfer {
    pub(crate) fn new(shape: Shape) -> Transfer {
        Transfer { shape, missing: if matches!(shape, Shape::Up(_)) { 1 } else { 2 } }
    }

    pub(super) fn on(&mut self, input: Input, commands: &mut Vec<Command>) {
        let send = |end, bytes| Command::Send { connection: 0, end, bytes };
        match (input, self.shape) {
            // The FIN follows the data at once.
            (Input::Start, Shape::Up(size)) => {
                commands.extend([Command::Open(0), send(End::Source, size), Command::Close(0)]);
            }
            (Input::Start, Shape::Down { request, .. }) => {
                commands.extend([Command::Open(0), send(End::Sink, request)]);
            }
            (Input::Start, Shape::Both { up, down }) => {
                commands.extend([Command::Open(0), send(End::Source, up), send(End::Sink, down)]);
            }
            (Input::Message { reader, .. }, shape) => {
                self.missing -= 1;
                match shape {
                    Shape::Up(_) => {}
                    Shape::Down { size, .. } if reader == End::Source => commands.push(send(End::Source, size)),
                    _ if self.is_over() => commands.push(Command::Close(0)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn summary(&self) -> TransferSummary {
        let (size, reverse) = match self.shape {
            Shape::Up(size) | Shape::Down { size, .. } => (size, None),
            Shape::Both { up, down } => (up, Some(down.0)),
        };
        TransferSummary { size_bytes: size.0, reverse_size_bytes: reverse }
    }
}
