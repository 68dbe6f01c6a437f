"""Runs what the store lacks, on all cores or a cluster; an interruption loses only the runs that were in progress."""

import json
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias

from tonopah._core import run_many
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, RunFailedError, ScenarioError, relay
from tonopah.execution import dask_cluster, processes
from tonopah.execution.options import NO_LIMITS, ExecutionOptions, Limits, Shard, cores, memory_free
from tonopah.execution.progress import show_progress
from tonopah.kernel import engines
from tonopah.metrics import duration_text
from tonopah.scenario.document import to_toml
from tonopah.spec.plan import Plan, Run
from tonopah.spec.point import labelled
from tonopah.store.commits import Commits
from tonopah.store.store import Store
from tonopah.writing import replace_file

OnDone: TypeAlias = Callable[[int, str | Exception, Any], bool]
"""Receives the index of a run, its summary or the exception that ended it, and its series; returns False to stop."""
Executor: TypeAlias = Callable[[Sequence[Run], OnDone], None]

SHOWN = 3
"""Damaged results that are named when they are repeated; of the others the number is given."""
PILOT_RUNS_PER_THREAD = 2
MIN_PILOTS = 10
"""A study of fewer runs than this number of pilots needs no estimate of its time: it ends soon."""


class TimeUpError(RunFailedError):
    """--max-hours is reached; what has finished is stored."""


