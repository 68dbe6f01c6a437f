//! The engine against the reference DCF of `tests/reference_dcf`, which steps slot by slot: both must transmit the same
//! frames at the same nanoseconds, over random topologies, PHYs, reception models and traffic.

#[path = "../../tests/reference_dcf/mod.rs"]
mod reference;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use self::reference::{AirFrame, Kind, Motion, ReceptionModel, ReferenceDcf, Request, Setup, Timing};
use super::build;
use super::build::dcf::DcfRadio;
use super::frame::Content;
use super::frame_log::FrameLog;
use super::phy::Phy;
use super::queue::QueueOrder;
use super::receiver::Reception;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::ids::{ChannelId, FlowId, StationId};
use crate::mobility::{Point, Track};
use crate::packet::message::Message;
use crate::radio::dcf::DcfMac;
use crate::radio::service::{MacRequest, TrafficClass};
use crate::radio::streams::RandomStream;
use crate::scenario::RadioDef;

/// One comparison.
struct Case {
    name: String,
    radio: DcfRadio,
    motions: Vec<Motion>,
    /// Sizes of network-layer packets.
    requests: Vec<Request>,
    seed: u64,
    end: Span,
}

/// Traffic of a case.
#[derive(Clone, Copy)]
struct Load {
    /// Frames per station and second; `None` for saturated stations.
    rate: Option<f64>,
    /// Fraction of broadcasts.
    broadcasts: f64,
    size: u64,
}

impl Case {
    fn new(radio: &str, (stations, side, speed): (usize, f64, f64), load: Load, seed: u64) -> Case {
        let name = format!("{stations} stations, {side} m, {speed} m/s, seed {seed}, {radio}");
        let def: RadioDef = serde_json::from_str(radio).unwrap_or_else(|e| panic!("{radio}: {e}"));
        let mut radio = build::dcf::build(&build::with_defaults(&def, "radio").unwrap_or_else(|e| panic!("{e}")));
        radio.rules.queue_limit = usize::MAX;
        radio.rules.queue_order = QueueOrder::Fifo;
        radio.rules.queue_lifetime = None;
        let mut rng = Rng::stream(seed, "topology");
        let mut motion = || Motion {
            from: [rng.uniform() * side, rng.uniform() * side],
            velocity: [(rng.uniform() - 0.5) * speed, (rng.uniform() - 0.5) * speed],
        };
        let motions: Vec<Motion> = (0..stations).map(|_| motion()).collect();
        let end = Span::from_millis(1500);
        let mut case = Case { name, radio, motions, requests: Vec::new(), seed, end };
        case.requests = case.traffic(load);
        case
    }

    fn tracks(&self) -> Vec<Track> {
        let point = |[x, y]: [f64; 2]| Point { x, y, z: 0.0 };
        let track = |motion: &Motion| Track::straight(point(motion.from), point(motion.velocity));
        let still = |motion: &Motion| Track::Fixed(point(motion.from));
        let moves = self.motions.iter().any(|motion| motion.velocity != [0.0, 0.0]);
        self.motions.iter().map(|motion| if moves { track(motion) } else { still(motion) }).collect()
    }

    fn mac(&self) -> DcfMac {
        let rng = |i: usize, what: RandomStream| Rng::stream(self.seed, &format!("station/{i}/{}", what.name()));
        DcfMac::new(ChannelId(0), self.radio.rules.clone(), self.radio.medium(self.tracks()), rng)
    }

    fn traffic(&self, load: Load) -> Vec<Request> {
        let mut mac = self.mac();
        let mut requests = Vec::new();
        for station in 0..self.motions.len() {
            let mut rng = Rng::stream(self.seed, &format!("traffic/{station}"));
            let neighbours = mac.air.medium.neighbours(StationId(station as u32), Time::ZERO, mac.min_rx_power());
            let mut at = 0.0;
            let max = self.end.as_secs_f64();
            while at < max && requests.len() < 100_000 {
                at += load.rate.map_or(1e-3 * rng.uniform(), |rate| rng.exponential(1.0 / rate));
                let to = if neighbours.is_empty() || rng.chance(load.broadcasts) {
                    None
                } else {
                    Some(neighbours[rng.below(neighbours.len() as u64) as usize].index())
                };
                let size = load.size / 2 + rng.below(load.size);
                requests.push(Request { at: (at * 1e9) as u64, station, to, size });
            }
        }
        requests
    }

