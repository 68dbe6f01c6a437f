"""The runs of the cases: the subject in their worlds, each world once."""

import copy
import json
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tonopah._core import run as engine_run
from tonopah._core import trace as engine_trace
from tonopah.cc.binding import BoundScenario, bind, ended_by_library, with_place
from tonopah.cc.naming import transport_of
from tonopah.cc.process import ProcessEndedError, ask
from tonopah.conform.carried import Carried
from tonopah.conform.connection import SERIES, Connection
from tonopah.conform.observed import SENDER, Observed
from tonopah.errors import AlgorithmError, ScenarioError, relay
from tonopah.qlog.trace import Trace, read
from tonopah.scenario.paths import put

T = TypeVar("T")
SENT, DELIVERED = "sent", "delivered"
RECORD = {"every": "change", "internals": "all", "series": list(SENDER)}


@dataclass(frozen=True)
class Found:
    """What a run gave."""

    scenario: dict[str, Any]
    summary: dict[str, Any]
    series: Mapping[str, Mapping[str, Any]]
    log: Trace | None = None
    """Of a whole transport, what its client logs, if that is a qlog."""


class Runs:
    """A subject in worlds with a seed."""

    def __init__(self, cc: Any, folder: Path, seed: int, changes: Mapping[str, Any], names: Mapping[str, str]):
        self.cc, self.folder, self.seed, self.changes, self.names = cc, folder, seed, changes, names
        self.transport = transport_of(cc, folder)
        """The table of a whole transport; None of an algorithm."""
        self.lock = threading.Lock()
        self.known: dict[str, Future[Found]] = {}
        self.traces: dict[str, Future[list[dict[str, Any]]]] = {}

    @property
    def kind(self) -> str:
        """What the subject is, as `Spec.takes` has it."""
        return "algorithm" if self.transport is None else "transport"

    def scenario(self, world: Mapping[str, Any]) -> dict[str, Any]:
        """Return a world with the subject, the changes and what is recorded."""
        made = copy.deepcopy(dict(world))
        made["record"] = dict(RECORD)
        if self.transport is not None:
            made["record"]["series"] = list(SERIES)
            made["flow"][0]["transport"] = self.transport | made["flow"][0].get("transport", {})
            # Settings of our TCP do not reach it.
            made["tcp"] = {}
        else:
            made["tcp"].setdefault("cc", self.cc)
        for path, value in self.changes.items():
            put(made, path, copy.deepcopy(value))
        return made

    def run(self, world: Mapping[str, Any]) -> Observed:
        """Return what a world shows; one that another case has run or runs is not run again."""
        scenario = self.scenario(world)
        found = self.once(self.known, scenario, lambda: self.observe(scenario))
        # What a case reads of it is noted in its own.
        again = (found.scenario, found.summary, found.series, self.names)
        if self.transport is None:
            return Observed(*again)
        return Carried(*again, Connection(lambda: self.datagrams(found.scenario), found.log))

    def observe(self, scenario: dict[str, Any]) -> Found:
        """Run a scenario; of a whole transport with what its client logs."""
        if self.transport is None:
            summary, series = self.call(engine_run, scenario)
            text = summary if isinstance(summary, str) else summary.json()
            return Found(scenario, json.loads(text), series)
        with tempfile.TemporaryDirectory() as folder:
            text, series = self.call(engine_run, scenario, logs=(folder, ["sqlog"]))
            file = Path(folder) / "flow0-source.sqlog"
            log = read(file) if file.is_file() and file.stat().st_size else None
        return Found(scenario, json.loads(text), series, log)

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
        rows = self.traced({**scenario, "duration": f"{end:.9f}s"}, (SENT, "sink"), (DELIVERED, "source"))
        return [packet for packet in rows if packet["t_s"] >= start]

    def datagrams(self, scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what both ends have sent and received, in turn; a run that another case has traced is not traced again."""
        ways = [(event, end) for event in (SENT, DELIVERED) for end in ("sink", "source")]
        return self.once(self.traces, scenario, lambda: self.traced(scenario, *ways))

    def once(self, known: dict[str, Future[T]], scenario: Mapping[str, Any], make: Callable[[], T]) -> T:
        """Return what is made of a scenario; the cases, which run in threads, make it once."""
        key = json.dumps(scenario, sort_keys=True, default=str)
        with self.lock:
            future, mine = known.get(key), key not in known
            if future is None:
                future = known[key] = Future()
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def traced(self, scenario: Mapping[str, Any], *ways: tuple[str, str]) -> list[dict[str, Any]]:
        """Return the events of the flow of these kinds towards these ends."""
        text: str = self.call(engine_trace, {**scenario, "warmup": "0s", "record": {}}, json=True)
        wanted = [f'"event":"{event}","flow":0,"towards":"{end}"' for event, end in ways]
        return [json.loads(line) for line in text.splitlines() if any(one in line for one in wanted)]


def call_apart(bound: BoundScenario, function: str, seed: int, options: dict[str, Any]) -> Any:
    """Call a function of the engine in a process of its own. Raises AlgorithmError."""
    try:
        return ask("tonopah.cc.loading:call_engine", function, bound.text, seed, bound.origins, options)
    except ProcessEndedError as error:
        raise ended_by_library(bound.text, bound.origins, error.how) from None
    except AlgorithmError as error:
        raise with_place(error, bound.text, bound.origins) from None
