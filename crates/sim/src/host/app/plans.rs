//! From the schema to conversations: what each application sends, and when.

use tcp::rng::Rng;
use tcp::units::{Bytes, Span};

use super::Period;
use super::command::End;
use super::conversation::Conversation;
use super::incast::{Incast, IncastPlan};
use super::page::{Page, PagePlan};
use super::request_response::{RequestPlan, RequestResponse};
use super::responsiveness::{Responsiveness, ResponsivenessPlan};
use super::rtc::{Rtc, RtcPlan};
use super::transfer::{Shape, Transfer};
use super::video::{Rule, Video, VideoPlan};
use super::voice::{Coding, Voice};
use crate::scenario::{
    AppDef, BothDef, BufferRule, Codec, DirectionDef, IncastDef, LoadDirection, PageDef, PageProtocol, PerConnection,
    PeriodDef, Playout, RequestResponseDef, ResponsivenessDef, RtcControl, RtcDef, ThroughputRule, TransferDef,
    VideoDef, VideoRule,
};

/// Bytes of all answers of a round of `incast`, unless the scenario says otherwise (Alizadeh et al. 2010, §4.2.1).
const INCAST_TOTAL: Bytes = Bytes(1_000_000);

/// Mean size of the objects of a page, without the document, and sigma of its logarithm (HTTP Archive 2024: 2652 kB in 71).
const OBJECT_MEAN_BYTES: f64 = 2_622_000.0 / 70.0;
const OBJECT_SIGMA: f64 = 1.5;

/// The conversation of an application with so many connections, if it is one.
pub(crate) fn conversation_of(app: &AppDef, connections: usize, rng: Rng) -> Option<Conversation> {
    match app {
        AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_) | AppDef::Script(_) => None,
        AppDef::Transfer(def) => Some(Conversation::Transfer(Transfer::new(shape_of(def)))),
        AppDef::RequestResponse(def) => {
            Some(Conversation::RequestResponse(RequestResponse::new(request_plan(def), rng)))
        }
        AppDef::Incast(def) => Some(Conversation::Incast(Incast::new(incast_plan(def, connections), rng))),
        AppDef::Page(def) => Some(Conversation::Page(page_of(def, rng))),
        AppDef::Video(def) => Some(Conversation::Video(Video::new(video_plan(def)))),
        AppDef::Responsiveness(def) => {
            Some(Conversation::Responsiveness(Responsiveness::new(responsiveness_plan(def, connections))))
        }
        AppDef::Rtc(def) => Some(Conversation::Rtc(Rtc::new(rtc_plan(def), rng))),
        AppDef::Voice(def) => {
            let playout = match def.playout {
                Playout::Auto(_) => None,
                Playout::Fixed(fixed) => Some(fixed.delay),
            };
            Some(Conversation::Voice(Voice::new(coding_of(def.codec), def.datagram_size(), playout)))
        }
    }
}

/// The end that connects.
pub(crate) fn client_of(app: &AppDef) -> End {
    match app {
        AppDef::Transfer(TransferDef { direction: DirectionDef::Up(_) | DirectionDef::Both(_), .. }) => End::Source,
        AppDef::Responsiveness(def) if def.direction != LoadDirection::Down => End::Source,
        AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_) | AppDef::Script(_) => End::Source,
        AppDef::Rtc(_) | AppDef::Voice(_) => End::Source,
        _ => End::Sink,
    }
}

/// The application comes to an end by itself.
pub(crate) fn has_end(app: &AppDef) -> bool {
    !matches!(app, AppDef::Responsiveness(_) | AppDef::Rtc(_) | AppDef::Voice(_))
}

fn shape_of(def: &TransferDef) -> Shape {
    let size = def.size.unwrap_or_default();
    match def.direction {
        DirectionDef::Up(_) => Shape::Up(size),
        DirectionDef::Down(_) => Shape::Down { request: def.request, size },
        DirectionDef::Both(BothDef { up, down }) => Shape::Both { up: up.unwrap_or(size), down: down.unwrap_or(size) },
    }
}

fn request_plan(def: &RequestResponseDef) -> RequestPlan {
    let RequestResponseDef { requests, request, response, .. } = *def;
    let responses = if def.responses.is_empty() { vec![response] } else { def.responses.clone() };
    let pause = |period: &Option<PeriodDef>| period.as_ref().map(period_of);
    let per_connection = match def.per_connection {
        PerConnection::All => requests,
        PerConnection::Requests(each) => each,
    };
    let (think, server_time) = (pause(&def.think), pause(&def.server_time));
    let first = [def.request_writes.clone(), def.response_writes.clone()];
    RequestPlan { requests, request, responses, first, think, server_time, per_connection }
}

