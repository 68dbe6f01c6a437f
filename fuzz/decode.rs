//! Bytes to settings and segments. Every byte string means something; the end of the bytes reads as zeros.

use tcp::cc::{ALGORITHMS, CcConfig};
use tcp::settings::{CwndReductionKind, EcnMode, ProfileName, RecoveryKind, RttAlgorithm};
use tcp::units::{Bytes, Span, Time};
use tcp::{Ecn, EcnBytes, Flags, Segment, SeqNo, SeqRange, SynOptions, TcpConfig, Timestamps};

/// Sequence numbers do not wrap and have no business near the end of their 64 bits.
const FAR: u64 = 1 << 60;

/// The other side's segments are no smaller.
const LEAST_MSS: u32 = 100;

/// The bytes not yet used.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Below `bound`; two bytes decide.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (u64::from(self.byte()) << 8 | u64::from(self.byte())) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::from(self.byte()) % items.len()]
    }

    /// Some bytes or some segments.
    pub(crate) fn size(&mut self, mss: Bytes) -> u64 {
        let unit = self.pick(&[1, mss.0, mss.0, 100 * mss.0]);
        unit * self.below(100)
    }

    /// A byte of eight switches, each of which flips a setting.
    fn flip(&mut self, settings: &mut [&mut bool]) {
        let byte = self.byte();
        for (i, setting) in settings.iter_mut().enumerate() {
            **setting ^= byte >> i & 1 == 1;
        }
    }
}

pub(crate) fn config(input: &mut Input) -> TcpConfig {
    let algorithm = ALGORITHMS[usize::from(input.byte()) % ALGORITHMS.len()];
    let form = &algorithm.profiles[usize::from(input.byte()) % algorithm.profiles.len()];
    let cc = CcConfig::by_name(algorithm.name, Some(form.name), &[]).expect("the algorithm lists this profile");
    let profiles = [ProfileName::Rfc, ProfileName::Linux, ProfileName::Ns2, ProfileName::Ns3, ProfileName::Netsim12];
    let mut config = TcpConfig::of_profile(input.pick(&profiles), cc);
    let own = config.mss;
    config.mss = input.pick(&[own, own, Bytes(1), Bytes(100), Bytes(1000), Bytes(65_495)]);
    config.initial_window = config.mss * input.pick(&[1, 2, 10, 10, 100]);
    let (mss, buffer) = (config.mss, config.recv_buffer);
    config.recv_buffer = input.pick(&[buffer, buffer, Bytes(1), mss, mss * 3, Bytes(65_535), Bytes(1 << 20)]);
    config.send_buffer = input.pick(&[Bytes::MAX, Bytes::MAX, Bytes(1), mss, mss * 10]);
    config.delayed_ack.segments = input.pick(&[2, 1, 3, 100]);
    config.delayed_ack.quick = input.pick(&[0, 1, 16]);
    config.delayed_ack.compression = Span::from_millis(input.pick(&[0, 1, 5]));
    config.rto.min = Span::from_millis(input.pick(&[1000, 200, 10, 0]));
    config.rto.granularity = Span::from_millis(input.pick(&[1, 10, 100]));
    config.rtt_estimator = input.pick(&[RttAlgorithm::Rfc, RttAlgorithm::Linux]);
    config.ecn = input.pick(&[EcnMode::Off, EcnMode::Classic, EcnMode::Dctcp, EcnMode::Accecn]);
    use RecoveryKind::{NewReno, Rack, Reno, Sack, Tahoe, Vegas};
    config.recovery = input.pick(&[config.recovery, Tahoe, Reno, NewReno, Vegas, Sack, Rack]);
    config.cwnd_reduction =
        input.pick(&[CwndReductionKind::Prr, CwndReductionKind::Immediate, CwndReductionKind::RateHalving]);
    config.dup_thresh = input.pick(&[3, 1, 2, 10]);
    let c = &mut config;
    input.flip(&mut [&mut c.sack, &mut c.timestamps, &mut c.window_scale, &mut c.limited_transmit, &mut c.impatient]);
    input.flip(&mut [&mut c.tlp, &mut c.frto, &mut c.undo, &mut c.nagle, &mut c.pacing, &mut c.recv_autotune]);
    input.flip(&mut [&mut c.tso_psh, &mut c.slow_start_after_idle]);
    config
}

