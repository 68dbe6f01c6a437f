//! Checks of applications whose ends answer each other, and of how many connections they need.

use tcp::units::{Bytes, Span};

use super::bounds::{LONGEST, check_period, refuse, span_within};
use crate::scenario::{
    AppDef, BothDef, DirectionDef, FlowDef, IncastDef, PerConnection, PeriodDef, Playout, RequestResponseDef,
    ScenarioError, TransferDef, VoiceDef, join,
};

/// Most requests or rounds of an application, whose times it records.
const MAX_REQUESTS: u32 = 1_000_000;
/// Most connections of an application: each is a flow.
const MAX_CONNECTIONS: u64 = 10_000;
/// Largest message.
const LARGEST: Bytes = Bytes(1_000_000_000_000);

/// How many connections an application needs in a world of so many nodes.
pub(crate) fn connections_of(app: &AppDef, nodes: usize) -> u64 {
    match app {
        AppDef::RequestResponse(def) => match def.per_connection {
            PerConnection::All => 1,
            PerConnection::Requests(each) => u64::from(def.requests.div_ceil(each)),
        },
        AppDef::Incast(def) => def.servers.map_or(nodes as u64, u64::from),
        _ => 1,
    }
}

/// True if the ends of the application answer each other.
pub(super) fn is_conversation(app: &AppDef) -> bool {
    !matches!(app, AppDef::Bulk(_) | AppDef::Cbr(_) | AppDef::OnOff(_))
}

/// Refuses what stands beside the application of a flow and does not go with it.
pub(super) fn check_beside(flow: &FlowDef, path: &str) -> Result<(), ScenarioError> {
    let given = [("silent", flow.silent), ("sink_agent", flow.sink_agent.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given && is_conversation(&flow.app)) {
        Some((key, _)) => {
            Err(ScenarioError::new(join(path, key), "does not go with an application whose sink has data to send")
                .with_hint("it is for `bulk`, `cbr` and `on_off`"))
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
    check_pause(def.think.as_ref(), &join(path, "think"))?;
    check_pause(def.server_time.as_ref(), &join(path, "server_time"))?;
    let connections = connections_of(&AppDef::RequestResponse(def.clone()), 0);
    if connections > MAX_CONNECTIONS {
        let message = format!("{} requests are {connections} connections; at most {MAX_CONNECTIONS}", def.requests);
        return Err(ScenarioError::new(join(path, "per_connection"), message));
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

pub(super) fn check_voice(def: &VoiceDef, path: &str) -> Result<(), ScenarioError> {
    match def.playout {
        Playout::Auto(_) => Ok(()),
        Playout::Fixed(fixed) => {
            span_within(&join(path, "playout"), "delay", fixed.delay, Span::ZERO, Span::from_millis(10_000))
        }
    }
}

fn check_number(path: &str, key: &str, number: u32) -> Result<(), ScenarioError> {
    let allowed = format!("a number from 1 to {MAX_REQUESTS}");
    if (1..=MAX_REQUESTS).contains(&number) { Ok(()) } else { Err(refuse(path, key, number, &allowed)) }
}

fn check_size(path: &str, key: &str, bytes: Bytes) -> Result<(), ScenarioError> {
    let allowed = format!("a size from 1B to {LARGEST}");
    if (Bytes(1)..=LARGEST).contains(&bytes) { Ok(()) } else { Err(refuse(path, key, bytes, &allowed)) }
}
