//! Checks of what links do to packets.

use tcp::units::Span;

use super::bounds::{LONGEST, MAX_POINTS, no_contents, probability, refuse, span_within};
use crate::scenario::{
    AcksDef, CorruptDef, DelayDef, FailureDef, FileDelay, HarqDef, LinkOptions, LossModel, MarkModel, PerDraw,
    ReorderDef, ScenarioError, join,
};

/// Longest delay that is drawn: more would be a mistake.
const LONGEST_DELAY: Span = Span::from_millis(1_000_000);

/// Checks the effects of a link.
pub(super) fn check_effects(options: &LinkOptions, path: &str) -> Result<(), ScenarioError> {
    if let Some(jitter) = &options.jitter {
        let place = join(path, "jitter");
        check_delay(&jitter.delay, &place)?;
        probability(&place, "correlation", jitter.correlation)?;
        match jitter.per {
            PerDraw::Time(per) => span_within(&place, "per", per, Span::from_nanos(1), LONGEST)?,
            PerDraw::Batch if jitter.reorder => {
                let message = "is not for batches, which keep their order";
                return Err(ScenarioError::new(join(&place, "reorder"), message));
            }
            PerDraw::Packet | PerDraw::Batch => {}
        }
    }
    if let Some(reorder) = &options.reorder {
        check_reorder(reorder, &join(path, "reorder"))?;
    }
    if let Some(duplicate) = &options.duplicate {
        probability(&join(path, "duplicate"), "p", duplicate.p)?;
    }
    match &options.corrupt {
        Some(CorruptDef::Packet(damage)) => probability(&join(path, "corrupt"), "p", damage.p)?,
        Some(CorruptDef::Bit(damage)) => probability(&join(path, "corrupt"), "ber", damage.ber)?,
        None => {}
    }
    check_during(options, path)?;
    if let Some(harq) = &options.harq {
        check_harq(harq, &join(path, "harq"))?;
    }
    let Some(AcksDef::Decimate(def)) = &options.acks else { return Ok(()) };
    let place = join(path, "acks");
    if !(1..=1_000_000).contains(&def.every) {
        return Err(refuse(&place, "every", def.every, "a count from 1 to 1000000"));
    }
    span_within(&place, "timeout", def.timeout, Span::from_nanos(1), LONGEST)
}

/// Checks the stretches of time in which something acts.
fn check_during(options: &LinkOptions, path: &str) -> Result<(), ScenarioError> {
    for (index, [from, until]) in options.during.iter().enumerate() {
        if from >= until {
            let message = format!("{from} to {until} is no stretch of time: it ends before it begins");
            return Err(ScenarioError::new(join(path, &format!("during[{index}]")), message));
        }
    }
    let LinkOptions { loss, marks, jitter, reorder, duplicate, corrupt, harq, .. } = options;
    let scripted = matches!(loss, Some(LossModel::Nth(_))) || matches!(marks.as_deref(), Some(MarkModel::Nth(_)));
    let any = loss.is_some() || marks.is_some() || jitter.is_some() || reorder.is_some() || duplicate.is_some();
    let message = match (options.during.is_empty(), scripted, any || corrupt.is_some() || harq.is_some()) {
        (true, ..) | (_, false, true) => return Ok(()),
        (_, true, _) => "a script of loss or marks names its packets, whenever they come",
        (_, _, false) => "has no effect: the link has no loss, marks, jitter, reorder, duplicate, corrupt or harq",
    };
    Err(ScenarioError::new(join(path, "during"), message))
}

/// Checks a distribution of delays.
pub(super) fn check_delay(delay: &DelayDef, path: &str) -> Result<(), ScenarioError> {
    let time = |field, span| span_within(path, field, span, Span::from_nanos(1), LONGEST_DELAY);
    match delay {
        DelayDef::Constant(constant) => time("length", constant.length),
        DelayDef::Uniform(uniform) => time("max", uniform.max),
        DelayDef::Normal(normal) => {
            span_within(path, "mean", normal.mean, Span::ZERO, LONGEST_DELAY)?;
            time("sd", normal.sd)
        }
        DelayDef::Exponential(exponential) => time("mean", exponential.mean),
        DelayDef::Pareto(pareto) => {
            time("mean", pareto.mean)?;
            let shape = pareto.shape;
            let allowed = "above 1 and up to 100: no mean exists";
            if shape > 1.0 && shape <= 100.0 { Ok(()) } else { Err(refuse(path, "shape", shape, allowed)) }
        }
        DelayDef::File(file) => check_file(file, path),
    }
}

fn check_file(file: &FileDelay, path: &str) -> Result<(), ScenarioError> {
    let points = file.points.as_deref().unwrap_or_default();
    let fail = |message: String| Err(ScenarioError::new(join(path, "points"), message));
    if points.is_empty() {
        return Err(no_contents(path, "points", file.file.as_deref()));
    }
    if points.len() < 2 || points.len() > MAX_POINTS {
        return fail(format!("{} points; from 2 to {MAX_POINTS}", points.len()));
    }
    if points[0].0 != 0.0 || points[points.len() - 1].0 != 1.0 {
        return fail("the first share must be 0 and the last 1".into());
    }
    let rises = |pair: &[(f64, Span)]| pair[1].0 > pair[0].0 && pair[1].1 >= pair[0].1;
    if let Some(index) = points.windows(2).position(|pair| !rises(pair)) {
        return fail(format!("point {} is not above the one before it", index + 2));
    }
    span_within(path, "points", points[points.len() - 1].1, Span::ZERO, LONGEST_DELAY)
}

fn check_reorder(reorder: &ReorderDef, path: &str) -> Result<(), ScenarioError> {
    match reorder {
        ReorderDef::Late(late) => {
            probability(path, "p", late.p)?;
            probability(path, "correlation", late.correlation)?;
            check_delay(&late.by, &join(path, "by"))
        }
        ReorderDef::Early(early) if early.gap == 0 => Err(refuse(path, "gap", 0, "a count of packets from 1 on")),
        ReorderDef::Early(early) => {
            probability(path, "p", early.p)?;
            probability(path, "correlation", early.correlation)
        }
        ReorderDef::Swap(swap) => probability(path, "p", swap.p),
    }
}

fn check_harq(harq: &HarqDef, path: &str) -> Result<(), ScenarioError> {
    match &harq.p {
        FailureDef::Each(p) => probability(path, "p", *p)?,
        FailureDef::ByAttempt(all) if all.is_empty() => {
            return Err(refuse(path, "p", "an empty array", "a probability for each attempt"));
        }
        FailureDef::ByAttempt(all) => {
            for (index, p) in all.iter().enumerate() {
                probability(path, &format!("p[{index}]"), *p)?;
            }
        }
    }
    if !(1..=1000).contains(&harq.attempts) {
        return Err(refuse(path, "attempts", harq.attempts, "a count from 1 to 1000"));
    }
    span_within(path, "rtt", harq.rtt, Span::from_nanos(1), LONGEST_DELAY)?;
    harq.arq.map_or(Ok(()), |arq| span_within(path, "arq", arq, Span::ZERO, LONGEST_DELAY))
}
