//! Checks of workloads that need no network. Each error names the field as the user wrote it.

use std::collections::BTreeSet;

use tcp::units::{Bytes, Span};

use super::bounds::{LONGEST, check_period, no_contents, refuse};
use super::graph::count;
use crate::scenario::{
    ArrivalsDef, CdfSize, ClosedArrivals, ListedArrivals, OpenArrivals, PageProtocol, PerConnection, RecordedFlows,
    RequestResponseDef, Scenario, ScenarioError, SizeDef, WorkloadApp, WorkloadDef, join,
};

/// Largest size of a flow: 1 TB.
const MAX_SIZE: Bytes = Bytes(1_000_000_000_000);
/// Most workloads, classes of one, users, points of a distribution, and listed arrivals.
const MAX_WORKLOADS: u64 = 1000;
const MAX_CLASSES: usize = 100;
const MAX_USERS: u64 = 100_000;
const MAX_ENTRIES: usize = 10_000_000;
/// Most flows of all workloads in a sample.
const MAX_SAMPLE: u32 = 1_000_000;

/// Refuses workloads that need no network to be seen wrong.
pub(super) fn check_all(scenario: &Scenario) -> Result<(), ScenarioError> {
    count("workload", scenario.workload.len() as u64, 0, MAX_WORKLOADS)?;
    if let Some(RecordedFlows::Sample(def)) = scenario.record.flows
        && def.sample > MAX_SAMPLE
    {
        return Err(refuse("record.flows", "sample", def.sample, &format!("a count up to {MAX_SAMPLE}")));
    }
    let mut names = BTreeSet::new();
    for (index, def) in scenario.workload.iter().enumerate() {
        let path = format!("workload[{index}]");
        check_name(&def.name, &path)?;
        if !names.insert(&def.name) {
            let message = format!("{:?} is the name of two workloads", def.name);
            return Err(ScenarioError::new(join(&path, "name"), message));
        }
        check(def, &path)?;
    }
    Ok(())
}

fn check_name(name: &str, path: &str) -> Result<(), ScenarioError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    let shown: String = name.chars().take(64).collect();
    Err(refuse(path, "name", format!("{shown:?}"), "1 to 64 letters, digits, `_` and `-`"))
}

fn check(def: &WorkloadDef, path: &str) -> Result<(), ScenarioError> {
    for (field, patterns) in [("from", &def.from), ("to", &def.to)] {
        if patterns.is_empty() {
            return Err(ScenarioError::new(join(path, field), "is empty; give names of nodes"));
        }
    }
    if def.count == Some(0) {
        return Err(refuse(path, "count", 0, "a count from 1 on"));
    }
    check_classes(&def.classes, path)?;
    check_app(&def.app, &join(path, "app"))?;
    if let Some(size) = &def.size {
        check_size(size, &join(path, "size"))?;
    }
    let place = join(path, "arrivals");
    let has_sizes = match &def.arrivals {
        ArrivalsDef::Poisson(open)
        | ArrivalsDef::Weibull(open)
        | ArrivalsDef::Pareto(open)
        | ArrivalsDef::Constant(open) => {
            check_open(&def.arrivals, open, &place)?;
            false
        }
        ArrivalsDef::List(list) => check_list(list, &place)?,
        ArrivalsDef::Closed(ClosedArrivals { users, think }) => {
            count(&join(&place, "users"), *users, 1, MAX_USERS)?;
            check_period(think, &join(&place, "think"))?;
            false
        }
    };
    if def.size.is_none() && !has_sizes {
        let hint = "such as { kind = \"web_search\" }";
        return Err(ScenarioError::new(join(path, "size"), "missing key `size`").with_hint(hint));
    }
    Ok(())
}

/// A flow has one connection.
fn check_app(app: &WorkloadApp, path: &str) -> Result<(), ScenarioError> {
    let one = |field: &str, value: &str, allowed: &str| {
        let message = format!("{value} means several connections, and a flow of a workload has one");
        Err(ScenarioError::new(join(path, field), message).with_hint(format!("give {allowed}")))
    };
    match app {
        WorkloadApp::Transfer(_) => {}
        WorkloadApp::RequestResponse(def) => {
            if let PerConnection::Requests(number) = def.per_connection {
                return one("per_connection", &number.to_string(), "per_connection = \"all\"");
            }
            if def.response != RequestResponseDef::default().response || !def.responses.is_empty() {
                let message = "the size of an answer is that of the flow, `size`";
                return Err(ScenarioError::new(join(path, "response"), message));
            }
        }
        WorkloadApp::Page(def) if def.protocol == PageProtocol::H1 => {
            return one("protocol", "\"h1\"", "protocol = \"h2\"");
        }
        WorkloadApp::Page(def) if def.size.is_some() || def.object_size.is_some() => {
            let field = if def.size.is_some() { "size" } else { "object_size" };
            return Err(ScenarioError::new(join(path, field), "the size of the page is that of the flow, `size`"));
        }
        WorkloadApp::Page(_) => {}
    }
    super::check_app(&app.of_size(Bytes(1)), path)
}

