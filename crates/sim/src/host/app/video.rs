//! `video`: streaming over HTTP. Chunks of a few seconds are fetched one by one at a rate of the ladder that a rule chooses
//! (defaults of Mao et al., Pensieve, SIGCOMM 2017; rules of Huang et al., BBA, SIGCOMM 2014).

use serde::Serialize;
use tcp::units::{Bytes, Rate, Span, Time};

use super::command::{CLIENT, Command, Input, SERVER};
use super::durations::mean;

/// What a second of stall costs, in Mb/s of one chunk (Mao et al. 2017, §5.1).
const STALL_PENALTY: f64 = 4.3;

/// A player and its server.
#[derive(Debug)]
pub(crate) struct Video {
    plan: VideoPlan,
    started: Time,
    /// Chunks asked for, by level; all but perhaps the last have arrived.
    levels: Vec<usize>,
    arrived: usize,
    asked_at: Time,
    /// What chunks took.
    downloads: Vec<Download>,
    /// Video in the buffer at `updated_at`.
    buffer: Span,
    updated_at: Time,
    startup: Option<Span>,
    stall: Span,
    stalls: u64,
    /// The buffer has no room for a chunk before then.
    room_at: Option<Time>,
}

/// A chunk that has arrived.
#[derive(Clone, Copy, Debug)]
struct Download {
    at: Time,
    size: Bytes,
    time: Span,
}

impl Download {
    fn bps(&self) -> f64 {
        8.0 * self.size.as_f64() / self.time.as_secs_f64()
    }
}

/// What is streamed, and how.
#[derive(Clone, Debug)]
pub(crate) struct VideoPlan {
    pub(crate) ladder: Vec<Rate>,
    pub(crate) chunk: Span,
    pub(crate) chunks: usize,
    pub(crate) buffer: Span,
    pub(crate) rule: Rule,
    /// Level of the first chunk.
    pub(crate) start: usize,
    pub(crate) request: Bytes,
}

/// How a player chooses the rate of the next chunk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Rule {
    /// By the buffer: the lowest rate below the reservoir, the highest above reservoir and cushion.
    Buffer { reservoir: Span, cushion: Span },
    /// By the harmonic mean of the throughput of so many chunks, of which it uses a share.
    Throughput { window: usize, safety: f64 },
    /// Always the same.
    Fixed { level: usize },
}

/// What a video measured, from its start to its end or that of the run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VideoSummary {
    /// Chunks that have arrived.
    pub chunks: u64,
    /// Time from the start to the first picture.
    pub startup_s: Option<f64>,
    /// Time for which the picture stood still.
    pub stall_s: f64,
    /// How often it did.
    pub stalls: u64,
    /// Stall / (stall + played). The video in the buffer counts as played once all chunks are there.
    pub rebuffer_ratio: Option<f64>,
    /// Mean rate of the chunks.
    pub bitrate_mean_bps: Option<f64>,
    /// Chunks of another rate than the one before.
    pub switches: u64,
    /// Mean difference of the rates at such a change.
    pub switch_size_mean_bps: Option<f64>,
    /// Quality: sum of the rates in Mb/s, less 4.3 for each second of stall, less all differences of rates.
    pub qoe: Option<f64>,
}

impl Video {
    pub(crate) fn new(plan: VideoPlan) -> Video {
        Video {
            plan,
            started: Time::ZERO,
            levels: Vec::new(),
            arrived: 0,
            asked_at: Time::ZERO,
            downloads: Vec::new(),
            buffer: Span::ZERO,
            updated_at: Time::ZERO,
            startup: None,
            stall: Span::ZERO,
            stalls: 0,
            room_at: None,
        }
    }

