use super::*;
use crate::cc::CcConfig;
use crate::options::{EcnHandshake, Scale};
use crate::segment::Timestamps;
use crate::settings::{EcnMode, ProfileName};

fn config(profile: ProfileName) -> TcpConfig {
    match CcConfig::by_name("newreno", None, &[]) {
        Ok(cc) => TcpConfig::of_profile(profile, cc),
        Err(error) => panic!("{error:?}"),
    }
}

fn agreed(config: &TcpConfig) -> Agreed {
    Agreed {
        mss: config.mss,
        sack: true,
        timestamps: config.timestamps,
        ecn: EcnMode::Off,
        ecn_handshake: EcnHandshake::None,
        scale: Scale::Shift(10),
    }
}

fn receiver(config: &TcpConfig) -> Receiver {
    let mut receiver = Receiver::new(config);
    receiver.agree(&agreed(config), Some(Span::from_millis(50)));
    receiver
}

fn small() -> Receiver {
    receiver(&TcpConfig { recv_buffer: Bytes(100 * 1024), ..config(ProfileName::Rfc) })
}

fn data(seq: u64, len: u32) -> Segment {
    Segment { seq: SeqNo(seq), len, flags: Flags::ACK, ..Segment::default() }
}

#[test]
fn duplicates_and_data_outside_the_window_change_nothing() {
    let mut r = small();
    r.on_segment(Time::ZERO, &data(1, 100));
    assert_eq!(r.on_segment(Time::ZERO, &data(1, 100)), AckTiming::Immediate);
    assert_eq!(r.on_segment(Time::ZERO, &data(200_000, 100)), AckTiming::Immediate);
    assert_eq!((r.rcv_nxt(), r.reassembly.has_gap()), (SeqNo(101), false));
    assert_eq!(r.sack_option(4).blocks().collect::<Vec<_>>(), [SeqRange::new(SeqNo(1), SeqNo(101))]);
}

#[test]
fn what_reaches_beyond_the_window_is_cut_off() {
    let mut r = small();
    r.on_segment(Time::ZERO, &data(1, 200_000));
    assert_eq!(r.rcv_nxt(), SeqNo(1 + 100 * 1024));
}

#[test]
fn the_fin_counts_one_number_and_no_byte() {
    let mut r = small();
    r.on_segment(Time::ZERO, &Segment { flags: Flags::ACK.with(Flags::FIN), ..data(101, 0) });
    assert!(!r.fin_received());
    r.on_segment(Time::ZERO, &data(1, 100));
    assert!(r.fin_received());
    assert_eq!((r.rcv_nxt(), r.in_order()), (SeqNo(102), 100));
}

#[test]
fn an_empty_segment_before_what_is_expected_is_answered() {
    let mut r = small();
    assert_eq!(r.on_segment(Time::ZERO, &data(1, 0)), AckTiming::None);
    assert_eq!(r.on_segment(Time::ZERO, &data(0, 0)), AckTiming::Immediate);
}

#[test]
fn what_is_not_read_takes_up_the_window() {
    let config = TcpConfig { recv_buffer: Bytes(10 * 1024), auto_read: false, ..config(ProfileName::Rfc) };
    let mut r = receiver(&config);
    r.on_ack_sent(r.window());
    for i in 0..10 {
        r.on_segment(Time::ZERO, &data(1 + i * 1024, 1024));
        assert_eq!((r.unread().0, r.window().0), ((i + 1) * 1024, (9 - i) * 1024));
    }
    // A probe of the closed window.
    assert_eq!(r.on_segment(Time::ZERO, &data(1 + 10 * 1024, 1)), AckTiming::Immediate);
    assert_eq!(r.in_order(), 10 * 1024);
    assert_eq!(r.read(Time::ZERO, 1000), 1000);
    assert!(!r.ack_due_at_read());
    assert_eq!(r.read(Time::ZERO, 1048), 1048);
    assert!(r.ack_due_at_read());
    assert_eq!(r.window(), Bytes(2048));
    assert_eq!(r.read(Time::ZERO, u64::MAX), 8 * 1024);
    assert_eq!(r.read(Time::ZERO, 1), 0);
}

/// Segments a Linux sender sent at 20 Mb/s, as they reached the receiver: when the first did (µs), its number, how many
/// followed it at intervals of 600 µs. From `reno-drop-one` of the recordings of Linux 6.1: segment 300 was lost.
const ARRIVALS: [(u64, u64, u64); 8] = [
    (75_796, 0, 10),
    (126_398, 10, 20),
    (177_001, 30, 40),
    (227_603, 70, 80),
    (278_205, 150, 150),
    (368_205, 301, 310),
    (554_205, 300, 1),
    (554_805, 611, 11_329),
];

/// Which of them carried PSH, from 11572 on: every second one from the first to the last of each pair.
const PUSHED: [(u64, u64); 5] =
    [(11_572, 11_580), (11_581, 11_909), (11_914, 11_932), (11_933, 11_933), (11_936, 11_944)];

