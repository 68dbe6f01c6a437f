"""Runs what the store lacks, on all cores or a cluster; an interruption loses only the runs that were under way."""

import json
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from tonopah._core import run_many
from tonopah.errors import AlgorithmError, EngineError, LimitError, RunFailedError, ScenarioError, relay
from tonopah.execution import processes
from tonopah.execution.options import Execution, Shard, memory_free
from tonopah.execution.progress import progress
from tonopah.scenario.document import to_toml
from tonopah.spec.plan import Plan, Run
from tonopah.store.commits import Commits

if TYPE_CHECKING:
    from tonopah.store.store import Store

__all__ = ["progress", "run_missing"]

OnDone: TypeAlias = Callable[[int, "str | Exception", Any], bool]
"""Takes the index of a run, its summary or why there is none, and its series; returns False to stop."""
CarryOut: TypeAlias = Callable[[Sequence[Run], OnDone], None]

PILOT = 2
"""A pilot has so many runs for each that goes on at a time."""
WORTH_A_PILOT = 10
"""Fewer runs than so many pilots need no estimate: they are done soon, or after one run each is known as much."""


class TimeUpError(RunFailedError):
    """The time that the user gave is over; what was finished is stored."""


class Patience:
    """What Ctrl-C and SIGTERM do: the first lets runs under way finish, the second gives them up. A result is always stored."""

    def __init__(self) -> None:
        self.storing = self.pending = False
        self.count = 0

    def __call__(self, number: int, _: Any) -> None:
        """Take a signal."""
        self.count += 1
        if self.count == 1:
            name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
            print(f"\nstopping: runs under way are finished; {name} again gives them up", file=sys.stderr, flush=True)
        if self.storing:
            self.pending = True
        else:
            raise KeyboardInterrupt

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Take signals meanwhile; they come to the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, action in before.items():
                signal.signal(number, action)

    @contextmanager
    def stored(self) -> Iterator[None]:
        """Let nothing interrupt what is done meanwhile."""
        self.storing = True
        try:
            yield
        finally:
            self.storing = False
        if self.pending:
            self.pending = False
            raise KeyboardInterrupt


def run_missing(
    plan: Plan,
    store: "Store",
    jobs: int | None = None,
    quiet: bool = False,
    how: Execution | None = None,
    shown: Callable[[], None] | None = None,
) -> int:
    """Run every run of the plan that the store lacks, and return how many that were; `jobs` is short for `how`.

    `shown` is called after each run instead of showing the progress of this plan alone.

    Raises KeyboardInterrupt after an interruption, TimeUpError when `how.max_hours` are over, InputError when a scenario turns
    out impossible, AlgorithmError when an algorithm in Python raised, RunFailedError when a result cannot be stored or a run
    took more than it may; finished runs are in the store in every case.
    """
    how = how or Execution(jobs=jobs)
    wanted = part(plan, how.shard)
    done = store.ids(verify=True)
    # The sort keeps the order of each kind; those with an algorithm in Python need processes.
    todo = sorted((run for run in wanted if run.id not in done), key=lambda run: bool(run.origins))
    if not todo:
        return 0
    patience = Patience()
    whole = progress(len(wanted), len(wanted) - len(todo), quiet) if shown is None else nullcontext(shown)
    with patience.at_work(), executor(how) as carry_out, whole as advance:
        Batch(store, how, patience, advance).run(todo, carry_out, quiet or shown is not None)
    missing = len({run.id for run in wanted} - store.ids())
    if missing:
        raise RunFailedError(f"{missing} runs did not finish")
    return len(todo)


