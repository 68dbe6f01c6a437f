//! What `assert` compares: windows in segments, times in seconds, names in lower case.

use tcp::Connection;
use tcp::cc::State;
use tcp::units::{Bytes, Time};

use crate::text::Outcome;

fn in_segments(size: Bytes, mss: Bytes) -> f64 {
    if size == Bytes::MAX { f64::INFINITY } else { size.as_f64() / mss.as_f64() }
}

/// What `assert key` compares.
pub(crate) fn quantity(connection: &Connection, key: &str, mss: Bytes, now: Time) -> Outcome<String> {
    if let Some(count) = count(connection, key) {
        return Ok(count.to_string());
    }
    let snapshot = || connection.snapshot().ok_or(format!("no {key} before the handshake is done"));
    let segments = |size: Bytes| in_segments(size, mss).to_string();
    let next = || connection.timers().min_by_key(|(_, at)| *at);
    Ok(match key {
        "phase" => format!("{:?}", connection.state()).to_lowercase(),
        "state" => name(snapshot()?.state),
        "cwnd" => segments(snapshot()?.window.cwnd),
        "ssthresh" => segments(snapshot()?.window.ssthresh),
        "window" => segments(snapshot()?.send_window),
        "flight" => segments(snapshot()?.flight),
        "pipe" => segments(snapshot()?.pipe),
        "sacked" => segments(snapshot()?.sacked),
        "lost" => segments(snapshot()?.lost),
        "resent" => segments(snapshot()?.retransmitted),
        "unsent" => segments(snapshot()?.unsent),
        "reordering" => snapshot()?.reordering.to_string(),
        "probes" => snapshot()?.window_probes.to_string(),
        "rwnd" => segments(snapshot()?.rwnd),
        "rto" => snapshot()?.rto.as_secs_f64().to_string(),
        "srtt" => snapshot()?.srtt.map_or("none".into(), |srtt| srtt.as_secs_f64().to_string()),
        "rttvar" => snapshot()?.rttvar.as_secs_f64().to_string(),
        "min_rtt" => snapshot()?.min_rtt.map_or("none".into(), |least| least.as_secs_f64().to_string()),
        "timer" => next().map_or("none".into(), |(name, _)| name.replace('_', "")),
        "due" => next().map_or("none".into(), |(_, at)| at.since(now).as_secs_f64().to_string()),
        _ => return Err(format!("unknown quantity {key:?}")),
    })
}

fn name(state: State) -> String {
    format!("{state:?}").to_lowercase()
}

/// Plain numbers.
fn count(connection: &Connection, key: &str) -> Option<u64> {
    let totals = connection.totals();
    Some(match key {
        "timeouts" => totals.timeouts.into(),
        "recoveries" => totals.recoveries.into(),
        "retransmitted" => totals.retransmitted_segments.into(),
        "ecn_reductions" => totals.ecn_reductions.into(),
        "ecn_waits" => totals.ecn_waits.into(),
        "tail_probes" => totals.tail_probes.into(),
        "undone" => totals.undone.into(),
        "readable" => connection.readable().0,
        "point" => connection.recovery_point()?.0,
        _ => return None,
    })
}

/// A wanted quantity in the form of [`quantity`].
pub(crate) fn normal(wanted: &str, mss: Bytes) -> String {
    let bytes = || wanted.strip_suffix('B').and_then(|n| n.parse().ok()).map(|n| in_segments(Bytes(n), mss));
    wanted.parse().ok().or_else(bytes).map_or(wanted.replace('_', ""), |number: f64| number.to_string())
}
