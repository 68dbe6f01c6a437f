"""The Rust engine. JSON text goes in, JSON text and numpy arrays come out; units are SI and part of every name."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Series: TypeAlias = dict[str, dict[str, NDArray[np.float64] | NDArray[np.uint32]]]

class ScenarioError(ValueError):
    """A scenario that cannot be run: where (`path`), what (`message`) and, where known, what is allowed (`hint`)."""

    path: str
    message: str
    hint: str | None

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

def algorithms() -> str:
    """Return the registry of congestion-control algorithms."""

def schema() -> str:
    """Return the JSON schema (draft 2020-12) of a scenario."""

def engine_version() -> str:
    """Return the version of the engine."""

def trace(scenario_json: str, seed: int = 1) -> str:
    """Return the event log of a run as text, one event a line."""