class GracefulShutdown:
    """Handles Ctrl-C and SIGTERM: the first lets current runs finish, the second abandons them. A result is always stored."""

    def __init__(self) -> None:
        self.storing = self.pending = False
        self.count = 0

    def __call__(self, number: int, _: Any) -> None:
        """Handle a signal."""
        self.count += 1
        if self.count == 1:
            name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
            print(f"\nstopping after the current runs; {name} again abandons them", file=sys.stderr, flush=True)
        if self.storing:
            self.pending = True
        else:
            raise KeyboardInterrupt

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals meanwhile; they are delivered to the main thread only."""
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
    def deferred(self) -> Iterator[None]:
        """Defer an interruption to the end of the block."""
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
    store: Store,
    jobs: int | None = None,
    quiet: bool = False,
    options: ExecutionOptions | None = None,
    on_progress: Callable[[], None] | None = None,
) -> int:
    """Run every run of the plan that the store lacks and return their number; `jobs` is short for `options`.

    `on_progress` is called after each run instead of showing the progress of this plan alone.

    Raises KeyboardInterrupt after an interruption, TimeUpError when `options.max_hours` is reached, InputError when a scenario
    cannot be run, AlgorithmError when an algorithm in Python raised, RunFailedError when a result cannot be stored or a run
    exceeded its limits; finished runs are in the store in every case.
    """
    options = options or ExecutionOptions(jobs=jobs)
    wanted = select_shard(plan, options.shard)
    damaged = store.damaged({run.id for run in wanted})
    done = store.ids() - damaged
    # The sort keeps the order of each kind; those in which Python works need processes.
    missing = sorted((run for run in wanted if run.id not in done), key=lambda run: run.apart)
    if not missing:
        return 0
    if again := [run for run in missing if run.id in damaged]:
        shown = ",".join(describe_run(run) for run in again[:SHOWN]) + (", …" if len(again) > SHOWN else "")
        print(f"note: {len(again)} stored results are damaged and are repeated:{shown}", file=sys.stderr, flush=True)
    refuse_kernels(missing, options)
    shutdown = GracefulShutdown()
    if on_progress is None:
        progress = show_progress(len(wanted), len(wanted) - len(missing), quiet)
    else:
        progress, quiet = nullcontext(on_progress), True
    with shutdown.handling_signals(), start_executor(options) as execute, progress as step:
        Batch(store, options, shutdown, step).run(missing, execute, quiet)
    unfinished = len({run.id for run in wanted} - store.ids())
    if unfinished:
        raise RunFailedError(f"{unfinished} runs did not finish")
    return len(missing)


def refuse_kernels(runs: Sequence[Run], options: ExecutionOptions) -> None:
    """Refuse, before any run, what a kernel cannot carry, and what this machine lacks for it. Raises InputError."""
    by_kernels = {run.scenario: run for run in runs if run.engine}
    if by_kernels and options.executor != "local":
        raise InputError("executor", "runs by a kernel go one at a time on this machine", "local")
    for run in by_kernels.values():
        try:
            engines.check_run(run.engine, run.scenario, run.seed)
        except ScenarioError as error:
            raise relay(error, prefix="scenario", suffix=describe_run(run)) from None
    for engine in sorted({run.engine for run in by_kernels.values()}):
        if missing := engines.lacking(engine):
            raise InputError("engine", f"{engine}: {missing}")


class Batch:
    """Runs that are executed together, until all have finished or one stops the others."""

    def __init__(self, store: Store, options: ExecutionOptions, shutdown: GracefulShutdown, on_progress: Callable[[], None]):
        self.store, self.options, self.shutdown, self.on_progress = store, options, shutdown, on_progress
        self.commits = Commits(store.write)
        self.started = time.monotonic()
        self.failure: BaseException | None = None
        self.remaining = 0
        self.time_up = False

    def run(self, runs: Sequence[Run], execute: Executor, quiet: bool) -> None:
        """Execute all runs; return, or raise, when every finished one is on disk."""
        try:
            self.run_all(runs, execute, quiet)
        finally:
            with self.shutdown.deferred():
                self.commits.close()

    def run_all(self, runs: Sequence[Run], execute: Executor, quiet: bool) -> None:
        """Execute a pilot, print an estimate, and execute the others; there is no pilot if `quiet` or if runs are few."""
        size = PILOT_RUNS_PER_THREAD * self.options.threads
        self.remaining = len(runs)
        if not quiet and len(runs) >= size * MIN_PILOTS:
            # Spread over the study, since its points differ in length.
            pilot = runs[:: len(runs) // size][:size]
            chosen = {run.id for run in pilot}
            self.run_some(pilot, execute)
            runs = [run for run in runs if run.id not in chosen]
            print(estimate(time.monotonic() - self.started, size, len(runs), self.options), file=sys.stderr, flush=True)
        self.run_some(runs, execute)

    def run_some(self, runs: Sequence[Run], execute: Executor) -> None:
        """Execute some runs. Raises what stopped them."""
        self.time_up = self.time_up or self.is_time_up()
        if not self.time_up:
            execute(runs, lambda index, outcome, series: self.store_result(runs[index], outcome, series))
        if self.failure:
            raise self.failure
        if self.time_up and self.remaining:
            raise TimeUpError(f"stopped: --max-hours {self.options.max_hours:g} reached")

    def is_time_up(self) -> bool:
        """Tell whether no further run may start."""
        return self.options.max_hours is not None and time.monotonic() - self.started > self.options.max_hours * 3600

    def store_result(self, run: Run, outcome: str | Exception, series: Any) -> bool:
        """Store a result and return whether to continue. An exception is raised when the other runs have finished."""
        try:
            with self.shutdown.deferred():
                if isinstance(outcome, Exception):
                    raise self.describe_failure(run, outcome)
                self.commits.add(self.store.prepare_row(run, outcome, series, time.monotonic() - self.started))
                self.remaining -= 1
                self.on_progress()
        except BaseException as error:
            self.failure = self.failure or error
            return False
        self.time_up = self.time_up or self.is_time_up()
        return not self.time_up

    def describe_failure(self, run: Run, error: Exception) -> Exception:
        """Return the failure of a run with all that is needed to reproduce it."""
        if isinstance(error, ScenarioError):
            return relay(error, prefix="scenario", suffix=describe_run(run))
        if isinstance(error, AlgorithmError):
            error.args = (f"{error}{describe_run(run)}",)
            return error
        if not isinstance(error, EngineError | LimitError):
            return RunFailedError(f"{error}{describe_run(run)}") if type(error) is RunFailedError else error
        path = self.store.folder / "failed" / f"{run.id}.toml"
        path.parent.mkdir(exist_ok=True)
        replace_file(path, to_toml(json.loads(run.scenario)))
        return RunFailedError(f"{error}{describe_run(run)}; reproduce it with: tonopah run {path} --seed {run.seed}")


def select_shard(plan: Plan, shard: Shard | None) -> list[Run]:
    """Return the runs of a shard. Ids are hashes, so their order mixes long and short runs."""
    runs = list(plan.runs.values())
    if shard is None:
        return runs
    chosen = set(sorted(plan.runs)[shard.index - 1 :: shard.count])
    return [run for run in runs if run.id in chosen]


def start_executor(options: ExecutionOptions) -> AbstractContextManager[Executor]:
    """Return the executor of runs, on this machine or on a cluster."""
    if options.executor == "dask":
        return dask_cluster.connect(options)
    return nullcontext(lambda runs, on_done: run_locally(runs, on_done, options))


def run_locally(runs: Sequence[Run], on_done: OnDone, options: ExecutionOptions) -> None:
    """Execute runs on this machine: first those in threads, then in processes those in which Python works.

    Runs by a kernel come last, one at a time, in the order of their seeds: what changes on the machine meanwhile meets
    all that is compared.
    """
    native = [index for index, run in enumerate(runs) if not run.apart]
    apart = [index for index, run in enumerate(runs) if run.apart and not run.engine]
    alone = sorted((index for index, run in enumerate(runs) if run.engine), key=lambda index: runs[index].seed)
    stopped = False

    def watch(index: int, outcome: str | Exception, series: Any) -> bool:
        nonlocal stopped
        go_on = on_done(index, outcome, series)
        stopped = stopped or not go_on
        return go_on

    limits = options.run_limits
    if native:
        jobs = [(runs[index].scenario, runs[index].seed) for index in native]
        run_many(jobs, options.threads, lambda index, *outcome: watch(native[index], *outcome), *limits)
    for chosen, count in ((apart, options.threads), (alone, 1)):
        if chosen and not stopped:
            jobs = [processes.Job.of(runs[index], limits, options.keep_late) for index in chosen]
            processes.run_many(jobs, count, lambda index, *outcome, chosen=chosen: watch(chosen[index], *outcome))


def run_scenarios(
    jobs: Sequence[tuple[str, int]], on_done: OnDone, threads: int | None = None, limits: Limits = NO_LIMITS
) -> None:
    """Execute scenarios (JSON text), each with its seed, on this machine; nothing is stored, and no algorithm is in Python."""
    run_many(jobs, threads or cores(), on_done, *limits)


def estimate(elapsed_s: float, done: int, remaining: int, options: ExecutionOptions) -> str:
    """Return in words how long the remaining runs will take, from the time of the pilot."""
    expected_s = elapsed_s / done * remaining
    text = f"estimate: {remaining} more runs take about {duration_text(expected_s)}"
    if options.executor == "local":
        # Linux counts kilobytes.
        peak, free = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, memory_free()
        text += f" on {options.threads} cores; {peak / 1e6:.0f} MB of memory"
        if free is not None:
            text += f", {free / 1e6:.0f} MB more are free" if free > peak else f" — only {free / 1e6:.0f} MB more are free"
    if options.max_hours is not None and elapsed_s + expected_s > options.max_hours * 3600:
        text += f"; --max-hours {options.max_hours:g} will expire first; run the same command to continue"
    return text


def describe_run(run: Run) -> str:
    """Return algorithm, seed and varied values of a run, for an error message."""
    return f" [{labelled(run.algorithm)}, seed {run.seed}" + "".join(f", {k} = {v}" for k, v in run.values.items()) + "]"
