//! A sample of the transmissions of a run, for animations.

use std::fmt::Write as _;

use tcp::units::Time;

use crate::engine::trace::{AirFrame, FrameKind, Record, Sink};

/// Keeps at most so many transmissions of packets, spread evenly over the run: when it is full it forgets every other
/// one, and from then on takes half as many.
#[derive(Debug)]
pub struct Transmissions {
    most: usize,
    /// One in so many is kept.
    every: u64,
    seen: u64,
    lines: Vec<String>,
}

impl Transmissions {
    /// Keeps at most `most`, and at least two.
    pub fn new(most: usize) -> Transmissions {
        Transmissions { most: most.max(2), every: 1, seen: 0, lines: Vec::new() }
    }

    fn take(&mut self, line: impl FnOnce() -> String) {
        let wanted = self.seen.is_multiple_of(self.every);
        self.seen += 1;
        if !wanted {
            return;
        }
        if self.lines.len() == self.most {
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
            Record::Transmitted { packet, link } => self.take(|| format!("{t},link,{},,,{},", link.0, packet.size.0)),
            Record::Frame { frame: AirFrame { kind: FrameKind::Data, channel, from, to, size, airtime, .. } } => self
                .take(|| {
                    let to = to.map_or(String::new(), |to| to.to_string());
                    format!("{t},channel,{channel},{from},{to},{},{}", size.0, airtime.as_secs_f64())
                }),
            _ => {}
        }
    }

    /// CSV: time, what medium and its index, stations of a channel (none for all), bytes, time on the air.
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
            sample.take(|| i.to_string());
        }
        assert_eq!((sample.every, sample.lines), (4, ["0", "4", "8"].map(String::from).to_vec()));
    }
}