fn responsiveness_plan(def: &ResponsivenessDef, connections: usize) -> ResponsivenessPlan {
    let (client, loading) = match def.direction {
        LoadDirection::Down => (End::Sink, [true, false]),
        LoadDirection::Up => (End::Source, [true, false]),
        LoadDirection::Both => (End::Source, [true, true]),
    };
    let flows = def.flows as usize;
    let every = Span::from_secs_f64(1.0 / def.probes.0);
    ResponsivenessPlan { flows, probes: connections.saturating_sub(flows), client, loading, every }
}

fn incast_plan(def: &IncastDef, servers: usize) -> IncastPlan {
    let IncastDef { request, rounds, jitter, gap, .. } = *def;
    let total = def.total.unwrap_or(INCAST_TOTAL);
    let each = def.each.unwrap_or(Bytes((total.0 / servers as u64).max(1)));
    IncastPlan { servers, each, request, rounds, jitter, gap }
}

/// The sizes of a page are drawn when it is built: exponentials of a normal variable, scaled to the mean of all pages.
fn page_of(def: &PageDef, mut rng: Rng) -> Page {
    let sizes = page_sizes(def, &mut rng);
    let plan = PagePlan {
        sizes,
        request: def.request,
        hosts: def.hosts as usize,
        connections: if def.protocol == PageProtocol::H1 { def.connections as usize } else { 1 },
        dns: def.dns,
        tls: def.tls as usize,
        server_time: def.server_time.as_ref().map(period_of),
        depth: def.depth as usize,
        parse: def.parse,
        multiplexed: def.protocol == PageProtocol::H2,
    };
    Page::new(plan, rng)
}

fn page_sizes(def: &PageDef, rng: &mut Rng) -> Vec<Bytes> {
    let sizes: Vec<f64> = match def.object_size {
        Some(size) => vec![size.as_f64(); def.objects as usize],
        None => (0..def.objects).map(|_| libm::exp(OBJECT_SIGMA * rng.normal())).collect(),
    };
    let sum = sizes.iter().sum::<f64>();
    let html = match def.size {
        Some(size) if sizes.is_empty() => size,
        Some(size) => def.html.min(size),
        None => def.html,
    };
    let scale = match (def.size, def.object_size) {
        (Some(size), _) => (size - html).as_f64() / sum,
        (None, Some(_)) => 1.0,
        (None, None) => OBJECT_MEAN_BYTES * sizes.len() as f64 / sum,
    };
    let objects = sizes.into_iter().map(|size| Bytes(libm::round(scale * size).max(1.0) as u64));
    std::iter::once(html).chain(objects).collect()
}

fn video_plan(def: &VideoDef) -> VideoPlan {
    let rule = match def.rule {
        VideoRule::Buffer(BufferRule { reservoir, cushion }) => Rule::Buffer { reservoir, cushion },
        VideoRule::Throughput(ThroughputRule { window, safety }) => {
            Rule::Throughput { window: window as usize, safety }
        }
        VideoRule::Fixed(fixed) => Rule::Fixed { level: fixed.level as usize },
    };
    let VideoDef { chunk, buffer, request, .. } = *def;
    let (ladder, chunks, start) = (def.ladder.clone(), def.chunks as usize, def.start as usize);
    VideoPlan { ladder, chunk, chunks, buffer, rule, start, request }
}

fn rtc_plan(def: &RtcDef) -> RtcPlan {
    let [rate_min, rate_max] = def.bounds();
    RtcPlan {
        rate: def.rate,
        rate_min,
        rate_max,
        fps: def.fps,
        key_every: def.key_every,
        key_ratio: def.key_ratio,
        packet: def.packet,
        is_paced: def.paced,
        adapts: def.control == RtcControl::Loss,
        report: def.report,
        deadline: def.deadline,
        has_breaker: def.breaker,
    }
}

fn coding_of(codec: Codec) -> Coding {
    match codec {
        Codec::G711 => Coding::G711,
        Codec::G711Plain => Coding::G711_PLAIN,
        Codec::G729a => Coding::G729A,
    }
}

/// A distribution of times.
pub(crate) fn period_of(def: &PeriodDef) -> Period {
    match def {
        PeriodDef::Constant(constant) => Period::Constant(constant.length),
        PeriodDef::Exponential(exponential) => Period::Exponential(exponential.mean),
        PeriodDef::Pareto(pareto) => Period::Pareto(pareto.mean, pareto.shape),
    }
}
