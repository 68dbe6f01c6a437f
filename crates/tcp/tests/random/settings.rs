//! Settings of a sequence, drawn from its seed: two endpoints with their applications, and a path in each direction.

use std::fmt;

use tcp::TcpConfig;
use tcp::cc::{ALGORITHMS, Algorithm, Begin, CcConfig, Exit, Growth, ResumeConfig, Saved, SearchConfig, StartConfig};
use tcp::compat::{Agent, AgentKind};
use tcp::rng::Rng;
use tcp::settings::{CwndReductionKind, CwndValidation, EcnMode, EcnOption, ProfileName, RecoveryKind, RttAlgorithm};
use tcp::units::{Bytes, Span, Time};

use super::network::Path;

/// Approximate maximum number of segments in each direction, of the smallest size that a setting may force.
const SEGMENTS: u64 = 250;

/// Maximum pause of an application before a read.
pub(crate) const READ_PAUSE: Span = Span::from_millis(500);

/// When an application closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Close {
    /// After its last write.
    AfterWrites,
    /// After its last write, once the peer has closed.
    AfterPeer,
}

/// An endpoint and its application.
#[derive(Clone)]
pub(crate) struct End {
    pub(crate) config: TcpConfig,
    /// Pauses and sizes of the writes.
    pub(crate) writes: Vec<(Span, u64)>,
    pub(crate) close: Close,
}

/// A sequence.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The active endpoint, then the passive one.
    pub(crate) ends: [End; 2],
    /// The path from each endpoint to the other.
    pub(crate) paths: [Path; 2],
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `CcConfig` prints the whole description of its algorithm.
        let config = format!("{:?}", self.config);
        let cc = &self.config.cc;
        writeln!(f, "{}, cc: {} {}", config.split(", cc: ").next().unwrap_or(""), cc.algorithm.name, cc.profile)?;
        write!(f, "    writes {:?}, close {:?}", self.writes, self.close)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, end, path) in
            [("active", 0, 0), ("passive", 1, 1)].map(|(n, e, p)| (n, &self.ends[e], &self.paths[p]))
        {
            writeln!(f, "  {name}: {end:?}\n    sends over {path:?}")?;
        }
        Ok(())
    }
}

impl Settings {
    /// Draws a sequence.
    pub(crate) fn draw(rng: &mut Rng) -> Settings {
        let clean_at = Time::ZERO + span(rng, 1_000_000, 30_000_000_000);
        let mut configs = [config(rng), config(rng)];
        for config in &mut configs {
            // Longer than the peer can take to retransmit its FIN.
            config.time_wait = clean_at.since(Time::ZERO) + config.rto.max * 4 + Span::from_millis(400_000);
        }
        let closes = match rng.below(3) {
            0 => [Close::AfterWrites, Close::AfterPeer],
            1 => [Close::AfterPeer, Close::AfterWrites],
            _ => [Close::AfterWrites; 2],
        };
        let least_mss = configs[0].mss.min(configs[1].mss);
        let writes = [(0, 1), (1, 0)].map(|(from, to): (usize, usize)| {
            let unit = least_mss.min(configs[from].send_buffer).min(configs[to].recv_buffer);
            writes(rng, unit)
        });
        let [first, second] = writes;
        let [active, passive] = configs;
        let ends = [
            End { config: active, writes: first, close: closes[0] },
            End { config: passive, writes: second, close: closes[1] },
        ];
        Settings { ends, paths: [path(rng, clean_at), path(rng, clean_at)] }
    }

    /// Time from which the network is clean.
    pub(crate) fn clean_at(&self) -> Time {
        self.paths[0].clean_at
    }

    /// The smallest payload to which a full segment may be limited.
    fn unit(&self, from: usize) -> u64 {
        let (own, other) = (&self.ends[from].config, &self.ends[1 - from].config);
        own.mss.min(other.mss).min(own.send_buffer).min(other.recv_buffer).0
    }

    /// Segments that the sequence needs if each has the smallest payload.
    pub(crate) fn segments(&self) -> u64 {
        let each =
            |i: usize| self.ends[i].writes.iter().map(|(_, bytes)| bytes.div_ceil(self.unit(i)) + 1).sum::<u64>();
        each(0) + each(1)
    }

    /// Time by which the sequence must be complete: a round trip with its delayed ACKs for each segment, and time for
    /// time-outs that had been backed off when the network became clean.
    pub(crate) fn deadline(&self) -> Time {
        let mut round = self.paths[0].longest_delay() + self.paths[1].longest_delay();
        let mut rest = Span::from_millis(10_000);
        for (end, path) in self.ends.iter().zip(&self.paths) {
            round += if end.config.auto_read { Span::ZERO } else { READ_PAUSE * 2 };
            round += end.config.delayed_ack.timeout + end.config.delayed_ack.compression;
            rest += end.config.rto.max * 20 + path.held_up_by * 4;
            rest += end.writes.iter().fold(Span::ZERO, |sum, (pause, _)| sum + *pause);
        }
        self.clean_at() + round * (2 * self.segments() + 50) + rest
    }
}

