//! Checks of the parameters of queues.

use tcp::units::{Bytes, Span};

use super::check_shaper::{check_autorate, check_htb, check_shaping};
use super::place::{Place, check_framing};
use crate::scenario::{
    Amount, CakeDef, ChokeDef, CobaltDef, CodelDef, DrrDef, DualPi2Def, DualPi2Scheduler, FqCodelDef, FqDef, FqPieDef,
    LowAqm, PieDef, PieProfile, PieRules, PriorityBy, PriorityDef, Queue, RedDef, ScenarioError, SfqDef, TbfDef,
    WrrDef, join,
};

/// Queues of a hash, at most.
const MOST_QUEUES: u64 = 65_536;

/// Queues inside the outermost one, at most.
const DEEPEST: usize = 3;

/// Checks a queue and those inside it.
pub(super) fn check_queue(queue: &Queue, path: &str) -> Result<(), ScenarioError> {
    check_nested(queue, path, 0)
}

fn check_nested(queue: &Queue, path: &str, depth: usize) -> Result<(), ScenarioError> {
    if depth > DEEPEST {
        return Err(ScenarioError::new(path, format!("queues nest at most {DEEPEST} deep")));
    }
    check_own(queue, path)?;
    queue.inner().into_iter().try_for_each(|(place, inner)| check_nested(inner, &join(path, &place), depth + 1))
}

fn check_own(queue: &Queue, path: &str) -> Result<(), ScenarioError> {
    let place = Place(path);
    match queue {
        Queue::DropTail(def) => place.limit(def.limit),
        Queue::Red(def) => check_red(&place, def),
        Queue::Codel(def) => check_codel(&place, def),
        Queue::FqCodel(def) => check_fq_codel(&place, def),
        Queue::Choke(def) => check_choke(&place, def),
        Queue::Cobalt(def) => check_cobalt(&place, def),
        Queue::Pie(def) => check_pie(&place, def),
        Queue::FqPie(def) => check_fq_pie(&place, def),
        Queue::Drr(def) => check_drr(&place, def),
        Queue::Sfq(def) => check_sfq(&place, def),
        Queue::Fq(def) => check_fq(&place, def),
        Queue::Tbf(def) => check_tbf(&place, def),
        Queue::Policer(def) => {
            place.burst("burst", def.burst)?;
            check_framing(&def.overhead, &join(path, "overhead"))
        }
        Queue::Htb(def) => check_htb(&place, def),
        Queue::Priority(def) => check_priority(&place, def),
        Queue::Cake(def) => check_cake(&place, def),
        Queue::DualPi2(def) => check_dualpi2(&place, def),
    }
}

fn check_red(place: &Place<'_>, def: &RedDef) -> Result<(), ScenarioError> {
    const MAX_NODES: f64 = 1e9;
    if def.max_threshold.is_some() && def.min_threshold.is_none() {
        return Err(place.error("max_threshold", "needs min_threshold beside it".into()));
    }
    let def = def.with_defaults();
    def.limit.map_or(Ok(()), |limit| place.limit(limit))?;
    if let Some(min) = def.min_threshold {
        place.number("min_threshold", min, MAX_NODES)?;
        let max = def.max_threshold.unwrap_or(3.0 * min);
        place.check("max_threshold", max, max > min && max <= MAX_NODES, &format!("above min_threshold ({min})"))?;
    }
    for (field, value) in [("weight", def.weight), ("max_p", def.max_p)] {
        value.map_or(Ok(()), |x| place.number(field, x, 1.0))?;
    }
    def.mark_p.map_or(Ok(()), |p| place.probability("mark_p", p))?;
    def.mean_packet.map_or(Ok(()), |bytes| place.size("mean_packet", bytes))?;
    for (field, value) in [("target_delay", def.target_delay), ("interval", def.interval)] {
        value.map_or(Ok(()), |span| place.time(field, span))?;
    }
    Ok(())
}

fn check_codel(place: &Place<'_>, def: &CodelDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.time("target", def.target)?;
    place.ce_threshold(def.ce_threshold, def.ce_threshold_selector)?;
    place.time("interval", def.interval)
}

fn check_fq_codel(place: &Place<'_>, def: &FqCodelDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    let (least, most) = (Bytes(2304), Bytes(1_000_000_000_000));
    let allowed = format!("a size from {least}, a full packet with its buffer, to {most}");
    place.check("memory_limit", def.memory_limit, (least..=most).contains(&def.memory_limit), &allowed)?;
    place.count("queues", def.queues, MOST_QUEUES)?;
    place.size("quantum", def.quantum)?;
    place.time("target", def.target)?;
    place.ce_threshold(def.ce_threshold, def.ce_threshold_selector)?;
    place.time("interval", def.interval)
}

