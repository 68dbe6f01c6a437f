use super::*;
use crate::cc::CcConfig;
use crate::options::{EcnHandshake, Scale};
use crate::settings::{EcnMode, ProfileName};

const MSS: Bytes = Bytes(1000);

fn config(recv_buffer: u64) -> TcpConfig {
    match CcConfig::by_name("newreno", None, &[]) {
        Ok(cc) => {
            TcpConfig { mss: MSS, recv_buffer: Bytes(recv_buffer), ..TcpConfig::of_profile(ProfileName::Rfc, cc) }
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn window(config: &TcpConfig, scale: Scale) -> ReceiveWindow {
    let mut window = ReceiveWindow::new(config);
    window.agree(&Agreed {
        mss: MSS,
        sack: true,
        timestamps: true,
        ecn: EcnMode::Off,
        ecn_handshake: EcnHandshake::None,
        scale,
    });
    window
}

fn full_segment() -> Segment {
    Segment { len: 1000, ..Segment::default() }
}

#[test]
fn the_field_bounds_the_window() {
    let none = Bytes::ZERO;
    assert_eq!(window(&config(1 << 20), Scale::Free).advertise(SeqNo(1), none), Bytes(1 << 20));
    assert_eq!(window(&config(1 << 20), Scale::Unscaled).advertise(SeqNo(1), none), Bytes(65_535));
    assert_eq!(window(&config(1 << 20), Scale::Shift(5)).advertise(SeqNo(1), none), Bytes(1 << 20));
    assert_eq!(window(&config(1 << 30), Scale::Shift(14)).advertise(SeqNo(1), none), Bytes(65_535 << 14));
    assert_eq!(window(&config(100_100), Scale::Shift(8)).advertise(SeqNo(1), none), Bytes(100_096));
}

#[test]
fn the_edge_never_moves_back() {
    let mut w = window(&config(10_000), Scale::Free);
    w.on_advertised(SeqNo(1), Bytes(10_000));
    assert_eq!(w.advertise(SeqNo(1), Bytes::ZERO), Bytes(10_000));
    for unread in [1000, 5000, 9999] {
        assert_eq!(w.advertise(SeqNo(1 + unread), Bytes(unread)), Bytes(10_000 - unread));
    }
    assert_eq!(w.advertise(SeqNo(10_001), Bytes(10_000)), Bytes::ZERO);
    // What is left of a promise is rounded up to what can be written.
    let mut w = window(&config(65_536), Scale::Shift(1));
    w.on_advertised(SeqNo(1), Bytes(65_536));
    assert_eq!(w.advertise(SeqNo(1002), Bytes(1001)), Bytes(64_536));
}

#[test]
fn a_slow_reader_opens_the_window_by_a_segment_or_half_the_buffer() {
    for (buffer, step) in [(10_000, 1000), (1500, 750)] {
        let mut w = window(&config(buffer), Scale::Free);
        w.on_advertised(SeqNo(1), Bytes(buffer));
        let rcv_nxt = SeqNo(1 + buffer);
        let at = |read: u64| (w.advertise(rcv_nxt, Bytes(buffer - read)), w.update_due(rcv_nxt, Bytes(buffer - read)));
        assert_eq!(at(step - 1), (Bytes::ZERO, false));
        assert_eq!(at(step), (Bytes(step), true));
        assert_eq!(at(buffer), (Bytes(buffer), true));
    }
}

#[test]
fn an_open_window_is_not_announced_segment_by_segment() {
    let mut w = window(&config(10_000), Scale::Free);
    w.on_advertised(SeqNo(1), Bytes(10_000));
    // 6000 arrived, 4000 are promised still.
    assert!(!w.update_due(SeqNo(6001), Bytes(3000)));
    assert!(w.update_due(SeqNo(6001), Bytes(1000)));
}

#[test]
fn the_window_opens_by_two_segments_for_each_that_arrives() {
    let config = TcpConfig { initial_recv_window: Bytes(65_535), ..config(70_000) };
    let mut w = window(&config, Scale::Free);
    assert_eq!(w.advertise(SeqNo(1), Bytes::ZERO), Bytes(65_535));
    assert!(!w.grow(&Segment { len: 100, ..Segment::default() }, Bytes::ZERO));
    let grown = [(); 4].map(|()| (w.grow(&full_segment(), Bytes::ZERO), w.advertise(SeqNo(1), Bytes::ZERO).0));
    assert_eq!(grown, [(true, 67_535), (true, 69_535), (true, 70_000), (false, 70_000)]);
    // RFC: open from the start.
    assert!(!window(&config_open(), Scale::Free).grow(&full_segment(), Bytes::ZERO));
}

fn config_open() -> TcpConfig {
    config(70_000)
}

#[test]
fn the_buffer_keeps_ahead_of_what_is_read_in_a_round_trip() {
    let config = TcpConfig { recv_autotune: true, ..config(1 << 22) };
    let mut w = window(&config, Scale::Shift(7));
    assert_eq!(w.buffer, Bytes(65_535));
    let rtt = Span::from_millis(100);
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    // Without an RTT, within one, and with no more than is to be expected at first.
    w.on_read(at(100), 50_000, None);
    w.on_read(at(99), 50_000, Some(rtt));
    w.on_read(at(100), 10_000, Some(rtt));
    assert_eq!(w.buffer, Bytes(65_535));
    // 20 kB after 10 kB: 2 * 20 + 16 segments, and twice that for the doubling.
    w.on_read(at(200), 30_000, Some(rtt));
    assert_eq!(w.buffer, Bytes(56_000 * 3));
    // Slow start: ten more round trips, each of twice as much, never fill the window; then the limit is reached.
    let (mut read, mut copied) = (30_000, 20_000);
    for round in 3..12 {
        copied *= 2;
        assert!(w.buffer.0 >= copied.min(1 << 22), "round {round}");
        read += copied;
        w.on_read(at(round * 100), read, Some(rtt));
    }
    assert_eq!(w.buffer, Bytes(1 << 22));
}

#[test]
fn the_receivers_rtt_comes_from_echoes_or_from_windows() {
    let ms = Span::from_millis;
    let mut rtt = ReceiverRtt::new(Some(ms(30)));
    rtt.on_echo(ms(80));
    assert_eq!(rtt.get(), Some(ms(80)));
    rtt.on_echo(ms(160));
    assert_eq!(rtt.get(), Some(ms(90)));
    let mut rtt = ReceiverRtt::new(None);
    let at = |time| Time::ZERO + ms(time);
    rtt.on_data(at(10), SeqNo(1001), Bytes(10_000));
    rtt.on_data(at(60), SeqNo(8001), Bytes(10_000));
    assert_eq!(rtt.get(), None);
    rtt.on_data(at(110), SeqNo(11_001), Bytes(10_000));
    assert_eq!(rtt.get(), Some(ms(100)));
    rtt.on_data(at(250), SeqNo(21_001), Bytes(10_000));
    assert_eq!(rtt.get(), Some(ms(100)));
}