/// A log-uniform span from `low` to `high` nanoseconds.
fn span(rng: &mut Rng, low: u64, high: u64) -> Span {
    Span::from_nanos(spread(rng, low, high))
}

fn spread(rng: &mut Rng, low: u64, high: u64) -> u64 {
    let (a, b) = (libm::log(low as f64), libm::log(high as f64));
    (libm::exp(a + (b - a) * rng.uniform()) as u64).clamp(low, high)
}

fn pick<T: Copy>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.below(items.len() as u64) as usize]
}

/// Changes a setting in one of four cases; otherwise it keeps the value of its profile.
fn vary<T>(rng: &mut Rng, setting: &mut T, draw: impl FnOnce(&mut Rng) -> T) {
    if rng.chance(0.25) {
        *setting = draw(rng);
    }
}

fn coin(rng: &mut Rng) -> bool {
    rng.chance(0.5)
}

fn config(rng: &mut Rng) -> TcpConfig {
    let algorithm = ALGORITHMS[rng.below(ALGORITHMS.len() as u64) as usize];
    let form = &algorithm.profiles[rng.below(algorithm.profiles.len() as u64) as usize];
    let cc = CcConfig::by_name(algorithm.name, Some(form.name), &[]).expect("the algorithm lists this profile");
    let profiles = [ProfileName::Rfc, ProfileName::Linux, ProfileName::Ns2, ProfileName::Ns3, ProfileName::Netsim12];
    let mut config = TcpConfig::of_profile(pick(rng, &profiles), cc);
    vary_sizes(rng, &mut config);
    vary_times(rng, &mut config);
    vary_methods(rng, &mut config);
    // An aborted connection tests nothing here; `scripts/handshake` and `scripts/give_up` cover it.
    config.syn_retries = 1_000;
    config.retries2 = 0;
    config.auto_read = coin(rng);
    config
}

fn vary_sizes(rng: &mut Rng, config: &mut TcpConfig) {
    vary(rng, &mut config.mss, |rng| Bytes(pick(rng, &[1, 100, 536, 1000, 1448, 1460, 8948, 65_495])));
    let mss = config.mss;
    config.initial_window = mss * pick(rng, &[1, 2, 4, 10, 10, 100]);
    vary(rng, &mut config.initial_ssthresh, |rng| mss * (2 + rng.below(100)));
    vary(rng, &mut config.recv_buffer, |rng| Bytes(spread(rng, 1, 1 << 20)));
    vary(rng, &mut config.send_buffer, |rng| Bytes(spread(rng, 1, 1 << 20)));
    vary(rng, &mut config.initial_recv_window, |rng| mss * (2 + rng.below(64)));
    vary(rng, &mut config.recv_autotune, coin);
}

fn vary_times(rng: &mut Rng, config: &mut TcpConfig) {
    let ms = Span::from_millis;
    let acks = &mut config.delayed_ack;
    vary(rng, &mut acks.segments, |rng| pick(rng, &[1, 2, 3, 100]));
    vary(rng, &mut acks.timeout, |rng| span(rng, 1_000_000, 500_000_000));
    vary(rng, &mut acks.quick, |rng| pick(rng, &[0, 1, 16]));
    vary(rng, &mut acks.push, coin);
    vary(rng, &mut acks.compression, |rng| pick(rng, &[Span::ZERO, ms(1), ms(5)]));
    vary(rng, &mut config.rto.initial, |rng| ms(pick(rng, &[100, 1000, 3000])));
    vary(rng, &mut config.rto.min, |rng| ms(pick(rng, &[0, 10, 200, 1000])));
    vary(rng, &mut config.rto.max, |rng| ms(pick(rng, &[3_000, 10_000, 120_000])));
    vary(rng, &mut config.rto.granularity, |rng| ms(pick(rng, &[1, 10, 100])));
    vary(rng, &mut config.rtt_estimator, |rng| {
        pick(rng, &[RttAlgorithm::Rfc, RttAlgorithm::Linux, RttAlgorithm::Timestamps])
    });
}

