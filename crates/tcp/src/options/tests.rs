use super::*;
use crate::cc::CcConfig;
use crate::segment::Flags;
use crate::settings::ProfileName;
use crate::units::Span;

fn config(profile: ProfileName) -> TcpConfig {
    match CcConfig::by_name("newreno", None, &[]) {
        Ok(cc) => TcpConfig::of_profile(profile, cc),
        Err(error) => panic!("{error:?}"),
    }
}

/// The SYN of an endpoint with these settings.
fn syn(config: &TcpConfig) -> Segment {
    let timestamps = config.timestamps.then_some(Timestamps { value: 7, echo: 0 });
    Segment { flags: Flags::SYN, syn: Some(offer(config, config.recv_buffer, None)), timestamps, ..Segment::default() }
}

#[test]
fn the_option_counts_the_room_of_the_timestamps() {
    let linux = config(ProfileName::Linux);
    let rfc = config(ProfileName::Rfc);
    assert_eq!((syn(&linux).syn, syn(&rfc).syn).0.map(|syn| syn.mss), Some(1460));
    assert_eq!(Agreed::new(&linux, linux.recv_buffer, &syn(&linux), EcnMode::Off).mss, Bytes(1448));
    assert_eq!(Agreed::new(&rfc, rfc.recv_buffer, &syn(&linux), EcnMode::Off).mss, Bytes(1460));
    let small = TcpConfig { mss: Bytes(536), timestamps: false, ..rfc.clone() };
    assert_eq!(Agreed::new(&linux, linux.recv_buffer, &syn(&small), EcnMode::Off).mss, Bytes(536));
    let stamped = TcpConfig { mss: Bytes(524), timestamps: true, ..rfc };
    assert_eq!(Agreed::new(&linux, linux.recv_buffer, &syn(&stamped), EcnMode::Off).mss, Bytes(524));
}

#[test]
fn what_one_side_does_not_offer_is_not_agreed() {
    let full = TcpConfig { sack: true, timestamps: true, window_scale: true, ..config(ProfileName::Linux) };
    let bare = TcpConfig { sack: false, timestamps: false, window_scale: false, ..full.clone() };
    let agreed = Agreed::new(&full, full.recv_buffer, &syn(&full), EcnMode::Off);
    assert!(agreed.sack && agreed.timestamps && agreed.scale == Scale::Shift(9));
    for (ours, theirs) in [(&full, &bare), (&bare, &full)] {
        let agreed = Agreed::new(ours, ours.recv_buffer, &syn(theirs), EcnMode::Off);
        assert!(!agreed.sack && !agreed.timestamps && agreed.scale == Scale::Unscaled);
    }
    let answer = offer(&full, full.recv_buffer, Some(&syn(&bare)));
    assert_eq!(answer, SynOptions { mss: 1460, window_scale: None, sack_permitted: false });
    assert_eq!(Clock::default().stamp_syn(Time::ZERO, Some(&syn(&bare))), None);
}

#[test]
fn a_peer_without_options_takes_windows_of_any_size() {
    let config = config(ProfileName::Linux);
    let agreed =
        Agreed::new(&config, config.recv_buffer, &Segment { flags: Flags::SYN, ..Segment::default() }, EcnMode::Off);
    assert_eq!((agreed.mss, agreed.scale.max_window(), agreed.scale.unit()), (config.mss, Bytes::MAX, 1));
    assert!(!agreed.sack && !agreed.timestamps);
}

#[test]
fn the_least_shift_that_shows_the_buffer() {
    for (buffer, shift) in [(1, 0), (65_535, 0), (65_536, 1), (131_070, 1), (1 << 25, 10), (1 << 40, 14)] {
        assert_eq!(shift_for(Bytes(buffer)), shift, "{buffer}");
    }
}

#[test]
fn the_echo_is_that_of_the_earliest_segment_not_acknowledged() {
    let mut clock = Clock::default();
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    let segment = |seq, value| Segment {
        seq: SeqNo(seq),
        len: 100,
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..Segment::default()
    };
    clock.on_syn(&segment(0, 10));
    clock.agree(true);
    assert_eq!(clock.stamp(ms(5), SeqNo(1)), Some(Timestamps { value: 5, echo: 10 }));
    clock.on_segment(&segment(1, 20));
    clock.on_segment(&segment(101, 30));
    assert_eq!(clock.stamp(ms(6), SeqNo(201)), Some(Timestamps { value: 6, echo: 20 }));
    // Beyond a gap; the segment that fills it; an old one.
    clock.on_segment(&segment(301, 40));
    assert_eq!(clock.stamp(ms(7), SeqNo(201)).map(|stamps| stamps.echo), Some(20));
    clock.on_segment(&segment(201, 50));
    clock.on_segment(&segment(1, 15));
    assert_eq!(clock.stamp(ms(8), SeqNo(401)).map(|stamps| stamps.echo), Some(50));
}

/// Without a handshake the timestamp of the first segment is echoed like any other.
#[test]
fn without_a_syn_the_first_segment_is_echoed() {
    let mut clock = Clock::default();
    clock.expect_no_syn();
    clock.agree(true);
    let stamps = Some(Timestamps { value: 215, echo: 0 });
    clock.on_segment(&Segment { seq: SeqNo(1), len: 100, timestamps: stamps, ..Segment::default() });
    let echo = clock.stamp(Time::ZERO, SeqNo(101)).map(|stamps| stamps.echo);
    assert_eq!(echo, Some(215));
}

/// A segment that was acknowledged before counts in ns-2 alone.
#[test]
fn a_duplicate_is_echoed_in_ns2_alone() {
    for (echoes_duplicates, expected) in [(false, 20), (true, 30)] {
        let mut clock = Clock::default();
        clock.expect_no_syn();
        clock.agree(true);
        clock.echoes_duplicates = echoes_duplicates;
        for (seq, value) in [(1, 10), (101, 20), (1, 30)] {
            let stamps = Some(Timestamps { value, echo: 0 });
            clock.on_segment(&Segment { seq: SeqNo(seq), len: 100, timestamps: stamps, ..Segment::default() });
            clock.stamp(Time::ZERO, SeqNo(if seq == 1 && value == 10 { 101 } else { 201 }));
        }
        assert_eq!(clock.stamp(Time::ZERO, SeqNo(201)).map(|stamps| stamps.echo), Some(expected));
    }
}
