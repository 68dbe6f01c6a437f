//! Applications: their state, and the nodes of their connections.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};

use super::names::{find_node, matches};
use crate::expand::{connections_of, interval_nanos};
use crate::host::app::conversation::{Conversation, End};
use crate::host::app::incast::{Incast, IncastPlan};
use crate::host::app::page::{Page, PagePlan};
use crate::host::app::request_response::{RequestPlan, RequestResponse};
use crate::host::app::rtc::{Rtc, RtcPlan};
use crate::host::app::transfer::{Shape, Transfer};
use crate::host::app::video::{Rule, Video, VideoPlan};
use crate::host::app::voice::{Coding, Voice};
use crate::host::app::{App, Period, Ticks};
use crate::host::flow::OnFull;
use crate::ids::NodeId;
use crate::scenario::{
    AppDef, BothDef, BufferRule, Codec, DirectionDef, FlowDef, Full, IncastDef, PageDef, PageProtocol, PerConnection,
    PeriodDef, Playout, RequestResponseDef, RtcControl, RtcDef, Scenario, ScenarioError, ThroughputRule, TransferDef,
    VideoDef, VideoRule, join,
};

/// Bytes of all answers of a round of `incast`, unless the scenario says otherwise (Alizadeh et al. 2010, §4.2.1).
const INCAST_TOTAL: Bytes = Bytes(1_000_000);

/// Mean size of the objects of a page, without the document, and sigma of its logarithm (HTTP Archive 2024: 2652 kB in 71).
const OBJECT_MEAN_BYTES: f64 = 2_622_000.0 / 70.0;
const OBJECT_SIGMA: f64 = 1.5;

/// The source of each connection of a flow; there is one at least.
pub(super) fn sources(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    def: &FlowDef,
    path: &str,
) -> Result<Vec<NodeId>, ScenarioError> {
    let AppDef::Incast(incast) = &def.app else {
        let connections = connections_of(&def.app, 0) as usize;
        return Ok(vec![find_node(names, &def.from, &join(path, "from"))?; connections]);
    };
    let is_server = |name: &str| names.contains_key(name) && name != def.to && matches(&def.from, name);
    let nodes = graph.node.iter().enumerate().filter(|(_, node)| is_server(&node.name));
    let mut servers: Vec<NodeId> = nodes.map(|(index, _)| NodeId(index as u32)).collect();
    if servers.is_empty() {
        return Err(match find_node(names, &def.from, &join(path, "from")) {
            Ok(_) => ScenarioError::new(join(path, "to"), format!("{:?} would send to itself", def.to)),
            Err(error) => error,
        });
    }
    let wanted = incast.servers.map_or(servers.len(), |servers| servers as usize);
    if wanted > servers.len() {
        let message = format!("{wanted} servers, but from = {:?} names {} nodes", def.from, servers.len());
        return Err(ScenarioError::new(join(path, "app.servers"), message)
            .with_hint("a `*` in `from` stands for any text: from = \"left*\""));
    }
    servers.truncate(wanted);
    Ok(servers)
}

/// An application that only writes.
pub(super) fn app_of(def: &AppDef, rng: Rng) -> App {
    match def {
        AppDef::Bulk(bulk) => App::Bulk { bytes: bulk.bytes },
        AppDef::Cbr(cbr) => App::Cbr { size: cbr.size, ticks: Ticks::every(interval_nanos(cbr.rate, cbr.size)) },
        AppDef::OnOff(on_off) => App::OnOff {
            size: on_off.size,
            ticks: Ticks::every(interval_nanos(on_off.rate, on_off.size)),
            on: period_of(&on_off.on),
            off: period_of(&on_off.off),
            on_until: Time::ZERO,
            rng,
        },
        _ => unreachable!("a conversation"),
    }
}

pub(super) fn period_of(def: &PeriodDef) -> Period {
    match def {
        PeriodDef::Constant(constant) => Period::Constant(constant.length),
        PeriodDef::Exponential(exponential) => Period::Exponential(exponential.mean),
        PeriodDef::Pareto(pareto) => Period::Pareto(pareto.mean, pareto.shape),
    }
}

/// What a write does that does not fit.
pub(super) fn on_full_of(app: &AppDef) -> OnFull {
    let full = match app {
        AppDef::Cbr(cbr) => cbr.on_full,
        AppDef::OnOff(on_off) => on_off.on_full,
        // What does not fit waits.
        _ => Full::Block,
    };
    match full {
        Full::Block => OnFull::Block,
        Full::Drop => OnFull::Drop,
    }
}

/// The conversation of an application with so many connections, if it is one.
pub(super) fn conversation_of(app: &AppDef, connections: usize, rng: Rng) -> Option<Conversation> {
    match app {
        AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_) => None,
        AppDef::Transfer(def) => Some(Conversation::Transfer(Transfer::new(shape_of(def)))),
        AppDef::RequestResponse(def) => {
            Some(Conversation::RequestResponse(RequestResponse::new(request_plan(def), rng)))
        }
        AppDef::Incast(def) => Some(Conversation::Incast(Incast::new(incast_plan(def, connections), rng))),
        AppDef::Page(def) => Some(Conversation::Page(Page::new(page_plan(def, rng)))),
        AppDef::Video(def) => Some(Conversation::Video(Video::new(video_plan(def)))),
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
pub(super) fn client_of(app: &AppDef) -> End {
    match app {
        AppDef::Transfer(TransferDef { direction: DirectionDef::Up(_) | DirectionDef::Both(_), .. }) => End::Source,
        AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_) | AppDef::Rtc(_) | AppDef::Voice(_) => End::Source,
        _ => End::Sink,
    }
}

/// The application comes to an end by itself.
pub(super) fn has_end(app: &AppDef) -> bool {
    !matches!(app, AppDef::Rtc(_) | AppDef::Voice(_))
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
    let pause = |period: &Option<PeriodDef>| period.as_ref().map(period_of);
    let per_connection = match def.per_connection {
        PerConnection::All => requests,
        PerConnection::Requests(each) => each,
    };
    let (think, server_time) = (pause(&def.think), pause(&def.server_time));
    RequestPlan { requests, request, response, think, server_time, per_connection }
}

fn incast_plan(def: &IncastDef, servers: usize) -> IncastPlan {
    let IncastDef { request, rounds, jitter, gap, .. } = *def;
    let total = def.total.unwrap_or(INCAST_TOTAL);
    let each = def.each.unwrap_or(Bytes((total.0 / servers as u64).max(1)));
    IncastPlan { servers, each, request, rounds, jitter, gap }
}

/// The sizes of a page are drawn when it is built: exponentials of a normal variable, scaled to the mean of all pages.
fn page_plan(def: &PageDef, mut rng: Rng) -> PagePlan {
    let sizes: Vec<f64> = match def.object_size {
        Some(size) => vec![size.as_f64(); def.objects as usize],
        None => (0..def.objects).map(|_| libm::exp(OBJECT_SIGMA * rng.normal())).collect(),
    };
    let scale = match def.object_size {
        Some(_) => 1.0,
        None => OBJECT_MEAN_BYTES * sizes.len() as f64 / sizes.iter().sum::<f64>(),
    };
    let objects = sizes.into_iter().map(|size| Bytes(libm::round(scale * size).max(1.0) as u64));
    PagePlan {
        sizes: std::iter::once(def.html).chain(objects).collect(),
        request: def.request,
        connections: if def.protocol == PageProtocol::H1 { def.connections as usize } else { 1 },
        depth: def.depth as usize,
        parse: def.parse,
        multiplexed: def.protocol == PageProtocol::H2,
    }
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