fn check_pie(place: &Place<'_>, def: &PieDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.time("target", def.target)?;
    place.time("update", def.update)?;
    place.number("alpha", def.alpha, 1000.0)?;
    place.number("beta", def.beta, 1000.0)?;
    place.probability("mark_p", def.mark_p)?;
    def.mean_packet.map_or(Ok(()), |bytes| place.size("mean_packet", bytes))?;
    def.step_above.map_or(Ok(()), |span| place.time("step_above", span))?;
    if def.rules == Some(PieRules::Docsis) {
        let own = [
            ("profile", def.profile.is_some_and(|p| p == PieProfile::Linux)),
            ("step_above", def.step_above.is_some()),
        ];
        if let Some((field, _)) = own.into_iter().find(|(_, given)| *given) {
            let message = "goes not with rules = \"docsis\", whose step at 200 ms is RFC 8034's own";
            return Err(place.error(field, message.into()).with_hint("leave one of the two out"));
        }
    }
    place.size("departure_threshold", def.departure_threshold)
}

fn check_fq_pie(place: &Place<'_>, def: &FqPieDef) -> Result<(), ScenarioError> {
    place.count("flows", def.flows, MOST_QUEUES)?;
    place.size("quantum", def.quantum)?;
    check_pie(place, &def.pie())
}

fn check_choke(place: &Place<'_>, def: &ChokeDef) -> Result<(), ScenarioError> {
    check_red(place, &def.red())
}

fn check_cobalt(place: &Place<'_>, def: &CobaltDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.time("target", def.target)?;
    place.time("interval", def.interval)
}

fn check_drr(place: &Place<'_>, def: &DrrDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.size("quantum", def.quantum)
}

fn check_sfq(place: &Place<'_>, def: &SfqDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.count("queues", def.queues, MOST_QUEUES)?;
    place.count("depth", def.depth, 1_000_000_000)?;
    place.size("quantum", def.quantum)?;
    def.perturb.map_or(Ok(()), |span| place.time("perturb", span))
}

fn check_fq(place: &Place<'_>, def: &FqDef) -> Result<(), ScenarioError> {
    place.limit(def.limit)?;
    place.count("flow_limit", def.flow_limit, 1_000_000_000)?;
    place.size("quantum", def.quantum)?;
    place.size("initial_quantum", def.initial_quantum)?;
    place.time("refill", def.refill)?;
    def.ce_threshold.map_or(Ok(()), |span| place.time("ce_threshold", span))
}

fn check_tbf(place: &Place<'_>, def: &TbfDef) -> Result<(), ScenarioError> {
    for (field, burst) in [("burst", def.burst), ("peak_burst", def.peak_burst)] {
        if def.debt {
            burst.map_or(Ok(()), |burst| place.check(field, burst, burst > Bytes::ZERO, "a size from 1B on"))?;
        } else {
            place.burst(field, burst)?;
        }
    }
    check_shaping(place, def.wake, &def.overhead, &def.changes)?;
    check_autorate(place, def.autorate.as_deref(), Some(def.rate), &def.changes)?;
    let at_peak = |rate| def.peak.is_some_and(|peak| rate >= peak);
    if let Some((index, change)) = def.changes.iter().enumerate().find(|(_, change)| at_peak(change.rate)) {
        let message = format!("{} is not below peak", change.rate);
        return Err(place.error(&format!("changes[{index}].rate"), message));
    }
    match def.peak {
        Some(peak) => place.check("peak", peak, peak > def.rate, &format!("above rate ({})", def.rate)),
        None if def.peak_burst.is_some() => Err(place.error("peak_burst", "needs peak beside it".into())),
        None => Ok(()),
    }
}