fn check_classes(classes: &[Bytes], path: &str) -> Result<(), ScenarioError> {
    if classes.len() > MAX_CLASSES {
        return Err(refuse(path, "classes", classes.len(), &format!("at most {MAX_CLASSES} edges")));
    }
    let wrong = classes.windows(2).position(|pair| pair[1] <= pair[0]);
    if let Some(index) = wrong {
        let message = format!("{} is not above the edge before it ({})", classes[index + 1], classes[index]);
        return Err(ScenarioError::new(format!("{path}.classes[{}]", index + 1), message));
    }
    match classes.first() {
        Some(Bytes(0)) => Err(ScenarioError::new(format!("{path}.classes[0]"), "0B is no size of a flow")),
        _ => Ok(()),
    }
}

fn check_open(def: &ArrivalsDef, open: &OpenArrivals, place: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(place, field), message));
    let least = match def {
        ArrivalsDef::Weibull(_) => Some(0.0),
        ArrivalsDef::Pareto(_) => Some(1.0),
        _ => None,
    };
    match (least, open.shape) {
        (Some(least), Some(shape)) if shape <= least || shape > 100.0 => {
            return Err(refuse(place, "shape", shape, &format!("above {least} and up to 100")));
        }
        (Some(0.0), Some(shape)) if shape < 0.1 => return Err(refuse(place, "shape", shape, "at least 0.1")),
        (Some(_), None) => {
            return fail("shape", "missing key `shape`, such as 0.7 of weibull and 1.5 of pareto".into());
        }
        (None, Some(_)) => return fail("shape", "only intervals of kind weibull and pareto have a shape".into()),
        _ => {}
    }
    let given = [("rate", open.rate.is_some()), ("load", open.load.is_some()), ("interval", open.interval.is_some())];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key);
    match (given.next(), given.next()) {
        (None, _) => {
            return fail("", "how many flows arrive is missing; give rate, or load with link, or interval".into());
        }
        (Some(first), Some(second)) => return fail(second, format!("stands beside {first}; give one of them")),
        _ => {}
    }
    if open.rate.is_some_and(|rate| rate.0 > 1e9) {
        return fail("rate", "is above 1e9/s".into());
    }
    if open.interval == Some(Span::ZERO) || open.interval > Some(LONGEST) {
        return fail("interval", format!("is not above 0s and up to {LONGEST}"));
    }
    check_load(open, place)
}

fn check_load(open: &OpenArrivals, place: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(place, field), message));
    let Some(load) = open.load else {
        let beside = [("link", open.link.is_some()), ("load_of", open.load_of.is_some()), ("overload", open.overload)];
        let alone = beside.into_iter().find(|(_, given)| *given);
        return alone.map_or(Ok(()), |(key, _)| fail(key, "needs load beside it".into()));
    };
    if open.link.is_none() {
        return fail("link", "missing key `link`: the two nodes of the link that load is a share of".into());
    }
    if !load.is_finite() || load <= 0.0 {
        return Err(refuse(place, "load", load, "above 0"));
    }
    if open.overload && load > 2.0 {
        return Err(refuse(place, "load", load, "at most 2 with overload"));
    }
    if !open.overload && load >= 1.0 {
        let message = format!("{load} is not below 1: the number of flows would grow without bound");
        return Err(ScenarioError::new(join(place, "load"), message).with_hint("overload = true allows up to 2"));
    }
    Ok(())
}

/// Checks listed arrivals; true if all of them have sizes.
fn check_list(list: &ListedArrivals, place: &str) -> Result<bool, ScenarioError> {
    let (key, times): (&str, Vec<Span>) = match (&list.at, &list.rows) {
        (Some(_), Some(_)) => {
            return Err(ScenarioError::new(join(place, "rows"), "stands beside at; give one of them"));
        }
        (Some(at), None) => ("at", at.clone()),
        (None, Some(rows)) => ("rows", rows.iter().map(|row| row.0).collect()),
        (None, None) => return Err(no_contents(place, "at", list.file.as_deref())),
    };
    if times.is_empty() || times.len() > MAX_ENTRIES {
        return Err(refuse(place, key, format!("a list of {} arrivals", times.len()), "1 to 10000000 long"));
    }
    if let Some(index) = times.windows(2).position(|pair| pair[1] < pair[0]) {
        let message = format!("{} is before the one above it ({})", times[index + 1], times[index]);
        return Err(ScenarioError::new(format!("{place}.{key}[{}]", index + 1), message));
    }
    let sizes = list.rows.iter().flatten().map(|row| row.3);
    if let Some(index) = sizes.clone().position(|size| size.is_some_and(|size| !is_size(size))) {
        return Err(ScenarioError::new(format!("{place}.rows[{index}]"), "bytes are not from 1B to 1TB"));
    }
    Ok(list.rows.is_some() && sizes.clone().all(|size| size.is_some()))
}

