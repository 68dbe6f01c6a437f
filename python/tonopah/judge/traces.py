"""What is read from the series of a run when it is stored: metrics that no summary has.

Every class has the values that it computes as columns `NAME.…` of the stored result, like a derived metric of a study.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tonopah.judge.definitions import World
from tonopah.judge.worlds import PAYLOAD_SHARE, Built, bits_per_second, seconds
from tonopah.metrics import Metric
from tonopah.spec.derived import OwnValues
from tonopah.stats import jain

Series = Mapping[str, Mapping[str, Any]]
Floats = NDArray[np.float64]

BREAKER_WINDOW_S, BREAKER_LOSS, BREAKER_WINDOWS = 5.0, 0.10, 3
"""The transport breaker, in the sense of RFC 8084: more loss than this in as many windows in a row. The numbers are ours."""
SEGMENT = 1448.0
FAIR, FAIR_BINS, FAIR_FOR = 0.95, 5, 5
LATE_SHARE = 1 / 3
"""The end of a run, of the time from the last start."""
BACK_SHARE, BACK_BINS = 0.9, 5
STARVED_SHARE, STARVED_FOR_S = 0.05, 10.0
"""A flow starves that has less than this share of its fair share for so long. The numbers are ours."""
LOSS_STATE = 4.0
"""Value of the series `state` after a time-out."""


class Trace(OwnValues):
    """Values of the flows of the first group."""

    name: str = "trace"
    label: str = ""
    columns_made: tuple[str, ...] = ()

    def value_columns(self) -> dict[str, Metric]:
        """Return the columns."""
        return {f"{self.name}.{column}": Metric(column, "", 1.0, "", f"{self.name}.{column}") for column in self.columns_made}


def by_flow(columns: Mapping[str, Any], flows: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return times, and the samples of each flow as a row; NaN where a flow has none."""
    t, owner, value = (np.asarray(columns[key], dtype=float) for key in ("t_s", "id", "value"))
    times = np.unique(t)
    table = np.full((len(flows), len(times)), np.nan)
    for row, flow in enumerate(flows):
        mine = owner == flow
        table[row, np.searchsorted(times, t[mine])] = value[mine]
    return times, table


def filled(table: Floats) -> Floats:
    """Return counters with 0 before their first sample, and the last one held after it ended."""
    held = table.copy()
    held[:, 0] = np.nan_to_num(held[:, 0])
    for column in range(1, held.shape[1]):
        missing = np.isnan(held[:, column])
        held[missing, column] = held[missing, column - 1]
    return held


class Breaker(Trace):
    """Trips of the transport breaker."""

    kind: Literal["breaker"] = "breaker"
    name: str = "breaker"
    columns_made: tuple[str, ...] = ("trips", "loss_worst")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("acked", "retransmits")

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        times, acked = by_flow(series["acked"], self.flows)
        _, sent_again = by_flow(series["retransmits"], self.flows)
        # A whole transport does not tell what it sends again.
        told = np.isfinite(sent_again).any(axis=1) | ~np.isfinite(acked).any(axis=1)
        if not told.all():
            return None, None
        trips, worst = breaker_trips(times, filled(acked), filled(sent_again))
        return float(trips), worst


def breaker_trips(times: Floats, acked: Floats, sent_again: Floats) -> tuple[int, float]:
    """Return how often a flow loses more than the limit in windows in a row, and the worst loss of a window."""
    edges = np.arange(times[0], times[-1] + 1e-9, BREAKER_WINDOW_S)
    places = np.searchsorted(times, edges + 1e-9, side="right") - 1
    delivered, again = np.diff(acked[:, places]) / SEGMENT, np.diff(sent_again[:, places])
    total = delivered + again
    loss = np.divide(again, total, out=np.zeros_like(total), where=total > 0)
    trips = 0
    for row in loss > BREAKER_LOSS:
        run = 0
        for over in row:
            run = run + 1 if over else 0
            trips += run == BREAKER_WINDOWS
    return trips, float(loss.max(initial=0.0))