fn vary_methods(rng: &mut Rng, config: &mut TcpConfig) {
    use RecoveryKind::{NewReno, Rack, Reno, Sack, Tahoe, Vegas};
    vary(rng, &mut config.recovery, |rng| pick(rng, &[Tahoe, Reno, NewReno, Vegas, Sack, Rack]));
    let agent = config.recovery == Sack && coin(rng);
    config.agent = agent.then_some(Agent::of(AgentKind::Ns2Linux));
    let few = config.mss * 6;
    vary(rng, &mut config.cwnd_clamp, |rng| pick(rng, &[few, Bytes::MAX]));
    vary(rng, &mut config.cwnd_reduction, |rng| {
        pick(
            rng,
            &[
                CwndReductionKind::Immediate,
                CwndReductionKind::Prr,
                CwndReductionKind::LinuxPrr,
                CwndReductionKind::RateHalving,
            ],
        )
    });
    let modes = [EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accecn];
    config.ecn = pick(rng, &modes);
    // Of what was drawn: a draw of its own would make all that follows another sequence.
    config.ecn_option = [EcnOption::Acks, EcnOption::All, EcnOption::Off][config.recv_buffer.0 as usize % 3];
    vary(rng, &mut config.dup_thresh, |rng| pick(rng, &[1, 2, 3, 10]));
    for flag in [
        &mut config.sack,
        &mut config.timestamps,
        &mut config.window_scale,
        &mut config.limited_transmit,
        &mut config.impatient,
        &mut config.tlp,
        &mut config.frto,
        &mut config.undo,
        &mut config.nagle,
        &mut config.pacing,
        &mut config.tso_psh,
        &mut config.tso_defer,
        &mut config.tso_fill,
        &mut config.writes_by_thirds,
        &mut config.slow_start_after_idle,
    ] {
        vary(rng, flag, coin);
    }
    let algorithm = config.cc.algorithm;
    if algorithm.starts == Some(Algorithm::RESUMES) && coin(rng) {
        let saved = Saved { cwnd: config.mss * (40 + rng.below(1000)), rtt: Span::from_millis(1 + rng.below(200)) };
        let resume = ResumeConfig { lifetime: Span::from_millis(1000), max_jump: None, saved: Some(saved), beta: None };
        config.start = Some(StartConfig { begin: Begin::Resume(resume), ..StartConfig::default() });
    } else if algorithm.starts.is_some_and(|limit| limit != Algorithm::RESUMES) && coin(rng) {
        let search = SearchConfig { drain: coin(rng), ..SearchConfig::default() };
        let exit = pick(rng, &[Exit::Loss, Exit::HyStart, Exit::HyStartPlusPlus, Exit::Search(search)]);
        let rapid = config.recovery.uses_sack() && coin(rng);
        let growth = if rapid { Growth::Rapid } else { Growth::Standard };
        let begin = if coin(rng) { Begin::InitialWindow } else { Begin::Jump(config.mss * (1 + rng.below(200))) };
        config.start = Some(StartConfig { begin, growth, exit });
    }
    let kinds = [CwndValidation::Linux, CwndValidation::None, CwndValidation::RateLimited, CwndValidation::Rfc7661];
    let count = if algorithm.requirements.owns_window { 2 } else { 4 };
    vary(rng, &mut config.cwnd_validation, |rng| pick(rng, &kinds[..count]));
}

/// Writes of at most [`SEGMENTS`] times `unit` bytes in total, in up to 20 pieces of any size; sometimes none.
fn writes(rng: &mut Rng, unit: Bytes) -> Vec<(Span, u64)> {
    if rng.chance(0.2) {
        return Vec::new();
    }
    let most = SEGMENTS * unit.0;
    let mut left = if coin(rng) { spread(rng, 1, most) } else { 1 + rng.below(most) };
    let mut writes = Vec::new();
    while left > 0 && writes.len() < 20 {
        let bytes = if coin(rng) { left } else { spread(rng, 1, left) };
        let pause = if coin(rng) { Span::ZERO } else { span(rng, 1_000, 3_000_000_000) };
        writes.push((pause, bytes));
        left -= bytes;
    }
    writes
}

fn path(rng: &mut Rng, clean_at: Time) -> Path {
    let rare = |rng: &mut Rng, most: f64| if coin(rng) { 0.0 } else { most * rng.uniform() * rng.uniform() };
    let disturbed = clean_at.as_nanos();
    let mut delays = vec![(Time::ZERO, span(rng, 10_000, 500_000_000))];
    let mut blackouts = Vec::new();
    while rng.chance(0.3) {
        delays.push((Time::from_nanos(rng.below(disturbed)), span(rng, 10_000, 500_000_000)));
    }
    delays.sort_unstable();
    while rng.chance(0.3) {
        let from = Time::from_nanos(rng.below(disturbed));
        blackouts.push((from, from + span(rng, 1_000_000, 10_000_000_000)));
    }
    Path {
        held_up_by: delays[0].1 * pick(rng, &[1, 2, 10]),
        delays,
        blackouts,
        loss: if rng.chance(0.05) { 0.9 } else { rare(rng, 0.5) },
        ack_loss: rare(rng, 1.0),
        duplicate: rare(rng, 0.5),
        hold_up: rare(rng, 0.5),
        mark: rare(rng, 1.0),
        clean_at,
    }
}
