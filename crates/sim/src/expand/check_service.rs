//! Checks of how links serve their queues, and of how they change.

use tcp::units::{Bytes, Span};

use super::bounds::{LONGEST, check_period, no_contents, refuse, span_within};
use super::check_effects::check_delay;
use crate::scenario::{
    LinkOptions, OnOffService, RateTraceService, RequestGrantService, ScenarioError, ServiceDef, SlotsService,
    TraceService, join,
};

/// Shortest mean length of a period or time slot.
const SHORTEST: Span = Span::from_millis(1);

/// Most points of a list of rates.
const MAX_RATES: usize = 10_000_000;

/// Checks the changes of a link over time.
pub(super) fn check_changes(options: &LinkOptions, path: &str) -> Result<(), ScenarioError> {
    let served = [options.service.as_deref(), options.reverse.as_ref().and_then(|reverse| reverse.service.as_deref())];
    let has_service = served.into_iter().flatten().any(|service| !matches!(service, ServiceDef::Rate(_)));
    for (index, change) in options.changes.iter().enumerate() {
        let place = join(path, &format!("changes[{index}]"));
        if change.up.is_none() && change.rate.is_none() && change.delay.is_none() {
            return Err(ScenarioError::new(place, "changes nothing; give up, rate or delay"));
        }
        if change.overtake && change.delay.is_none() {
            return Err(ScenarioError::new(join(&place, "overtake"), "needs delay beside it: that of the new path"));
        }
        if change.rate.is_some() && has_service {
            let message = "the service of the link has rates of its own; use rate_trace for rates that change";
            return Err(ScenarioError::new(join(&place, "rate"), message));
        }
        if let Some(period) = options.repeat.filter(|period| change.at >= *period) {
            let message = format!("{} is not within the period after which the changes repeat ({period})", change.at);
            return Err(ScenarioError::new(join(&place, "at"), message));
        }
    }
    match options.repeat {
        Some(_) if options.changes.is_empty() => {
            Err(ScenarioError::new(join(path, "repeat"), "needs changes beside it, which happen again"))
        }
        Some(period) => span_within(path, "repeat", period, Span::from_millis(1), LONGEST),
        None => Ok(()),
    }
}

/// Checks the service of a link.
pub(super) fn check_service(options: &LinkOptions, path: &str) -> Result<(), ScenarioError> {
    let Some(service) = options.service.as_deref() else { return Ok(()) };
    let place = join(path, "service");
    let place = place.as_str();
    match service {
        ServiceDef::Rate(_) => {}
        ServiceDef::Trace(trace) => check_trace(trace, place)?,
        ServiceDef::Poisson(poisson) => check_opportunity(poisson.opportunity, place)?,
        ServiceDef::RateTrace(trace) => check_rate_trace(trace, place)?,
        ServiceDef::Boost(boost) => {
            if boost.peak < boost.sustained {
                let allowed = format!("at least the sustained rate ({})", boost.sustained);
                return Err(refuse(place, "peak", boost.peak, &allowed));
            }
            size_within(place, "bucket", boost.bucket, Bytes(1_000_000_000_000))?;
        }
        ServiceDef::OnOff(on_off) => check_on_off(on_off, place)?,
        ServiceDef::Aggregate(aggregate) => {
            if !(1..=65_536).contains(&aggregate.packets) {
                return Err(refuse(place, "packets", aggregate.packets, "a count from 1 to 65536"));
            }
            span_within(place, "time", aggregate.time, Span::from_nanos(1), LONGEST)?;
            span_within(place, "access", aggregate.access, Span::ZERO, LONGEST)?;
            aggregate.jitter.as_ref().map_or(Ok(()), |jitter| check_delay(jitter, &join(place, "jitter")))?;
        }
        ServiceDef::RequestGrant(grants) => check_grants(grants, place)?,
        ServiceDef::Slots(slots) => check_slots(slots, options, path, place)?,
    }
    match (options.rate, service.own_rate()) {
        (Some(rate), Some(own)) if rate != own => {
            let message = format!("{rate} stands beside a service that has a rate of its own ({own})");
            let hint = "remove it; nominal_rate of a trace is what queues and the base RTT are computed for";
            Err(ScenarioError::new(join(path, "rate"), message).with_hint(hint))
        }
        _ => Ok(()),
    }
}

fn size_within(path: &str, field: &str, size: Bytes, most: Bytes) -> Result<(), ScenarioError> {
    let allowed = format!("a size from 1B to {most}");
    if (Bytes(1)..=most).contains(&size) { Ok(()) } else { Err(refuse(path, field, size, &allowed)) }
}

fn check_opportunity(opportunity: Bytes, place: &str) -> Result<(), ScenarioError> {
    size_within(place, "opportunity", opportunity, Bytes(1_000_000))
}

