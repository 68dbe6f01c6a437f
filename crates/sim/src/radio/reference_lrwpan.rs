//! The MAC of 802.15.4 against a simulation that knows no lazy receiver: at every decision it goes through all transmissions since the
//! start of the run again. Both must transmit the same frames at the same nanoseconds.

mod simulation;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use self::simulation::{Reference, Request};
use super::build;
use super::build::lrwpan::LrWpanRadio;
use super::frame::Content;
use super::frame_log::FrameLog;
use super::lrwpan::LrWpanMac;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::ids::{ChannelId, FlowId, NodeId, StationId};
use crate::mobility::{Point, Track};
use crate::packet::message::Message;
use crate::radio::service::{MacRequest, TrafficClass};
use crate::radio::streams::RandomStream;
use crate::scenario::RadioDef;

/// One comparison.
struct Case {
    radio: LrWpanRadio,
    places: Vec<[f64; 2]>,
    requests: Vec<Request>,
    seed: u64,
    end: u64,
}

impl Case {
    /// Stations in a square; every one sends `rate` frames a second to a random other, or to all.
    fn new(lrwpan: &str, (stations, side, rate): (usize, f64, f64), seed: u64) -> Case {
        let text = format!(r#"{{"standard": "802.15.4", "lrwpan": {lrwpan}}}"#);
        let def: RadioDef = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut radio = build::lrwpan::build(&build::with_defaults(&def, "radio").unwrap_or_else(|e| panic!("{e}")));
        radio.rules.queue_limit = usize::MAX;
        let mut rng = Rng::stream(seed, "topology");
        let places: Vec<[f64; 2]> = (0..stations).map(|_| [rng.uniform() * side, rng.uniform() * side]).collect();
        let end = 4_000_000_000;
        let mut requests = Vec::new();
        for station in 0..stations {
            let mut at = 0.0;
            while at < end as f64 / 1e9 {
                at += rng.exponential(1.0 / rate);
                let other = rng.below(stations as u64) as usize;
                let to = (other != station).then_some(other);
                requests.push(Request { at: (at * 1e9) as u64, station, to, size: 10 + rng.below(90) });
            }
        }
        Case { radio, places, requests, seed, end }
    }

    fn rng(&self, index: usize, what: RandomStream) -> Rng {
        Rng::stream(self.seed, &format!("station/{index}/{}", what.name()))
    }

    fn engine(&self) -> Vec<String> {
        let mut ctx = Context::new(0, Some(Box::<FrameLog>::default()));
        let tracks = self.places.iter().map(|[x, y]| Track::Fixed(Point { x: *x, y: *y, z: 0.0 })).collect();
        let nodes = (0..self.places.len() as u32).map(NodeId).collect();
        let medium = self.radio.medium(tracks);
        let rng = |index: usize, what: RandomStream| self.rng(index, what);
        let mut mac = LrWpanMac::new(ChannelId(0), self.radio.rules.clone(), nodes, medium, rng);
        for (index, request) in self.requests.iter().enumerate() {
            ctx.schedule(Time::from_nanos(request.at), Event::App { flow: FlowId(index as u32) });
        }
        ctx.schedule(Time::ZERO + Span::from_nanos(self.end), Event::Stop);
        while let Some(event) = ctx.next() {
            match event {
                Event::App { flow } => {
                    let Request { station, to, size, .. } = self.requests[flow.index()];
                    let content = Content::Message(mac.air.messages.insert(Message::Dsdv(Vec::new())));
                    let to = to.map(|to| StationId(to as u32));
                    let class = TrafficClass::Other;
                    let request = MacRequest { content, to, size: Bytes(size), since: ctx.now, class };
                    mac.enqueue(&mut ctx, StationId(station as u32), request);
                }
                Event::Radio { event, .. } => mac.on_event(&mut ctx, event),
                _ => break,
            }
            mac.air.indications.clear();
        }
        ctx.sink.take().map(Sink::finish).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn reference(&self) -> Vec<String> {
        let rngs = (0..self.places.len()).map(|index| self.rng(index, RandomStream::Backoff)).collect();
        Reference::new(&self.radio, &self.places, &self.requests, rngs).run(self.end)
    }
}

/// Random topologies of 4 to 9 stations in squares of 20 to 100 m, where some sense others that they cannot decode, and some neither.
#[test]
fn the_engine_transmits_the_frames_of_the_reference() {
    let settings = [
        r#"{"encap": "raw_ipv4"}"#,
        r#"{"encap": "raw_ipv4", "access_failure": "drop"}"#,
        r#"{"encap": "raw_ipv4", "max_retries": 15, "retry_delay": "20ms"}"#,
        r#"{"encap": "raw_ipv4", "max_backoffs": 1, "board_time": "3ms"}"#,
        r#"{"encap": "raw_ipv4", "cca_threshold": "-95dBm", "max_retries": 0}"#,
    ];
    let mut frames = 0;
    for (number, lrwpan) in settings.iter().cycle().take(30).enumerate() {
        let mut rng = Rng::stream(number as u64, "case");
        let stations = 4 + rng.below(6) as usize;
        let (side, rate) = (20.0 + 80.0 * rng.uniform(), 5.0 + 25.0 * rng.uniform());
        let case = Case::new(lrwpan, (stations, side, rate), number as u64);
        let (engine, reference) = (case.engine(), case.reference());
        let parted = engine.iter().zip(&reference).position(|(a, b)| a != b);
        let end = engine.len().min(reference.len());
        if let Some(at) = parted.or((engine.len() != reference.len()).then_some(end)) {
            let around = |log: &[String]| log[at.saturating_sub(6)..(at + 3).min(log.len())].join("\n");
            panic!(
                "case {number}, {lrwpan}, frame {at}; engine:\n{}\nreference:\n{}",
                around(&engine),
                around(&reference)
            );
        }
        frames += engine.len();
    }
    assert!(frames > 5_000, "{frames} frames");
}
