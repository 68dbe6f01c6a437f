use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::{MSS, near};
use crate::cc::signals::{Head, State};
use crate::seq::SeqNo;

/// Vectors computed apart from this code: base 0.1 s, ssthresh 2, T_L = 2, v_timeout 0.3 s.
#[derive(Clone, Copy)]
struct Round {
    w: f64,
    /// v, the last clean sample, and the mean of the round.
    v: f64,
    rtt: f64,
    /// F = N.
    outstanding: u64,
    losses: f64,
    loss_probability: f64,
    prev_rtt: f64,
}

const V1: Round =
    Round { w: 20.0, v: 0.12, rtt: 0.12, outstanding: 20, losses: 0.0, loss_probability: 0.0, prev_rtt: 0.0 };
const V2: Round = Round { losses: 1.0, loss_probability: 2.0 / 3.0, ..V1 };

fn ewphcc(profile: &str) -> Ewphcc {
    let config = CcConfig::by_name("ewphcc", Some(profile), &[]).unwrap();
    let setup =
        Setup { initial_ssthresh: MSS * 2, handshake_rtt: Some(Span::from_millis(100)), ..Setup::plain(MSS, MSS * 2) };
    Ewphcc::new(&config.values, &setup)
}

/// The ACK that ends the round.
fn decided(cc: &mut Ewphcc, round: &Round) -> f64 {
    cc.vegas.w = round.w;
    cc.vegas.rtt = round.v;
    cc.vegas.base = 0.1;
    cc.vegas.timeout = 0.3;
    (cc.vegas.sum, cc.vegas.samples) = (round.rtt, 1);
    cc.losses = round.losses;
    cc.loss_probability = round.loss_probability;
    cc.prev_rtt = round.prev_rtt;
    // N = nxt - begseq = F = what is outstanding and one more.
    let pipe = MSS * (round.outstanding - 1);
    let view = View {
        now: Time::ZERO + Span::from_millis(1000),
        mss: MSS,
        state: State::Open,
        snd_una: cc.vegas.round_from + MSS,
        pipe,
        flight: pipe,
        rwnd: MSS * 1000,
        cwnd_limited: true,
        ..View::default()
    };
    cc.on_ack(&Ack { cumulative_segments: 1, ..Ack::default() }, &view);
    cc.vegas.w
}

#[track_caller]
fn assert_near(a: f64, b: f64) {
    assert!(near(a, b), "{a} is not {b}");
}

/// V1: without a loss nothing is selected, and the window doubles in congestion avoidance.
#[test]
fn v1_doubles() {
    let mut cc = ewphcc("code");
    assert_near(decided(&mut cc, &V1), 40.0);
}

/// V2: control. V3: the average of RTTs follows one control round later.
#[test]
fn v2_v3_control() {
    let mut cc = ewphcc("code");
    assert_near(decided(&mut cc, &V2), 90.712249);
    assert_near(cc.delay_target, 100.0);
    assert_eq!((cc.delay_probability, cc.prev_rtt), (0.0, 0.12));
    let mut cc = ewphcc("code");
    assert_near(decided(&mut cc, &Round { prev_rtt: 0.12, ..V2 }), 89.015232);
    assert_near(cc.delay_probability, 0.024);
}

/// V4: a window that the receiver holds back no longer passes the threshold and doubles.
#[test]
fn v4_window_limited_doubles() {
    let mut cc = ewphcc("code");
    assert_near(decided(&mut cc, &Round { w: 90.71, prev_rtt: 0.12, ..V2 }), 181.42);
}

#[test]
fn v5_critical() {
    let mut cc = ewphcc("code");
    let round = Round { w: 3.0, outstanding: 3, v: 0.11, rtt: 0.2, ..V2 };
    assert_near(decided(&mut cc, &round), 2.0);
}

#[test]
fn v6_timeout_halves() {
    let mut cc = ewphcc("code");
    let round = Round { w: 2.0, outstanding: 2, v: 0.5, rtt: 0.6, ..V2 };
    assert_near(decided(&mut cc, &round), 1.0);
}

