use super::*;

const MSS: Bytes = Bytes(1000);

fn data(ecn: Ecn) -> Segment {
    Segment { seq: SeqNo::FIRST_DATA, len: 1000, flags: Flags::ACK, ecn, ..Segment::default() }
}

fn syn(flags: Flags, ecn: Ecn) -> Segment {
    Segment { flags: Flags::SYN.with(flags), ecn, ..Segment::default() }
}

fn bits(flags: Flags) -> (bool, bool, bool) {
    (flags.contains(Flags::AE), flags.contains(Flags::CWR), flags.contains(Flags::ECE))
}

/// What both sides take up.
fn handshake(active: EcnMode, passive: EcnMode) -> (EcnMode, EcnMode) {
    let (taken, flags) = on_syn(passive, &syn(offer(active), Ecn::NotEct));
    (on_syn_ack(active, flags), taken)
}

#[test]
fn modes_agreed_in_the_handshake() {
    use EcnMode::{Accecn, Classic, Dctcp, Off};
    for mode in [Off, Classic, Dctcp, Accecn] {
        assert_eq!(handshake(mode, mode), (mode, mode));
        assert_eq!(handshake(mode, Off), (Off, Off));
        assert_eq!(handshake(Off, mode), (Off, Off));
    }
    assert_eq!(handshake(Accecn, Classic), (Classic, Classic));
    assert_eq!(handshake(Classic, Accecn), (Classic, Classic));
    assert_eq!(handshake(Accecn, Dctcp), (Classic, Dctcp));
    assert_eq!(handshake(Classic, Dctcp), (Classic, Dctcp));
}

#[test]
fn a_syn_ack_tells_how_an_accurate_syn_arrived() {
    let all = offer(EcnMode::Accecn);
    assert_eq!(bits(all), (true, true, true));
    let told = |ecn| bits(on_syn(EcnMode::Accecn, &syn(all, ecn)).1);
    assert_eq!(told(Ecn::NotEct), (false, true, false));
    assert_eq!(told(Ecn::Ect1), (false, true, true));
    assert_eq!(told(Ecn::Ect0), (true, false, false));
    assert_eq!(told(Ecn::Ce), (true, true, false));
    // RFC 9768 table 2: an answer that reflects the SYN is broken.
    assert_eq!(on_syn_ack(EcnMode::Accecn, all), EcnMode::Off);
    assert_eq!(on_syn_ack(EcnMode::Classic, Flags::ECE.with(Flags::CWR)), EcnMode::Off);
}

#[test]
fn classic_echo_stands_until_cwr() {
    let mut echo = Echo::new(EcnMode::Classic);
    assert_eq!(echo.on_segment(&data(Ecn::Ect0), true), EchoAck::None);
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (false, false, false));
    assert_eq!(echo.on_segment(&data(Ecn::Ce), true), EchoAck::First);
    assert_eq!(echo.on_segment(&data(Ecn::Ce), true), EchoAck::None);
    assert_eq!(echo.on_segment(&data(Ecn::Ect0), true), EchoAck::None);
    assert_eq!(bits(echo.flags_of_data(Flags::CWR)), (false, true, true));
    let reduced = Segment { flags: Flags::ACK.with(Flags::CWR), ..data(Ecn::Ect0) };
    assert_eq!(echo.on_segment(&reduced, true), EchoAck::Immediate);
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (false, false, false));
    // RFC 3168 §6.1.3: a packet that says so and is marked itself begins anew; §6.1.5: not one outside the window.
    assert_eq!(echo.on_segment(&Segment { ecn: Ecn::Ce, ..reduced }, true), EchoAck::First);
    // RFC 3168 §6.1.5: a retransmission is not ECN-capable.
    assert_eq!(echo.on_segment(&data(Ecn::NotEct), true), EchoAck::Retransmission);
    assert_eq!(echo.on_segment(&data(Ecn::NotEct), false), EchoAck::None);
    assert_eq!(Echo::new(EcnMode::Classic).on_segment(&data(Ecn::NotEct), true), EchoAck::None);
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (false, false, true));
    echo.on_segment(&reduced, true);
    echo.on_segment(&data(Ecn::Ce), false);
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (false, false, false));
}

#[test]
fn dctcp_echo_follows_the_marks_and_tells_every_change() {
    let mut echo = Echo::new(EcnMode::Dctcp);
    let marks = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0];
    let wishes = marks
        .map(|ecn| (echo.on_segment(&data(ecn), true), echo.flags_of_data(Flags::default()), echo.previous_flags()));
    let (none, ece) = (Flags::default(), Flags::ECE);
    assert_eq!(wishes[0], (EchoAck::None, none, ece));
    assert_eq!(wishes[1], (EchoAck::Split, ece, none));
    assert_eq!(wishes[2].0, EchoAck::None);
    assert_eq!(wishes[3], (EchoAck::Split, none, ece));
    assert_eq!(wishes[4].0, EchoAck::None);
    let reduced = Segment { flags: Flags::ACK.with(Flags::CWR), ..data(Ecn::Ect0) };
    assert_eq!(echo.on_segment(&reduced, true), EchoAck::Immediate);
    assert_eq!(echo.on_segment(&Segment { ecn: Ecn::Ce, ..reduced }, true), EchoAck::Split);
}

