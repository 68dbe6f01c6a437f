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