/// V7: the loss "probability" after three expirations with e = 0.3 s, and b = |(1 - P_L) T_L|.
#[test]
fn v7_loss_probability_passes_one() {
    let mut cc = ewphcc("code");
    for (probability, b) in [(0.666667, 0.667), (1.866667, 1.733), (3.493333, 4.987)] {
        let view = View { now: Time::ZERO + Span::from_millis(300), mss: MSS, rwnd: MSS * 20, ..View::default() };
        let event = Congestion {
            cause: Cause::HeadTimeout,
            state_before: State::Open,
            flight: MSS * 20,
            first: true,
            again: false,
            loss_window: MSS,
            head: Some(Head { sent_at: Time::ZERO, transmissions: 1 }),
        };
        cc.on_congestion(&event, &view);
        assert!((cc.loss_probability - probability).abs() < 1e-6, "{} {probability}", cc.loss_probability);
        assert!((((1.0 - cc.loss_probability) * cc.loss_target).abs() - b).abs() < 1e-3, "{b}");
    }
}

/// The window stops at 2^31 segments, and that is counted.
#[test]
fn endless_doubling_saturates() {
    let mut cc = ewphcc("code");
    let mut w = 20.0;
    for _ in 0..40 {
        w = decided(&mut cc, &Round { w, ..V1 });
    }
    // 20 * 2^26 is the last below 2^31.
    assert_eq!((w, cc.saturated), (MAX_WINDOW, 14.0));
}

/// With everything acknowledged min_thr is infinite: not selected.
#[test]
fn nothing_outstanding_doubles() {
    let mut cc = ewphcc("code");
    let w = cc.vegas.w;
    cc.losses = 1.0;
    let round = RoundEnd { outstanding: 0.0, expected: 0.0, actual: 10.0, queueing: 0.01, sampled: true };
    cc.decide(&round, &View::default());
    assert_eq!(cc.vegas.w, 2.0 * w);
}

/// `code_fixed`: T_D = 2 base / Dq = 10, P_D from RTTs in base RTTs, and no growth of a window that is not used.
#[test]
fn fixed_profile() {
    let mut cc = ewphcc("code_fixed");
    let w = decided(&mut cc, &Round { prev_rtt: 0.12, ..V2 });
    // P_D = 0.2 * 1.2, a = 7.6, b = 2/3
    assert_near(w, 20.0 + libm::sqrt((7.6 * 7.6 + 4.0 / 9.0) / 2.0));
    let mut cc = ewphcc("code_fixed");
    let round = RoundEnd { outstanding: 20.0, expected: 200.0, actual: 200.0, queueing: 0.0, sampled: true };
    let w = cc.vegas.w;
    cc.decide(&round, &View::default());
    assert_eq!(cc.vegas.w, w);
}

/// A slot that was never used makes an ACK of everything look like an expiry, as old as the connection and
/// a second, on the two ACKs after a retransmission.
#[test]
fn ghost_losses() {
    for (profile, ghosts) in [("code", 1.0), ("code_fixed", 0.0)] {
        let mut cc = ewphcc(profile);
        let view = View { now: Time::ZERO + Span::from_millis(1000), mss: MSS, rwnd: MSS * 20, ..View::default() };
        let event = Congestion {
            cause: Cause::DupAck,
            state_before: State::Open,
            flight: MSS * 4,
            first: true,
            again: false,
            loss_window: MSS,
            head: Some(Head { sent_at: Time::ZERO + Span::from_millis(900), transmissions: 1 }),
        };
        cc.on_congestion(&event, &view);
        assert_eq!(cc.losses, 0.0, "the third duplicate is no expiry");
        let new_data = Ack { cumulative_segments: 1, ..Ack::default() };
        cc.on_ack(&new_data, &View { snd_una: SeqNo(4001), snd_nxt: SeqNo(4001), ..view });
        assert_eq!((cc.ghosts, cc.losses), (ghosts, ghosts), "{profile}");
        // P_L = 0.2 * 1 / 2 s
        assert_near(cc.loss_probability, 0.1 * ghosts);
        // A segment that was sent is outstanding, and young: no more worries.
        cc.on_ack(&new_data, &View { snd_una: SeqNo(5001), flight: MSS, ..view });
        cc.on_ack(&new_data, &View { snd_una: SeqNo(6001), snd_nxt: SeqNo(6001), ..view });
        assert_eq!(cc.losses, ghosts, "{profile}");
    }
}