fn is_size(size: Bytes) -> bool {
    (Bytes(1)..=MAX_SIZE).contains(&size)
}

fn check_size(size: &SizeDef, place: &str) -> Result<(), ScenarioError> {
    let within = |field: &str, size: Bytes| {
        if is_size(size) { Ok(()) } else { Err(refuse(place, field, size, "a size from 1B to 1TB")) }
    };
    match size {
        SizeDef::Constant(def) => within("bytes", def.bytes),
        SizeDef::Exponential(def) => within("mean", def.mean),
        SizeDef::Lognormal(def) => {
            if !(0.0..=10.0).contains(&def.sigma) || def.sigma == 0.0 {
                return Err(refuse(place, "sigma", def.sigma, "above 0 and up to 10"));
            }
            match (def.mean, def.median) {
                (Some(mean), None) => within("mean", mean),
                (None, Some(median)) => within("median", median),
                (Some(_), Some(_)) => {
                    Err(ScenarioError::new(join(place, "median"), "stands beside mean; give one of them"))
                }
                (None, None) => Err(ScenarioError::new(join(place, "mean"), "missing key `mean`, or `median`")),
            }
        }
        SizeDef::Pareto(def) => {
            within("min", def.min)?;
            if !(def.shape > 0.0 && def.shape <= 100.0) {
                return Err(refuse(place, "shape", def.shape, "above 0 and up to 100"));
            }
            match def.max {
                Some(max) if max <= def.min => Err(refuse(place, "max", max, &format!("above min ({})", def.min))),
                Some(max) => within("max", max),
                None if def.shape <= 1.0 => {
                    let allowed = "above 1: without max no mean exists";
                    Err(refuse(place, "shape", def.shape, allowed))
                }
                None => Ok(()),
            }
        }
        SizeDef::Uniform(def) => {
            within("min", def.min)?;
            within("max", def.max)?;
            if def.max < def.min {
                Err(refuse(place, "max", def.max, &format!("at least min ({})", def.min)))
            } else {
                Ok(())
            }
        }
        SizeDef::Cdf(def) => check_cdf(def, place),
        SizeDef::WebSearch(_) | SizeDef::DataMining(_) => Ok(()),
        SizeDef::List(def) => {
            if def.bytes.is_empty() || def.bytes.len() > MAX_ENTRIES {
                return Err(refuse(place, "bytes", format!("a list of {}", def.bytes.len()), "1 to 10000000 long"));
            }
            let wrong = def.bytes.iter().position(|size| !is_size(*size));
            wrong.map_or(Ok(()), |index| within(&format!("bytes[{index}]"), def.bytes[index]))
        }
    }
}

fn check_cdf(def: &CdfSize, place: &str) -> Result<(), ScenarioError> {
    let Some(points) = def.points.as_deref() else { return Err(no_contents(place, "points", def.file.as_deref())) };
    let at = |index: usize, message: String| Err(ScenarioError::new(format!("{place}.points[{index}]"), message));
    if points.len() < 2 || points.len() > MAX_ENTRIES {
        return Err(refuse(place, "points", format!("a list of {} points", points.len()), "2 to 10000000 long"));
    }
    for (index, (size, share)) in points.iter().enumerate() {
        if !(0.0..=MAX_SIZE.as_f64()).contains(size) {
            return at(index, format!("{size} is not a size from 0 to 1e12 bytes"));
        }
        if !(0.0..=1.0).contains(share) {
            return at(index, format!("{share} is not a probability from 0 to 1"));
        }
        let Some(before) = index.checked_sub(1).map(|index| points[index]) else { continue };
        if *size < before.0 || *share < before.1 {
            return at(index, format!("({size}, {share}) is below the point before it ({}, {})", before.0, before.1));
        }
    }
    let (last, share) = points[points.len() - 1];
    if share < 1.0 {
        return at(points.len() - 1, format!("the last probability is {share}; it must be 1"));
    }
    if last < 1.0 { at(points.len() - 1, "all sizes are below 1 byte".into()) } else { Ok(()) }
}
