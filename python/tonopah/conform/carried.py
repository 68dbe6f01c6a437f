"""What a run shows of a whole transport under the names that the cases have for a sender, from its datagrams and its log."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tonopah.conform.connection import SERIES, Connection
from tonopah.conform.observed import RECOVERY, Numbers, Observed
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
        times, values = super().column(name)
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
        heard_s, acked = one.acknowledged
        lost = np.array([(t_s, size) for t_s, _, _, size in one.logged.lost], float).reshape(-1, 2)
        every = np.concatenate([[0.0], one.sent.t_s, heard_s, lost[:, 0]])
        by = np.concatenate([[0.0], one.sent.payload, -np.diff(acked, prepend=0.0), -lost[:, 1]])
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
