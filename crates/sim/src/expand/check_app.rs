//! Checks of applications whose ends answer each other, and of how many connections they need.

use tcp::units::{Bytes, Span};

use super::bounds::{LONGEST, check_period, refuse, span_within};
use crate::scenario::{
    AppDef, BothDef, BufferRule, DirectionDef, FlowDef, IncastDef, PageDef, PageProtocol, PerConnection, PeriodDef,
    Playout, RequestResponseDef, ResponsivenessDef, RtcDef, ScenarioError, ScriptDef, ScriptRepeat, ScriptWrite,
    ThroughputRule, TransferDef, VideoDef, VideoRule, VoiceDef, join,
};

/// Most requests or rounds of an application, whose times it records.
const MAX_REQUESTS: u32 = 1_000_000;
/// Most connections of an application: each is a flow.
const MAX_CONNECTIONS: u64 = 10_000;
/// Most objects of a page, and connections of a browser.
const MAX_OBJECTS: u32 = 100_000;
const MAX_BROWSER_CONNECTIONS: u32 = 256;
/// Most round trips of a handshake.
const MAX_HANDSHAKES: u32 = 10;
/// Most connections that load a path for a measurement of responsiveness.
const MAX_LOADS: u32 = 1000;
/// Most rates of a video.
const MAX_LEVELS: usize = 100;
/// Highest rate of a call.
const MAX_CALL_BPS: u64 = 10_000_000_000;
/// Most entries of a script, or writes of a message before the rest.
const MAX_WRITES: usize = 100_000;
/// Largest message.
const LARGEST: Bytes = Bytes(1_000_000_000_000);

/// How many connections an application needs in a world of so many nodes and a run of so long.
pub(crate) fn connections_of(app: &AppDef, nodes: usize, duration: Span) -> u64 {
    match app {
        AppDef::RequestResponse(def) => match def.per_connection {
            PerConnection::All => 1,
            PerConnection::Requests(each) => u64::from(def.requests.div_ceil(each)),
        },
        AppDef::Page(def) if def.protocol == PageProtocol::H1 => u64::from(def.hosts) * u64::from(def.connections),
        AppDef::Page(def) => u64::from(def.hosts),
        AppDef::Responsiveness(def) => u64::from(def.flows) + libm::ceil(duration.as_secs_f64() * def.probes.0) as u64,
        AppDef::Incast(def) => def.servers.map_or(nodes as u64, u64::from),
        _ => 1,
    }
}

/// True if the ends of the application answer each other.
pub(super) fn is_conversation(app: &AppDef) -> bool {
    !matches!(app, AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_) | AppDef::Script(_))
}

