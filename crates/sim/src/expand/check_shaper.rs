//! Checks of what shapers have in common, and of classes that lend to one another.

use tcp::units::{Bytes, Rate, Span};

use super::place::{Place, check_framing};
use crate::scenario::{AutorateDef, HtbClassDef, HtbDef, Overhead, RateChangeAt, ScenarioError, join};

/// Classes of one queue, at most, and levels of them (TC_HTB_MAXDEPTH).
const MOST_CLASSES: usize = 256;
const DEEPEST: usize = 8;

/// Wake-ups, overhead, and rates from given times on.
pub(super) fn check_shaping(
    place: &Place<'_>,
    wake: Option<Span>,
    overhead: &Overhead,
    changes: &[RateChangeAt],
) -> Result<(), ScenarioError> {
    wake.map_or(Ok(()), |span| place.time("wake", span))?;
    check_order(place, changes.iter().map(|change| change.at))?;
    check_framing(overhead, &join(place.0, "overhead"))
}

/// A controller of a shaper's rate.
pub(super) fn check_autorate(
    place: &Place<'_>,
    def: Option<&AutorateDef>,
    rate: Option<Rate>,
    changes: &[RateChangeAt],
) -> Result<(), ScenarioError> {
    let Some(def) = def else { return Ok(()) };
    let Some(rate) = rate else {
        return Err(place.error("autorate", "belongs to the shaper: give `rate` beside it".into()));
    };
    if !changes.is_empty() {
        return Err(place.error("autorate", "and changes would both set the rate; leave one of them out".into()));
    }
    let path = join(place.0, "autorate");
    let place = Place(&path);
    place.check("min_rate", def.min_rate, def.min_rate <= rate, &format!("at most the rate of the shaper ({rate})"))?;
    place.check(
        "max_rate",
        def.max_rate,
        def.max_rate >= rate,
        &format!("at least the rate of the shaper ({rate})"),
    )?;
    for (field, span) in [
        ("delay_threshold", def.delay_threshold),
        ("up_threshold", def.up_threshold),
        ("down_threshold", def.down_threshold),
        ("refractory", def.refractory),
        ("decay_refractory", def.decay_refractory),
        ("monitor", def.monitor),
    ] {
        place.time(field, span)?;
    }
    let (up, late, down) = (def.up_threshold, def.delay_threshold, def.down_threshold);
    place.check("up_threshold", up, up < late, &format!("below delay_threshold ({late})"))?;
    place.check("down_threshold", down, down > late, &format!("above delay_threshold ({late})"))?;
    place.check("window", def.window, (1..=1000).contains(&def.window), "a count from 1 to 1000")?;
    let counts = (1..=def.window).contains(&def.delayed);
    place.check("delayed", def.delayed, counts, &format!("a count from 1 to the window ({})", def.window))?;
    for (field, part) in [
        ("baseline_increase", def.baseline_increase),
        ("baseline_decrease", def.baseline_decrease),
        ("high_load", def.high_load),
        ("down[0]", def.down[0]),
        ("down[1]", def.down[1]),
        ("decay[0]", def.decay[0]),
    ] {
        place.check(field, part, part > 0.0 && part <= 1.0, "a number above 0 and up to 1")?;
    }
    for (field, factor) in [("up[0]", def.up[0]), ("up[1]", def.up[1]), ("decay[1]", def.decay[1])] {
        place.check(field, factor, (1.0..=10.0).contains(&factor), "a factor from 1 to 10")?;
    }
    Ok(())
}

/// Changes come one after the other.
fn check_order(place: &Place<'_>, times: impl Iterator<Item = Span>) -> Result<(), ScenarioError> {
    let mut last = None;
    for (index, at) in times.enumerate() {
        let allowed = format!("after the change before it ({})", last.unwrap_or_default());
        place.check(&format!("changes[{index}].at"), at, last.is_none_or(|last| at > last), &allowed)?;
        last = Some(at);
    }
    Ok(())
}

