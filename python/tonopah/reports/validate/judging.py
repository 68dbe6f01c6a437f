"""Holds every number of our runs against what the authors stored."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from statistics import median
from typing import Any

import numpy as np

from tonopah.reports.counters.packets import Numbers
from tonopah.reports.networks.model import MEDIAN, Goal, Sign
from tonopah.reports.validate.cases import Case, same_point
from tonopah.stats import Estimate, mean_interval


@dataclass(frozen=True)
class Check:
    """One number: the author's, that of the stock simulator with the author's script, ours."""

    case: str
    metric: str
    author: str
    """As what follows: with its interval where there are several runs, empty if not measured."""
    stock: str
    ours: str
    value: float
    allowed: str
    """Empty where there is no goal."""
    agrees: bool | None
    low: float = nan
    high: float = nan
    """Between which numbers of ours it would agree, whatever was run; NaN where that is not asked of one number."""


def judge(case: Case, runs: Sequence[Numbers], others: Sequence[Numbers] = ()) -> Iterator[Check]:
    """Yield a row for each stored number of a case; `others` are the runs of the point that it is held against."""
    for name in runs[0]:
        for metric in case.metrics(name):
            yield judge_metric(case, metric, measured(runs, name), measured(others, name))
    if case.sign is not None:
        yield from judge_signs(case, case.sign, runs, others)
    if case.judged:
        yield from judge_spreads(case, runs)
    if case.first is not None:
        yield from judge_direction(case, case.first, runs, others)


def measured(runs: Sequence[Numbers], name: str) -> list[float]:
    """Return a number of those runs that have it: a run in which nothing arrives has no delay."""
    return [run[name] for run in runs if not isnan(run[name])]


def judge_metric(case: Case, metric: str, values: Sequence[float], others: Sequence[float]) -> Check:
    """Return the row of one stored number."""
    author, stock = (interval(case.references.get(origin, {}).get(metric, [])) for origin in ("author", "stock"))
    network, contrast = case.network, case.contrast
    ours, allowed, agrees, ends = mean_interval(values), "", None, (nan, nan)
    if metric.endswith(MEDIAN):
        middles, ends = medians_of_ten(values), (nan, nan)
        if author is not None:
            allowed, agrees = "95 % of medians of ten", middles.low <= author.value <= middles.high
            ends = author.value - middles.high + middles.value, author.value - middles.low + middles.value
        return Check(case.name, metric, shown(author), shown(stock), shown(middles), middles.value, allowed, agrees, *ends)
    if contrast is not None:
        if metric in contrast.metrics:
            allowed, agrees = contrast.text, contrast.met(ours.value, mean_interval(others).value)
    elif case.judged and metric in network.overlap:
        # The author's own runs, if there are several, else those of the stock simulator.
        if (several := next((one for one in (author, stock) if one is not None and one.low <= one.high), None)) is not None:
            allowed, agrees, ends = "intervals overlap", overlap(ours, several), widened(several, ours)
    elif case.judged and metric in network.goals:
        reference = author if author is not None else stock
        if reference is not None:
            goal = network.goals[metric]
            allowed, agrees, ends = goal.text, goal.met(ours.value, reference.value), goal.around(reference.value)
            if network.runs > 1 and not agrees and by_interval(ours, author, stock):
                allowed, agrees = "intervals overlap", True
    if agrees is None and author is not None and contrast is None:
        allowed, agrees, ends = PAGES.text, PAGES.met(ours.value, author.value), PAGES.around(author.value)
        if network.runs > 1 and not agrees and by_interval(ours, author, None):
            allowed, agrees = "our interval holds it", True
    return Check(case.name, metric, shown(author), shown(stock), shown(ours), ours.value, allowed, agrees, *ends)


PAGES = Goal(relative=0.05)
"""Of an author's number for which no goal was set before the first run: it counts all the same. Set after results were seen."""


def widened(reference: Estimate, ours: Estimate) -> tuple[float, float]:
    """Return between which means an interval as wide as ours would meet that of the reference."""
    half = (ours.high - ours.low) / 2 if ours.low <= ours.high else 0.0
    return reference.low - half, reference.high + half