/// Refuses what stands beside the application of a flow and does not go with it.
pub(super) fn check_beside(flow: &FlowDef, path: &str) -> Result<(), ScenarioError> {
    let given = [("silent", flow.silent), ("sink_agent", flow.sink_agent.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given && is_conversation(&flow.app)) {
        Some((key, _)) => {
            Err(ScenarioError::new(join(path, key), "does not go with an application whose sink has data to send")
                .with_hint("it is for `bulk`, `cbr`, `on_off` and `script`"))
        }
        None => Ok(()),
    }
}

pub(super) fn check_transfer(def: &TransferDef, path: &str) -> Result<(), ScenarioError> {
    check_size(path, "request", def.request)?;
    if let Some(size) = def.size {
        check_size(path, "size", size)?;
    }
    let DirectionDef::Both(BothDef { up, down }) = def.direction else {
        return match def.size {
            Some(_) => Ok(()),
            None => Err(ScenarioError::new(join(path, "size"), "missing key `size`: the bytes to transfer")),
        };
    };
    for (key, bytes) in [("up", up), ("down", down)] {
        match bytes.or(def.size) {
            Some(bytes) => check_size(path, &format!("direction.{key}"), bytes)?,
            None => {
                let message = format!("missing key `{key}`: the bytes that go {key}, or `size` for both");
                return Err(ScenarioError::new(join(path, &format!("direction.{key}")), message));
            }
        }
    }
    Ok(())
}

pub(super) fn check_request_response(def: &RequestResponseDef, path: &str) -> Result<(), ScenarioError> {
    check_number(path, "requests", def.requests)?;
    check_size(path, "request", def.request)?;
    check_size(path, "response", def.response)?;
    for (index, size) in def.responses.iter().enumerate() {
        check_size(path, &format!("responses[{index}]"), *size)?;
    }
    if !def.responses.is_empty() && def.response != RequestResponseDef::default().response {
        return Err(ScenarioError::new(join(path, "response"), "stands beside responses; give one of them"));
    }
    check_writes(&def.request_writes, def.request, path, "request")?;
    let smallest = def.responses.iter().copied().min().unwrap_or(def.response);
    check_writes(&def.response_writes, smallest, path, "response")?;
    check_pause(def.think.as_ref(), &join(path, "think"))?;
    check_pause(def.server_time.as_ref(), &join(path, "server_time"))?;
    let connections = connections_of(&AppDef::RequestResponse(def.clone()), 0, Span::ZERO);
    if connections > MAX_CONNECTIONS {
        let message = format!("{} requests are {connections} connections; at most {MAX_CONNECTIONS}", def.requests);
        return Err(ScenarioError::new(join(path, "per_connection"), message));
    }
    Ok(())
}

/// Checks what of a message is written first.
fn check_writes(writes: &[Bytes], all: Bytes, path: &str, key: &str) -> Result<(), ScenarioError> {
    let place = format!("{key}_writes");
    writes.iter().try_for_each(|write| check_size(path, &place, *write))?;
    let sum: u64 = writes.iter().map(|write| write.0).sum();
    if writes.len() > MAX_WRITES || sum > all.0 {
        let message = format!(
            "{} writes of {} in all; at most {MAX_WRITES} that `{key}`, {all}, holds",
            writes.len(),
            Bytes(sum)
        );
        return Err(ScenarioError::new(join(path, &place), message).with_hint("the rest has a write of its own"));
    }
    Ok(())
}

/// Checks a pause; one of constant length may be none.
fn check_pause(pause: Option<&PeriodDef>, path: &str) -> Result<(), ScenarioError> {
    match pause {
        None => Ok(()),
        Some(PeriodDef::Constant(constant)) if constant.length == Span::ZERO => Ok(()),
        Some(period) => check_period(period, path),
    }
}

pub(super) fn check_responsiveness(def: &ResponsivenessDef, path: &str) -> Result<(), ScenarioError> {
    if !(1..=MAX_LOADS).contains(&def.flows) {
        let message = format!("{} is not a number of connections from 1 to {MAX_LOADS}", def.flows);
        return Err(ScenarioError::new(join(path, "flows"), message));
    }
    Ok(())
}

pub(super) fn check_incast(def: &IncastDef, path: &str) -> Result<(), ScenarioError> {
    check_number(path, "rounds", def.rounds)?;
    if let Some(servers) = def.servers
        && (servers == 0 || u64::from(servers) > MAX_CONNECTIONS)
    {
        return Err(refuse(path, "servers", servers, &format!("a number from 1 to {MAX_CONNECTIONS}")));
    }
    check_size(path, "request", def.request)?;
    if let (Some(total), Some(each)) = (def.total, def.each) {
        let message = format!("{total} in all and {each} each; give one of them");
        return Err(ScenarioError::new(join(path, "total"), message));
    }
    for (key, bytes) in [("total", def.total), ("each", def.each)] {
        if let Some(bytes) = bytes {
            check_size(path, key, bytes)?;
        }
    }
    span_within(path, "jitter", def.jitter, Span::ZERO, LONGEST)?;
    span_within(path, "gap", def.gap, Span::ZERO, LONGEST)
}

pub(super) fn check_page(def: &PageDef, path: &str) -> Result<(), ScenarioError> {
    if def.objects > MAX_OBJECTS {
        return Err(refuse(path, "objects", def.objects, &format!("a number up to {MAX_OBJECTS}")));
    }
    for (key, bytes) in
        [("html", Some(def.html)), ("request", Some(def.request)), ("object_size", def.object_size), ("size", def.size)]
    {
        if let Some(bytes) = bytes {
            check_size(path, key, bytes)?;
        }
    }
    if def.size.is_some() && def.object_size.is_some() {
        return Err(ScenarioError::new(join(path, "object_size"), "stands beside size")
            .with_hint("give the size of the page, or that of each object"));
    }
    if !(1..=MAX_BROWSER_CONNECTIONS).contains(&def.connections) {
        let allowed = format!("a number from 1 to {MAX_BROWSER_CONNECTIONS}");
        return Err(refuse(path, "connections", def.connections, &allowed));
    }
    if !(1..=MAX_BROWSER_CONNECTIONS).contains(&def.hosts) {
        return Err(refuse(path, "hosts", def.hosts, &format!("a number from 1 to {MAX_BROWSER_CONNECTIONS}")));
    }
    let connections = connections_of(&AppDef::Page(def.clone()), 0, Span::ZERO);
    if connections > MAX_CONNECTIONS {
        let message = format!("{} hosts are {connections} connections; at most {MAX_CONNECTIONS}", def.hosts);
        return Err(ScenarioError::new(join(path, "hosts"), message));
    }
    if def.tls > MAX_HANDSHAKES {
        return Err(refuse(path, "tls", def.tls, &format!("a number of round trips up to {MAX_HANDSHAKES}")));
    }
    span_within(path, "dns", def.dns, Span::ZERO, LONGEST)?;
    check_pause(def.server_time.as_ref(), &join(path, "server_time"))?;
    let levels = def.objects.max(1);
    if !(1..=levels).contains(&def.depth) {
        return Err(refuse(path, "depth", def.depth, &format!("a number of levels from 1 to {levels}, the objects")));
    }
    span_within(path, "parse", def.parse, Span::ZERO, LONGEST)
}

pub(super) fn check_video(def: &VideoDef, path: &str) -> Result<(), ScenarioError> {
    let fail = |key: &str, message: String| Err(ScenarioError::new(join(path, key), message));
    if def.ladder.is_empty() || def.ladder.len() > MAX_LEVELS {
        return fail("ladder", format!("{} rates; from 1 to {MAX_LEVELS}", def.ladder.len()));
    }
    if let Some(index) = (1..def.ladder.len()).find(|index| def.ladder[*index] <= def.ladder[index - 1]) {
        let [before, rate] = [def.ladder[index - 1], def.ladder[index]];
        return fail(&format!("ladder[{index}]"), format!("{rate} is not above {before}; rates ascend"));
    }
    check_number(path, "chunks", def.chunks)?;
    span_within(path, "chunk", def.chunk, Span::from_millis(1), Span::from_millis(600_000))?;
    span_within(path, "buffer", def.buffer, def.chunk, LONGEST)?;
    check_size(path, "request", def.request)?;
    let top = def.ladder.len() as u32 - 1;
    let level = |place: &str, level: u32| {
        if level <= top { Ok(()) } else { fail(place, format!("{level} is not a level from 0 to {top}")) }
    };
    level("start", def.start)?;
    let place = join(path, "rule");
    match def.rule {
        VideoRule::Fixed(fixed) => level("rule.level", fixed.level),
        VideoRule::Buffer(BufferRule { reservoir, cushion }) => {
            span_within(&place, "reservoir", reservoir, Span::ZERO, LONGEST)?;
            span_within(&place, "cushion", cushion, Span::from_millis(1), LONGEST)
        }
        VideoRule::Throughput(ThroughputRule { window, safety }) => {
            check_number(&place, "window", window)?;
            within(&place, "safety", safety, [0.01, 10.0])
        }
    }
}

pub(super) fn check_rtc(def: &RtcDef, path: &str) -> Result<(), ScenarioError> {
    let [low, high] = def.bounds();
    if low > def.rate {
        return Err(refuse(path, "rate_min", low, &format!("a rate up to `rate`, {}", def.rate)));
    }
    if high < def.rate || high.as_bps() > MAX_CALL_BPS {
        return Err(refuse(path, "rate_max", high, &format!("a rate from `rate`, {}, to {MAX_CALL_BPS}bps", def.rate)));
    }
    within(path, "fps", def.fps, [0.1, 1000.0])?;
    within(path, "key_ratio", def.key_ratio, [1.0, 100.0])?;
    if !(Bytes(12)..=Bytes(65_507)).contains(&def.packet) {
        return Err(refuse(path, "packet", def.packet, "a payload from 12B to 65507B"));
    }
    let moment = Span::from_millis(1);
    span_within(path, "key_every", def.key_every, moment, LONGEST)?;
    span_within(path, "report", def.report, Span::from_millis(10), Span::from_millis(600_000))?;
    span_within(path, "deadline", def.deadline, moment, LONGEST)
}

fn within(path: &str, key: &str, value: f64, [least, most]: [f64; 2]) -> Result<(), ScenarioError> {
    let allowed = format!("a number from {least} to {most}");
    if (least..=most).contains(&value) { Ok(()) } else { Err(refuse(path, key, value, &allowed)) }
}

pub(super) fn check_voice(def: &VoiceDef, path: &str) -> Result<(), ScenarioError> {
    match def.playout {
        Playout::Auto(_) => Ok(()),
        Playout::Fixed(fixed) => {
            span_within(&join(path, "playout"), "delay", fixed.delay, Span::ZERO, Span::from_millis(10_000))
        }
    }
}

pub(super) fn check_script(def: &ScriptDef, path: &str) -> Result<(), ScenarioError> {
    if def.writes.is_empty() || def.writes.len() > MAX_WRITES {
        let message = format!("{} writes; from 1 to {MAX_WRITES}", def.writes.len());
        return Err(ScenarioError::new(join(path, "writes"), message));
    }
    for (index, ScriptWrite(at, bytes, repeat)) in def.writes.iter().enumerate() {
        let place = format!("writes[{index}]");
        if index > 0 && *at <= def.writes[index - 1].0 {
            let message = format!("{at} is not after the write before; times ascend");
            return Err(ScenarioError::new(join(path, &format!("{place}[0]")), message));
        }
        check_size(path, &format!("{place}[1]"), *bytes)?;
        if let Some(ScriptRepeat { every, until }) = repeat {
            let place = join(path, &format!("{place}[2]"));
            span_within(&place, "every", *every, Span::from_nanos(1), LONGEST)?;
            span_within(&place, "until", *until, *at, LONGEST)?;
        }
    }
    Ok(())
}

fn check_number(path: &str, key: &str, number: u32) -> Result<(), ScenarioError> {
    let allowed = format!("a number from 1 to {MAX_REQUESTS}");
    if (1..=MAX_REQUESTS).contains(&number) { Ok(()) } else { Err(refuse(path, key, number, &allowed)) }
}

fn check_size(path: &str, key: &str, bytes: Bytes) -> Result<(), ScenarioError> {
    let allowed = format!("a size from 1B to {LARGEST}");
    if (Bytes(1)..=LARGEST).contains(&bytes) { Ok(()) } else { Err(refuse(path, key, bytes, &allowed)) }
}