/// Classes that lend to one another.
pub(super) fn check_htb(place: &Place<'_>, def: &HtbDef) -> Result<(), ScenarioError> {
    let count = def.classes.len();
    place.check(
        "classes",
        format!("{count} classes"),
        (1..=MOST_CLASSES).contains(&count),
        "a list of 1 to 256 classes",
    )?;
    check_shaping(place, def.wake, &def.overhead, &[])?;
    let mut catches_all: Option<&str> = None;
    for (index, class) in def.classes.iter().enumerate() {
        let path = join(place.0, &format!("classes[{index}]"));
        let place = Place(&path);
        check_class(&place, class)?;
        check_family(&place, def, index)?;
        if !def.is_leaf(class) {
            refuse_keys_of_leaves(&place, class)?;
        } else if let Some(first) = catches_all {
            let message = format!("no packet ever comes here: {first:?} before it has no conditions and takes all");
            let hint = "give the first one conditions (hosts, dscp, flows, workloads), or put it last";
            return Err(place.error("name", message).with_hint(hint));
        } else if !class.has_conditions() {
            catches_all = Some(&class.name);
        }
    }
    Ok(())
}

fn check_class(place: &Place<'_>, class: &HtbClassDef) -> Result<(), ScenarioError> {
    place.check("name", format!("{:?}", class.name), !class.name.is_empty(), "a name of at least one letter")?;
    let (mut rate, mut ceiling) = (class.rate, class.ceiling.unwrap_or(class.rate));
    let holds = |field: &str, rate: Rate, ceiling: Rate| {
        place.check(field, ceiling, ceiling >= rate, &format!("at least the rate ({rate})"))
    };
    holds("ceiling", rate, ceiling)?;
    check_order(place, class.changes.iter().map(|change| change.at))?;
    for (index, change) in class.changes.iter().enumerate() {
        let field = format!("changes[{index}]");
        if change.rate.or(change.ceiling).is_none() {
            return Err(place.error(&field, "changes nothing; give rate or ceiling".into()));
        }
        (rate, ceiling) = (change.rate.unwrap_or(rate), change.ceiling.unwrap_or(ceiling));
        holds(&format!("{field}.ceiling"), rate, ceiling)?;
    }
    for (field, burst) in [("burst", class.burst), ("ceiling_burst", class.ceiling_burst)] {
        burst.map_or(Ok(()), |burst| place.check(field, burst, burst > Bytes::ZERO, "a size from 1B on"))?;
    }
    class.quantum.map_or(Ok(()), |quantum| place.size("quantum", quantum))?;
    class.priority.map_or(Ok(()), |priority| place.check("priority", priority, priority < 8, "a number from 0 to 7"))
}

/// Names are unique, and a parent stands before its children.
fn check_family(place: &Place<'_>, def: &HtbDef, index: usize) -> Result<(), ScenarioError> {
    let (class, before) = (&def.classes[index], &def.classes[..index]);
    if before.iter().any(|other| other.name == class.name) {
        return Err(place.error("name", format!("{:?} is the name of two classes", class.name)));
    }
    if let Some(parent) = class.parent.as_ref().filter(|parent| !before.iter().any(|other| other.name == **parent)) {
        let names: Vec<&str> = before.iter().map(|other| other.name.as_str()).collect();
        let message = format!("{parent:?} is no class before this one");
        let hint = format!("parents stand before their children; before it: {}", names.join(", "));
        return Err(place.error("parent", message).with_hint(hint));
    }
    let (mut levels, mut above) = (1, def.parent_of(class));
    while let Some(parent) = above {
        (levels, above) = (levels + 1, def.parent_of(&def.classes[parent]));
    }
    place.check("parent", format!("level {levels}"), levels <= DEEPEST, &format!("one of {DEEPEST} levels at most"))
}

/// What only a class with a queue can have.
fn refuse_keys_of_leaves(place: &Place<'_>, class: &HtbClassDef) -> Result<(), ScenarioError> {
    let given = [
        ("queue", class.queue.is_some()),
        ("priority", class.priority.is_some()),
        ("quantum", class.quantum.is_some()),
        ("hosts", !class.hosts.is_empty()),
        ("dscp", !class.dscp.is_empty()),
        ("flows", !class.flows.is_empty()),
        ("workloads", !class.workloads.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => {
            let message = "has no effect in a class with children: packets wait in those without";
            Err(place.error(field, message.into()).with_hint("give it to the children"))
        }
        None => Ok(()),
    }
}
