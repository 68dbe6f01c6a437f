"""One run under way: a thread that drives the engine in steps, and what it has recorded so far."""

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import Stepwise
from tonopah._core import check as engine_check
from tonopah.cc.permission import permitting
from tonopah.errors import AlgorithmError, EngineError, LimitError, ScenarioError, relay, warning_texts
from tonopah.lab.security import code_of, confine
from tonopah.lab.tracks import MOST_SENT, ShownTrack, Tracks
from tonopah.runs.simulation import checked_seed, engine_form
from tonopah.scenario.document import parse, prepare

SERIES = ("cwnd", "ssthresh", "state", "rtt", "sending_rate", "throughput", "queue", "drops", "marks")
"""What is recorded of a scenario that records nothing: what the bench draws. Of rates what arrives: goodput has a peak far above
the link wherever a repaired hole releases what waited behind it."""
FURTHER: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("adhoc", "infrastructure", "wired_cum_wireless"), ("position_x", "position_y")
)
FURTHER["constellation"] = ("path_delay", "route_hops")
"""What is recorded besides, by the kind of network."""
EVERY = {"every": "change", "bin": "50ms"}
"""How often, if it does not say: windows and RTT exactly, rates and queues often enough for a screen."""
STEP_EVENTS = 1 << 15
"""Events between two looks at the clock and at commands: some hundredths of a second."""
TICK_S = 1 / 60
OVER = ("done", "stopped", "failed")
"""States of a run that records nothing more."""
END_S = 1e9
"""Later than any run ends."""
MOST_NODES = 400
"""Of a network that is drawn."""


@dataclass(frozen=True)
class SessionLimits:
    """What one run may take, and how many may run at once."""

    memory_bytes: int = 2 * 1024**3
    seconds: float = 600.0
    samples: int = 40_000_000
    at_once: int = 2
    waiting: int = 32


class Stopped(Exception):  # noqa: N818 - not an error
    """The run was stopped by who watches it."""


class Slots:
    """How many runs may compute at once; the others wait."""

    def __init__(self, count: int):
        self.free = threading.Semaphore(count)

    def take(self, cancelled: threading.Event) -> None:
        """Wait for a free slot. Raises Stopped."""
        while not self.free.acquire(timeout=0.05):
            if cancelled.is_set():
                raise Stopped

    def give(self) -> None:
        """Give it back."""
        self.free.release()


