"""The runs of the cases: the subject in their worlds, each world once."""

import copy
import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from tonopah._core import run as engine_run
from tonopah._core import trace as engine_trace
from tonopah.cc.binding import BoundScenario, bind, ended_by_library, with_place
from tonopah.cc.process import ProcessEndedError, ask
from tonopah.conform.observed import SENDER, Observed
from tonopah.errors import AlgorithmError, ScenarioError, relay
from tonopah.scenario.paths import put

RECORD = {"every": "change", "internals": "all", "series": list(SENDER)}


class Runs:
    """A subject in worlds with a seed."""

    def __init__(self, cc: Any, folder: Path, seed: int, changes: Mapping[str, Any], names: Mapping[str, str]):
        self.cc, self.folder, self.seed, self.changes, self.names = cc, folder, seed, changes, names
        self.lock = threading.Lock()
        self.known: dict[str, Future[Observed]] = {}

    def scenario(self, world: Mapping[str, Any]) -> dict[str, Any]:
        """Return a world with the subject, the changes and what is recorded."""
        made = copy.deepcopy(dict(world))
        made["record"] = dict(RECORD)
        made["tcp"].setdefault("cc", self.cc)
        for path, value in self.changes.items():
            put(made, path, copy.deepcopy(value))
        return made

    def run(self, world: Mapping[str, Any]) -> Observed:
        """Return what a world shows; one that another case has run or runs is not run again."""
        scenario = self.scenario(world)
        key = json.dumps(scenario, sort_keys=True, default=str)
        with self.lock:
            future, mine = self.known.get(key), key not in self.known
            if future is None:
                future = self.known[key] = Future()
        if mine:
            try:
                future.set_result(self.observe(scenario))
            except BaseException as error:
                future.set_exception(error)
        found = future.result()
        # What a case reads of it is noted in its own.
        return Observed(found.scenario, found.summary, found.series, self.names)

    def observe(self, scenario: dict[str, Any]) -> Observed:
        """Run a scenario."""
        summary, series = self.call(engine_run, scenario)
        text = summary if isinstance(summary, str) else summary.json()
        return Observed(scenario, json.loads(text), series, self.names)

    def call(self, function: Any, scenario: Mapping[str, Any], **options: Any) -> Any:
        """Return what a function of the engine gives; an algorithm in code has a process of its own: all cores are used."""
        try:
            bound = bind(scenario, self.folder)
            if not bound.found:
                return function(bound.text, self.seed, **options)
            return call_apart(bound, function.__name__, self.seed, options)
        except ScenarioError as error:
            raise relay(error, None, "world") from None

    def packets(self, scenario: Mapping[str, Any], start: float, end: float) -> list[dict[str, Any]]:
        """Return what the source has sent and received in a stretch of time, in turn."""
        text: str = self.call(engine_trace, {**scenario, "duration": f"{end:.9f}s", "warmup": "0s", "record": {}}, json=True)
        wanted = ('"event":"sent","flow":0,"towards":"sink"', '"event":"delivered","flow":0,"towards":"source"')
        kept = (line for line in text.splitlines() if wanted[0] in line or wanted[1] in line)
        return [packet for packet in map(json.loads, kept) if packet["t_s"] >= start]


def call_apart(bound: BoundScenario, function: str, seed: int, options: dict[str, Any]) -> Any:
    """Call a function of the engine in a process of its own. Raises AlgorithmError."""
    try:
        return ask("tonopah.cc.loading:call_engine", function, bound.text, seed, bound.origins, options)
    except ProcessEndedError as error:
        raise ended_by_library(bound.text, bound.origins, error.status) from None
    except AlgorithmError as error:
        raise with_place(error, bound.text, bound.origins) from None