pub(crate) fn timestamps(input: &mut Input, now: Time) -> Option<Timestamps> {
    let millis = (now.as_nanos() / 1_000_000) as u32;
    match input.byte() {
        0..=99 => None,
        100..=199 => Some(Timestamps { value: millis, echo: millis.wrapping_sub(u32::from(input.byte())) }),
        _ => Some(Timestamps { value: input.number() as u32, echo: input.number() as u32 }),
    }
}

fn window(input: &mut Input) -> Bytes {
    let few = u64::from(input.byte());
    Bytes(input.pick(&[65_535, 1 << 20, 0, few, few << 8, 1 << 30, 1 << 40]))
}

fn syn_options(input: &mut Input, mss: Bytes) -> Option<SynOptions> {
    if input.byte() < 30 {
        return None;
    }
    let any = input.number() as u32;
    // Less than [`LEAST_MSS`] only where what may be written is little enough to be sent in single bytes.
    let least = if mss == Bytes(1) { 0 } else { LEAST_MSS };
    let mss = input.pick(&[1460, 1448, 536, 100, 1, 0, 65_535, any]).max(least);
    let window_scale = input.flag().then(|| input.byte());
    Some(SynOptions { mss, window_scale, sack_permitted: input.flag() })
}

/// The peer's SYN, or its SYN-ACK if the endpoint is the active one.
pub(crate) fn syn(input: &mut Input, active: bool, mss: Bytes) -> Segment {
    let mut flags = if active { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
    for flag in [Flags::ECE, Flags::CWR, Flags::AE] {
        flags = if input.flag() { flags.with(flag) } else { flags };
    }
    let timestamps = timestamps(input, Time::ZERO);
    let (syn, window) = (syn_options(input, mss), window(input));
    Segment { ack: SeqNo(u64::from(active)), flags, window, syn, timestamps, ..Segment::default() }
}

/// A number near one of the marks, or far from all.
fn sequence_number(input: &mut Input, marks: &[u64], mss: Bytes) -> SeqNo {
    let mark = input.pick(marks);
    let distance = input.size(mss);
    SeqNo(match input.byte() {
        0..=99 => mark,
        100..=169 => mark + distance,
        170..=239 => mark.saturating_sub(distance),
        _ => input.number() % FAR,
    })
}

/// Any segment at all.
pub(crate) fn segment(input: &mut Input, marks: &[u64], mss: Bytes, now: Time) -> Segment {
    let all = [Flags::SYN, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR, Flags::AE];
    let rare = input.byte();
    let mut flags = if input.byte() < 240 { Flags::ACK } else { Flags::default() };
    for (i, flag) in all.into_iter().enumerate() {
        // Two bits of one byte agree seldom enough for connections to live on.
        let set = rare >> i & 1 == 1 && rare >> 6 == 3;
        flags = if set { flags.with(flag) } else { flags };
    }
    let mut segment = Segment {
        seq: sequence_number(input, marks, mss),
        ack: sequence_number(input, marks, mss),
        len: if input.flag() { input.below(65_496) as u32 } else { 0 },
        flags,
        ecn: input.pick(&[Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]),
        window: window(input),
        timestamps: timestamps(input, now),
        ..Segment::default()
    };
    for _ in 0..input.byte() % 5 {
        let (start, end) = (sequence_number(input, marks, mss), sequence_number(input, marks, mss));
        segment.sack.push(SeqRange::new(start, end));
    }
    if input.byte() > 230 {
        segment.syn = syn_options(input, mss);
    }
    if input.byte() > 200 {
        let mut count = || input.number() as u32;
        segment.ecn_bytes = Some(EcnBytes { ect0: count(), ce: count(), ect1: count() });
    }
    segment
}
