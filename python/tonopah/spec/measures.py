"""The values of derived metrics (derived.py): from the series of a run when it is stored, from its flows when tables are made.

Series are columns `t_s`, `id` (number of the flow, link or node) and `value`, by their names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah.metrics.kinds import EVENTS
from tonopah.spec.derived import (
    SUMMED,
    Average,
    Derived,
    Exit,
    Jain,
    Mean,
    Outage,
    OverFlows,
    OverTime,
    OwnValues,
    Ratio,
    Recovery,
)
from tonopah.stats import jain

Series = Mapping[str, Mapping[str, Any]]
Values = tuple[float | None, ...]
WHOLE = (-1.0, np.inf)
"""The interval of a whole run; a sample at 0 s is in it."""


def from_series(derived: Sequence[Derived], series: Series | None) -> dict[str, float | None]:
    """Return the columns of all derived metrics of a run that read series; None for what cannot be computed."""
    values: dict[str, float | None] = {}
    for metric in (metric for metric in derived if metric.from_series):
        carried = carries(metric, series or {}) if isinstance(metric, OverTime) else None
        known = carried is not False and series and metric.needs[0] in series
        found = compute(metric, series) if known and series else ()
        values |= dict.fromkeys(metric.columns())
        values |= dict(zip(metric.value_columns(), found, strict=False))
        if carried is not None:
            values[f"{metric.name}.carried"] = float(carried)
    return values


def compute(metric: Derived, series: Series) -> Values:
    """Return the values of a derived metric."""
    return metric.values(series) if isinstance(metric, OwnValues) else OF_SERIES[type(metric)](metric, series)


def carries(metric: OverTime, series: Series) -> bool | None:
    """Tell whether the flows of a metric received anything in the interval that it names; None if it names none."""
    if metric.carrying_s is None or "throughput" not in series:
        return None
    found = track(series["throughput"], metric.flows, summed=True)
    return bool(found is not None and (found.between(*metric.carrying_s).value > 0).any())


def from_flows(derived: Sequence[Derived], flows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the columns of all derived metrics of a run that read its flows, given as flat rows."""
    values: dict[str, float | None] = {}
    for metric in (metric for metric in derived if isinstance(metric, OverFlows) and not metric.from_series):
        mine = {flow["flow"]: flow for flow in flows if not metric.read or flow["flow"] in metric.read}
        # What did not finish lasted at least as long as it did.
        longer = {flow: row["unfinished_s"] for flow, row in mine.items() if metric.until_the_end and row.get("unfinished_s")}
        chosen = {flow: row.get(metric.metric) for flow, row in mine.items()} | longer
        known = {flow: value for flow, value in chosen.items() if value is not None}
        complete = known and len(known) == len(chosen) and (not metric.read or len(chosen) == len(metric.read))
        value = combine(metric, known) if complete else float("nan")
        values[metric.name] = None if np.isnan(value) else value
        if event := EVENTS.get(metric.metric):
            values[f"{metric.name}.events"] = float(sum(row.get(event) or 0 for row in mine.values()))
        if metric.until_the_end:
            values[f"{metric.name}.unfinished"] = float(len(longer))
    return values


def combine(metric: OverFlows, values: Mapping[int, float]) -> float:
    """Return what a metric over flows makes of their values, by the number of the flow; NaN for a ratio to nothing."""
    if isinstance(metric, Ratio):
        below = mean_of(metric.to, values)
        return mean_of(metric.flows, values) / below if below else float("nan")
    return jain(list(values.values())) if isinstance(metric, Jain) else mean_of(values, values)


def mean_of(flows: Iterable[int], values: Mapping[int, float]) -> float:
    """Return the mean of the values of flows."""
    return float(np.mean([values[flow] for flow in flows]))


def over_flows(metric: OverFlows, series: Series) -> Values:
    """Return index, mean or ratio of the rates of flows in an interval; nothing if one of them has no sample."""
    columns, (start, end) = series[metric.needs[0]], metric.window_s or WHOLE
    t, owner, value = (np.asarray(columns[key]) for key in ("t_s", "id", "value"))
    inside = (t > start + 1e-9) & (t <= end + 1e-9)
    rates = {int(flow): value[inside & (owner == flow)] for flow in metric.read or np.unique(owner)}
    if not rates or any(len(rate) == 0 for rate in rates.values()):
        return ()
    found = combine(metric, {flow: float(np.mean(rate)) for flow, rate in rates.items()})
    return () if np.isnan(found) else (found,)


@dataclass(frozen=True)
class Track:
    """One variable over time: `value[i]` is sampled at `t[i]`; for throughput it is the mean since `t[i - 1]`."""

    t: NDArray[np.float64]
    value: NDArray[np.float64]

    def between(self, start: float, end: float) -> "Track":
        """Return the samples in (start, end]."""
        inside = (self.t > start + 1e-9) & (self.t <= end + 1e-9)
        return Track(self.t[inside], self.value[inside])