class OutageBackoff(Trace):
    """What a flow sends while nothing arrives, and how long it takes to be back."""

    kind: Literal["outage"] = "outage"
    name: str = "outage"
    start_s: float
    end_s: float
    capacity_bps: float
    columns_made: tuple[str, ...] = ("sent", "sent_after_timeout", "timeouts", "backoff_least", "t90_s", "censored")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("retransmits", "rto", "state", "goodput")

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        times, sent = by_flow(series["retransmits"], self.flows)
        sent = filled(sent)[0]
        inside = (times > self.start_s + 1e-9) & (times <= self.end_s + 1e-9)
        before = np.searchsorted(times, self.start_s + 1e-9, side="right") - 1
        state, rto = (by_flow(series[name], self.flows)[1][0] for name in ("state", "rto"))
        total = float(sent[inside][-1] - sent[before])
        late = np.flatnonzero(inside & (state == LOSS_STATE))
        after = float(sent[inside][-1] - sent[max(late[0] - 1, 0)]) if len(late) else 0.0
        steps = rto[inside][1:] / rto[inside][:-1]
        grown = steps[np.isfinite(steps) & (steps > 1.05)]
        timeouts = float(len(grown)) if len(late) else 0.0
        back, censored = settled(series, self.flows, self.end_s, BACK_SHARE * self.capacity_bps)
        return total, after, timeouts, float(grown.min()) if len(late) and len(grown) else None, back, censored


def settled(series: Series, flows: tuple[int, ...], since_s: float, least_bps: float) -> tuple[float, float]:
    """Return when goodput has been above a rate for some bins in a row, counted from `since_s`, and whether it never was."""
    times, rates = by_flow(series["goodput"], flows)
    total = np.nansum(rates, axis=0)
    run = 0
    for at, rate in zip(times, total, strict=True):
        if at <= since_s + 1e-9:
            continue
        run = run + 1 if rate >= least_bps else 0
        if run == BACK_BINS:
            bin_s = times[1] - times[0]
            return float(max(0.0, at - BACK_BINS * bin_s - since_s)), 0.0
    return float(times[-1] - since_s), 1.0


class Release(Trace):
    """How long it takes to take what has become free, the goodput in between, and what is lost on the way."""

    kind: Literal["release"] = "release"
    name: str = "release"
    start_s: float
    end_s: float
    capacity_bps: float
    columns_made: tuple[str, ...] = ("t90_s", "censored", "goodput_bps", "goodput_after_bps", "again", "rtt_p95_after_s")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("goodput", "retransmits", "rtt")

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        back, censored = settled(series, self.flows, self.start_s, BACK_SHARE * self.capacity_bps)
        times, rates = by_flow(series["goodput"], self.flows)
        total = np.nansum(rates, axis=0)
        during = mean_between(times, total, self.start_s, self.end_s)
        after = mean_between(times, total, self.end_s, times[-1])
        t, sent = by_flow(series["retransmits"], self.flows)
        counts = filled(sent).sum(axis=0)
        # Nothing has been sent again before the first sample.
        counts = np.concatenate([[0.0], counts])
        ends = np.searchsorted(t, [self.start_s + 1e-9, min(self.start_s + back, times[-1]) + 1e-9], side="right")
        t, rtts = by_flow(series["rtt"], self.flows)
        late = rtts[:, (t > self.end_s)]
        late = late[np.isfinite(late)]
        high = float(np.percentile(late, 95)) if late.size else None
        return back, censored, during, after, float(counts[ends[1]] - counts[ends[0]]), high


def mean_between(times: Floats, values: Floats, start_s: float, end_s: float) -> float | None:
    """Return the mean of the samples in (start, end]."""
    inside = (times > start_s + 1e-9) & (times <= end_s + 1e-9)
    return float(np.mean(values[inside])) if inside.any() else None


