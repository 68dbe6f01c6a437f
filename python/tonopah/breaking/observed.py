"""What the search reads of a run: goodput in bins of 0.1 s, the metrics of its flows, or why there is no result."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah.breaking.scenario import BIN_S, WARMUP_S, Setup
from tonopah.errors import AlgorithmError, LimitError

Bins = NDArray[np.float64]
WARMUP_BINS = round(WARMUP_S / BIN_S)
STARVED_BINS = round(2 / BIN_S)
RECOVERED_BINS = round(0.5 / BIN_S)
SECOND_BINS = round(1 / BIN_S)


@dataclass(frozen=True)
class Observed:
    """One run. With an error there is nothing else."""

    error: str = ""
    """What ended the run: the exception of the algorithm."""
    endless: bool = False
    """Whether it had not ended after the events that a run may have."""
    bins: Bins = field(default_factory=lambda: np.zeros((0, 0)))
    """Goodput in bit/s, a row for each flow."""
    flows: Sequence[dict[str, Any]] = ()

    @property
    def failed(self) -> bool:
        """Tell whether there is no result."""
        return bool(self.error) or self.endless

    def mean(self, flows: Sequence[int]) -> float:
        """Return the goodput of some flows together after the warm-up, in bit/s."""
        return float(self.bins[list(flows), WARMUP_BINS:].mean(axis=1).sum()) if flows else 0.0

    def together(self, flows: Sequence[int]) -> Bins:
        """Return the goodput of some flows together, in bins."""
        return np.asarray(self.bins[list(flows)].sum(axis=0))

    def value(self, flow: int, name: str) -> float:
        """Return a metric of a flow; NaN if there is none."""
        found = self.flows[flow].get(name)
        return math.nan if found is None else float(found)

    def loss(self, flows: Sequence[int]) -> float:
        """Return dropped / sent packets of some flows; 0 for fewer than 200 packets."""
        sent, dropped = (sum(self.value(flow, name) for flow in flows) for name in ("sent_packets", "dropped_packets"))
        return dropped / sent if sent >= 200 else 0.0

    def time_s(self, setup: Setup) -> float:
        """Return how long the application of the subject's first flow waits: what lasted so far if it did not end."""
        flow = setup.subjects[0]
        if setup.app == "transfer":
            done = self.value(flow, "completion_s")
            return done if not math.isnan(done) else setup.duration_s - self.value(flow, "start_s")
        name = "request_p95_s" if setup.app == "request_response" else "app_delay_p95_s"
        found = self.value(flow, name)
        return found if not math.isnan(found) else setup.duration_s - WARMUP_S

    def ended(self, setup: Setup) -> bool:
        """Tell whether the transfer of the subject's first flow ended."""
        return not math.isnan(self.value(setup.subjects[0], "completion_s"))

    def level(self, setup: Setup) -> float:
        """Return the median goodput in the second half of what follows the last change."""
        after = self.together(setup.subjects)[round(setup.last_change_s / BIN_S) :]
        return float(np.median(after[len(after) // 2 :])) if len(after) else 0.0

    def recovery_s(self, setup: Setup, level_bps: float) -> float:
        """Return the time from the last change to the first half second with so much goodput; to the end if there is none."""
        after = self.together(setup.subjects)[round(setup.last_change_s / BIN_S) :]
        good = np.flatnonzero(windows(after, RECOVERED_BINS) >= level_bps)
        return BIN_S * float(good[0]) if len(good) else BIN_S * len(after)

    def before_bps(self, setup: Setup) -> float:
        """Return the mean goodput from the warm-up to the first change."""
        part = self.together(setup.subjects)[WARMUP_BINS : round(setup.first_change_s / BIN_S)]
        return float(part.mean()) if len(part) else 0.0

    def start_bin(self, flows: Sequence[int]) -> int:
        """Return the first bin after the last start of some flows."""
        return math.ceil(max(self.value(flow, "start_s") for flow in flows) / BIN_S)

    def silence_s(self, setup: Setup) -> float:
        """Return the longest stretch without a byte after the last of the subject's flows started."""
        return BIN_S * longest(self.together(setup.subjects)[self.start_bin(setup.subjects) :] <= 0)

    def variation(self, setup: Setup) -> float:
        """Return standard deviation / mean of the means of 1 s after the warm-up."""
        part = self.together(setup.subjects)[WARMUP_BINS:]
        means = part[: len(part) // SECOND_BINS * SECOND_BINS].reshape(-1, SECOND_BINS).mean(axis=1)
        mean = float(means.mean()) if len(means) else 0.0
        return float(means.std()) / mean if mean > 0 else 0.0

    def starved(self, flows: Sequence[int], share_bps: float) -> tuple[int, int, int]:
        """Return the longest stretch in which the mean over 2 s of one of some flows is below a share.

        Its length, and the bins where its first mean begins and its last one ends; of flows with the same the latest.
        """
        found = []
        for flow in flows:
            first = self.start_bin([flow])
            begin, end = longest_stretch(windows(self.bins[flow, first:], STARVED_BINS) < share_bps)
            found.append((end - begin, first + begin, first + end + STARVED_BINS - 1))
        return max(found, default=(0, 0, 0))

    def starved_s(self, flows: Sequence[int], share_bps: float) -> float:
        """Return the longest time in which the mean over 2 s of one of some flows is below a share."""
        length, _, _ = self.starved(flows, share_bps)
        return BIN_S * length


def windows(bins: Bins, count: int) -> Bins:
    """Return the means of all stretches of so many bins."""
    if len(bins) < count:
        return np.zeros(0)
    total = np.concatenate(([0.0], np.cumsum(bins)))
    return np.asarray((total[count:] - total[:-count]) / count)


def longest(holds: NDArray[np.bool_]) -> int:
    """Return the length of the longest stretch in which something holds."""
    begin, end = longest_stretch(holds)
    return end - begin


def longest_stretch(holds: NDArray[np.bool_]) -> tuple[int, int]:
    """Return where the longest stretch in which something holds begins and ends; 0 and 0 if there is none."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(int)))
    if not len(edges):
        return 0, 0
    place = 2 * int((edges[1::2] - edges[::2]).argmax())
    return int(edges[place]), int(edges[place + 1])


def observe(outcome: str | Exception, series: Any, duration_s: float) -> Observed:
    """Return what is read of the outcome of a run. Raises what is neither the algorithm's fault nor a limit."""
    if isinstance(outcome, AlgorithmError):
        return Observed(error=str(outcome))
    if isinstance(outcome, LimitError):
        return Observed(endless=True)
    if isinstance(outcome, Exception):
        raise outcome
    flows = json.loads(outcome)["flows"]
    columns = series["goodput"]
    bins = np.zeros((len(flows), round(duration_s / BIN_S)))
    place = np.rint(columns["t_s"] / BIN_S).astype(int) - 1
    inside = place < bins.shape[1]
    bins[columns["id"][inside], place[inside]] = columns["value"][inside]
    return Observed(bins=bins, flows=flows)
