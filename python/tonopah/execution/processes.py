"""Runs with algorithms in Python, each in a process of its own, so that they use all cores.

A worker is a fresh interpreter (`worker.py`) that takes jobs from a pipe and ends when the pipe is closed, so it ends with this
process, however that ends. Nothing of the calling program is imported there, so a script needs no `if __name__ == "__main__"`,
and nothing of the working directory.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tonopah.cc.description import Provenance
from tonopah.cc.last_call import virtual_environment
from tonopah.cc.process import import_path
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, RunFailedError
from tonopah.execution.options import Limits
from tonopah.spec.plan import Run

ATTEMPTS = 3
"""Attempts at a run whose process ends: the system may have killed it for want of memory."""


@dataclass(frozen=True)
class Job:
    """A scenario (JSON text), a seed, and the provenance of the algorithms in Python that it names."""

    scenario: str
    seed: int
    origins: dict[str, Provenance] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    observer: str = ""
    """What observes the run, as `module:function`, if anything: a name from a source, never from a study file."""

    engine: str = ""
    """The kernel that carries its flows, with its release, if one does."""
    keep_late: bool = False
    """A run in real time counts though its packets were late."""

    @classmethod
    def of(cls, run: Run, limits: Limits, keep_late: bool = False) -> "Job":
        """Return a run as a job."""
        return cls(run.scenario, run.seed, run.origins, limits, run.observer, run.engine, keep_late)


@dataclass(frozen=True)
class Answer:
    """The reply of a worker: summary and series of a run, or the reason why there are none."""

    summary: str = ""
    series: Any = None
    input_error: tuple[str, str, str | None] | None = None
    raised: dict[str, Any] | None = None
    limit: str | None = None
    defect: str | None = None
    failed: str | None = None
    seconds: float = 0.0
    died: bool = False


class Worker:
    """A worker process."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start the process, or start it again after it has ended."""
        environment = os.environ | virtual_environment() | {"PYTHONPATH": os.pathsep.join(import_path())}
        # -P: without the working directory, where a file may be called like a module of the standard library.
        command = [sys.executable, "-P", "-m", "tonopah.execution.worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        assert self.process.stdin and self.process.stdout
        self.jobs, self.answers = self.process.stdin, self.process.stdout
        self.used_s = 0.0

    @property
    def cpu_s(self) -> float:
        """CPU time that it had used with its last answer; 0 once it has ended, when `os.times` has it."""
        return self.used_s if self.process.returncode is None else 0.0

    def run(self, job: Job) -> Answer:
        """Send one job and return its answer."""
        try:
            pickle.dump(job, self.jobs)
            self.jobs.flush()
            answer = pickle.load(self.answers)
            self.used_s = pickle.load(self.answers)
            return answer
        except (EOFError, OSError, pickle.UnpicklingError):
            return Answer(failed=f"a worker process ended with exit code {self.process.wait()}", died=True)

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.jobs, self.answers):
            # Buffered bytes have no reader any more.
            with suppress(OSError):
                pipe.close()


def answer_of(worker: Worker, job: Job, is_over: Callable[[], bool] = lambda: False) -> Answer:
    """Return the answer of a worker; a run whose process ends is tried again, unless nobody waits for it any more."""
    answer = worker.run(job)
    for _ in range(ATTEMPTS - 1):
        if not answer.died or is_over():
            break
        if worker.process.poll() is not None:
            worker.stop()
            worker.start()
        answer = worker.run(job)
    return answer


def outcome_of(answer: Answer) -> str | Exception:
    """Return the summary of a run, or the exception that it would have raised in this process."""
    if answer.input_error:
        return InputError(*answer.input_error)
    if answer.raised:
        error = AlgorithmError(answer.raised["message"])
        for key, value in answer.raised.items():
            setattr(error, key, value)
        return error
    if answer.limit:
        return LimitError(answer.limit)
    if answer.defect:
        return EngineError(answer.defect)
    return RunFailedError(answer.failed) if answer.failed else answer.summary


class Workers:
    """Worker processes that stay between batches of jobs; leaving the context kills them, and their current runs are lost."""

    def __init__(self, count: int, patience_s: float | None = None):
        """Make `count` workers; one whose run takes longer than `patience_s` is replaced, and the run has failed."""
        self.patience_s = patience_s
        self.over = threading.Event()
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self.pool = ThreadPoolExecutor(count)
        self.workers = [Worker() for _ in range(count)]
        for worker in self.workers:
            self.idle.put(worker)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.pool.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            worker.process.kill()
        self.pool.shutdown()
        for worker in self.workers:
            worker.stop()

    @property
    def cpu_s(self) -> float:
        """CPU time of the workers that have not ended."""
        return sum(worker.cpu_s for worker in self.workers)

    def work(self, job: Job) -> Answer:
        """Return the answer of the next worker that is idle."""
        worker = self.idle.get()
        try:
            if self.patience_s is None:
                return answer_of(worker, job, self.over.is_set)
            return self.work_in_time(worker, job, self.patience_s)
        finally:
            self.idle.put(worker)

    def work_in_time(self, worker: Worker, job: Job, patience_s: float) -> Answer:
        """Return the answer of a worker, or after a time that it has none."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            worker.process.kill()

        timer = threading.Timer(patience_s, give_up)
        timer.start()
        try:
            answer = answer_of(worker, job, lambda: late.is_set() or self.over.is_set())
        finally:
            timer.cancel()
        if not late.is_set():
            return answer
        worker.stop()
        worker.start()
        return Answer(raised={"message": f"no answer for {patience_s:g} s"})

    def run(self, jobs: Sequence[Job], on_done: Callable[[int, str | Exception, Any], bool]) -> None:
        """Run jobs; `on_done` is called in this thread as each ends and returns False to stop."""
        indices = {self.pool.submit(self.work, job): index for index, job in enumerate(jobs)}
        for future in as_completed(list(indices)):
            # A future keeps its answer, whose series may be large.
            index, answer = indices.pop(future), future.result()
            del future
            if not on_done(index, outcome_of(answer), answer.series):
                break


def run_many(jobs: Sequence[Job], count: int, on_done: Callable[[int, str | Exception, Any], bool]) -> None:
    """Run the jobs in `count` processes; `on_done` is called in this one as each ends and returns False to stop.

    An interruption or a stop kills the processes, and their current runs are lost. A process that ends by itself is replaced.
    """
    with Workers(max(1, min(count, len(jobs)))) as workers:
        workers.run(jobs, on_done)
