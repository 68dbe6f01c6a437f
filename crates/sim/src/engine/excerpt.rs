//! A part of the trace: the records of an interval, up to a number.

use tcp::units::Time;

use super::json_log::JsonLog;
use super::trace::{Record, Sink};

/// Writes the first records of an interval as JSON lines.
#[derive(Debug)]
pub struct Excerpt {
    from: Time,
    until: Time,
    left: usize,
    log: Box<JsonLog>,
}

impl Excerpt {
    /// A sink for the records from `from` to `until`, the first `most` of them.
    pub fn new(from: Time, until: Time, most: usize) -> Excerpt {
        Excerpt { from, until, left: most, log: Box::default() }
    }
}

impl Sink for Excerpt {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        if self.left > 0 && (self.from..=self.until).contains(&now) {
            self.left -= 1;
            self.log.record(now, record);
        }
    }

    fn finish(self: Box<Self>) -> String {
        self.log.finish()
    }
}
