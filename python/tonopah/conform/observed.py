"""What a run shows of its first flow: the series of its sender, and what its algorithm shows of itself, at every change.

A value holds until the next one. `state` is the word that the algorithm shows (a leading `probe_bw_` left out), `recovery` the
state of the sender: 3 in recovery, 4 after a time-out (as Linux numbers them).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah._core import parse_quantity
from tonopah.conform.words import NotObservableError
from tonopah.runs.simulation import INTERNAL

Numbers = NDArray[np.float64]

SENDER = (
    "cwnd", "ssthresh", "srtt", "rtt", "rttvar", "rto", "pipe", "outstanding", "acked", "state", "retransmits", "pacing_rate",
    "timeouts",
)  # fmt: skip
"""Series that are recorded of every run."""
RECOVERY, LOSS = 3, 4
"""States of the sender."""
OTHER_NAMES = {"full_bw_reached": "full_pipe"}
"""Names in the cases, and those of our algorithms, where they differ."""
PREFIX = "probe_bw_"


@dataclass(frozen=True)
class Stay:
    """A stay in a state."""

    word: str
    begin: float
    end: float
    """Infinite of the last one."""

    @property
    def length(self) -> float:
        """How long it lasted."""
        return self.end - self.begin


class Observed:
    """A run."""

    headers = 52
    """Bytes of a segment besides its payload: IPv4, TCP, timestamps."""
    recorded: tuple[str, ...] = SENDER

    def __init__(
        self,
        scenario: Mapping[str, Any],
        summary: Mapping[str, Any],
        series: Mapping[str, Mapping[str, Any]],
        names: Mapping[str, str],
    ):
        self.scenario, self.summary, self.series = scenario, summary, series
        self.names = names
        self.reads_internals = False
        self.columns: dict[str, tuple[Numbers, Numbers]] = {}
        """Those that were asked for, by the series."""

    @property
    def flow(self) -> Mapping[str, Any]:
        """The summary of the flow."""
        found: Mapping[str, Any] = self.summary["flows"][0]
        return found

    @property
    def mss(self) -> float:
        """Payload of a full segment."""
        return parse_quantity(self.scenario["tcp"]["mss"], "size")

    @property
    def payload(self) -> float:
        """Share of the link's rate that is payload."""
        return self.mss / (self.mss + self.headers)

    def column(self, name: str) -> tuple[Numbers, Numbers]:
        """Return times and values of a series or variable. Raises NotObservableError if the algorithm does not show it."""
        place = {"recovery": "state"}.get(name, name if name in self.recorded and name != "state" else "")
        if not place:
            self.reads_internals = True
            place = self.internal(name)
        if place not in self.columns:
            found = self.series[place]
            of_flow = np.asarray(found["id"]) == 0
            self.columns[place] = np.asarray(found["t_s"], float)[of_flow], np.asarray(found["value"], float)[of_flow]
        return self.columns[place]

    def internal(self, name: str) -> str:
        """Return the series of a variable. Raises NotObservableError."""
        names = [self.names[name]] if name in self.names else [name, OTHER_NAMES.get(name, name)]
        found = next((f"{INTERNAL}{one}" for one in names if f"{INTERNAL}{one}" in self.series), None)
        if found is None:
            raise NotObservableError(f"the algorithm does not show `{names[0]}`")
        return found

    def shows(self, name: str) -> bool:
        """Tell whether the algorithm shows a variable and has set it."""
        try:
            return bool(len(self.column(name)[0]))
        except NotObservableError:
            return False

    def at(self, name: str, t_s: float) -> float:
        """Return the value at a time; NaN before the first."""
        times, values = self.column(name)
        place = int(np.searchsorted(times, t_s, "right")) - 1
        return float(values[place]) if place >= 0 else math.nan

    def before(self, name: str, t_s: float) -> float:
        """Return the value just before a time."""
        return self.at(name, float(np.nextafter(t_s, 0.0)))

    def changes(self, name: str, start: float = -math.inf, end: float = math.inf) -> tuple[Numbers, Numbers]:
        """Return the changes after `start`, up to `end`."""
        times, values = self.column(name)
        kept = (times > start) & (times <= end)
        return times[kept], values[kept]

    def held(self, name: str, start: float, end: float) -> Numbers:
        """Return all values from `start` to `end`, that at the start first."""
        return np.concatenate([[self.at(name, start)], self.changes(name, start, end)[1]])

    def sampled(self, name: str, times: Numbers) -> Numbers:
        """Return the values at some times."""
        known, values = self.column(name)
        places = np.searchsorted(known, times, "right") - 1
        return np.where(places >= 0, values[np.maximum(places, 0)], np.nan)

    def first(self, name: str, least: float, start: float = -math.inf) -> float:
        """Return when a value is first at least this, after `start`; infinite if it never is."""
        times, values = self.changes(name, start)
        found = np.flatnonzero(values >= least)
        return float(times[found[0]]) if len(found) else math.inf

    def stays_of(self, name: str, words: Mapping[float, str] | None = None) -> list[Stay]:
        """Return the stays in the values of a series, by their words."""
        times, values = self.column(name)
        said: list[str]
        if words is None:
            written = self.series[self.internal(name)].get("word")
            ours = {theirs: own for own, theirs in self.names.items()}
            said = list(written) if written is not None else [f"{one:g}" for one in values]
            said = [ours.get(one, one.lower().removeprefix(PREFIX)) for one in said]
        else:
            said = [words.get(value, "open") for value in values]
        stays: list[Stay] = []
        for t_s, word in zip(times, said, strict=True):
            if stays and stays[-1].word == word:
                continue
            if stays:
                stays[-1] = Stay(stays[-1].word, stays[-1].begin, float(t_s))
            stays.append(Stay(word, float(t_s), math.inf))
        return stays

    @cached_property
    def stays(self) -> list[Stay]:
        """The states of the algorithm in turn."""
        return self.stays_of("state")

    @property
    def shown_stays(self) -> list[Stay]:
        """What there is to show of states: those of the algorithm, else the episodes of recovery, where they are seen."""
        if self.shows("state"):
            return self.stays
        return self.recoveries() if self.shows("recovery") else []

    def recoveries(self, after: float = -math.inf, least: int = RECOVERY) -> list[Stay]:
        """Return the episodes of recovery that begin after a time; `least` 4: only after time-outs, 2: by marks too."""
        words = {float(number): "recovery" for number in range(least, LOSS + 1)}
        return [stay for stay in self.stays_of("recovery", words) if stay.word == "recovery" and stay.begin > after]

    @cached_property
    def sending(self) -> tuple[Numbers, Numbers, Numbers]:
        """Times, bytes acknowledged, and bytes sent by then, each counted once; what is acknowledged selectively is left out."""
        times = np.union1d(self.column("acked")[0], self.column("outstanding")[0])
        acked = self.sampled("acked", times)
        return times, acked, np.maximum.accumulate(acked + self.sampled("outstanding", times))

    def sent(self, t_s: float) -> float:
        """Return the bytes sent by a time, each counted once."""
        times, _, sent = self.sending
        place = int(np.searchsorted(times, t_s, "right")) - 1
        return float(sent[place]) if place >= 0 else 0.0

    def sent_packets(self, t_s: float) -> int:
        """Return the segments with data sent by a time."""
        again = self.at("retransmits", t_s)
        return round(self.sent(t_s) / self.mss + (0 if math.isnan(again) else again))

    @cached_property
    def round_starts(self) -> Numbers:
        """When packet-timed rounds begin: with the ACK of a segment sent after the round before began."""
        times, acked, sent = self.sending
        starts, mark = [], 0.0
        while True:
            place = int(np.searchsorted(acked, mark, "right"))
            if place >= len(times):
                return np.array(starts)
            starts.append(times[place])
            # What goes out in answer to this ACK belongs to the round that begins.
            mark = max(float(sent[place - 1]) if place else 0.0, float(acked[place]))

    def rounds(self, start: float, end: float) -> int:
        """Return how many rounds begin after `start`, up to `end`."""
        return int(np.sum((self.round_starts > start) & (self.round_starts <= end)))

    def delivered(self, window_s: float, start: float = 0.0, end: float = math.inf) -> Numbers:
        """Return what was acknowledged over each time of this length that ends at an ACK, in bit/s."""
        times, acked = self.changes("acked", start, end)
        earlier = np.nan_to_num(self.sampled("acked", times - window_s))
        return np.asarray((acked - earlier) * 8 / window_s)

    @property
    def least_rtt(self) -> float:
        """The least RTT of the run."""
        return float(np.min(self.column("rtt")[1]))