fn check_trace(trace: &TraceService, place: &str) -> Result<(), ScenarioError> {
    check_opportunity(trace.opportunity(), place)?;
    span_within(place, "offset", trace.offset, Span::ZERO, LONGEST)?;
    let times = trace.times.as_ref().filter(|times| !times.millis.is_empty());
    let Some(times) = times else { return Err(no_contents(place, "times", trace.file.as_deref())) };
    if let Some(index) = times.millis.windows(2).position(|pair| pair[1] < pair[0]) {
        let [before, after] = [times.millis[index], times.millis[index + 1]];
        let message = format!("entry {} ({after}) is below the one before it ({before})", index + 2);
        return Err(ScenarioError::new(join(place, "times"), message));
    }
    if times.millis.last() == Some(&0) {
        return Err(ScenarioError::new(join(place, "times"), "the last time is 0; it is the period of the trace"));
    }
    Ok(())
}

fn check_rate_trace(trace: &RateTraceService, place: &str) -> Result<(), ScenarioError> {
    let points = trace.points.as_deref().unwrap_or_default();
    let fail = |message: String| Err(ScenarioError::new(join(place, "points"), message));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err(no_contents(place, "points", trace.file.as_deref()));
    };
    if points.len() > MAX_RATES {
        return fail(format!("{} points; at most {MAX_RATES}", points.len()));
    }
    if trace.columns.is_some() && trace.file.is_none() {
        return Err(ScenarioError::new(join(place, "columns"), "has no effect without file, whose columns it names"));
    }
    if first.0 != Span::ZERO {
        return fail(format!("the first time is {}; it must be 0s", first.0));
    }
    if let Some(index) = points.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
        return fail(format!(
            "the time of point {} ({}) is not after the one before it",
            index + 2,
            points[index + 1].0
        ));
    }
    if points.iter().all(|point| point.1.as_bps() == 0) {
        return fail("all rates are 0, so that packets would wait for ever".into());
    }
    if !trace.repeats && last.1.as_bps() == 0 {
        let message = "the last rate is 0, so that packets would wait for ever";
        let hint = "loop = true begins the list again; or add a point with the rate that stays";
        return Err(ScenarioError::new(join(place, "points"), message).with_hint(hint));
    }
    match trace.period().filter(|_| trace.repeats) {
        Some(period) if period < SHORTEST * points.len() as u64 => {
            fail(format!("a list of {} points is over after {period}; at least {SHORTEST} a point", points.len()))
        }
        None if trace.repeats => fail("a list that repeats needs two points".into()),
        _ => Ok(()),
    }
}

fn check_on_off(on_off: &OnOffService, place: &str) -> Result<(), ScenarioError> {
    for (field, period) in [("on", &on_off.on), ("off", &on_off.off)] {
        check_period(period, &join(place, field))?;
        span_within(place, field, period.mean(), SHORTEST, LONGEST)?;
    }
    Ok(())
}

fn check_grants(grants: &RequestGrantService, place: &str) -> Result<(), ScenarioError> {
    span_within(place, "map", grants.map, Span::from_micros(1), Span::from_millis(10_000))?;
    if !(1..=1000).contains(&grants.loop_maps) {
        return Err(refuse(place, "loop", grants.loop_maps, "a count of maps from 1 to 1000"));
    }
    Ok(())
}

fn check_slots(slots: &SlotsService, options: &LinkOptions, path: &str, place: &str) -> Result<(), ScenarioError> {
    span_within(place, "period", slots.period, Span::from_millis(1), LONGEST)?;
    span_within(place, "phase", slots.phase, Span::ZERO, LONGEST)?;
    let [least, most] = slots.rate;
    if least > most {
        return Err(refuse(place, "rate", format!("{least} to {most}"), "a smallest and a largest rate"));
    }
    if slots.outage >= slots.period {
        return Err(refuse(place, "outage", slots.outage, &format!("shorter than a slot ({})", slots.period)));
    }
    for (field, span) in [("after", slots.edge.after), ("before", slots.edge.before), ("extra", slots.edge.extra)] {
        span_within(&join(place, "edge"), field, span, Span::ZERO, slots.period)?;
    }
    if let Some(most) = slots.edge.extra_to {
        span_within(&join(place, "edge"), "extra_to", most, slots.edge.extra, slots.period)?;
    }
    let Some([least, most]) = slots.delay else { return Ok(()) };
    if least > most || most > Span::from_millis(1_000_000) {
        let allowed = "a smallest and a largest delay, up to 1000s";
        return Err(refuse(place, "delay", format!("{least} to {most}"), allowed));
    }
    match options.delay {
        Some(delay) if delay > Span::ZERO => {
            Err(ScenarioError::new(join(path, "delay"), format!("{delay} stands beside a service that draws delays")))
        }
        _ => Ok(()),
    }
}
