//! The transmissions of a run in the format of the reference simulations.

use std::fmt::Write as _;

use tcp::units::Time;

use crate::engine::trace::{Record, Sink};

/// Frames in the format of the reference.
#[derive(Debug, Default)]
pub(super) struct FrameLog(String);

impl Sink for FrameLog {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let Record::Frame { frame, .. } = record else { return };
        let (at, kind) = (now.as_nanos(), frame.kind.name());
        let _ = writeln!(self.0, "{at} {} {kind} {:?} {}", frame.from, frame.to, frame.sequence);
    }

    fn finish(self: Box<Self>) -> String {
        self.0
    }
}
