//! The DCF against tables and formulas: saturated stations in one cell.

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::build;
use super::errors::{Mode, RateMode};
use super::frame::Content;
use super::medium::{Listener, Medium};
use super::phy::{Coding, Phy};
use super::queue::QueueOrder;
use super::receiver::Reception;
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::engine::trace::{FrameKind, Record, Sink};
use crate::ids::{ChannelId, StationId};
use crate::mobility::{Point, Track};
use crate::packet::message::Message;
use crate::radio::dcf::DcfMac;
use crate::radio::dcf::rate_control::RateControl;
use crate::radio::dcf::rules::DcfRules;
use crate::radio::service::{MacIndication, MacRequest, TrafficClass};
use crate::radio::streams::RandomStream;
use crate::scenario::{RadioDef, RadioProfile};

/// Stations one metre apart, all in range of each other.
fn cell(stations: u32) -> Medium {
    let others = |me| (0..stations).filter(move |other| *other != me);
    let listener = |other| Listener { station: StationId(other), power: 1e-6, delay: Span::from_nanos(3) };
    Medium::given((0..stations).map(|me| others(me).map(listener).collect()).collect())
}

fn rules(phy: Phy) -> DcfRules {
    let rate_modes = [phy.data_rate, phy.control_rate, phy.basic_rate];
    let header = |rate| build::dcf::header(&phy, rate);
    let rate_mode = |rate| RateMode { rate, ratio: 100.0, sensitivity: 0.0, mode: Mode::Dbpsk, header: header(rate) };
    DcfRules {
        phy,
        reception: Reception::Sinr { sensitivity: 1e-12, energy_detect: 1e-9, noise: 4e-13 },
        frame_error: 0.0,
        rate_modes: rate_modes.map(rate_mode).to_vec(),
        basic_rates: vec![phy.control_rate],
        station_rates: Vec::new(),
        rate_control: RateControl::Fixed,
        mac_overhead: Bytes(36),
        rts_threshold: Bytes(1 << 20),
        short_retries: 7,
        long_retries: 4,
        queue_limit: 50,
        queue_order: QueueOrder::Fifo,
        queue_lifetime: None,
        draws_below_window: false,
        backs_off_when_idle: false,
        expects_control_rate: false,
        eifs_after_timeout: true,
        responds_if_idle: false,
        whole_micros: false,
        rts_nav_reset: true,
        heeds_data_range: false,
        promiscuous: false,
        block_acks: false,
        counts_single_mpdus: false,
        aggregates: false,
    }
}

fn dsss(data: &str, control: &str, preamble: u64) -> Phy {
    Phy {
        coding: Coding::Dsss { preamble: Span::from_micros(preamble), whole_micros: true },
        slot: Span::from_micros(20),
        sifs: Span::from_micros(10),
        ifs_slots: 2,
        cw_min: 31,
        cw_max: 1023,
        data_rate: data.parse().unwrap(),
        control_rate: control.parse().unwrap(),
        basic_rate: "1Mbps".parse().unwrap(),
    }
}

fn ofdm(data: &str, control: &str) -> Phy {
    Phy {
        coding: Coding::Ofdm { extension: Span::ZERO },
        slot: Span::from_micros(9),
        sifs: Span::from_micros(16),
        cw_min: 15,
        basic_rate: "6Mbps".parse().unwrap(),
        ..dsss(data, control, 0)
    }
}

/// Throughput of saturated stations.
struct Saturated {
    /// Frames delivered per second.
    rate: f64,
    /// Fraction of attempts without a response.
    failures: f64,
}

/// Saturated stations send frames of `size` to their neighbour.
fn saturate(rules: DcfRules, medium: Medium, senders: u32, size: Bytes, secs: u64, seed: u64) -> Saturated {
    saturate_core(&mut Context::new(0, None), rules, medium, senders, size, secs, seed)
}

fn saturate_core(
    ctx: &mut Context,
    rules: DcfRules,
    medium: Medium,
    senders: u32,
    size: Bytes,
    secs: u64,
    seed: u64,
) -> Saturated {
    let stations = medium.stations() as u32;
    let mut mac = DcfMac::new(ChannelId(0), rules, medium, |i, what: RandomStream| {
        Rng::stream(seed, &format!("station/{i}/{}", what.name()))
    });
    let mut delivered = 0_u64;
    ctx.schedule(Time::ZERO + Span::from_millis(secs * 1000), Event::Stop);
    for i in 0..senders {
        fill(&mut mac, ctx, StationId(i), stations, size);
    }
    while let Some(event) = ctx.next() {
        let Event::Radio { event, .. } = event else { break };
        mac.on_event(ctx, event);
        let touched = match event {
            RadioEvent::FrameEnd { station, .. }
            | RadioEvent::ChannelAccess { station }
            | RadioEvent::Respond { station }
            | RadioEvent::ExchangeOver { station }
            | RadioEvent::RoutingTimer { station }
            | RadioEvent::NeighborTimer { station }
            | RadioEvent::ReassemblyTimeout { station }
            | RadioEvent::Repeat { station } => station,
        };
        delivered += mac
            .air
            .indications
            .drain(..)
            .filter(|indication| matches!(indication, MacIndication::Message { .. }))
            .count() as u64;
        if touched.0 < senders {
            fill(&mut mac, ctx, touched, stations, size);
        }
    }
    let counters: Vec<_> = (0..senders).map(|i| mac.counters(StationId(i))).collect();
    let attempts: u64 = counters.iter().map(|c| c.data_frames).sum();
    let failed: u64 = counters.iter().map(|c| c.failures).sum();
    Saturated { rate: delivered as f64 / secs as f64, failures: failed as f64 / attempts as f64 }
}