/// What the Linux receiver answered: when (µs), which number in segments, how many ACKs alike, and the step from one to
/// the next in segments and µs. Each segment is acknowledged while the window grows to 32 MiB, and 16 more.
const ACKS: [(u64, u64, u64, u64, u64); 11] = [
    (75_798, 1, 10, 1, 600),
    (126_400, 11, 20, 1, 600),
    (177_002, 31, 40, 1, 600),
    (227_604, 71, 80, 1, 600),
    (278_206, 151, 150, 1, 600),
    (368_207, 300, 310, 0, 600),
    (554_206, 611, 10_972, 1, 600),
    (7_138_007, 11_584, 166, 2, 1200),
    (7_336_610, 11_915, 10, 2, 1200),
    (7_348_011, 11_934, 2, 2, 1200),
    (7_349_811, 11_937, 2, 2, 1200),
];

#[test]
fn acknowledges_when_the_recorded_linux_receiver_did() {
    const MSS: u64 = 1448;
    let at = |us: u64| Time::ZERO + Span::from_micros(us);
    let linux_6_1 = (Bytes(1 << 25), Bytes(65_535));
    let (recv_buffer, initial_recv_window) = linux_6_1;
    let mut r = receiver(&TcpConfig { recv_buffer, initial_recv_window, ..config(ProfileName::Linux) });
    r.on_ack_sent(Bytes(65_535));
    let pushed =
        |n: u64| PUSHED.iter().any(|(first, last)| (*first..=*last).contains(&n) && (n - first).is_multiple_of(2));
    let mut sent: Vec<(Time, u64)> = Vec::new();
    let segments = ARRIVALS.iter().flat_map(|(us, first, count)| (0..*count).map(move |i| (us + 600 * i, first + i)));
    for (us, number) in segments {
        let now = at(us);
        let flags = if pushed(number) { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let timestamps = Some(Timestamps { value: (us / 1000) as u32, echo: (us / 1000 - 50) as u32 });
        let segment =
            Segment { seq: SeqNo(1 + number * MSS), len: MSS as u32, flags, timestamps, ..Segment::default() };
        match r.on_segment(now, &segment) {
            AckTiming::Immediate => {
                sent.push((now, (r.rcv_nxt().0 - 1) / MSS));
                r.on_ack_sent(r.window());
            }
            AckTiming::DelayedUntil(deadline) => assert_eq!(deadline, now + Span::from_millis(40)),
            other => panic!("{other:?} at {now}"),
        }
    }
    let recorded = ACKS
        .iter()
        .flat_map(|(us, first, count, step, every)| (0..*count).map(move |i| (at(us + every * i), first + step * i)));
    let wanted: Vec<(Time, u64)> = recorded.collect();
    assert_eq!(sent.len(), wanted.len());
    for (ours, theirs) in sent.iter().zip(&wanted) {
        // The link's log is in whole microseconds, and the kernel took up to eight.
        let apart = theirs.0.since(ours.0.min(theirs.0)).max(ours.0.since(theirs.0.min(ours.0)));
        assert!(ours.1 == theirs.1 && apart <= Span::from_micros(12), "{ours:?}, recorded {theirs:?}");
    }
}

/// Blocks `[100 a, 100 b)`, counted from the first byte, of a SACK option.
fn hundreds(sack: &Sack) -> Vec<(u64, u64)> {
    sack.blocks().map(|block| ((block.start.0 - 1) / 100, (block.end.0 - 1) / 100)).collect()
}

#[test]
fn an_ack_that_is_held_back_leaves_before_a_block_comes_that_pushes_others_out() {
    let linux = config(ProfileName::Linux);
    let mut r = receiver(&TcpConfig { initial_recv_window: linux.recv_buffer, ..linux });
    let held = Time::ZERO + Span::from_millis(1);
    let mut arrives = |hundred: u64| {
        let timing = r.on_segment(Time::ZERO, &data(1 + 100 * hundred, 100));
        let released = r.take_released().as_ref().map(hundreds);
        if timing == AckTiming::Immediate {
            r.on_ack_sent(r.window());
        }
        (timing, released)
    };
    for hundred in [2, 4, 6] {
        assert_eq!(arrives(hundred), (AckTiming::Immediate, None));
    }
    assert_eq!(arrives(8), (AckTiming::CompressedUntil(held), None));
    assert_eq!(arrives(10), (AckTiming::Released(Some(held)), Some(vec![(8, 9), (6, 7), (4, 5), (2, 3)])));
    // What follows one of the two latest blocks pushes nothing out.
    assert_eq!(arrives(11), (AckTiming::CompressedUntil(held), None));
    assert_eq!(arrives(9), (AckTiming::CompressedUntil(held), None));
    assert_eq!(arrives(13), (AckTiming::Released(Some(held)), Some(vec![(8, 12), (6, 7), (4, 5)])));
}
