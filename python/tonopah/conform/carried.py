"""What a run shows of a whole transport under the names that the cases have for a sender, from its datagrams and its log."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tonopah.conform.connection import SERIES, Connection
from tonopah.conform.observed import RECOVERY, SENDER, Numbers, Observed
from tonopah.conform.words import NotObservableError
from tonopah.qlog.trace import UDP_HEADERS


class Carried(Observed):
    """A run of a whole transport."""

    headers = UDP_HEADERS
    recorded = SERIES

    def __init__(
        self, scenario: Mapping[str, Any], summary: Mapping[str, Any], series: Mapping[str, Mapping[str, Any]],
        names: Mapping[str, str], connection: Connection,
    ):  # fmt: skip
        super().__init__(scenario, summary, series, names)
        self.connection = connection

    @property
    def mss(self) -> float:
        """Payload of a full datagram."""
        return self.connection.largest

    def column(self, name: str) -> tuple[Numbers, Numbers]:
        """As of a sender of ours. Raises NotObservableError."""
        derived = {"acked": self.acked, "pipe": self.flight, "outstanding": self.flight, "recovery": self.losses}
        if name in derived:
            if name not in self.columns:
                self.columns[name] = derived[name]()
            return self.columns[name]
        times, values = super().column(name) if name in SERIES or name not in SENDER else (np.zeros(0), np.zeros(0))
        known = ~np.isnan(values)
        if not np.any(known):
            raise NotObservableError(f"the transport does not show its {name}")
        return times[known], values[known]

    def acked(self) -> tuple[Numbers, Numbers]:
        """Return what is acknowledged; nothing at first."""
        times, values = self.connection.acknowledged
        return np.concatenate([[0.0], times]), np.concatenate([[0.0], values])

    def flight(self) -> tuple[Numbers, Numbers]:
        """Return what is sent, less what is acknowledged and what is declared lost; without a log, what is under way."""
        one = self.connection
        if one.logged is None:
            return super().column("wire_flight")
        steps = [(np.zeros(1), np.zeros(1)), (one.sent.t_s, one.sent.payload)]
        times, acked = one.acknowledged
        steps.append((times, -np.diff(acked, prepend=0.0)))
        lost = [(t_s, -float(size)) for t_s, _, _, size in one.logged.lost]
        steps.append((np.array([t_s for t_s, _ in lost]), np.array([size for _, size in lost])))
        every, by = (np.concatenate([step[place] for step in steps]) for place in (0, 1))
        order = np.argsort(every, kind="stable")
        instants, last = np.unique(every[order][::-1], return_index=True)
        return instants, np.maximum(np.cumsum(by[order])[::-1][last], 0.0)

    def losses(self) -> tuple[Numbers, Numbers]:
        """Return episodes of recovery: from a loss until what is sent then is acknowledged, a round trip later."""
        times: list[float] = [0.0]
        states: list[float] = [0.0]
        for t_s, *_ in self.connection.log.lost:
            if t_s >= times[-1]:
                times += [t_s, t_s + self.connection.metric("latest_rtt", t_s)]
                states += [float(RECOVERY), 0.0]
        return np.array(times), np.array(states)