def track(columns: Mapping[str, Any], flows: Sequence[int], summed: bool) -> Track | None:
    """Return sum or mean of a series over flows; None without samples."""
    t, owner, value = (np.asarray(columns[key]) for key in ("t_s", "id", "value"))
    if flows:
        chosen = np.isin(owner, flows)
        t, value = t[chosen], value[chosen]
    if len(t) == 0:
        return None
    times, index = np.unique(t, return_inverse=True)
    total = np.bincount(index, weights=value)
    return Track(times, np.asarray(total if summed else total / np.bincount(index), np.float64))


def recovery(metric: Recovery, series: Series) -> Values:
    """Return how long the series stays below a share of its level before, and 1 if it did not come back, else 0."""
    found = track(series[metric.series], metric.flows, metric.series in SUMMED)
    if found is None:
        return ()
    level = found.between(metric.at_s - metric.before_s, metric.at_s).value
    start = start_of(metric, series)
    after = found.between(start, np.inf) if start is not None else None
    if len(level) == 0 or np.mean(level) == 0 or after is None or len(after.t) == 0:
        return ()
    low = after.value < metric.share * np.mean(level)
    if not low.any():
        return 0.0, 0.0
    fallen = int(np.argmax(low))
    back = ~low[fallen:]
    if not back.any():
        return float(after.t[-1] - start), 1.0
    return float(after.t[fallen + int(np.argmax(back))] - start), 0.0


def start_of(metric: Recovery, series: Series) -> float | None:
    """Return from when a recovery counts; None if what it waits for never happens."""
    if metric.after == "loss":
        return first_loss(metric, series)
    if metric.after == "outage":
        throughput = track(series["throughput"], metric.flows, summed=True) if "throughput" in series else None
        found = longest_outage(throughput, (metric.at_s, np.inf), metric.quiet, metric.at_least_s)
        return found[1] if found else None
    return metric.at_s


def first_loss(metric: Recovery, series: Series) -> float | None:
    """Return when the flows of a metric first retransmit after its instant; None if they never do."""
    retransmits = track(series["retransmits"], metric.flows, summed=True) if "retransmits" in series else None
    if retransmits is None:
        return None
    before = retransmits.value[retransmits.t <= metric.at_s + 1e-9]
    after = retransmits.between(metric.at_s, np.inf)
    more = after.value > (before[-1] if len(before) else 0.0)
    return float(after.t[int(np.argmax(more))]) if more.any() else None


def outage(metric: Outage, series: Series) -> Values:
    """Return start, end and length of the longest outage."""
    found = track(series[metric.series], metric.flows, metric.series in SUMMED)
    return longest_outage(found, metric.window_s or (0.0, np.inf), metric.quiet, metric.at_least_s)


def longest_outage(found: Track | None, interval: tuple[float, float], quiet: float, at_least_s: float) -> Values:
    """Return start, end and length of the longest run of samples that are not above `quiet`; length 0 without any."""
    start, end = interval
    inside = found.between(start, end) if found is not None else None
    if inside is None or len(inside.t) == 0:
        return ()
    # A sample stands for the time since the one before.
    begins = np.concatenate([[max(start, 0.0)], inside.t[:-1]])
    best, since = (0.0, 0.0), None
    for begin, at, value in zip(begins, inside.t, inside.value, strict=True):
        since = (begin if since is None else since) if value <= quiet else None
        if since is not None and at - since > best[1] - best[0] + 1e-12:
            best = (float(since), float(at))
    length = best[1] - best[0] if best[1] - best[0] > at_least_s - 1e-9 else 0.0
    return (best[0], best[1], length) if length > 0 else (None, None, 0.0)


def mean(metric: Mean, series: Series) -> Values:
    """Return the mean of the samples in the interval."""
    found = track(series[metric.series], metric.flows, metric.series in SUMMED)
    inside = found.between(*(metric.window_s or WHOLE)) if found else None
    return (float(np.mean(inside.value)),) if inside is not None and len(inside.t) else ()


def exits(metric: Exit, series: Series) -> Values:
    """Return how often ssthresh of a flow falls without a loss, and 1 if it does at all, else 0."""
    if not all(name in series for name in metric.needs):
        return ()
    t, flow, ssthresh = (np.asarray(series["ssthresh"][key]) for key in ("t_s", "id", "value"))
    retransmits, state = (np.asarray(series[name]["value"]) for name in ("retransmits", "state"))
    if not len(t) == len(retransmits) == len(state):
        return ()
    order = np.lexsort((t, flow))
    flow, ssthresh, retransmits, state = flow[order], ssthresh[order], retransmits[order], state[order]
    calm = (flow[1:] == flow[:-1]) & (retransmits[1:] == retransmits[:-1]) & (state[1:] == 0) & (state[:-1] == 0)
    if metric.flows:
        calm &= np.isin(flow[1:], metric.flows)
    count = float(np.sum(calm & (ssthresh[1:] < ssthresh[:-1])))
    return count, float(count > 0)


OF_SERIES: dict[type[Derived], Callable[[Any, Series], Values]] = {
    Recovery: recovery, Outage: outage, Mean: mean, Exit: exits, Jain: over_flows, Average: over_flows,
    Ratio: over_flows,
}  # fmt: skip
