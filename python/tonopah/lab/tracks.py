"""The samples of a run as the page asks for them: one track for each series and flow, link or node.

A track keeps what the engine gave: times as float64, values as float32, which is what a screen needs and the page receives.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonopah.report.embed import extremes
from tonopah.runs.simulation import OWNERS

MOST_COLUMNS = 4000
"""Pixels of the widest screen that is served."""
FIRST_ROOM = 16
MOST_SENT = 24
"""Flows that the page draws and switches; the others are in the files of a run."""
STATISTICS = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}
NO_DIFFERENCE = ("state", "drops", "marks")
"""States are names; drops and marks are drawn as instants."""


class LiveTrack:
    """Samples in the order of time; room for more is doubled when it is needed."""

    def __init__(self) -> None:
        self.t_s: NDArray[np.float64] = np.empty(FIRST_ROOM)
        self.values: NDArray[np.float32] = np.empty(FIRST_ROOM, np.float32)
        self.count = 0

    def extend(self, t_s: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add samples."""
        end = self.count + len(t_s)
        if end > len(self.t_s):
            room = max(end, 2 * len(self.t_s))
            # In place: the old and the new block need not exist together.
            self.t_s.resize(room, refcheck=False)
            self.values.resize(room, refcheck=False)
        self.t_s[self.count : end], self.values[self.count : end] = t_s, values
        self.count = end

    def between(self, from_s: float, until_s: float) -> "tuple[NDArray[np.float64], NDArray[np.float32]]":
        """Return the samples of an interval, with the last before it, which holds at its start, and the first after it."""
        t_s = self.t_s[: self.count]
        first = max(int(np.searchsorted(t_s, from_s, "right")) - 1, 0)
        end = min(int(np.searchsorted(t_s, until_s, "right")) + 1, self.count)
        return t_s[first:end], self.values[first:end]


@dataclass(frozen=True)
class ShownTrack:
    """What the page wants to see: from and to which second, in how many columns of pixels, and which series (all if none)."""

    from_s: float
    until_s: float
    columns: int
    names: tuple[str, ...] = ()


class Tracks:
    """All series of a run."""

    def __init__(self) -> None:
        self.tracks: dict[tuple[str, int], LiveTrack] = {}
        self.samples = 0

    def extend(self, series: Mapping[str, Mapping[str, Any]]) -> None:
        """Add what the engine has recorded since the last time."""
        for name, columns in series.items():
            owners, t_s, values = columns["id"], columns["t_s"], columns["value"]
            self.samples += len(owners)
            # In the order of the owners, and of each in the order of time: of thousands of flows each sample is looked at once.
            order = np.argsort(owners, kind="stable")
            found, first = np.unique(owners[order], return_index=True)
            for owner, own in zip(found, np.split(order, first[1:]) if len(found) else (), strict=True):
                self.tracks.setdefault((name, int(owner)), LiveTrack()).extend(t_s[own], values[own])

    def statistic(self, name: str, owner: int, statistic: str) -> float | None:
        """Return the largest, smallest or mean sample of a series, if it has any."""
        track = self.tracks.get((name, owner))
        return float(STATISTICS[statistic](track.values[: track.count])) if track is not None and track.count else None

    def message(self, shown: ShownTrack, facts: Mapping[str, Any]) -> bytes:
        """Return what the page wants to see."""
        return packed(
            (
                (name, owner, *reduce(*track.between(shown.from_s, shown.until_s), shown), track.count)
                for (name, owner), track in sorted(self.tracks.items())
                if (not shown.names or name in shown.names) and (OWNERS.get(name, "flow") != "flow" or owner < MOST_SENT)
            ),
            shown,
            facts,
        )


Samples = tuple[NDArray[np.float64], NDArray[np.float32]]


def packed(
    columns: "Iterable[tuple[str, int, NDArray[np.float64], NDArray[np.float32], int]]",
    shown: ShownTrack,
    facts: Mapping[str, Any],
) -> bytes:
    """Return series, each as name, owner, times, values and the number of all its samples, for the page.

    Length of the head, the head as JSON, and columns of float32 (little endian). Times count from `from_s` of the head, so that
    float32 is fine enough for them.
    """
    heads, blocks = [], []
    for name, owner, t_s, values, count in columns:
        heads.append({"name": name, "id": owner, "count": len(t_s), "of": count})
        blocks += [(t_s - shown.from_s).astype("<f4").tobytes(), values.astype("<f4").tobytes()]
    head = json.dumps({**facts, "from_s": shown.from_s, "until_s": shown.until_s, "columns": heads}).encode()
    # The columns begin at a multiple of four, where a Float32Array can.
    head += b" " * (-len(head) % 4)
    return b"".join([struct.pack("<I", len(head)), head, *blocks])


def difference(before: Tracks, after: Tracks, shown: ShownTrack) -> bytes:
    """Return what the page wants to see of the series that both have: those of `after` less those of `before`."""
    return packed(
        (
            (*key, *reduce(t_s, values, shown), len(t_s))
            for key in sorted(before.tracks.keys() & after.tracks.keys())
            if key[0] not in NO_DIFFERENCE
            for t_s, values in [less(*(side.tracks[key].between(shown.from_s, shown.until_s) for side in (after, before)))]
        ),
        shown,
        {},
    )


def less(minuend: Samples, subtrahend: Samples) -> Samples:
    """Return the difference of two series at every time of either; a value holds until the next. NaN where one has none yet."""
    t_s = np.union1d(minuend[0], subtrahend[0])
    return t_s, held(minuend, t_s) - held(subtrahend, t_s)


def held(samples: Samples, t_s: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the values that hold at some times: of several at one time the last, and NaN before the first."""
    at = np.searchsorted(samples[0], t_s, "right")
    return np.concatenate([np.array([np.nan], np.float32), samples[1]])[at]


def reduce(
    t_s: NDArray[np.float64], values: NDArray[np.float32], shown: ShownTrack
) -> "tuple[NDArray[np.float64], NDArray[np.float32]]":
    """Return the smallest and the largest sample of each column of pixels; everything if there is not more than that."""
    if len(t_s) <= 2 * shown.columns:
        return t_s, values
    column = np.clip((t_s - shown.from_s) / (shown.until_s - shown.from_s) * shown.columns, -1, shown.columns).astype(np.int32)
    kept = extremes(column, values)
    return t_s[kept], values[kept]