def judge_signs(case: Case, sign: Sign, runs: Sequence[Numbers], others: Sequence[Numbers]) -> Iterator[Check]:
    """Yield a row for each number by which the author's algorithms differ enough."""
    printed, beside = (one.references["author"] for one in (case, same_point(case, sign.other)))
    for metric in sign.metrics:
        theirs = printed[metric][0] - beside[metric][0]
        if abs(theirs) <= sign.least * abs(beside[metric][0]):
            continue
        ours = mean_interval([one[metric] - other[metric] for one, other in zip(runs, others, strict=True)])
        name = f"{metric} less that of {sign.other}"
        yield Check(case.name, name, f"{theirs:.6g}", "", shown(ours), ours.value, "same sign", ours.value * theirs > 0)


def judge_spreads(case: Case, runs: Sequence[Numbers]) -> Iterator[Check]:
    """Yield a row for each number of which something is asked run by run, where something is stored that it is held against."""
    for name, spread in case.network.spreads.items():
        author, stock = (case.references.get(origin, {}).get(spread.about, []) for origin in ("author", "stock"))
        if (spread.holds and not author) or (spread.meets and not stock):
            continue
        ours = measured(runs, name)
        found = f"{span(ours)} in {len(ours)} of {len(runs)} runs"
        agrees = spread.met(ours, author, stock)
        held = span(author) if spread.holds else ""
        value = mean_interval(ours).value if ours else nan
        yield Check(
            case.name, f"{name}, run by run", held, span(stock) if spread.meets else "", found, value, spread.text, agrees
        )


def span(values: Sequence[float]) -> str:
    """Return the least and the greatest of some numbers, empty if there are none."""
    ends = dict.fromkeys(f"{end:.6g}" for end in (min(values), max(values))) if values else {}
    return " … ".join(ends)


def judge_direction(case: Case, first: Case, runs: Sequence[Numbers], others: Sequence[Numbers]) -> Iterator[Check]:
    """Yield a row for each number that must go where the reference goes, from the first point of an axis to this one."""
    origin = "author" if "author" in case.references else "stock"
    for metric in case.network.direction.metrics if case.network.direction else ():
        theirs = mean_of(case.references[origin][metric]) - mean_of(first.references[origin][metric])
        ours = mean_of([run[metric] for run in runs]) - mean_of([run[metric] for run in others])
        shown_theirs = {origin: f"{theirs:.6g}"}
        yield Check(
            case.name, f"{metric} less that at {first.value}", shown_theirs.get("author", ""), shown_theirs.get("stock", ""),
            f"{ours:.6g}", ours, "same sign", ours * theirs > 0,
        )  # fmt: skip


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of some numbers."""
    return sum(values) / len(values)


def interval(values: Sequence[float]) -> Estimate | None:
    """Return the mean of stored numbers with its interval."""
    return mean_interval(values) if values else None


def medians_of_ten(values: Sequence[float]) -> Estimate:
    """Return the median of our runs, with the interval that holds 95 % of the medians of ten of them, drawn with replacement.

    The author's number is one such median; where runs are of two kinds, it may be either or between the two.
    """
    drawn = np.random.default_rng(0).choice(np.asarray(values, float), (10_000, 10))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return Estimate(median(values), float(low), float(high), len(values))


TEN = 10
"""Runs of the stock simulator whose interval counts."""


def by_interval(ours: Estimate, author: Estimate | None, stock: Estimate | None) -> bool:
    """Tell whether a number of a chaotic network agrees by its interval: it holds the author's, or meets the simulator's."""
    holds = author is not None and ours.low <= author.value <= ours.high
    return holds or (stock is not None and stock.n >= TEN and overlap(ours, stock))


def overlap(a: Estimate, b: Estimate) -> bool:
    """Tell whether two intervals have a value in common."""
    return a.low <= b.high and b.low <= a.high


def shown(estimate: Estimate | None) -> str:
    """Return a mean with its interval, if there is one."""
    if estimate is None:
        return ""
    known = not estimate.unbounded and estimate.low < estimate.high
    return f"{estimate.value:.6g}" + (f" ({estimate.low:.4g} … {estimate.high:.4g})" if known else "")


def as_json(check: Check) -> dict[str, Any]:
    """Return a number for machines."""
    return asdict(check)