    /// The frames that the engine transmits, and the number of its events.
    fn engine(&self) -> (Vec<String>, u64) {
        let mut ctx = Context::new(0, Some(Box::<FrameLog>::default()));
        let mut mac = self.mac();
        for (index, request) in self.requests.iter().enumerate() {
            ctx.schedule(Time::from_nanos(request.at), Event::App { flow: FlowId(index as u32) });
        }
        ctx.schedule(Time::ZERO + self.end, Event::Stop);
        while let Some(event) = ctx.next() {
            match event {
                Event::App { flow } => {
                    let planned = self.requests[flow.index()];
                    let content = Content::Message(mac.air.messages.insert(Message::Dsdv(Vec::new())));
                    let to = planned.to.map(|to| StationId(to as u32));
                    let request = MacRequest {
                        content,
                        to,
                        size: Bytes(planned.size),
                        since: ctx.now,
                        class: TrafficClass::Other,
                    };
                    mac.enqueue(&mut ctx, StationId(planned.station as u32), request);
                }
                Event::Radio { event, .. } => mac.on_event(&mut ctx, event),
                _ => break,
            }
            mac.air.indications.clear();
        }
        let text = ctx.sink.take().map(Sink::finish).unwrap_or_default();
        (text.lines().map(str::to_owned).collect(), ctx.events)
    }

    /// The case for the reference.
    fn reference(&self) -> ReferenceDcf {
        let rules = &self.radio.rules;
        let phy = rules.phy;
        let nanos = Span::as_nanos;
        let reception = match rules.reception {
            Reception::Capture { receive, ratio, .. } => ReceptionModel::Capture { receive, ratio },
            Reception::Addressed { .. } => unreachable!("802.15.4 alone has it"),
            Reception::Sinr { sensitivity, energy_detect, noise } => {
                ReceptionModel::Ratio { sensitivity, energy: energy_detect, noise }
            }
            Reception::Errors { sensitivity, energy_detect, noise, preamble_detection } => {
                ReceptionModel::Chunks { sensitivity, energy: energy_detect, noise, preamble: preamble_detection }
            }
        };
        let rate_modes = rules.rate_modes.clone();
        let rate_mode_of = move |frame: &AirFrame| {
            let rate = match (frame.kind, frame.to) {
                (Kind::Data, Some(_)) => phy.data_rate,
                (Kind::Data, None) => phy.basic_rate,
                _ => phy.control_rate,
            };
            *rate_modes.iter().find(|rate_mode| rate_mode.rate == rate).expect("the rates are those of the standard")
        };
        let rate_mode_for = rate_mode_of.clone();
        let survival = move |frame: &AirFrame, from, to, ratio| {
            let span = Span::from_nanos;
            rate_mode_for(frame).survival(span(frame.length), (span(from), span(to)), ratio)
        };
        let setup = Setup {
            timing: timing(&phy),
            reception,
            frame_error: rules.frame_error,
            ns2: rules.backs_off_when_idle,
            rts_above: rules.rts_threshold.0,
            short_retries: rules.short_retries,
            long_retries: rules.long_retries,
            stations: self.motions.clone(),
            light: self.radio.speed_of_light,
            floor: self.radio.floor,
            power: {
                let propagation = self.radio.propagation;
                Box::new(move |distance| propagation.rx_power(distance))
            },
            length: Box::new(move |size, to_all| {
                nanos(phy.airtime(Bytes(size), if to_all { phy.basic_rate } else { phy.data_rate }))
            }),
            needed: Box::new(move |frame| {
                let rate_mode = rate_mode_of(frame);
                (rate_mode.ratio, rate_mode.sensitivity)
            }),
            survival: Box::new(survival),
            seed: self.seed,
            end: nanos(self.end),
        };
        let header = self.radio.rules.mac_overhead.0;
        let requests =
            self.requests.iter().map(|request| Request { size: request.size + header, ..*request }).collect();
        ReferenceDcf::new(setup, requests)
    }

