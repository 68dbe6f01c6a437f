"""What the network and its own log show of a whole transport: datagrams of both ends, packets with numbers, losses, metrics."""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tonopah.conform.observed import Numbers
from tonopah.conform.words import NotObservableError
from tonopah.qlog.trace import SentPacket, Trace

SERIES = ("cwnd", "ssthresh", "srtt", "rtt", "rttvar", "min_rtt", "pipe", "state", "pacing_rate", "timeouts", "wire_flight")
"""Series that are recorded of a transport."""
APPLICATION = "1rtt"
SAME_S = 1e-6
"""A log has its times to less than this."""
GRANULARITY_S = 1e-3
"""Of timers (RFC 9002 §6.1.2)."""
MAX_ACK_DELAY_S = 25e-3
"""By which a peer delays ACKs at most, if it does not say another (RFC 9000 §18.2)."""


@dataclass(frozen=True)
class Datagrams:
    """Datagrams of one end at its node, in turn."""

    t_s: Numbers
    payload: Numbers
    """Bytes above UDP."""

    def within(self, start: float, end: float) -> "Datagrams":
        """Return those after `start`, up to `end`."""
        kept = (self.t_s > start) & (self.t_s <= end)
        return Datagrams(self.t_s[kept], self.payload[kept])

    @property
    def instants(self) -> tuple[Numbers, Numbers]:
        """Times at which some leave, and the bytes of all that leave then."""
        times, places = np.unique(self.t_s, return_inverse=True)
        return times, np.bincount(places, self.payload, len(times)).astype(float)


class Connection:
    """A run of a whole transport; its client sends the data."""

    def __init__(self, trace: Callable[[], Sequence[Mapping[str, Any]]], logged: Trace | None):
        self.trace, self.logged = trace, logged

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Every datagram where it is sent and where it arrives, in turn."""
        return self.trace()

    def of(self, event: str, towards: str) -> Datagrams:
        """Return what is `sent` by an end, or `delivered` to it, on the way to the `sink` (the server) or the `source`."""
        kept = [row for row in self.rows if row["event"] == event and row["towards"] == towards]
        return Datagrams(np.array([row["t_s"] for row in kept]), np.array([float(row["payload_bytes"]) for row in kept]))

    @cached_property
    def sent(self) -> Datagrams:
        """What the client sends."""
        return self.of("sent", "sink")

    @cached_property
    def arrived(self) -> Datagrams:
        """What arrives at the server."""
        return self.of("delivered", "sink")

    @cached_property
    def answers(self) -> Datagrams:
        """What the server sends."""
        return self.of("sent", "source")

    @cached_property
    def heard(self) -> Datagrams:
        """What arrives at the client."""
        return self.of("delivered", "source")

    @cached_property
    def acknowledged(self) -> tuple[Numbers, Numbers]:
        """When the client hears of the server, and the bytes that had arrived there when that left, which it can acknowledge."""
        heard = [row for row in self.rows if row["event"] == "delivered" and row["towards"] == "source"]
        arrived = np.concatenate([[0.0], np.cumsum(self.arrived.payload)])
        left = np.searchsorted(self.arrived.t_s, [row["sent_at_s"] for row in heard], "right")
        return self.heard.t_s, np.maximum.accumulate(arrived[left]) if len(left) else np.zeros(0)

    @property
    def log(self) -> Trace:
        """What the client logs. Raises NotObservableError without a log."""
        if self.logged is None:
            raise NotObservableError("the transport writes no qlog")
        return self.logged

    @property
    def packets(self) -> list[SentPacket]:
        """The packets of the application's space, in the order in which they were sent. Raises NotObservableError."""
        found = [one for one in self.log.sent.values() if one.space == APPLICATION]
        if not found:
            raise NotObservableError("its log names no packets")
        return found

    def packet(self, number: int) -> SentPacket:
        """Return the packet in datagram `number` of the client. Raises NotObservableError where the log has none then."""
        at = float(self.sent.t_s[number])
        together = np.flatnonzero(np.abs(self.sent.t_s - at) < SAME_S)
        logged = [one for one in self.packets if abs(one.t_s - at) < SAME_S]
        if len(logged) != len(together):
            raise NotObservableError(f"its log has {len(logged)} packets at {at:.6f} s, where {len(together)} datagrams left")
        return logged[number - int(together[0])]

    def lost_s(self, packet: SentPacket) -> float:
        """Return when a packet was declared lost; infinite if it was not."""
        return next((t_s for t_s, one, _, _ in self.log.lost if one is not None and one.number == packet.number), math.inf)

    def metric(self, name: str, t_s: float) -> float:
        """Return a metric of the log at a time, seconds or bytes; NaN before the first. Raises NotObservableError."""
        known = self.log.metrics.get(name)
        if not known:
            raise NotObservableError(f"its log has no {name}")
        place = bisect_right(known, t_s + SAME_S, key=lambda row: row[0])
        return known[place - 1][1] if place else math.nan

    def probe_timeout_s(self, t_s: float) -> float:
        """Return the probe time-out at a time (RFC 9002 §6.2.1)."""
        srtt, spread = (self.metric(name, t_s) for name in ("smoothed_rtt", "rtt_variance"))
        return srtt + max(4 * spread, GRANULARITY_S) + MAX_ACK_DELAY_S

    @property
    def largest(self) -> float:
        """The largest payload that the client sends in the second half of what it sends."""
        return float(np.max(self.sent.payload[len(self.sent.payload) // 2 :]))