fn check_cake(place: &Place<'_>, def: &CakeDef) -> Result<(), ScenarioError> {
    const LEAST_BPS: u64 = 64 * 8;
    if let Some(rate) = def.rate {
        place.check("rate", rate, rate.as_bps() >= LEAST_BPS, "a rate of 512bps or more")?;
    }
    place.time("rtt", def.rtt)?;
    def.target.map_or(Ok(()), |span| place.time("target", span))?;
    if let Some(memory) = def.memory {
        let holds = (Bytes(2304)..=Bytes(1_000_000_000_000)).contains(&memory);
        place.check(
            "memory",
            memory,
            holds,
            "the memory of a full packet with its buffer, 2304B, or more, and at most 1TB",
        )?;
    }
    for (index, change) in def.changes.iter().enumerate() {
        let enough = change.rate.as_bps() >= LEAST_BPS;
        place.check(&format!("changes[{index}].rate"), change.rate, enough, "a rate of 512bps or more")?;
    }
    let given = [("wake", def.wake.is_some()), ("changes", !def.changes.is_empty())];
    if let Some((field, _)) = given.into_iter().find(|(_, is_given)| *is_given && def.rate.is_none()) {
        return Err(place.error(field, "belongs to the shaper: give `rate` beside it".into()));
    }
    check_autorate(place, def.autorate.as_deref(), def.rate, &def.changes)?;
    check_shaping(place, def.wake, &def.overhead, &def.changes)
}

fn check_priority(place: &Place<'_>, def: &PriorityDef) -> Result<(), ScenarioError> {
    let count = def.bands.len();
    place.check("bands", format!("{count} queues"), (2..=8).contains(&count), "a list of 2 to 8 queues")?;
    if def.by == PriorityBy::Ecn && count > 2 {
        let message = format!("{count} queues: by = \"ecn\" uses two, the others would stay empty");
        return Err(place.error("bands", message).with_hint("give 2 queues, or by = \"flow\""));
    }
    if (def.by == PriorityBy::Dscp) == def.map.is_empty() {
        let message = "goes with by = \"dscp\", and says the bands of code points: { EF = 0, LE = 2 }";
        return Err(place.error("map", message.into()));
    }
    for (dscp, band) in &def.map {
        let allowed = format!("one of the {count} bands, 0 to {}", count - 1);
        place.check(&format!("map.{dscp}"), band, usize::from(*band) < count, &allowed)?;
    }
    let sees_one_kind = |queue: &Queue| def.by == PriorityBy::Ecn && holds_dualpi2(queue);
    match def.bands.iter().position(sees_one_kind) {
        Some(band) => {
            let message =
                "dualpi2 tells scalable flows from classic ones itself: behind by = \"ecn\" it would see one kind only";
            Err(place.error(&format!("bands[{band}]"), message.into()).with_hint("take dualpi2 without priority"))
        }
        None => Ok(()),
    }
}

fn holds_dualpi2(queue: &Queue) -> bool {
    matches!(queue, Queue::DualPi2(_)) || queue.inner().into_iter().any(|(_, inner)| holds_dualpi2(inner))
}

fn check_dualpi2(place: &Place<'_>, def: &DualPi2Def) -> Result<(), ScenarioError> {
    if let Some(limit) = def.limit {
        place.limit(limit)?;
        let enough = match limit {
            Amount::Packets(packets) => packets >= 4,
            Amount::Bytes(bytes) => bytes >= Bytes(4 * 1500),
            Amount::Unlimited | Amount::Bdp { .. } => true,
        };
        place.check("limit", limit, enough, "at least 4p or 6000B, two full packets for each queue")?;
    }
    for (field, span) in [("target", def.target), ("update", def.update)] {
        span.map_or(Ok(()), |span| place.time(field, span))?;
    }
    if let Some(update) = def.update {
        let least = Span::from_millis(1);
        place.check("update", update, update >= least, &format!("at least {least}"))?;
    }
    for (field, gain) in [("alpha", def.alpha), ("beta", def.beta)] {
        gain.map_or(Ok(()), |gain| place.number(field, gain, 1e6))?;
    }
    if let Some(coupling) = def.coupling {
        place.check("coupling", coupling, (0.1..=10.0).contains(&coupling), "a factor from 0.1 to 10")?;
    }
    match &def.l_aqm {
        Some(LowAqm::Step(step)) => place.time("l_aqm.threshold", step.threshold)?,
        Some(LowAqm::Ramp(ramp)) if ramp.range == Span::ZERO => {
            let error = place.error("l_aqm.range", "0s is no ramp".into());
            return Err(error.with_hint("take { kind = \"step\", threshold = … }"));
        }
        Some(LowAqm::Ramp(ramp)) => {
            place.time("l_aqm.min", ramp.min)?;
            place.time("l_aqm.range", ramp.range)?;
        }
        None => {}
    }
    match &def.scheduler {
        Some(DualPi2Scheduler::Wrr(WrrDef { classic_share: Some(share) })) => {
            place.check("scheduler.classic_share", share, (0.0..1.0).contains(share), "a share from 0 to below 1")
        }
        Some(DualPi2Scheduler::TimeShifted(shifted)) => place.time("scheduler.shift", shifted.shift),
        _ => Ok(()),
    }
}
