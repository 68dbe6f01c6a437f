use super::*;
use crate::cc::driver::{Driver, MSS};
use crate::cc::{CcConfig, Setup};

fn search(drain: bool) -> Exit {
    Exit::Search(SearchConfig { drain, ..SearchConfig::default() })
}

/// `cc` with this exit, ten segments at the start.
fn started(cc: &str, profile: &str, exit: Exit, paced: bool) -> Driver {
    let mut driver = Driver::new(cc, profile, &[], 10, None);
    let config = CcConfig::by_name(cc, Some(profile), &[]).unwrap();
    let setup = Setup { now: driver.view.now, paced, ..Setup::plain(MSS, MSS * 10) };
    driver.cc = StartConfig { exit, ..StartConfig::default() }.around(config.build(&setup), &config, &setup);
    driver
}

/// Everything outstanding is acknowledged, and a hundred segments leave.
fn new_round(driver: &mut Driver) {
    driver.view.snd_una = driver.view.snd_nxt;
    driver.view.snd_nxt += MSS * 100;
}

#[test]
fn what_an_ack_may_add_is_the_algorithms_but_for_those_that_count_bytes() {
    for (cc, profile, exit, paced, window) in [
        ("reno", "rfc", Exit::Loss, false, 11.0),
        ("reno", "linux", Exit::Loss, false, 30.0),
        ("yeah", "linux", Exit::HyStart, false, 30.0),
        ("compound", "paper", Exit::HyStart, false, 11.0),
        ("reno", "rfc", Exit::HyStartPlusPlus, false, 18.0),
        ("reno", "rfc", Exit::HyStartPlusPlus, true, 30.0),
        ("reno", "rfc", search(true), false, 30.0),
    ] {
        let mut driver = started(cc, profile, exit, paced);
        driver.ack(20, Some(100.0));
        assert_eq!(driver.cwnd(), window, "{cc} {exit:?}");
    }
}

/// The window is handed over before the algorithm answers to congestion, and nothing is left of the start then.
#[test]
fn the_algorithm_answers_to_the_window_of_the_start() {
    for cc in ["tahoe", "reno", "newreno", "cubic", "bic", "highspeed", "scalable", "htcp", "westwood", "veno", "yeah"]
    {
        let profile = crate::cc::find(cc).unwrap().profiles[0].name;
        let mut driver = started(cc, profile, Exit::Loss, false);
        (0..40).for_each(|_| driver.ack(1, Some(100.0)));
        assert_eq!(driver.cwnd(), 50.0, "{cc}");
        assert!(driver.cc.hand_over().is_none(), "{cc}");
        driver.congestion(Cause::Rack);
        driver.cc = driver.cc.hand_over().unwrap_or_else(|| panic!("{cc}"));
        assert!(driver.ssthresh() < 50.0 && driver.ssthresh() >= 2.0, "{cc}: {}", driver.ssthresh());
    }
}

#[test]
fn the_start_is_over_at_the_threshold_and_what_is_left_counts_beyond() {
    let mut driver = started("reno", "linux", Exit::Loss, false);
    let config = CcConfig::by_name("reno", Some("linux"), &[]).unwrap();
    let setup = Setup { initial_ssthresh: MSS * 12, ..Setup::plain(MSS, MSS * 10) };
    driver.cc = StartConfig::default().around(config.build(&setup), &config, &setup);
    driver.ack(2 + 11, Some(100.0));
    assert_eq!(driver.cwnd(), 12.0);
    assert!(driver.cc.hand_over().is_some());
    let mut plain = Driver::new("reno", "linux", &[], 10, Some(12));
    plain.ack(13, Some(100.0));
    plain.ack(1, Some(100.0));
    assert_eq!(plain.cwnd(), 13.0, "the eleven left over and one more are a window");
}