    pub(super) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match input {
            Input::Start => {
                self.started = now;
                commands.push(Command::Open(0));
                self.ask(now, commands);
            }
            Input::Message { reader, .. } if reader == SERVER => {
                let bytes = self.size_of_last();
                commands.push(Command::Send { connection: 0, end: SERVER, bytes });
            }
            Input::Message { .. } => self.on_chunk(now, commands),
            Input::Due => {
                if self.room_at.take_if(|at| *at <= now).is_some() {
                    self.play_until(now);
                    self.ask(now, commands);
                }
            }
            Input::Connected(_) | Input::Datagram { .. } | Input::Room { .. } => {}
        }
    }

    fn ask(&mut self, now: Time, commands: &mut Vec<Command>) {
        let level = if self.levels.is_empty() { self.plan.start } else { self.choose() };
        self.levels.push(level.min(self.plan.ladder.len() - 1));
        self.asked_at = now;
        commands.push(Command::Send { connection: 0, end: CLIENT, bytes: self.plan.request });
    }

    /// The level of the next chunk.
    fn choose(&self) -> usize {
        let top = self.plan.ladder.len() - 1;
        match self.plan.rule {
            Rule::Fixed { level } => level,
            Rule::Buffer { reservoir, .. } if self.buffer < reservoir => 0,
            Rule::Buffer { reservoir, cushion } if self.buffer >= reservoir + cushion => top,
            Rule::Buffer { reservoir, cushion } => {
                let above = u128::from(self.buffer.saturating_sub(reservoir).as_nanos());
                (top as u128 * above / u128::from(cushion.as_nanos())) as usize
            }
            Rule::Throughput { window, safety } => {
                let last = &self.downloads[self.downloads.len().saturating_sub(window)..];
                let seconds_per_bit = |chunk: &Download| chunk.time.as_secs_f64() / (8.0 * chunk.size.as_f64());
                let mean_bps = last.len() as f64 / last.iter().map(seconds_per_bit).sum::<f64>();
                let fits = |rate: &&Rate| rate.as_bps() as f64 <= safety * mean_bps;
                self.plan.ladder.iter().take_while(fits).count().saturating_sub(1)
            }
        }
    }

    /// Size of the chunk asked for last.
    fn size_of_last(&self) -> Bytes {
        let rate = self.levels.last().map_or(0, |level| self.plan.ladder[*level].as_bps());
        let bits = u128::from(rate) * u128::from(self.plan.chunk.as_nanos()) / 1_000_000_000;
        Bytes((bits as u64).div_ceil(8).max(1))
    }

    fn on_chunk(&mut self, now: Time, commands: &mut Vec<Command>) {
        self.downloads.push(Download { at: now, size: self.size_of_last(), time: now.since(self.asked_at) });
        self.play_until(now);
        self.arrived += 1;
        self.buffer += self.plan.chunk;
        self.startup.get_or_insert(now.since(self.started));
        if self.is_over() {
            commands.push(Command::Close(0));
        } else if self.buffer + self.plan.chunk > self.plan.buffer {
            let at = now + (self.buffer + self.plan.chunk).saturating_sub(self.plan.buffer);
            self.room_at = Some(at);
            commands.push(Command::Wake(at));
        } else {
            self.ask(now, commands);
        }
    }

    /// Plays what there is from the last update until now.
    fn play_until(&mut self, now: Time) {
        let passed = now.since(std::mem::replace(&mut self.updated_at, now));
        if self.startup.is_none() {
            return;
        }
        if passed > self.buffer {
            self.stall += passed.saturating_sub(self.buffer);
            self.stalls += 1;
        }
        self.buffer = self.buffer.saturating_sub(passed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.arrived == self.plan.chunks
    }

    /// Video in the buffer, and level of the last chunk asked for.
    pub(super) fn sample(&self, now: Time) -> Option<(Span, usize)> {
        let level = self.levels.last()?;
        Some((self.buffer.saturating_sub(now.since(self.updated_at)), *level))
    }

    /// Chunks that have arrived, from a number on: when, the throughput that the player measured, and their level.
    pub(super) fn chunks(&self, from: usize) -> impl Iterator<Item = (Time, f64, usize)> + '_ {
        self.downloads.iter().zip(&self.levels).skip(from).map(|(chunk, level)| (chunk.at, chunk.bps(), *level))
    }

    pub(super) fn summary(&self, now: Time) -> VideoSummary {
        let (mut stall, mut stalls) = (self.stall, self.stalls);
        let unplayed = if self.is_over() { Span::ZERO } else { self.buffer.saturating_sub(now.since(self.updated_at)) };
        // The picture stands still at the end of the run.
        if !self.is_over() && self.startup.is_some() && now.since(self.updated_at) > self.buffer {
            stall += now.since(self.updated_at).saturating_sub(self.buffer);
            stalls += 1;
        }
        let rates: Vec<f64> =
            self.levels[..self.arrived].iter().map(|level| self.plan.ladder[*level].as_bps() as f64).collect();
        let changes: Vec<f64> =
            rates.windows(2).map(|pair| (pair[1] - pair[0]).abs()).filter(|change| *change > 0.0).collect();
        let played = (self.plan.chunk.as_secs_f64() * self.arrived as f64 - unplayed.as_secs_f64()).max(0.0);
        let stall_s = stall.as_secs_f64();
        let quality = (rates.iter().sum::<f64>() - changes.iter().sum::<f64>()) / 1e6 - STALL_PENALTY * stall_s;
        VideoSummary {
            chunks: self.arrived as u64,
            startup_s: self.startup.map(Span::as_secs_f64),
            stall_s,
            stalls,
            rebuffer_ratio: (stall_s + played > 0.0).then(|| stall_s / (stall_s + played)),
            bitrate_mean_bps: mean(&rates),
            switches: changes.len() as u64,
            switch_size_mean_bps: mean(&changes),
            qoe: (self.arrived > 0).then_some(quality),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(rule: Rule) -> VideoPlan {
        let ladder = [300, 750, 1200, 1850, 2850, 4300].map(|kbps| Rate::from_bps(kbps * 1000).unwrap()).to_vec();
        let (chunk, buffer) = (Span::from_millis(4000), Span::from_millis(60_000));
        VideoPlan { ladder, chunk, chunks: 48, buffer, rule, start: 1, request: Bytes(400) }
    }

    const BUFFER: Rule = Rule::Buffer { reservoir: Span::from_millis(5000), cushion: Span::from_millis(10_000) };

    /// Plays a video over an ideal link, where a chunk takes its bits over the rate and 80 ms; the levels, and when the last
    /// chunk came, in seconds.
    fn play(plan: VideoPlan, bps: f64) -> (String, f64, VideoSummary) {
        let mut video = Video::new(plan);
        let (mut now, mut input) = (Time::ZERO, Input::Start);
        loop {
            let mut commands = Vec::new();
            video.on(now, input, &mut commands);
            match commands.last() {
                Some(Command::Send { .. }) => {
                    let transmission = Span::from_secs_f64(8.0 * video.size_of_last().as_f64() / bps);
                    now = now + transmission + Span::from_millis(80);
                    input = Input::Message { connection: 0, reader: CLIENT };
                }
                Some(Command::Wake(at)) => (now, input) = (*at, Input::Due),
                _ => break,
            }
        }
        let levels = video.levels.iter().map(usize::to_string).collect();
        (levels, now.as_secs_f64(), video.summary(now))
    }

    fn near(measured: f64, expected: f64, tolerance: f64) {
        assert!((measured - expected).abs() <= tolerance, "{measured} {expected}");
    }

    #[test]
    fn a_link_below_the_ladder_stalls() {
        let (levels, end, summary) = play(plan(BUFFER), 0.25e6);
        assert_eq!(levels, format!("1{}", "0".repeat(47)));
        near(summary.stall_s, 41.36, 1e-6);
        near(summary.rebuffer_ratio.unwrap(), 0.17724, 5e-6);
        near(summary.bitrate_mean_bps.unwrap(), 309_375.0, 1e-6);
        assert_eq!((summary.switches, summary.switch_size_mean_bps), (1, Some(450_000.0)));
        near(end, 241.44, 1e-6);
        near(summary.qoe.unwrap(), 48.0 * 0.309375 - 4.3 * 41.36 - 0.45, 1e-6);
    }

    #[test]
    fn the_buffer_chooses_the_levels() {
        for (mbps, expected, bitrate_kbps, switches) in [
            // At 1 Mb/s there are exactly 9 s of video before chunk 26, at 2 Mb/s 13 s before chunk 22: the edges of levels. In
            // binary fractions it is a little less.
            (1.0, "100212121212121212121212122121212121212121212121", 946.88, 45),
            (2.0, "101233333333433333333433333333343333333343333333", 1841.67, 12),
            (5.0, "101345555555555555555555555555555555555555555555", 3987.50, 5),
            (20.0, "101355555555555555555555555555555555555555555555", 4017.71, 4),
        ] {
            let (levels, _, summary) = play(plan(BUFFER), mbps * 1e6);
            assert_eq!(levels, expected);
            near(summary.bitrate_mean_bps.unwrap() / 1e3, bitrate_kbps, 5e-3);
            assert_eq!((summary.switches, summary.stall_s, summary.stalls), (switches, 0.0, 0));
        }
        near(play(plan(BUFFER), 2e6).2.startup_s.unwrap(), 1.58, 1e-9);
    }

    #[test]
    fn throughput_chooses_what_a_share_of_it_carries() {
        let rule = |safety| Rule::Throughput { window: 5, safety };
        // A chunk of 1200 kb/s takes 2.48 s at 2 Mb/s: 1935 kb/s. 0.97 of it carries 1850.
        for (safety, level) in [(0.9, "2"), (0.97, "3")] {
            let (levels, ..) = play(plan(rule(safety)), 2e6);
            assert!(levels.ends_with(&level.repeat(40)), "{levels}");
        }
        let (levels, ..) = play(plan(rule(0.9)), 0.1e6);
        assert_eq!(levels, format!("1{}", "0".repeat(47)));
    }

    #[test]
    fn a_full_buffer_holds_the_next_chunk_back() {
        let plan = VideoPlan { chunks: 20, ..plan(Rule::Fixed { level: 0 }) };
        let (levels, end, summary) = play(plan, 100e6);
        assert_eq!(levels, format!("1{}", "0".repeat(19)));
        // Sixty seconds ahead at most: the last of 20 chunks, 80 s, is asked for when 20 s have been played.
        let (first, other) = (0.08 + 3e6 / 1e8, 0.08 + 1.2e6 / 1e8);
        near(end, first + 20.0 + other, 1e-6);
        assert_eq!((summary.stalls, summary.chunks), (0, 20));
    }

    #[test]
    fn a_picture_that_stands_still_at_the_end_of_the_run_is_a_stall() {
        let at = |s: u64| Time::ZERO + Span::from_millis(1000 * s);
        let mut video = Video::new(plan(BUFFER));
        let mut commands = Vec::new();
        video.on(at(10), Input::Start, &mut commands);
        assert_eq!((video.summary(at(12)).startup_s, video.summary(at(12)).stall_s), (None, 0.0));
        video.on(at(15), Input::Message { connection: 0, reader: CLIENT }, &mut commands);
        assert_eq!((video.summary(at(16)).startup_s, video.summary(at(16)).rebuffer_ratio), (Some(5.0), Some(0.0)));
        let stalled = video.summary(at(23));
        assert_eq!((stalled.stall_s, stalled.stalls, stalled.rebuffer_ratio), (4.0, 1, Some(0.5)));
        assert_eq!(video.sample(at(16)), Some((Span::from_millis(3000), 0)));
    }
}
