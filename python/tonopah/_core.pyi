"""The Rust engine. JSON text goes in, JSON text and numpy arrays come out; units are SI and part of every name."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Series: TypeAlias = dict[str, dict[str, NDArray[np.float64] | NDArray[np.uint32]]]

class ScenarioError(ValueError):
    """A scenario that cannot be run: where (`path`), what (`message`) and, where known, what is allowed (`hint`)."""

    path: str
    message: str
    hint: str | None

class Endpoint:
    """A TCP endpoint driven by hand; `tonopah.Endpoint` is the form to use."""

    @staticmethod
    def connect(tcp: str, auto_read: bool) -> Endpoint:
        """Return the active side; `tcp` is JSON text, as under `tcp` in a scenario."""

    @staticmethod
    def listen(tcp: str, auto_read: bool) -> Endpoint:
        """Return the passive side, which waits for a SYN."""

    def write(self, bytes: int) -> int:
        """Offer bytes and return how many the send buffer took."""

    def read(self, bytes: int) -> int:
        """Read up to so many bytes and return how many there were."""

    def close(self) -> None:
        """Send no more data than what was written."""

    def advance(self, seconds: float) -> None:
        """Let time pass; timers on the way fire."""

    def at(self, time_s: float) -> None:
        """Let time pass until `time_s`; timers on the way fire."""

    def inject(self, segment: Any) -> None:
        """Let a segment arrive: any object with the fields of `tonopah.Segment`."""

    def sent(self) -> list[tuple[float, dict[str, Any]]]:
        """Return times and fields of the segments sent since the last call."""

    def events(self) -> list[tuple[float, str, int]]:
        """Return time, name and bytes of what the application was told since the last call."""

    def state(self) -> dict[str, Any]:
        """Return the fields of `tonopah.EndpointState`."""

    def settings(self) -> str:
        """Return the settings with every default filled in, as JSON text."""

def check_segment(segment: Any) -> None:
    """Raise ScenarioError for a segment that cannot be read, with the field and what is allowed."""

def check(scenario_json: str, seed: int = 1) -> str:
    """Return `{"resolved": …, "graph": …}`: the scenario with every default filled in, and its world as a graph."""

def run(scenario_json: str, seed: int = 1) -> tuple[str, Series]:
    """Run one scenario; return its summary and its series `{name: {"t_s", "id", "value"}}`."""

def run_many(
    jobs: Sequence[tuple[str, int]],
    threads: int,
    on_done: Callable[[int, str | ScenarioError | RuntimeError, Series | None], bool | None],
) -> None:
    """Run (scenario, seed) jobs on `threads` threads; `on_done` is called as each finishes and returns False to stop."""

def transmissions(scenario_json: str, seed: int = 1, most: int = 20_000) -> tuple[str, Series, str]:
    """Run one scenario like `run`; return besides a sample of at most `most` transmissions as CSV text."""

def reach(scenario_json: str, seed: int = 1) -> str:
    """Return who reaches whom by radio at the start, and shortest paths of the flows, as JSON text: indices of nodes."""

def algorithms() -> str:
    """Return the registry of congestion-control algorithms."""

def schema() -> str:
    """Return the JSON schema (draft 2020-12) of a scenario."""

def engine_version() -> str:
    """Return the version of the engine."""

def trace(scenario_json: str, seed: int = 1) -> str:
    """Return the event log of a run as text, one event a line."""
