"""Numbers derived from one run by a study (`[[measure]]`): columns of its tables beside those of the engine.

`recovery`, `outage`, `mean` and `exit` look at series, which the runs of their part then record: they are computed when a run is
stored, and the series is not kept. What they ask is part of the run's id. `jain` and `average` look at the flows of the summary
and are computed when tables are made.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah.metrics import Metric, metric, show
from tonopah.stats import jain

CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
"""Results that another version of this file made do not count."""
OF_FLOWS = ("jain", "average")
"""Kinds that look at the flows of the summary."""
KINDS = ("recovery", "outage", "mean", "exit", "jain", "average")
SUMMED = ("throughput", "retransmits", "acked", "energy", "queue")
"""Series of which several flows (links, nodes) add up; of others the mean is taken."""

STARTS = {
    "instant": "{}",
    "loss": "the first retransmission after {}",
    "outage": "the end of the longest silence after {}",
}
"""From when a recovery counts, by `after`."""


@dataclass(frozen=True)
class Measure:
    """One `[[measure]]`; which fields count depends on `kind` (docs/studies.md)."""

    name: str
    kind: str
    series: str = ""
    flows: tuple[int, ...] = ()
    at_s: float = 0.0
    after: str = "instant"
    share: float = 0.9
    before_s: float = 1.0
    window_s: tuple[float, float] | None = None
    carrying_s: tuple[float, float] | None = None
    at_least_s: float = 0.0
    quiet: float = 0.0
    metric: str = "goodput_bps"
    label: str = ""

    @property
    def from_series(self) -> bool:
        """Tell whether it needs series, so that runs have to record them."""
        return self.kind not in OF_FLOWS

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it looks at."""
        if not self.from_series:
            return ()
        if self.kind == "exit":
            return (self.series, "retransmits", "state")
        silent = self.carrying_s or self.after == "outage"
        return (self.series, *(("retransmits",) if self.after == "loss" else ()), *(("throughput",) if silent else ()))

    def identity(self) -> dict[str, Any]:
        """Return what determines its value: everything but its label, and the code of this file."""
        return {key: value for key, value in asdict(self).items() if key != "label"} | {"code": CODE}

    def columns(self) -> dict[str, Metric]:
        """Return the columns that it makes, and how they are shown."""
        made = self.value_columns()
        if self.carrying_s:
            start, end = self.carrying_s
            label = f"{next(iter(made.values())).label}: runs that carried"
            text = f"Share of runs in which {owners(self.flows)} received anything from {start:g} s to {end:g} s, the others"
            made[f"{self.name}.carried"] = Metric(label, "%", 100.0, f"{text} have no value", f"{self.name}.carried")
        return made

    def value_columns(self) -> dict[str, Metric]:
        """Return the columns that hold what is measured."""
        label = self.label or self.name.replace("_", " ").capitalize()
        what = f"{metric(self.series).label.lower() if self.series else ''} of {owners(self.flows)}"
        if self.kind == "recovery":
            since = STARTS[self.after].format(f"{self.at_s:g} s")
            text = (
                f"Time from {since} until the {what} is back at {100 * self.share:g} % of its mean over the {self.before_s:g} s"
            )
            text += f" before {self.at_s:g} s; 0 if it never fell below, the time to the end of the run if it never came back"
            shares = "Share of runs in which it did not come back before the end"
            return {
                self.name: Metric(label, "s", 1.0, text, self.name),
                f"{self.name}.censored": Metric(f"{label}: not before the end", "%", 100.0, shares, f"{self.name}.censored"),
            }
        if self.kind == "outage":
            ends = {"start_s": "start", "end_s": "end", "length_s": "length"}
            most = (
                f" of more than {show(self.quiet * metric(self.series).factor)} {metric(self.series).unit}" if self.quiet else ""
            )
            text = f"The longest interval with no {what}{most}{self.span()}"
            text += f", of {self.at_least_s:g} s at least: its" if self.at_least_s else ": its"
            return {
                f"{self.name}.{end}": Metric(f"{label}: {word}", "s", 1.0, f"{text} {word}", f"{self.name}.{end}")
                for end, word in ends.items()
            }
        if self.kind == "exit":
            text = f"Falls of the {what} between two samples with no retransmission and no recovery: exits from slow start"
            some, share = f"{self.name}.any", f"Share of runs with at least one. {text}"
            return {
                self.name: Metric(label, "", 1.0, f"{text} that no loss caused", self.name),
                some: Metric(f"{label}: any", "%", 100.0, share, some),
            }
        if self.kind == "mean":
            shown = metric(self.series)
            sum_or_mean = "sum" if self.series in SUMMED else "mean"
            text = f"Time average of the {what} ({sum_or_mean}){self.span()}"
            return {self.name: Metric(label, shown.unit, shown.factor, text, self.name)}
        if self.kind == "average":
            shown = metric(self.metric)
            text = f"Mean of {shown.label.lower()} over {owners(self.flows)}, each counted once"
            return {self.name: Metric(label, shown.unit, shown.factor, text, self.name)}
        text = (
            f"Jain's index (sum x)² / (n · sum x²) of {metric(self.metric).label.lower()} over {owners(self.flows)} (DEC TR-301)"
        )
        return {self.name: Metric(label, "", 1.0, text, self.name)}

    def span(self) -> str:
        """Return the window in words."""
        return f" from {self.window_s[0]:g} s to {self.window_s[1]:g} s" if self.window_s else ""