#[test]
fn accurate_counters_count_packets_of_every_kind_and_payload_bytes() {
    let mut echo = Echo::new(EcnMode::Accecn);
    assert_eq!(bits(echo.flags_of_data(Flags::CWR)), (true, false, true));
    echo.on_segment(&data(Ecn::Ect0), true);
    assert_eq!(echo.on_segment(&data(Ecn::Ce), true), EchoAck::Immediate);
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (true, true, false));
    let ack = Segment { len: 0, ..data(Ecn::Ce) };
    assert_eq!(echo.on_segment(&ack, false), EchoAck::None);
    echo.on_segment(&data(Ecn::Ce), true);
    // 5 + 3 = 8, of which the field holds three bits.
    assert_eq!(bits(echo.flags_of_data(Flags::default())), (false, false, false));
    assert_eq!(echo.option(), Some(EcnBytes { ect0: 1000, ce: 2000, ect1: 0 }));
    assert_eq!(Echo::new(EcnMode::Classic).option(), None);
}

#[test]
fn accurate_echo_comes_at_once_for_the_first_mark_and_then_every_second() {
    let mut echo = Echo::new(EcnMode::Accecn);
    let mut due = |ecn| {
        let now = echo.on_segment(&data(ecn), true) == EchoAck::Immediate;
        if now {
            echo.on_ack_sent();
        }
        now
    };
    let marks = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ce];
    assert_eq!(marks.map(&mut due), [false, true, false, true, false, false, true]);
}

fn accurate(packets: u32, ce: Option<u32>) -> Segment {
    let ecn_bytes = ce.map(|ce| EcnBytes { ce, ..EcnBytes::default() });
    Segment { flags: Flags::ACK.with(ace((INITIAL_CEP + packets) % 8)), ecn_bytes, ..Segment::default() }
}

#[test]
fn one_bit_feedback_marks_all_that_is_delivered() {
    for mode in [EcnMode::Classic, EcnMode::Dctcp] {
        let mut feedback = Feedback::new(mode, EcnHandshake::None);
        let plain = Segment { flags: Flags::ACK, ..Segment::default() };
        let marked = Segment { flags: Flags::ACK.with(Flags::ECE), ..plain };
        assert_eq!(feedback.on_ack(&plain, Bytes(2000), MSS), Marks::default());
        assert_eq!(feedback.on_ack(&marked, Bytes(2000), MSS), Marks { echo: true, ce: Bytes(2000) });
    }
    let marked = Segment { flags: Flags::ECE, ..Segment::default() };
    assert_eq!(Feedback::new(EcnMode::Off, EcnHandshake::None).on_ack(&marked, MSS, MSS), Marks::default());
}

#[test]
fn accurate_feedback_reads_the_byte_counter() {
    let mut feedback = Feedback::new(EcnMode::Accecn, EcnHandshake::None);
    let mut ce = |packets, bytes| feedback.on_ack(&accurate(packets, Some(bytes)), Bytes(2000), MSS);
    assert_eq!(ce(0, 0), Marks::default());
    assert_eq!(ce(2, 1500), Marks { echo: true, ce: Bytes(1500) });
    assert_eq!(ce(2, 1500), Marks::default());
    // A marked ACK of ours has no payload.
    assert_eq!(ce(3, 1500), Marks { echo: true, ce: Bytes::ZERO });
    // An ACK that was overtaken.
    assert_eq!(ce(2, 1000), Marks::default());
    assert_eq!(ce(4, 2500), Marks { echo: true, ce: Bytes(1000) });
}

#[test]
fn accurate_feedback_without_the_option_counts_packets() {
    let mut feedback = Feedback::new(EcnMode::Accecn, EcnHandshake::None);
    let mut ce = |packets, delivered| feedback.on_ack(&accurate(packets, None), Bytes(delivered), MSS);
    assert_eq!(ce(0, 2000), Marks::default());
    assert_eq!(ce(2, 2000), Marks { echo: true, ce: Bytes(2000) });
    assert_eq!(ce(5, 7000), Marks { echo: true, ce: Bytes(3000) });
    // RFC 9768 appendix A.2.1: 20 packets and a difference of 3 may be 3, 11 or 19.
    assert_eq!(ce(8, 20_000), Marks { echo: true, ce: Bytes(19_000) });
    // Nothing moved, and nothing can have cycled.
    assert_eq!(ce(8, 7_000), Marks::default());
}

#[test]
fn bytes_told_by_packets_are_not_told_again_by_the_option() {
    let mut feedback = Feedback::new(EcnMode::Accecn, EcnHandshake::None);
    assert_eq!(feedback.on_ack(&accurate(2, None), Bytes(2000), MSS).ce, Bytes(2000));
    let marks = feedback.on_ack(&accurate(3, Some(3000)), Bytes(1000), MSS);
    assert_eq!(marks, Marks { echo: true, ce: Bytes(1000) });
}

#[test]
fn field_and_counter_stay_together_over_a_long_run() {
    let (mut echo, mut feedback) = (Echo::new(EcnMode::Accecn), Feedback::new(EcnMode::Accecn, EcnHandshake::None));
    let mut told = 0;
    for i in 0..1000_u32 {
        let ecn = if i % 3 == 0 || i % 7 == 0 { Ecn::Ce } else { Ecn::Ect0 };
        echo.on_segment(&data(ecn), true);
        if i % 2 == 1 {
            let ecn_bytes = echo.option().filter(|_| i % 5 != 0);
            let ack = Segment {
                flags: Flags::ACK.with(echo.flags_of_data(Flags::default())),
                ecn_bytes,
                ..Segment::default()
            };
            told += feedback.on_ack(&ack, Bytes(2000), MSS).ce.0;
        }
    }
    assert_eq!(Some(told), echo.option().map(|bytes| u64::from(bytes.ce)));
}
