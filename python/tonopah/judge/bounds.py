"""Bounds that hold whatever the words of the effects are.

Collapse (C1), loss of feedback (C8), the circuit breaker (C18), and what a receiver that misleads the sender may gain (C22).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tonopah.judge.effects import LEVEL
from tonopah.judge.often import Often, possible, sure
from tonopah.judge.study import Place, Results
from tonopah.stats import mean_of

SENT_FACTOR, USEFUL_SHARE, SENT_TOGETHER = 10.0, 0.9, 2.0
"""At a loss of one half: packets a second / the baseline's; of many flows: goodput and packets / the baseline's. Ours."""
PROBES, BACKOFF, SENT_IN_30_S = 2, 1.9, 10
"""After the first time-out: packets beyond one for each, growth of successive time-outs, packets in 30 s. The last is ours."""
LOSS_POINT, HEAVY_POINT = "p 0.5", "p 0.9"
HONEST, GAIN_FACTOR = "honest", 1.1
"""A receiver may not gain more than this factor of what the same one gains of the baseline. Ours."""


@dataclass(frozen=True)
class BoundLine:
    """One bound: what was measured, what is allowed, in how many runs it is broken, and whether it holds."""

    experiment: str
    point: str
    what: str
    value: float
    baseline: float
    limit: float
    kept: bool
    unit: str = ""
    often: Often | None = None


def lines(name: str, results: Results, arm: str = "S") -> list[BoundLine]:
    """Return the bounds of a criterion, measured of who runs in an arm.

    A bound of single runs is broken where that surely happens in more runs than with the baseline, or may in half of them.
    """
    rules: dict[str, Callable[[Results, str], list[BoundLine]]] = {
        "collapse": collapse, "feedback": feedback, "breaker": breaker, "receivers": receivers,
    }  # fmt: skip
    found = rules[name](results, arm)
    counted = [line.often for line in found if line.often]
    broken = [*sure(counted), *possible(counted)]
    return [replace(line, kept=line.often not in broken) if line.often else line for line in found]


def bound_line(
    place: Place, what: str, mine: Mapping[int, float], theirs: Mapping[int, float], limit: float, unit: str = "", *,
    least: bool = False, beside: str = "",
) -> BoundLine:  # fmt: skip
    """Return a bound of single runs: no value above the limit, or with `least` none below it. The worst replicate is shown."""
    worst = min if least else max
    outcomes = [[float(value < limit if least else value > limit) for value in one.values()] for one in (mine, theirs)]
    label = place.label + beside
    often = Often(what, place.experiment, label, *Often.counted(outcomes[0], outcomes[1:]))
    what += ", at least" if least else ""
    return BoundLine(place.experiment, label, what, worst(mine.values()), worst(theirs.values()), limit, True, unit, often)


def collapse(results: Results, arm: str) -> list[BoundLine]:
    """Return the bounds of C1; those of C8 are its third part."""
    found = []
    for place in results.at("E8"):
        case = case_of(place)
        sent, theirs = (place.metric(one, "sent_per_s") for one in (arm, "B"))
        base, together = place.mean("B", "sent_per_s"), case.endswith("flows")
        if sent and theirs and (case in (LOSS_POINT, HEAVY_POINT) or together):
            limit = SENT_FACTOR * base if case == LOSS_POINT else 1 / 0.040 if case == HEAVY_POINT else SENT_TOGETHER * base
            found.append(bound_line(place, "packets sent a second", sent, theirs, limit, "packets/s"))
        if together:
            useful, base_useful = ({k: v / 1e6 for k, v in place.metric(one, "goodput_bps").items()} for one in (arm, "B"))
            if useful and base_useful:
                least = USEFUL_SHARE * place.mean("B", "goodput_bps") / 1e6
                found.append(bound_line(place, "goodput", useful, base_useful, least, "Mb/s", least=True))
    return found + feedback(results, arm)


def case_of(place: Place) -> str:
    """Return the case of a point."""
    return str(dict(place.point.axes)["case"])


def feedback(results: Results, arm: str) -> list[BoundLine]:
    """Return the bounds of C8, of each outage."""
    return [line for place in results.at("E9") for line in outage_lines(place, arm)]


def outage_lines(place: Place, arm: str) -> list[BoundLine]:
    """Return the bounds of one outage."""
    length_s, found = float(case_of(place).removesuffix(" s")), []
    probes, base = (beyond_timeouts(place, one) for one in (arm, "B"))
    if probes and base:
        found.append(bound_line(place, "packets beyond one for each time-out", probes, base, PROBES))
    growth, base = (place.metric(one, "backoff_least") for one in (arm, "B"))
    if growth and base:
        found.append(bound_line(place, "growth of time-outs", growth, base, BACKOFF, least=True))
    late, base = (place.metric(one, "sent_after_timeout") for one in (arm, "B"))
    if late and base and length_s >= 10:
        limit = max(SENT_IN_30_S, SENT_IN_30_S * length_s / 30)
        found.append(bound_line(place, "packets after the first time-out", late, base, limit, "packets"))
    return found


def beyond_timeouts(place: Place, arm: str) -> dict[int, float]:
    """Return how many packets each replicate with a time-out sends beyond one for each of them."""
    sent, timeouts = place.metric(arm, "sent_after_timeout"), place.metric(arm, "timeouts")
    return {k: sent[k] - timeouts[k] for k in sent if timeouts.get(k)}


def breaker(results: Results, arm: str) -> list[BoundLine]:
    """Return the bound of C18: no trip; of each point that has any."""
    found, quiet = [], 0
    for place in (place for places in results.places.values() for place in places):
        for one, reference, beside in ((arm, "B", ""), (f"{arm}:B", "B:B", ", beside the baseline")):
            mine, theirs = place.metric(one, "trips"), place.metric(reference, "trips")
            if not mine or not theirs:
                continue
            if any(mine.values()) or any(theirs.values()):
                found.append(bound_line(place, "trips", mine, theirs, 0, beside=beside))
            else:
                quiet += 1
    if quiet:
        found.append(BoundLine("all", f"{quiet} other points", "trips", 0, 0, 0, True))
    return found


def receivers(results: Results, arm: str) -> list[BoundLine]:
    """Return what each receiver that misleads its sender gains, beside an honest flow of the same algorithm.

    A bound is broken if the gain is surely above that of the baseline, and by more than the factor.
    """
    places = {case_of(place): place for place in results.at("E33")}
    found = []
    for case, place in places.items():
        mine, theirs = (gains(place, places[HONEST], one) for one in (arm, "B"))
        both = sorted(set(mine) & set(theirs))
        if case == HONEST or not both:
            continue
        excess = mean_of([mine[k] - theirs[k] for k in both])
        value, base = (math.exp(sum(one[k] for k in both) / len(both)) for one in (mine, theirs))
        broken = results.looks * excess.p_greater() < LEVEL and value > GAIN_FACTOR * base
        found.append(BoundLine("E33", case, "gain of the receiver", value, base, GAIN_FACTOR * base, not broken))
    return found


def gains(place: Place, honest: Place, arm: str) -> dict[int, float]:
    """Return, by replicate, the logarithm of goodput / that of an honest receiver."""
    mine, theirs = (one.metric(arm, "x_goodput_bps") for one in (place, honest))
    return {k: math.log(mine[k] / theirs[k]) for k in sorted(set(mine) & set(theirs)) if mine[k] > 0 and theirs[k] > 0}
