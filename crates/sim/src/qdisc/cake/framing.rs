//! What a packet takes on a line: overhead, least size, cells.

use tcp::units::Bytes;

use crate::scenario::{Cells, FramingDef};

/// The size on the line of an IP datagram (tc-cake(8)).
pub(super) fn on_line(size: Bytes, framing: &FramingDef) -> Bytes {
    let framed = size.0.saturating_add_signed(framing.bytes).max(framing.mpu);
    Bytes(match framing.framing {
        Cells::None => framed,
        Cells::Atm => framed.div_ceil(48) * 53,
        Cells::Ptm => framed + framed.div_ceil(64),
    })
}