fn fill(mac: &mut DcfMac, ctx: &mut Context, at: StationId, stations: u32, size: Bytes) {
    while mac.waiting(at) < 2 {
        let content = Content::Message(mac.air.messages.insert(Message::Dsdv(Vec::new())));
        let to = Some(StationId((at.0 + 1) % stations));
        mac.enqueue(ctx, at, MacRequest { content, to, size, since: ctx.now, class: TrafficClass::Routing });
    }
}

/// ns-2's DSDV update of 40 routes, 500 B: 4464 us at 1 Mb/s with the 34 B of its MAC.
#[test]
fn an_update_of_forty_routes() {
    let ns2 = RadioDef { profile: RadioProfile::Ns2, ..RadioDef::default() };
    let rules = build::dcf::build(&build::with_defaults(&ns2, "").unwrap()).rules;
    let airtime = rules.phy.airtime(Bytes(500) + rules.mac_overhead, rules.phy.basic_rate);
    assert_eq!(airtime, Span::from_micros(4464));
}

/// UDP goodput of one sender in Mb/s. The sender's own first cycle and the one cut off at the end
/// are 2 in 10,000; the mean of a thousand draws per second over 60 s stays within 0.1 %.
#[test]
fn one_hop_goodput() {
    let rows: [(Phy, u64, f64, Option<f64>); 7] = [
        (dsss("1Mbps", "1Mbps", 192), 1000, 0.8531, None),
        (dsss("2Mbps", "1Mbps", 192), 1472, 1.6799, Some(1.5321)),
        (dsss("11Mbps", "1Mbps", 192), 1472, 5.9355, Some(4.4271)),
        (dsss("11Mbps", "2Mbps", 192), 512, 3.3328, None),
        (dsss("11Mbps", "2Mbps", 96), 1472, 6.7834, Some(5.6507)),
        (ofdm("6Mbps", "6Mbps"), 1472, 5.2724, Some(4.9867)),
        (ofdm("54Mbps", "24Mbps"), 1472, 29.9263, Some(24.4569)),
    ];
    for (phy, payload, basic, rts) in rows {
        for (threshold, expected) in [(1 << 20, Some(basic)), (0, rts)] {
            let Some(expected) = expected else { continue };
            let rules = DcfRules { rts_threshold: Bytes(threshold), ..rules(phy) };
            let measured = saturate(rules, cell(2), 1, Bytes(payload + 28), 60, 1);
            let goodput = measured.rate * payload as f64 * 8e-6;
            assert!((goodput / expected - 1.0).abs() < 0.003, "{phy:?} rts {threshold}: {goodput} of {expected}");
        }
    }
}

/// n saturated stations, 1500 B datagrams; a Monte Carlo simulation of the standard's countdown, within 1 %.
///
/// The length of a cycle, from one success to the next, varies by less than half its mean, so that the mean of 22,000
/// of them (60 s of 11b, 12 s of 11a, the fewest at 50 stations) is within 0.34 %: the limit is three standard errors
/// away and any bias as large as the limit shows.
#[test]
fn saturated_cell() {
    let b = [(1, 6.042), (2, 6.301), (5, 6.150), (10, 5.801), (20, 5.375), (50, 4.657)];
    let a = [(1, 30.340), (2, 30.568), (5, 28.718), (10, 26.771), (20, 24.468), (50, 20.753)];
    for (phy, table, secs) in [(dsss("11Mbps", "1Mbps", 192), b, 60), (ofdm("54Mbps", "24Mbps"), a, 12)] {
        for (n, expected) in table {
            let goodput = saturate(rules(phy), cell(n.max(2)), n, Bytes(1500), secs, 1).rate * 1500.0 * 8e-6;
            assert!(
                (goodput / expected - 1.0).abs() < 0.01,
                "{n} stations at {}: {goodput} of {expected}",
                phy.data_rate
            );
        }
    }
}

/// Fraction of attempts that collide, with ten stations and no retry limit.
#[test]
fn collision_probability() {
    for (phy, expected) in [(dsss("11Mbps", "1Mbps", 192), 0.2855), (ofdm("54Mbps", "24Mbps"), 0.3655)] {
        let rules = DcfRules { short_retries: u32::MAX, ..rules(phy) };
        let measured = saturate(rules, cell(10), 10, Bytes(1500), 60, 1).failures;
        assert!((measured - expected).abs() < 0.005, "{}: {measured} of {expected}", phy.data_rate);
    }
}

