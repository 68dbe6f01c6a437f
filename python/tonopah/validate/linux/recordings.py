"""The recordings of Linux that the package carries: data/linux/README.md tells how they were made and what they hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.errors import InputError
from tonopah.validate.frame import Case, read_table

if TYPE_CHECKING:
    import pandas as pd

SPREAD_RTTS = 5.0
"""`Case.spread_rtts` of several recordings, a test between which needs runs that differ.

Behind a queue many starts within one base RTT lead to one run: of ten as few as one differed from the others, with five
nearly all do. The starts recorded are 12 base RTTs apart and more.
"""
UNSET = 2**31 - 1
"""ssthresh while it is not set."""


@dataclass(frozen=True)
class LinuxCase(Case):
    """One recorded experiment: two hosts and a link that alone decides rate, delay, queue and losses."""

    kernel: str
    """Version, as 6.1."""
    cc: tuple[str, ...]
    """Algorithm of flow i: entry i modulo their number."""
    mbps: float
    """Rate of the link in 10^6 bits of IP packets per second."""
    owd_ms: float
    """Propagation delay one way; the other way has the same."""
    queue: int
    """Packets that may wait; the one in transmission is not counted."""
    secs: float
    """How long the flows sent, from the first flow's connect on."""
    drop: tuple[int, ...] = ()
    """0-based numbers of the data-bearing packets that the link drops as they enter; retransmissions count."""
    loss: float = 0.0
    """Probability that the link drops a data packet as it enters."""
    drawn: tuple[int, ...] = ()
    """Numbers of the packets that the link dropped by this probability, read back from the recordings; as in `drop`."""
    bytes: int | None = None
    """Size of the transfer; endless if None."""
    flows: int = 1
    stagger_ms: float = 0.0
    """Flow i starts at i times this."""
    starts_ms: tuple[float, ...] = ()
    """The recordings of one experiment that differ in the start of flow 1 only, one for each; empty for a single one."""
    spread_rtts: float = 1.0
    """Repetitions start flow 1 up to this many base RTTs later."""
    sack: bool = True
    mark: int | None = None
    """Packets that find more than this many waiting are marked CE."""
    packets: bool = False
    """A packet log exists."""

    @property
    def id(self) -> str:
        """Kernel and name: unique among all recordings."""
        return f"{self.kernel}/{self.name}"

    @property
    def kind(self) -> str:
        """What decides how it is compared.

        Scripted or random losses, shares of flows in several recordings or in a single one, or a steady state.
        """
        if self.starts_ms:
            return "beside"
        if self.drop:
            return "scripted"
        if self.loss:
            return "random"
        return "shared" if self.flows > 1 else "steady"

    @property
    def recorded(self) -> list["LinuxCase"]:
        """The case of each recording: itself, or one for each start."""
        if not self.starts_ms:
            return [self]
        single = replace(self, starts_ms=(), spread_rtts=SPREAD_RTTS)
        return [replace(single, name=f"{self.name}-{start:g}ms", stagger_ms=start) for start in self.starts_ms]

    def algorithm(self, flow: int) -> str:
        """Congestion control of a flow."""
        return self.cc[flow % len(self.cc)]


@dataclass(frozen=True)
class LinuxLibrary:
    """A folder of recordings."""

    folder: Path

    @property
    def index(self) -> dict[str, Any]:
        """The index file: kernels and cases."""
        return json.loads((self.folder / "index.json").read_text(encoding="utf-8"))

    @property
    def cases(self) -> list[LinuxCase]:
        """All cases in the order of the index."""
        index = self.index
        return [case_of(entry | ({"drawn": index["drawn"]} if "loss" in entry else {})) for entry in index["cases"]]

    def samples(self, case: LinuxCase) -> "pd.DataFrame":
        """Return the samples of TCP_INFO, one row each, columns as in convert.SAMPLE_COLUMNS or, of several, BESIDE_COLUMNS."""
        return read_table(self.folder / case.kernel / f"{case.name}.samples.parquet")

    def packets(self, case: LinuxCase) -> "pd.DataFrame":
        """Return the packets at the entrance of the link in order of time, columns as in convert.PACKET_COLUMNS."""
        if not case.packets:
            raise InputError("--log", f"there is no packet log of {case.id}", "cases with scripted losses have one")
        return read_table(self.folder / case.kernel / f"{case.name}.packets.parquet").sort_values(
            "t_us", kind="stable", ignore_index=True
        )


@cache
def shipped() -> LinuxLibrary:
    """Return the recordings of the package."""
    return LinuxLibrary(Path(str(files("tonopah") / "data" / "linux")))


def case_of(entry: Mapping[str, Any]) -> LinuxCase:
    """Return an entry of the index as case."""
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return LinuxCase(**values)
