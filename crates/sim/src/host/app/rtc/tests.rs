use super::*;

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn plan() -> RtcPlan {
    let rate = |kbps: u64| Rate::from_bps(kbps * 1000).unwrap();
    RtcPlan {
        rate: rate(1000),
        rate_min: rate(100),
        rate_max: rate(4000),
        fps: 30.0,
        key_every: ms(10_000),
        key_ratio: 3.0,
        packet: Bytes(1200),
        is_paced: false,
        adapts: false,
        report: ms(1000),
        deadline: ms(150),
        has_breaker: true,
    }
}

/// Plays a call of so many seconds over a path without a rate: `arrives` says after how many milliseconds a datagram, of one
/// end, with a number, sent at a time, arrives.
fn play(plan: RtcPlan, seconds: u64, arrives: impl Fn(End, u64, Time) -> Option<u64>) -> (Rtc, RtcSummary, Vec<Bytes>) {
    let end = Time::ZERO + ms(1000 * seconds);
    let mut rtc = Rtc::new(plan, Rng::stream(1, "app"));
    let (mut queue, mut numbers, mut sizes) = (vec![(Time::ZERO, Input::Start)], [0, 0], Vec::new());
    while let Some(next) = (0..queue.len()).min_by_key(|i| (queue[*i].0, *i)) {
        let (now, input) = queue.remove(next);
        if now > end {
            break;
        }
        let mut commands = Vec::new();
        rtc.on(now, input, &mut commands);
        for command in commands {
            match command {
                Command::Wake(at) => queue.push((at, Input::Due)),
                Command::Send { end, bytes, .. } => {
                    let number = numbers[end as usize];
                    numbers[end as usize] += 1;
                    sizes.extend((end == End::Source).then_some(bytes));
                    let reader = if end == End::Source { End::Sink } else { End::Source };
                    if let Some(delay) = arrives(end, number, now) {
                        queue.push((now + ms(delay), Input::Datagram { reader, number, sent_at: now }));
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let summary = rtc.summary(Time::ZERO, end);
    (rtc, summary, sizes)
}

/// draft-ietf-rmcat-gcc-02 §6: rates from 1000 kb/s with these losses.
#[test]
fn loss_based_control_gives_its_vector() {
    let mut rate = 1000e3;
    let rates = [0.0, 0.0, 0.05, 0.12, 0.2, 0.0].map(|loss| {
        rate = adapted(rate, loss);
        rate / 1e3
    });
    for (rate, expected) in rates.iter().zip([1050.0, 1102.5, 1102.5, 1036.35, 932.715, 979.350_75]) {
        assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
    }
}

/// RFC 8083 §4.3.
#[test]
fn the_circuit_breaker_gives_its_vectors() {
    for (group_ms, rtt_ms, report_s, reports) in
        [(33, 100, 1, 3), (33, 100, 5, 3), (500, 100, 1, 5), (2000, 100, 1, 15), (33, 2000, 1, 15)]
    {
        assert_eq!(congested_reports(ms(group_ms), ms(rtt_ms), ms(1000 * report_s)), reports, "{group_ms} {rtt_ms}");
    }
    for (loss, kbps) in [(0.001, 3718.06), (0.01, 1175.76), (0.1, 371.81)] {
        assert!((tcp_rate_bps(Bytes(1200), ms(100), loss) / 1e3 - kbps).abs() < 5e-3, "{loss}");
    }
    assert_eq!(tcp_rate_bps(Bytes(1200), ms(100), 0.0), f64::INFINITY);
}

#[test]
fn a_call_on_a_clean_path_sends_its_rate_and_its_frames_take_the_delay() {
    for is_paced in [false, true] {
        let (_, summary, sizes) = play(RtcPlan { is_paced, ..plan() }, 60, |_, _, _| Some(40));
        let rate = summary.rate_mean_bps.unwrap();
        assert!((rate / 1e6 - 1.0).abs() < 0.02, "{rate}");
        // Of the last frame, a key frame of at most 18.6 kB, what is paced has yet to leave.
        let sent = 8.0 * sizes.iter().map(|size| size.as_f64()).sum::<f64>() / 60.0;
        assert!(sent <= rate && rate - sent < 8.0 * 19e3 / 60.0, "{sent} {rate}");
        assert!(sizes.iter().all(|size| *size <= Bytes(1200)));
        assert!(summary.frames >= 1797 && summary.freeze_s == 0.0 && summary.breaker_s.is_none());
        let [median, mean] = [summary.frame_delay_p50_s, summary.frame_delay_s].map(Option::unwrap);
        if is_paced {
            // Four packets over 33 ms: the last leaves after three quarters.
            assert!((0.06..0.07).contains(&median), "{median}");
        } else {
            assert_eq!((median, summary.frames_late_ratio), (0.04, Some(0.0)));
            assert!((mean - 0.04).abs() < 1e-12);
        }
    }
}

#[test]
fn key_frames_are_larger_and_the_mean_holds() {
    let mut rtc = Rtc::new(plan(), Rng::stream(1, "app"));
    let sizes: Vec<f64> = (0..30_000).map(|number| rtc.frame_size(number) as f64).collect();
    let mean = |of: &mut dyn Iterator<Item = f64>| {
        let all: Vec<f64> = of.collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let nominal = 1e6 / 240.0;
    assert!((mean(&mut sizes.iter().copied()) / nominal - 1.0).abs() < 0.005);
    let keys = mean(&mut sizes.iter().copied().step_by(300));
    let others = mean(&mut sizes.iter().copied().enumerate().filter(|(i, _)| i % 300 != 0).map(|(_, size)| size));
    assert!((keys / others - 3.0).abs() < 0.2, "{keys} {others}");
    let bounds = [0.5 * 300.0 / 302.0 * nominal, 1.5 * 3.0 * 300.0 / 302.0 * nominal];
    assert!(sizes.iter().all(|size| *size >= bounds[0] - 1.0 && *size <= bounds[1] + 1.0));
}

#[test]
fn a_call_that_nobody_hears_ends() {
    // Reports are lost: none for five seconds.
    let (_, summary, _) = play(plan(), 60, |end, _, _| (end == End::Source).then_some(40));
    assert_eq!(summary.breaker_rule, Some(BreakerRule::RtcpTimeout));
    assert_eq!(summary.breaker_s, Some(6.0));
    // From 10 s on nothing arrives: the first report that says so comes at 11.04 s at the latest, five stand still.
    let (_, summary, _) =
        play(plan(), 60, |end, _, at| (end == End::Sink || at < Time::ZERO + ms(10_000)).then_some(40));
    assert_eq!(summary.breaker_rule, Some(BreakerRule::MediaTimeout));
    assert!((14.0..17.0).contains(&summary.breaker_s.unwrap()), "{:?}", summary.breaker_s);
    let (_, summary, _) = play(RtcPlan { has_breaker: false, ..plan() }, 60, |_, _, _| None);
    assert_eq!((summary.breaker_s, summary.frames_late_ratio), (None, Some(1.0)));
    assert!((summary.rate_mean_bps.unwrap() / 1e6 - 1.0).abs() < 0.02);
}

/// With every second packet lost TCP would have 8 x 1200 / (0.08 sqrt(1/3)) = 208 kb/s; ten times that are 2.08 Mb/s.
#[test]
fn congestion_ends_what_is_ten_times_as_fast_as_tcp() {
    let half = |end: End, number: u64, _: Time| (end == End::Sink || number.is_multiple_of(2)).then_some(40);
    let fast = Rate::from_bps(3_000_000).unwrap();
    let (_, summary, _) = play(RtcPlan { rate: fast, key_every: ms(500), ..plan() }, 60, half);
    assert_eq!(summary.breaker_rule, Some(BreakerRule::Congestion));
    // Five reports in a row with a group of pictures of half a second.
    assert!((5.0..6.5).contains(&summary.breaker_s.unwrap()), "{:?}", summary.breaker_s);
    let (_, summary, _) = play(RtcPlan { key_every: ms(500), ..plan() }, 60, half);
    assert_eq!(summary.breaker_rule, None);
}

#[test]
fn the_rate_follows_the_loss_within_its_bounds() {
    let adapts = RtcPlan { adapts: true, has_breaker: false, ..plan() };
    let (rtc, ..) = play(adapts.clone(), 60, |_, _, _| Some(40));
    assert_eq!(rtc.rate_bps, 4e6);
    let (rtc, ..) = play(adapts.clone(), 60, |end, number, _| (end == End::Sink || number % 3 > 0).then_some(40));
    assert_eq!(rtc.rate_bps, 1e5);
    // Between 2 and 10 % of loss it stays.
    let (rtc, ..) = play(adapts, 60, |end, number, _| (end == End::Sink || number % 20 > 0).then_some(40));
    assert_eq!(rtc.rate_bps, 1e6);
}

#[test]
fn an_outage_is_a_freeze_and_copies_count_once() {
    // Nothing arrives from 5 s to 7 s.
    let outage = |_: End, _: u64, at: Time| {
        let ms = at.as_nanos() / 1_000_000;
        (!(5000..7000).contains(&ms)).then_some(40)
    };
    let (_, summary, _) = play(plan(), 20, outage);
    assert!((2.0..2.1).contains(&summary.freeze_s), "{}", summary.freeze_s);
    assert!((summary.frames_late_ratio.unwrap() - 0.1).abs() < 0.002, "{:?}", summary.frames_late_ratio);
    let mut receiver = Receiver::default();
    assert!(receiver.add(70) && !receiver.add(70) && receiver.add(3));
    assert_eq!((receiver.next, receiver.received), (71, 2));
}