class Fairness(Trace):
    """Time from the last start until rates are fair, variation of goodput, and what the last flow has of it at the end."""

    kind: Literal["fairness"] = "fairness"
    name: str = "fairness"
    start_s: float
    columns_made: tuple[str, ...] = ("t_fair_s", "censored", "cov", "late_share")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("goodput",)

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        times, rates = by_flow(series["goodput"], self.flows)
        rates = np.nan_to_num(rates)
        late = times > self.start_s
        spread = rates[:, late].std(axis=1) / np.maximum(rates[:, late].mean(axis=1), 1.0)
        cov = float(spread.mean())
        if len(self.flows) < 2:
            return None, None, cov, None
        end = rates[:, times > times[-1] - LATE_SHARE * (times[-1] - self.start_s)].sum(axis=1)
        late_share = float(end[-1] / end.sum()) if end.sum() > 0 else 0.5
        kernel = np.ones(FAIR_BINS) / FAIR_BINS
        smooth = np.array([np.convolve(row, kernel, "valid") for row in rates])
        ends, run = times[FAIR_BINS - 1 :], 0
        for at, column in zip(ends, smooth.T, strict=True):
            if at - FAIR_BINS < self.start_s:
                continue
            run = run + 1 if jain(column) >= FAIR else 0
            if run == FAIR_FOR:
                return float(at - FAIR_FOR + 1 - self.start_s), 0.0, cov, late_share
        return float(times[-1] - self.start_s), 1.0, cov, late_share


class Windows(Trace):
    """Goodput in intervals."""

    kind: Literal["windows"] = "windows"
    name: str = "windows"
    intervals: tuple[tuple[float, float], ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("goodput",)

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        times, rates = by_flow(series["goodput"], self.flows)
        total = np.nansum(rates, axis=0)
        return tuple(mean_between(times, total, *interval) for interval in self.intervals)


class Sharing(Trace):
    """Share of the first flows in each half of the interval, and whether a flow of either group starves for a while."""

    kind: Literal["sharing"] = "sharing"
    name: str = "sharing"
    others: tuple[int, ...] = ()
    after_s: float = 0.0
    least_bps: float = 0.0
    """Below this rate a flow starves."""
    columns_made: tuple[str, ...] = ("share_1", "share_2", "starving", "starving_others")

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the series that it reads."""
        return ("acked",)

    def values(self, series: Series) -> tuple[float | None, ...]:
        """Return the columns."""
        times, acked = by_flow(series["acked"], (*self.flows, *self.others))
        inside = times >= self.after_s - 1e-9
        t, counts = times[inside], filled(acked)[:, inside]
        if len(t) < 3:
            return None, None, None, None
        mine = len(self.flows) if self.others else 1
        middle = np.searchsorted(t, (t[0] + t[-1]) / 2)
        halves = (counts[:, middle] - counts[:, 0], counts[:, -1] - counts[:, middle])
        shares = [float(half[:mine].sum() / half.sum()) if half.sum() > 0 else 0.5 for half in halves]
        poor = [starves(t, row, self.least_bps) for row in counts]
        return (*shares, float(any(poor[: len(self.flows)])), float(any(poor[len(self.flows) :])))


def starves(times: Floats, acked: Floats, least_bps: float) -> bool:
    """Tell whether a flow is below a rate for `STARVED_FOR_S` on end."""
    ends = np.searchsorted(times, times + STARVED_FOR_S - 1e-9)
    whole = ends < len(times)
    took = acked[ends[whole]] - acked[whole]
    return bool((8 * took < least_bps * STARVED_FOR_S).any())


def traces_of(world: World, built: Built) -> list[Trace]:
    """Return what is read from the series of a run."""
    mine, others = (tuple(group) for group in built.groups)
    at_s, until_s = seconds(world.at), seconds(world.until)
    capacity = PAYLOAD_SHARE * (bits_per_second(world.then_rate) if world.then_rate else built.rate_bps)
    made: list[Trace] = []
    for name in world.traces:
        if name == "breaker":
            made.append(Breaker(flows=mine))
        elif name == "sharing":
            least = STARVED_SHARE * built.rate_bps / max(1, len(mine) + len(others) + built.connections)
            made.append(Sharing(flows=mine, others=others, after_s=seconds(world.warmup), least_bps=least))
        elif name == "outage":
            made.append(OutageBackoff(flows=mine, start_s=at_s, end_s=until_s, capacity_bps=capacity))
        elif name == "release":
            made.append(Release(flows=mine, start_s=at_s, end_s=until_s, capacity_bps=capacity))
        elif name == "windows":
            intervals = tuple((seconds(start), seconds(end)) for start, end in world.windows)
            columns = tuple(f"w{number}_bps" for number in range(len(intervals)))
            made.append(Windows(flows=mine, intervals=intervals, columns_made=columns))
        else:
            made.append(Fairness(flows=mine, start_s=at_s))
    return made