def owners(flows: tuple[int, ...]) -> str:
    """Return the flows that a measure looks at in words."""
    if not flows:
        return "all flows"
    return f"flow {flows[0]}" if len(flows) == 1 else f"flows {', '.join(map(str, flows))}"


def from_series(measures: Sequence[Measure], series: Mapping[str, Mapping[str, Any]] | None) -> dict[str, float | None]:
    """Return the columns of all measures of a run that look at series; None for what cannot be measured."""
    values: dict[str, float | None] = {}
    for measure in measures:
        if not measure.from_series:
            continue
        carried = carries(measure, series or {})
        known = carried is not False and series and measure.series in series
        found = OF_SERIES[measure.kind](measure, series) if known and series else ()
        values |= dict.fromkeys(measure.columns())
        values |= dict(zip(measure.value_columns(), found, strict=False))
        if carried is not None:
            values[f"{measure.name}.carried"] = float(carried)
    return values


def carries(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> bool | None:
    """Tell whether the flows of a measure received anything in the time that it asks about; None if it asks nothing."""
    if measure.carrying_s is None or "throughput" not in series:
        return None
    found = track(measure, series["throughput"], summed=True)
    return bool(found is not None and (found.between(*measure.carrying_s).value > 0).any())


def from_flows(measures: Sequence[Measure], flows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the columns of all measures of a run that look at its flows, given as flat rows."""
    values: dict[str, float | None] = {}
    for measure in (measure for measure in measures if not measure.from_series):
        chosen = [flow.get(measure.metric) for flow in flows if not measure.flows or flow["flow"] in measure.flows]
        known = [value for value in chosen if value is not None]
        complete = known and len(known) == len(chosen) and (not measure.flows or len(chosen) == len(measure.flows))
        value = (jain(known) if measure.kind == "jain" else float(np.mean(known))) if complete else float("nan")
        values[measure.name] = None if np.isnan(value) else value
    return values


@dataclass(frozen=True)
class Track:
    """One variable over time: `value[i]` is sampled at `t[i]`; for throughput it is the mean since `t[i - 1]`."""

    t: NDArray[np.float64]
    value: NDArray[np.float64]

    def between(self, start: float, end: float) -> "Track":
        """Return the samples in (start, end]."""
        inside = (self.t > start + 1e-9) & (self.t <= end + 1e-9)
        return Track(self.t[inside], self.value[inside])


def track(measure: Measure, columns: Mapping[str, Any], summed: bool) -> Track | None:
    """Return sum or mean of a series over the flows of a measure; None without samples."""
    t, owner, value = (np.asarray(columns[key]) for key in ("t_s", "id", "value"))
    if measure.flows:
        chosen = np.isin(owner, measure.flows)
        t, value = t[chosen], value[chosen]
    if len(t) == 0:
        return None
    times, index = np.unique(t, return_inverse=True)
    total = np.bincount(index, weights=value)
    return Track(times, total if summed else total / np.bincount(index))


def recovery(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, ...]:
    """Return how long the series stays below a share of its level before, and 1 if it did not come back, else 0."""
    found = track(measure, series[measure.series], measure.series in SUMMED)
    if found is None:
        return ()
    level = found.between(measure.at_s - measure.before_s, measure.at_s).value
    start = start_of(measure, series)
    after = found.between(start, np.inf) if start is not None else None
    if len(level) == 0 or np.mean(level) == 0 or after is None or len(after.t) == 0:
        return ()
    low = after.value < measure.share * np.mean(level)
    if not low.any():
        return 0.0, 0.0
    fallen = int(np.argmax(low))
    back = ~low[fallen:]
    if not back.any():
        return float(after.t[-1] - start), 1.0
    return float(after.t[fallen + int(np.argmax(back))] - start), 0.0


def start_of(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> float | None:
    """Return from when a recovery counts; None if what it waits for never happens."""
    if measure.after == "loss":
        return first_loss(measure, series)
    if measure.after == "outage":
        found = outage(replace(measure, series="throughput", window_s=(measure.at_s, np.inf)), series)
        return found[1] if found else None
    return measure.at_s


def first_loss(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> float | None:
    """Return when the flows of a measure first retransmit after its instant; None if they never do."""
    sent_again = track(measure, series["retransmits"], summed=True) if "retransmits" in series else None
    if sent_again is None:
        return None
    before = sent_again.value[sent_again.t <= measure.at_s + 1e-9]
    after = sent_again.between(measure.at_s, np.inf)
    more = after.value > (before[-1] if len(before) else 0.0)
    return float(after.t[int(np.argmax(more))]) if more.any() else None


def outage(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, ...]:
    """Return start, end and length of the longest run of samples that are zero; length 0 without any."""
    found = track(measure, series[measure.series], measure.series in SUMMED) if measure.series in series else None
    if found is None:
        return ()
    start, end = measure.window_s or (0.0, np.inf)
    inside = found.between(start, end)
    if len(inside.t) == 0:
        return ()
    # A sample stands for the time since the one before.
    begins = np.concatenate([[max(start, 0.0)], inside.t[:-1]])
    best, since = (0.0, 0.0), None
    for begin, at, value in zip(begins, inside.t, inside.value, strict=True):
        since = (begin if since is None else since) if value <= measure.quiet else None
        if since is not None and at - since > best[1] - best[0] + 1e-12:
            best = (float(since), float(at))
    length = best[1] - best[0] if best[1] - best[0] > measure.at_least_s - 1e-9 else 0.0
    return (best[0], best[1], length) if length > 0 else (None, None, 0.0)


def mean(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, ...]:
    """Return the mean of the samples in the window."""
    found = track(measure, series[measure.series], measure.series in SUMMED)
    inside = found.between(*(measure.window_s or (-1.0, np.inf))) if found else None
    return (float(np.mean(inside.value)),) if inside is not None and len(inside.t) else ()


def exits(measure: Measure, series: Mapping[str, Mapping[str, Any]]) -> tuple[float | None, ...]:
    """Return how often ssthresh of a flow falls without a loss, and 1 if it does at all, else 0."""
    if not all(name in series for name in measure.needs):
        return ()
    t, flow, ssthresh = (np.asarray(series[measure.series][key]) for key in ("t_s", "id", "value"))
    sent_again, state = (np.asarray(series[name]["value"]) for name in ("retransmits", "state"))
    if not len(t) == len(sent_again) == len(state):
        return ()
    order = np.lexsort((t, flow))
    flow, ssthresh, sent_again, state = flow[order], ssthresh[order], sent_again[order], state[order]
    calm = (flow[1:] == flow[:-1]) & (sent_again[1:] == sent_again[:-1]) & (state[1:] == 0) & (state[:-1] == 0)
    if measure.flows:
        calm &= np.isin(flow[1:], measure.flows)
    count = float(np.sum(calm & (ssthresh[1:] < ssthresh[:-1])))
    return count, float(count > 0)


OF_SERIES = {"recovery": recovery, "outage": outage, "mean": mean, "exit": exits}
