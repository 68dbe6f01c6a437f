"""Applications that write at times of their own: how much, and when next, as crates/sim/src/host/app has them."""

import heapq
import math
from collections.abc import Mapping
from typing import Any, Protocol

from tonopah._core import parse_quantity
from tonopah.kernel.draws import Stream, period


class Writer(Protocol):
    """An application that writes. Times are seconds of the emulation."""

    def start(self, now: float) -> int:
        """Return the bytes that it writes as its flow starts."""
        ...

    def next(self, now: float) -> tuple[float, int] | None:
        """Return when it writes after a write that was taken at `now`, and how many bytes, if it does."""
        ...


class Ticks:
    """Instants at a constant interval after an origin."""

    def __init__(self, interval: float):
        self.interval, self.origin, self.count = interval, 0.0, 0

    def restart(self, origin: float, interval: float | None = None) -> None:
        """Begin anew."""
        self.origin, self.count, self.interval = origin, 0, interval or self.interval

    def next(self, now: float) -> float:
        """Return the first instant after `now` that was not returned; those that have passed are skipped."""
        passed = math.floor((now - self.origin) / self.interval)
        self.count = max(self.count, passed - 1) + 1
        while (tick := self.origin + self.count * self.interval) <= now:
            self.count += 1
        return tick


class Bulk:
    """One write at the start."""

    def __init__(self, payload_bytes: int):
        self.payload_bytes = payload_bytes

    def start(self, now: float) -> int:
        """Return all bytes."""
        return self.payload_bytes

    def next(self, now: float) -> None:
        """Return nothing."""


class Cbr:
    """Messages at a constant rate, or at other rates later on."""

    def __init__(self, app: Mapping[str, Any]):
        self.size = size_of(app)
        self.ticks = Ticks(interval_of(app["rate"], self.size))
        phases = [(seconds(one["at"]), one.get("rate")) for one in app.get("phases", [])]
        self.coming = [(at, rate and interval_of(rate, self.size)) for at, rate in phases]
        self.begun = 0.0

    def start(self, now: float) -> int:
        """Return the first message."""
        self.begun = now
        self.ticks.restart(now)
        return self.size

    def next(self, now: float) -> tuple[float, int] | None:
        """Return the next message of the rate that holds then; none in a silence that lasts."""
        tick: float | None = self.ticks.next(now)
        while self.coming and (tick is None or tick >= self.begun + self.coming[0][0]):
            at, interval = self.coming.pop(0)
            begin, tick = self.begun + at, None
            if interval:
                self.ticks.restart(begin, interval)
                tick = begin if begin > now else self.ticks.next(now)
        return None if tick is None else (tick, self.size)


class OnOff:
    """Messages at a constant rate during periods of activity."""

    def __init__(self, app: Mapping[str, Any], stream: Stream):
        self.app, self.stream, self.size = app, stream, size_of(app)
        self.ticks, self.until = Ticks(interval_of(app["rate"], self.size)), 0.0

    def start(self, now: float) -> int:
        """Return the first message of the first period of activity."""
        self.begin(now)
        return self.size

    def begin(self, now: float) -> None:
        """Begin a period of activity."""
        self.ticks.restart(now)
        self.until = now + period(self.app["on"], self.stream)

    def next(self, now: float) -> tuple[float, int]:
        """Return the next message; after the period of activity the first of the one after a pause."""
        tick = self.ticks.next(now)
        if tick > self.until:
            tick = max(self.until, now) + period(self.app["off"], self.stream)
            self.begin(tick)
        return tick, self.size


class Script:
    """Writes at given times; one that had to wait is not skipped."""

    def __init__(self, app: Mapping[str, Any]):
        self.entries, self.begun = app["writes"], 0.0
        # In whole nanoseconds, so that what repeats ends where the scenario says.
        self.coming = [(nanoseconds(entry[0]), number) for number, entry in enumerate(self.entries)]
        heapq.heapify(self.coming)

    def start(self, now: float) -> int:
        """Return what is written at once, 0 if nothing is."""
        self.begun = now
        found = self.next(now) if self.coming and self.coming[0][0] == 0 else None
        return found[1] if found else 0

    def next(self, now: float) -> tuple[float, int] | None:
        """Return the next write, whose time is `now` if that of the scenario has passed."""
        if not self.coming:
            return None
        at, number = heapq.heappop(self.coming)
        _, size, *repeat = self.entries[number]
        if repeat and (again := at + nanoseconds(repeat[0]["every"])) <= nanoseconds(repeat[0]["until"]):
            heapq.heappush(self.coming, (again, number))
        return max(self.begun + at / 1e9, now), round(parse_quantity(size, "size"))


def writer_of(app: Mapping[str, Any], stream: Stream, endless: int) -> Writer:
    """Return an application of a resolved scenario; `endless` stands for the bytes of one without an end."""
    if app["kind"] == "cbr":
        return Cbr(app)
    if app["kind"] == "on_off":
        return OnOff(app, stream)
    if app["kind"] == "script":
        return Script(app)
    given = app.get("bytes") or app.get("size")
    return Bulk(round(parse_quantity(given, "size")) if given else endless)


def size_of(app: Mapping[str, Any]) -> int:
    """Return the bytes of a message."""
    return round(parse_quantity(app["size"], "size"))


def seconds(text: str) -> float:
    """Return a time in seconds."""
    return parse_quantity(text, "duration")


def nanoseconds(text: str) -> int:
    """Return a time in whole nanoseconds."""
    return round(1e9 * seconds(text))


def interval_of(rate: str, size: int) -> float:
    """Return the time between two messages of a rate in messages or bits per second."""
    if rate.endswith("pps"):
        return 1 / float(rate.removesuffix("pps"))
    return 8 * size / parse_quantity(rate, "rate")