class Batch:
    """Runs that go on together, from the first to what stopped them."""

    def __init__(self, store: "Store", how: Execution, patience: Patience, advance: Callable[[], None]):
        self.store, self.how, self.patience, self.advance = store, how, patience, advance
        self.commits = Commits(store.write)
        self.started = time.monotonic()
        self.failure: BaseException | None = None
        self.left = 0
        self.late = False

    def run(self, todo: Sequence[Run], carry_out: CarryOut, quiet: bool) -> None:
        """Carry out all runs and return, or raise, when what has finished is on the disk."""
        try:
            self.carry_all(todo, carry_out, quiet)
        finally:
            with self.patience.stored():
                self.commits.close()

    def carry_all(self, todo: Sequence[Run], carry_out: CarryOut, quiet: bool) -> None:
        """Carry out a pilot, say what is to be expected, and carry out the others; without a pilot if nobody is to be told."""
        size = PILOT * self.how.threads
        self.left = len(todo)
        if not quiet and len(todo) >= size * WORTH_A_PILOT:
            # Spread over the study, since its points differ in length.
            pilot = todo[:: len(todo) // size][:size]
            chosen = {run.id for run in pilot}
            self.carry(pilot, carry_out)
            todo = [run for run in todo if run.id not in chosen]
            print(expectation(time.monotonic() - self.started, size, len(todo), self.how), file=sys.stderr, flush=True)
        self.carry(todo, carry_out)

    def carry(self, runs: Sequence[Run], carry_out: CarryOut) -> None:
        """Carry out some runs. Raises what stopped them."""
        self.late = self.late or self.over()
        if not self.late:
            carry_out(runs, lambda index, outcome, series: self.take(runs[index], outcome, series))
        if self.failure:
            raise self.failure
        if self.late and self.left:
            raise TimeUpError(f"the {self.how.max_hours:g} hours of --max-hours are over")

    def over(self) -> bool:
        """Return whether no run is to be started any more."""
        return self.how.max_hours is not None and time.monotonic() - self.started > self.how.max_hours * 3600

    def take(self, run: Run, outcome: str | Exception, series: Any) -> bool:
        """Store a result. An exception is kept, and raised when the others have finished."""
        try:
            with self.patience.stored():
                if isinstance(outcome, Exception):
                    raise self.told(run, outcome)
                self.commits.add(self.store.prepared(run, outcome, series, time.monotonic() - self.started))
                self.left -= 1
                self.advance()
        except BaseException as error:
            self.failure = self.failure or error
            return False
        self.late = self.late or self.over()
        return not self.late

    def told(self, run: Run, error: Exception) -> Exception:
        """Return the failure of a run with what is needed to see it again."""
        if isinstance(error, ScenarioError):
            return relay(error, prefix="scenario", suffix=describe(run))
        if isinstance(error, AlgorithmError):
            error.args = (f"{error}{describe(run)}",)
            return error
        if not isinstance(error, EngineError | LimitError):
            return RunFailedError(f"{error}{describe(run)}") if type(error) is RunFailedError else error
        path = self.store.folder / "failed" / f"{run.id}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(to_toml(json.loads(run.scenario)), encoding="utf-8")
        return RunFailedError(f"{error}{describe(run)}; to see it again: tonopah run {path} --seed {run.seed}")


def part(plan: Plan, shard: Shard | None) -> list[Run]:
    """Return the runs of a shard. Ids are hashes, so their order mixes long and short runs."""
    runs = list(plan.runs.values())
    if shard is None:
        return runs
    mine = set(sorted(plan.runs)[shard.index - 1 :: shard.count])
    return [run for run in runs if run.id in mine]


@contextmanager
def executor(how: Execution) -> Iterator[CarryOut]:
    """Give what carries out runs, here or on a cluster."""
    if how.executor == "dask":
        from tonopah.execution import dask_cluster

        with dask_cluster.connected(how) as carry_out:
            yield carry_out
    else:
        yield lambda runs, on_done: here(runs, on_done, how)


def here(runs: Sequence[Run], on_done: OnDone, how: Execution) -> None:
    """Carry out runs on this machine: in threads, and those with an algorithm in Python in processes, after the others."""
    plain = [index for index, run in enumerate(runs) if not run.origins]
    own = [index for index, run in enumerate(runs) if run.origins]
    stopped = False

    def watched(index: int, outcome: str | Exception, series: Any) -> bool:
        nonlocal stopped
        go_on = on_done(index, outcome, series)
        stopped = stopped or not go_on
        return go_on

    if plain:
        jobs = [(runs[index].scenario, runs[index].seed) for index in plain]
        run_many(jobs, how.threads, lambda index, *outcome: watched(plain[index], *outcome), *how.bounds)
    if own and not stopped:
        jobs = [processes.Job(runs[index].scenario, runs[index].seed, runs[index].origins, how.bounds) for index in own]
        processes.run_many(jobs, how.threads, lambda index, *outcome: watched(own[index], *outcome))


def expectation(elapsed_s: float, done: int, left: int, how: Execution) -> str:
    """Return what the pilot says about the rest."""
    expected_s = elapsed_s / done * left
    text = f"estimate: {left} more runs take about {duration(expected_s)}"
    if how.executor == "local":
        # Linux counts kilobytes.
        peak, free = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, memory_free()
        text += f" on {how.threads} cores; {peak / 1e6:.0f} MB of memory"
        if free is not None:
            text += f", {free / 1e6:.0f} MB more are free" if free > peak else f" — only {free / 1e6:.0f} MB more are free"
    if how.max_hours is not None and elapsed_s + expected_s > how.max_hours * 3600:
        text += f"; --max-hours {how.max_hours:g} will end before, and the same command goes on"
    return text


def duration(seconds: float) -> str:
    """Return a time as a person says it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def describe(run: Run) -> str:
    """Return what is special about a run, for an error message."""
    return f" [with {run.algorithm}, seed {run.seed}" + "".join(f", {k} = {v}" for k, v in run.values.items()) + "]"
