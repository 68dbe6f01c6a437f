use super::*;

const MSS: Bytes = Bytes(1448);

fn limits(window: u64, in_flight: u64, left_in_buffer: u64) -> TsoLimits {
    TsoLimits {
        mss: MSS,
        cwnd: MSS * window,
        cwnd_room: MSS * (window - in_flight),
        rwnd_room: MSS * 1000,
        unsent: MSS * 1000,
        buffered: MSS * left_in_buffer,
        full: 2,
    }
}

/// Ends of buffers whose last segment was sent alone in recordings of 6.1/reno-drop-one and 6.1/cdg-drop-one, counted in
/// segments, with PSH and without.
#[test]
fn the_recorded_buffers_are_marked() {
    let packet = TsoPacket { written_from: SeqNo::FIRST_DATA, ..TsoPacket::default() };
    let is_marked = |end: u64| packet.is_marked(SeqNo::FIRST_DATA + MSS * end, MSS);
    for end in [626, 670, 934, 1066, 1924, 5928, 9844, 11_450, 12_198, 12_264, 13_034, 14_618, 20_118] {
        assert!(is_marked(end), "{end}");
    }
    for end in [1154, 1946, 3530, 5906, 12_220, 13_012, 13_804, 14_596, 17_764, 18_556] {
        assert!(!is_marked(end), "{end}");
    }
}

#[test]
fn only_a_segment_alone_shows_the_mark() {
    let mut packet = TsoPacket {
        written_from: SeqNo::FIRST_DATA,
        buffers_from: SeqNo::FIRST_DATA + MSS * 10,
        ..TsoPacket::default()
    };
    let marked = SeqNo::FIRST_DATA + MSS * 625;
    assert!(packet.begin(Time::ZERO, marked, &limits(100, 99, 1)));
    assert!(!packet.begin(Time::ZERO, marked, &limits(100, 99, 2)), "within a buffer");
    let last = TsoLimits { unsent: MSS, ..limits(100, 99, 1) };
    assert!(!packet.begin(Time::ZERO, marked, &last), "the write ends there, and has its own mark");
}

#[test]
fn a_packet_is_filled_up_to_its_quota() {
    let filled = |mut limits: TsoLimits| {
        limits.fill();
        limits.buffered.segments(MSS)
    };
    assert_eq!(filled(limits(100, 98, 1)), 2, "one segment of the next buffer");
    assert_eq!(filled(limits(100, 99, 1)), 1, "the window has room for one");
    assert_eq!(filled(limits(100, 90, 5)), 5, "the buffer holds enough");
    assert_eq!(filled(TsoLimits { unsent: MSS, ..limits(100, 90, 1) }), 1, "nothing is left");
    assert_eq!(filled(TsoLimits { full: 44, ..limits(1000, 500, 1) }), 23, "one more buffer at most");
}
