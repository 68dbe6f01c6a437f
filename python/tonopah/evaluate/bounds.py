"""Bounds that hold whatever the words of the effects are.

Collapse (C1), loss of feedback (C8), the circuit breaker (C18), and what a receiver that misleads the sender may gain (C22).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tonopah.evaluate.measured import Measured, PointValues
from tonopah.evaluate.verdict import LEVEL
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
    """One bound: what was measured, what is allowed, and whether it holds."""

    experiment: str
    point: str
    what: str
    value: float
    baseline: float
    limit: float
    kept: bool
    unit: str = ""


def lines(name: str, measured: Measured) -> list[BoundLine]:
    """Return the bounds of a criterion, measured."""
    rules: dict[str, Callable[[Measured], list[BoundLine]]] = {
        "collapse": collapse, "feedback": feedback, "breaker": breaker, "receivers": receivers,
    }  # fmt: skip
    return rules[name](measured)


def collapse(measured: Measured) -> list[BoundLine]:
    """Return the bounds of C1: means over replicates; those of C8 are its third part."""
    found = []
    for point in measured.at("E8", {}):
        case = str(dict(point.point.axes)["case"])
        sent, theirs = point.mean("S", "sent_per_s"), point.mean("B", "sent_per_s")
        if case == LOSS_POINT:
            limit = SENT_FACTOR * theirs
            found.append(BoundLine("E8", case, "packets sent a second", sent, theirs, limit, sent <= limit, "packets/s"))
        elif case == HEAVY_POINT:
            limit = 1 / 0.040
            found.append(BoundLine("E8", case, "packets sent a second", sent, theirs, limit, sent <= limit, "packets/s"))
        elif case.endswith("flows"):
            limit = SENT_TOGETHER * theirs
            found.append(BoundLine("E8", case, "packets sent a second", sent, theirs, limit, sent <= limit, "packets/s"))
            useful, base = point.mean("S", "goodput_bps") / 1e6, point.mean("B", "goodput_bps") / 1e6
            least = USEFUL_SHARE * base
            found.append(BoundLine("E8", case, "goodput, at least", useful, base, least, useful >= least, "Mb/s"))
    return found + feedback(measured)


def feedback(measured: Measured) -> list[BoundLine]:
    """Return the bounds of C8: the worst replicate of each outage."""
    found = []
    for point in measured.at("E9", {}):
        found += outage_lines(point)
    return found


def outage_lines(point: PointValues) -> list[BoundLine]:
    """Return the bounds of one outage."""
    case = str(dict(point.point.axes)["case"])
    length_s = float(case.removesuffix(" s"))
    mine, theirs = point.arms.get("S", {}), point.arms.get("B", {})
    found = []
    late = [one["sent_after_timeout"] - one["timeouts"] for one in mine.values() if one.get("timeouts")]
    base = [one["sent_after_timeout"] - one["timeouts"] for one in theirs.values() if one.get("timeouts")]
    if late and base:
        found.append(
            BoundLine("E9", case, "packets beyond one for each time-out", max(late), max(base), PROBES, max(late) <= PROBES)
        )
    growth = [one["backoff_least"] for one in mine.values() if "backoff_least" in one]
    base = [one["backoff_least"] for one in theirs.values() if "backoff_least" in one]
    if growth and base:
        found.append(
            BoundLine("E9", case, "growth of time-outs, at least", min(growth), min(base), BACKOFF, min(growth) >= BACKOFF)
        )
    if mine and theirs and length_s >= 10:
        limit = max(SENT_IN_30_S, SENT_IN_30_S * length_s / 30)
        sent, base_sent = (max(one["sent_after_timeout"] for one in arm.values()) for arm in (mine, theirs))
        found.append(BoundLine("E9", case, "packets after the first time-out", sent, base_sent, limit, sent <= limit, "packets"))
    return found


def breaker(measured: Measured) -> list[BoundLine]:
    """Return the bound of C18: no trip where the baseline has none; the worst replicate of each point that has any."""
    found, quiet = [], 0
    for points in measured.points.values():
        for point in points:
            for arm, reference, beside in (("S", "B", ""), ("S:B", "B:B", ", beside the baseline")):
                mine, theirs = point.metric(arm, "trips"), point.metric(reference, "trips")
                if not mine or not theirs:
                    continue
                worst, base = max(mine.values()), max(theirs.values())
                if worst or base:
                    kept = base > 0 or worst == 0
                    found.append(
                        BoundLine(point.point.experiment.id, f"{point.point.label}{beside}", "trips", worst, base, 0, kept)
                    )
                else:
                    quiet += 1
    if quiet:
        found.append(BoundLine("all", f"{quiet} other points", "trips", 0, 0, 0, True))
    return found


def receivers(measured: Measured) -> list[BoundLine]:
    """Return what each receiver that misleads its sender gains, beside an honest flow of the same algorithm.

    A bound is broken if the subject's gain is surely above that of the baseline, and by more than the factor.
    """
    points = {str(dict(point.point.axes)["case"]): point for point in measured.at("E33", {})}
    found = []
    for case, point in points.items():
        mine, theirs = (gains(point, points[HONEST], arm) for arm in ("S", "B"))
        both = sorted(set(mine) & set(theirs))
        if case == HONEST or not both:
            continue
        excess = mean_of([mine[k] - theirs[k] for k in both])
        value, base = (math.exp(sum(one[k] for k in both) / len(both)) for one in (mine, theirs))
        broken = excess.p_greater() < LEVEL and value > GAIN_FACTOR * base
        found.append(BoundLine("E33", case, "gain of the receiver", value, base, GAIN_FACTOR * base, not broken))
    return found


def gains(point: PointValues, honest: PointValues, arm: str) -> dict[int, float]:
    """Return, by replicate, the logarithm of goodput / that of an honest receiver."""
    mine, theirs = (one.metric(arm, "x_goodput_bps") for one in (point, honest))
    return {k: math.log(mine[k] / theirs[k]) for k in sorted(set(mine) & set(theirs)) if mine[k] > 0 and theirs[k] > 0}