class Session:
    """A run, driven by a thread of its own.

    Parameters
    ----------
    document : mapping
        The scenario.
    seed : int
        Of the run.
    folder : Path
        Files that the scenario names are below it.
    allow_python : bool
        Algorithms in Python files of the folder may be executed.
    slots, limits
        Shared with the other runs.
    """

    def __init__(
        self, document: Mapping[str, Any], seed: int, folder: Path, allow_python: bool, slots: Slots, limits: SessionLimits
    ):
        self.id, self.seed, self.limits, self.slots = secrets.token_urlsafe(12), checked_seed(seed), limits, slots
        self.document = recorded(document)
        scenario = checked_document(self.document, folder)
        source = str(folder / "scenario.toml")
        with permitting(code_of(folder, allow_python)):
            self.bound = engine_form(scenario, source)
        checked = json.loads(engine_check(self.bound.text, self.seed, self.bound.algorithms, limits.memory_bytes))
        self.resolved, self.graph, self.random = checked["resolved"], checked["graph"], checked["random"]
        self.warnings = warning_texts(checked["warnings"])
        self.tracks, self.lock = Tracks(), threading.Lock()
        self.state, self.now_s, self.summary, self.error = "waiting", 0.0, None, None
        self.pace: float | None = None
        self.cancelled, self.going = threading.Event(), threading.Event()
        self.going.set()
        self.on_end: Callable[[], None] = lambda: None
        self.thread = threading.Thread(target=self.work, name=f"run {self.id}", daemon=True)

    def start(self) -> None:
        """Let the run begin as soon as there is a slot."""
        self.thread.start()

    def stop(self) -> None:
        """Stop for good; what is recorded stays."""
        self.cancelled.set()
        self.going.set()

    def work(self) -> None:
        """Run to the end, or to a limit, or until stopped."""
        try:
            self.slots.take(self.cancelled)
            try:
                with self.bound.for_a_run() as algorithms:
                    self.drive(Stepwise(self.bound.text, self.seed, algorithms, None, self.limits.memory_bytes))
            finally:
                self.slots.give()
            self.state = "done"
        except Stopped:
            self.state = "stopped"
        except ScenarioError as error:
            self.fail(relay(error))
        except (AlgorithmError, LimitError, EngineError) as error:
            self.fail(error)
        except BaseException as error:  # a panic of the engine is one, and the page has to hear of it
            self.fail(RuntimeError(f"internal error, please report it: {type(error).__name__}: {error}"))
        finally:
            self.on_end()

    def fail(self, error: Exception) -> None:
        """Keep why the run has no end."""
        self.error, self.state = error_facts(error), "failed"

    def drive(self, run: Stepwise) -> None:
        """Step through the run; series are taken at each step."""
        spent_s, over, self.state = 0.0, False, "running"
        while not over:
            if not self.going.is_set():
                self.wait()
            if self.cancelled.is_set():
                raise Stopped
            began = time.monotonic()
            over = self.step(run)
            spent_s += time.monotonic() - began
            if spent_s > self.limits.seconds:
                raise LimitError(
                    f"the run was stopped at {self.now_s:.6g} s: {self.limits.seconds:g} s of computing are its limit"
                )
            if self.tracks.samples > self.limits.samples:
                raise LimitError(
                    f"the run was stopped at {self.now_s:.6g} s: it recorded more than {self.limits.samples:,} samples; "
                    "a longer record.every takes fewer"
                )
        summary, series, _ = run.finish() or ("null", {}, "")
        with self.lock:
            self.tracks.extend(series)
        self.summary = json.loads(summary)
        self.now_s = self.summary["duration_s"]

    def step(self, run: Stepwise) -> bool:
        """Go on for a moment at the wanted pace; true when the run is over."""
        if self.pace is None:
            over = run.advance(END_S, STEP_EVENTS)
        else:
            time.sleep(TICK_S)
            over = run.advance(self.now_s + self.pace * TICK_S, STEP_EVENTS)
        with self.lock:
            self.tracks.extend(run.series())
        self.now_s = run.now_s or self.now_s
        return over

    def wait(self) -> None:
        """Wait while paused; another run may compute meanwhile."""
        self.slots.give()
        self.state = "paused"
        try:
            self.going.wait()
        finally:
            # Given back at the end, also by one that is cancelled: then nothing computes in between.
            self.slots.take(threading.Event())
        self.state = "running"

    def facts(self) -> dict[str, Any]:
        """Return how far the run is."""
        return {"run": self.id, "state": self.state, "now_s": self.now_s, "error": self.error}

    def shown(self, shown: ShownTrack) -> bytes:
        """Return the series as the page wants to see them."""
        facts = self.facts()
        with self.lock:
            return self.tracks.message(shown, facts)

    def started(self) -> dict[str, Any]:
        """Return what the page needs to know of the run besides its series."""
        graph = self.graph if len(self.graph.get("node", ())) <= MOST_NODES else None
        flows = self.graph.get("flow", [])
        return {
            "run": self.id, "resolved": self.resolved, "graph": graph, "random": self.random, "warnings": self.warnings,
            "document": self.document, "flows": flows[:MOST_SENT], "flow_count": len(flows),
        }  # fmt: skip


def read_document(toml: str | None, scenario: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the scenario of a message. Raises InputError."""
    return parse(toml) if toml is not None else dict(scenario or {})


def recorded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario that records what the bench draws, if it records nothing itself."""
    record = document.get("record", {})
    if not isinstance(record, Mapping) or record.get("series"):
        return dict(document)
    network = document.get("network")
    kind = network.get("kind") if isinstance(network, Mapping) else None
    series = [*SERIES, *(FURTHER.get(kind, ()) if isinstance(kind, str) else ())]
    return {**document, "record": {**(record or EVERY), "series": series}}


def checked_document(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a scenario with the contents of its files, none of which is outside the folder. Raises InputError."""
    confine(dict(document), folder)
    # Relative to the folder, as they would be in a file in it.
    scenario, _ = prepare(rooted(document, folder), None)
    return scenario


def rooted(value: Any, folder: Path) -> Any:
    """Return a scenario whose files are named from the folder on."""
    if isinstance(value, Mapping):
        named = {key: rooted(below, folder) for key, below in value.items()}
        return {**named, "file": str(folder / named["file"])} if isinstance(named.get("file"), str) else named
    return [rooted(below, folder) for below in value] if isinstance(value, list) else value


def error_facts(error: Exception) -> dict[str, Any]:
    """Return an error as the page shows it: path, message and hint."""
    if isinstance(error, ScenarioError):
        # The engine knows no file: what has a source is the text itself.
        source = "" if error.path else getattr(error, "source", None)
        message = f"{source} {error.message}" if source else error.message
        return {"path": error.path, "message": message, "hint": error.hint}
    return {"path": "", "message": str(error), "hint": None}