    /// Runs both; returns the number of frames, of events, and of the reference's events.
    fn compare(&self) -> (usize, u64, u64) {
        let (mut engine, events) = self.engine();
        let mut simulation = self.reference();
        let mut reference = simulation.run();
        // The order of frames that begin in the same nanosecond is immaterial.
        let key = |line: &String| {
            let mut words = line.split(' ').map(|word| word.parse::<u64>().unwrap_or(0));
            (words.next(), words.next())
        };
        engine.sort_by_key(key);
        reference.sort_by_key(key);
        let parted = engine.iter().zip(&reference).position(|(a, b)| a != b);
        if let Some(at) = parted.or((engine.len() != reference.len()).then_some(engine.len().min(reference.len()))) {
            let around = |log: &[String]| log[at.saturating_sub(8)..(at + 3).min(log.len())].join("\n");
            panic!(
                "{}\nthey differ at frame {at}; engine:\n{}\nreference:\n{}",
                self.name,
                around(&engine),
                around(&reference)
            );
        }
        (engine.len(), events, simulation.events)
    }
}

/// The radios of the cases.
const RADIOS: [&str; 8] = [
    r#"{"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps"}"#,
    r#"{"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps", "rts_threshold": "3000B"}"#,
    r#"{"profile": "std", "standard": "b", "rts_threshold": "0B", "range_multiplier": 3.0}"#,
    r#"{"profile": "std", "standard": "b", "range_multiplier": 3.0}"#,
    r#"{"profile": "std", "standard": "a", "rts_threshold": "400B", "range_multiplier": 8.0}"#,
    r#"{"profile": "std", "standard": "g", "data_rate": "12Mbps", "range_multiplier": 5.0}"#,
    r#"{"profile": "ns3", "standard": "a", "data_rate": "24Mbps", "range_multiplier": 8.0}"#,
    r#"{"profile": "ns3", "standard": "b", "data_rate": "11Mbps", "rts_threshold": "0B", "range_multiplier": 6.0}"#,
];

/// Radios with errors before the MAC.
const WITH_ERRORS: [&str; 2] = [
    r#"{"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps", "frame_error": 0.1}"#,
    r#"{"profile": "std", "standard": "b", "rts_threshold": "400B", "range_multiplier": 3.0, "frame_error": 0.2}"#,
];

/// Random topologies: 7 to 20 stations in squares of 300 to 1500 m, fixed and mobile.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, radio) in RADIOS.iter().cycle().take(48).chain(WITH_ERRORS.iter().cycle().take(12)).enumerate() {
        let mut rng = Rng::stream(number as u64, "case");
        let stations = 7 + rng.below(14) as usize;
        let side = 300.0 + 1200.0 * rng.uniform();
        let round = number / RADIOS.len();
        let speed = if round % 2 == 1 { 100.0 } else { 0.0 };
        let load = Load {
            rate: if round % 3 == 2 { Some(20.0 + 100.0 * rng.uniform()) } else { None },
            broadcasts: [0.0, 0.2, 0.05][round % 3],
            size: 200 + rng.below(900),
        };
        cases.push(Case::new(radio, (stations, side, speed), load, number as u64));
    }
    cases
}

/// Timing of the reference, in nanoseconds.
fn timing(phy: &Phy) -> Timing {
    let nanos = Span::as_nanos;
    Timing {
        slot: nanos(phy.slot),
        sifs: nanos(phy.sifs),
        rts: nanos(phy.rts_airtime(phy.control_rate)),
        answer: nanos(phy.ack_airtime(phy.control_rate)),
        slowest_answer: nanos(phy.ack_airtime(phy.basic_rate)),
        cw_min: phy.cw_min,
        cw_max: phy.cw_max,
    }
}

#[test]
fn the_engine_transmits_the_frames_of_the_reference() {
    let (mut frames, mut events, mut reference_events) = (0, 0, 0);
    for case in cases() {
        let (sent, engine, reference) = case.compare();
        println!("{sent:6} frames, {engine:7} events, {reference:8} of the reference: {}", case.name);
        frames += sent;
        events += engine;
        reference_events += reference;
    }
    println!("{frames} frames, {events} events, {reference_events} of the reference");
    assert!(frames > 10_000, "{frames} frames");
}
