"""The recordings of Linux's queue disciplines that the package carries: data/linux-aqm/README.md tells what they hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.validate.frame import Case, read_table

if TYPE_CHECKING:
    import pandas as pd

INDEX = "index.json"
FLOWS = "flows.parquet"


@dataclass(frozen=True)
class QueueFlow:
    """One flow of a case: TCP, UDP at a constant rate (`cbr`), or a few small datagrams a second (`probe`)."""

    kind: str
    host: str
    """The sending host."""
    ip_bytes: int = 1500
    """Size of its packets."""
    dst: int = 1
    """The receiving host."""
    cc: str = ""
    rtt_ms: float = 0.0
    """Base RTT of TCP."""
    mbps: float = 0.0
    """Rate of `cbr`, in 10^6 bits of IP packets per second."""
    hz: float = 0.0
    """Packets per second of `probe`."""

    @property
    def alike(self) -> tuple[str, str, int, str, float]:
        """What a queue discipline can tell it by, its number aside."""
        return (self.kind, self.host, self.dst, self.cc, self.rtt_ms)


@dataclass(frozen=True)
class QueueCase(Case):
    """One recorded experiment: flows through one bottleneck, repeated with other starts."""

    number: int
    """Its row in the index; names its rows in the table of flows."""
    qdisc: str
    """The discipline as `tc` was told."""
    shaper: str
    """What holds packets back to the rate: htb, cake, or tbf with its burst."""
    mbps: float
    """Rate of the bottleneck in 10^6 bits per second of IP packets of 1500 bytes."""
    ecn: int
    """1 if the TCP flows negotiate ECN."""
    secs: float
    warm_s: float
    """From here on is measured."""
    flows: tuple[QueueFlow, ...]
    cbr_mbps: float = 0.0
    jitter_ms: float = 0.0
    """The delay on the way of the ACKs varies by so much either way."""

    @property
    def tcp(self) -> list[int]:
        """Numbers of the TCP flows."""
        return [number for number, flow in enumerate(self.flows) if flow.kind == "tcp"]

    @property
    def cbr(self) -> list[int]:
        """Numbers of the flows of constant rate."""
        return [number for number, flow in enumerate(self.flows) if flow.kind == "cbr"]


@dataclass(frozen=True)
class QueueLibrary:
    """A folder of recordings."""

    folder: Path

    @property
    def index(self) -> dict[str, Any]:
        """The index file: what was recorded, and the cases."""
        return json.loads((self.folder / INDEX).read_text(encoding="utf-8"))

    @property
    def cases(self) -> list[QueueCase]:
        """All cases in the order of the index."""
        return [case_of(number, entry) for number, entry in enumerate(self.index["cases"])]

    def flows(self) -> "pd.DataFrame":
        """Return one row for each case, run and flow, columns as in queues_convert.COLUMNS."""
        return read_table(self.folder / FLOWS)


@cache
def shipped() -> QueueLibrary:
    """Return the recordings of the package."""
    return QueueLibrary(Path(str(files("tonopah") / "data" / "linux-aqm")))


def case_of(number: int, entry: Mapping[str, Any]) -> QueueCase:
    """Return an entry of the index as case."""
    values: dict[str, Any] = dict(entry) | {"flows": tuple(QueueFlow(**flow) for flow in entry["flows"])}
    return QueueCase(number=number, **values)
