"""The other simulators, by the names that the command line has for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah.peers import ns2, ns3
from tonopah.runs.simulation import RunResult

Scenario = Mapping[str, Any]


@dataclass(frozen=True)
class Peer:
    """A simulator of others."""

    about: str
    run: Callable[[Scenario, str | None, int, Path | None], RunResult]
    """Run a scenario of a file with a seed, and keep its program in a file, if one is given."""
    lacking: Callable[[], str | None]
    """What the machine lacks for it, with the remedy."""
    refuse: Callable[[Scenario, str | None, int], object]
    """Raise InputError that names every key that it cannot follow."""
    ending: str
    """Of its programs' files."""


PEERS = {
    "ns2": Peer("ns-2, with TCP-Linux: a simulator of others", ns2.run, ns2.lacking, ns2.planned, "tcl"),
    "ns3": Peer("ns-3: a simulator of others", ns3.run, ns3.lacking, ns3.planned, "world"),
}