/// Every frame is in error with the same probability, before the MAC: of two stations that hear no others, an RTS is
/// answered with 0.9², and so is a data frame; a broadcast arrives with 0.9. Five standard errors are allowed.
#[test]
fn frames_in_error_before_the_mac() {
    for (threshold, survives) in [(0, 0.81), (1 << 20, 0.81)] {
        let rules = DcfRules {
            frame_error: 0.1,
            rts_threshold: Bytes(threshold),
            short_retries: u32::MAX,
            long_retries: u32::MAX,
            ..rules(dsss("11Mbps", "11Mbps", 96))
        };
        let measured = saturate(rules, cell(2), 1, Bytes(200), 60, 1);
        // Attempts are data frames: with RTS 1/0.81 RTS precede each, and a failed RTS is a failure as well.
        let data_failures = if threshold == 0 { measured.failures - (1.0 / survives - 1.0) } else { measured.failures };
        let attempts = measured.rate * 60.0 / survives;
        let error = 5.0 * (survives * (1.0 - survives) / attempts).sqrt() * if threshold == 0 { 2.0 } else { 1.0 };
        assert!((1.0 - data_failures - survives).abs() < error, "{threshold}: {data_failures} ± {error}");
    }
}

/// Data frames by second and rate in Mb/s.
#[derive(Debug, Default)]
struct RateLog(std::collections::BTreeMap<(u64, u64), u64>);

impl Sink for RateLog {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        if let Record::Frame { frame, .. } = record
            && frame.kind == FrameKind::Data
        {
            *self.0.entry((now.as_nanos() / 1_000_000_000, frame.rate.as_bps() / 1_000_000)).or_default() += 1;
        }
    }

    fn finish(self: Box<Self>) -> String {
        self.0.iter().map(|((second, rate), frames)| format!("{second} {rate} {frames}\n")).collect()
    }
}

/// By second, the most frequent data rate between two stations, one of which moves away from 10 m at a speed in m/s.
fn usual_rates(radio: &str, speed: f64, secs: u64) -> Vec<u64> {
    let def: RadioDef = serde_json::from_str(radio).unwrap();
    let radio = build::dcf::build(&build::with_defaults(&def, "radio").unwrap());
    let at = |x: f64| Point { x, y: 0.0, z: 0.0 };
    let moving = Track::straight(at(10.0), at(speed));
    let medium = radio.medium(vec![Track::Fixed(at(0.0)), moving]);
    let mut ctx = Context::new(0, Some(Box::<RateLog>::default()));
    saturate_core(&mut ctx, radio.rules, medium, 1, Bytes(1500), secs, 1);
    let log = ctx.sink.take().map(Sink::finish).unwrap_or_default();
    let mut usual = vec![(0, 0); secs as usize];
    for line in log.lines() {
        let words: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        usual[words[0] as usize] = usual[words[0] as usize].max((words[2], words[1]));
    }
    usual.into_iter().map(|(_, rate)| rate).collect()
}

/// The highest rate nearby, with distance the rates that the receiver still hears. 54 Mb/s have a range of 24 m, 36 of 35 m, 24 of
/// 48 m, 18 of 60 m (20 dBm, log-distance with exponent 3 at 5150 MHz; sensitivities of -68, -73, -77 and -80 dBm).
#[test]
fn rate_fallback_follows_the_distance() {
    let radio = r#"{"standard": "a", "rate_control": "arf"}"#;
    assert_eq!(usual_rates(radio, 0.0, 5), [54; 5]);
    let leaving = usual_rates(radio, 2.0, 28);
    assert_eq!(leaving[..7], [54; 7], "{leaving:?}");
    assert_eq!(leaving[8..12], [36; 4], "{leaving:?}");
    assert_eq!(leaving[14..18], [24; 4], "{leaving:?}");
    assert_eq!(leaving[20..24], [18; 4], "{leaving:?}");
    let by_errors = usual_rates(r#"{"profile": "ns3", "rate_control": "arf", "power": "20dBm"}"#, 2.0, 28);
    assert_eq!(by_errors[..10], [54; 10], "{by_errors:?}");
    assert!(by_errors[21..26].iter().all(|rate| *rate <= 24), "{by_errors:?}");
    assert_eq!(usual_rates(r#"{"standard": "a", "data_rate": "12Mbps"}"#, 0.0, 2), [12; 2]);
}

/// Events and time per frame of 40 saturated stations.
#[test]
#[ignore = "prints what a crowded cell costs"]
fn cost_of_a_crowded_cell() {
    for phy in [dsss("11Mbps", "1Mbps", 192), ofdm("54Mbps", "24Mbps")] {
        let mut ctx = Context::new(0, Some(Box::<RateLog>::default()));
        saturate_core(&mut ctx, rules(phy), cell(40), 40, Bytes(1500), 30, 1);
        let log = ctx.sink.take().map(Sink::finish).unwrap_or_default();
        let data: u64 = log.lines().filter_map(|line| line.split(' ').next_back()?.parse::<u64>().ok()).sum();
        println!("{}: {data} data frames, {} events", phy.data_rate, ctx.events);
    }
}