/// HyStart serves every slow start: it stays around the algorithm.
#[test]
fn hystart_stays() {
    let mut driver = started("reno", "linux", Exit::HyStart, false);
    (0..30).for_each(|_| driver.ack(1, Some(100.0)));
    new_round(&mut driver);
    for _ in 0..12 {
        driver.pass(Span::from_millis(3));
        driver.ack(1, Some(150.0));
    }
    assert!(driver.ssthresh() < 60.0, "{}", driver.ssthresh());
    assert_eq!(driver.internal("start"), 0.0);
    driver.cc = driver.cc.hand_over().expect("the start is over");
    assert!(driver.cc.hand_over().is_none(), "what is left stays");
    driver.congestion(Cause::Timeout);
    assert_eq!(driver.cwnd(), 1.0);
    // The slow start after the time-out, which would end at its ssthresh, ends where delays rise.
    driver.cc.begin(Window { cwnd: MSS * 20, ssthresh: MSS * 500 });
    new_round(&mut driver);
    (0..12).for_each(|_| driver.ack(1, Some(100.0)));
    new_round(&mut driver);
    for _ in 0..12 {
        driver.pass(Span::from_millis(3));
        driver.ack(1, Some(150.0));
    }
    assert!(driver.ssthresh() < 60.0, "{}", driver.ssthresh());
}

#[test]
fn a_restart_after_idle_ends_the_start() {
    let mut driver = started("reno", "linux", search(true), false);
    (0..40).for_each(|_| driver.ack(1, Some(100.0)));
    driver.cc.on_idle(Span::from_millis(900), &driver.view);
    assert!(driver.cc.hand_over().is_none(), "nothing shrinks within a time-out");
    driver.cc.on_idle(Span::from_millis(1100), &driver.view);
    assert!(driver.cc.hand_over().is_some());
}

#[test]
fn conservative_slow_start_is_shown() {
    let mut driver = started("reno", "rfc", Exit::HyStartPlusPlus, false);
    assert_eq!(driver.internal("start"), 1.0);
    for rtt in [100.0, 120.0] {
        new_round(&mut driver);
        (0..10).for_each(|_| driver.ack(1, Some(rtt)));
    }
    assert_eq!(driver.internal("start"), 2.0);
}

/// The algorithm inside has a timer of its own, which must not find the window of before the jump.
#[test]
fn a_timer_within_a_retreat_leaves_the_start_alone() {
    let config = CcConfig::by_name("westwood", Some("ns3"), &[]).unwrap();
    let start = StartConfig { begin: Begin::Jump(MSS * 100), ..StartConfig::default() };
    let setup = Setup::plain(MSS, MSS * 10);
    let mut driver = Driver::new("reno", "linux", &[], 10, None);
    driver.cc = start.around(config.build(&setup), &config, &setup);
    driver.view.cwnd_limited = true;
    driver.ack(1, Some(100.0));
    assert_eq!((driver.internal("start"), driver.cwnd()), (4.0, 100.0));
    driver.congestion(Cause::DupAck);
    let retreat = (driver.internal("start"), driver.cwnd());
    driver.cc.on_timer(&driver.view);
    assert_eq!(((driver.internal("start"), driver.cwnd()), retreat.0), (retreat, 6.0));
}

/// An episode whose losses were none may end without a window to return to: no recovery end is told.
#[test]
fn rapid_start_is_over_with_the_episode() {
    let config = CcConfig::by_name("reno", Some("linux"), &[]).unwrap();
    let start = StartConfig { growth: Growth::Rapid, ..StartConfig::default() };
    let setup = Setup::plain(MSS, MSS * 10);
    let mut driver = Driver::new("reno", "linux", &[], 10, None);
    driver.cc = start.around(config.build(&setup), &config, &setup);
    driver.ack(10, Some(100.0));
    driver.congestion(Cause::Sack);
    driver.view.state = State::Recovery;
    driver.ack(1, Some(100.0));
    assert_eq!((driver.internal("start"), driver.cc.owns_window()), (1.0, true));
    driver.view.state = State::Disorder;
    driver.ack(1, Some(100.0));
    assert_eq!((driver.internal("start"), driver.cc.owns_window()), (0.0, false));
}
