//! A sample of the transmissions of a run, for animations.

use std::fmt::Write as _;

use tcp::units::Time;

use crate::engine::trace::{AirFrame, FrameKind, Record, Sink};

/// A sample of transmissions, spread evenly over the run: when it is full every other one is discarded, and from then on half
/// as many are recorded.
#[derive(Debug)]
pub struct Transmissions {
    max: usize,
    /// One in this many is recorded.
    every: u64,
    seen: u64,
    lines: Vec<String>,
}

impl Transmissions {
    /// A sample of at most `max` transmissions, and at least two.
    pub fn new(max: usize) -> Transmissions {
        Transmissions { max: max.max(2), every: 1, seen: 0, lines: Vec::new() }
    }

    fn sample(&mut self, line: impl FnOnce() -> String) {
        let wanted = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if !wanted {
            return;
        }
        if self.lines.len() == self.max {
            let mut index = 0;
            self.lines.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
            if !(self.seen - 1).is_multiple_of(self.every) {
                return;
            }
        }
        self.lines.push(line());
    }
}

impl Sink for Transmissions {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let t = now.as_secs_f64();
        match record {
            Record::Transmitted { packet, link } => self.sample(|| format!("{t},link,{},,,{},", link.0, packet.size.0)),
            Record::Frame {
                frame: AirFrame { kind: FrameKind::Data, channel, from, to, size, airtime, .. }, ..
            } => self.sample(|| {
                let to = to.map_or(String::new(), |to| to.to_string());
                format!("{t},channel,{channel},{from},{to},{},{}", size.0, airtime.as_secs_f64())
            }),
            _ => {}
        }
    }

    /// CSV: time, kind and index of the medium, sender and receiver on a channel (none for a broadcast), bytes, airtime.
    fn finish(self: Box<Self>) -> String {
        let mut text = String::from("t_s,medium,index,from,to,bytes,airtime_s\n");
        self.lines.iter().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_even() {
        let mut sample = Transmissions::new(4);
        for i in 0..10 {
            sample.sample(|| i.to_string());
        }
        assert_eq!((sample.every, sample.lines), (4, ["0", "4", "8"].map(String::from).to_vec()));
    }
}
