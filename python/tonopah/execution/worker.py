"""A worker process: reads jobs from standard input and writes answers to standard output, pickled.

Every run has a process of its own, forked from this one, which has imported the package and no algorithm, but for classes whose
machine code it makes: nothing that an algorithm keeps, in its module or elsewhere, reaches another run, and one that ends its
process or never ends is this one's to deal with. `run_batch` does the same for a worker of a cluster.
"""

import ctypes
import gc
import json
import math
import os
import pickle
import select
import signal
import struct
import threading
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

# Imported before the fork, so that not every run imports it for its series.
import numpy  # noqa: F401

from tonopah._core import engine_build, engine_version, run
from tonopah.cc.base import CongestionControl
from tonopah.cc.binding import bind, ended_by_library, libraries, with_place
from tonopah.cc.description import Provenance
from tonopah.cc.importing import compile_source
from tonopah.cc.last_call import LastCall, note_calls_in
from tonopah.cc.loading import engine_names, find_entry_points, load_planned, observing
from tonopah.cc.process import end_with_parent, status_text
from tonopah.errors import AlgorithmError, EngineError, LimitError, RunFailedError, ScenarioError, traceback_of
from tonopah.execution.processes import Answer, Job, Worker, answer_of
from tonopah.kernel.engines import carry
from tonopah.spec.source import loaded

LENGTH = struct.Struct("=Q")
"""An answer is preceded by its length: a process that an algorithm started may hold the pipe open."""
POLL_MS = 1000
"""Interval at which a child that answers nothing is checked for its end."""
TRIED: set[str] = set()
"""Digests of algorithms whose machine code is here, if they have any."""
KEPT = threading.local()
"""`worker`: the process that runs algorithms in Python for this thread of a worker of a cluster."""


def main() -> None:
    """Run jobs until there are no more, or the process that sends them has ended."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What an algorithm prints must not get between the answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The process that started this one handles interrupts; how a child ends this one has to know, whatever was inherited.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    library = ctypes.CDLL(None)
    warm_up()
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        for name, origin in job.origins.items():
            compile_ahead(name, origin)
        if job.observer:
            # Imported before the fork; its mistakes are the child's to report.
            with suppress(Exception):
                loaded(job.observer)
        answers.write(run_in_child(job, (jobs, answers), library))
        # CPU time of this process and of its children.
        answers.write(pickle.dumps(sum(os.times()[:4])))
        answers.flush()


class StandingWindow(CongestionControl):
    """A window that stands, to warm up with."""

    def on_ack(self, ack: object, view: object) -> None:
        """Change nothing."""

    def on_congestion(self, event: object, view: object) -> None:
        """Change nothing."""


def warm_up() -> None:
    """Do what every child would do for itself: look up names, and initialise what a first run in Python does."""
    engine_names()
    find_entry_points()
    world = {"duration": "100ms", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1}, "record": {"series": ["cwnd"]}}
    bound = bind(world | {"tcp": {"cc": StandingWindow}})
    run(bound.text, 1, bound.algorithms)
    gc.collect()
    # The collector does not touch, and so does not copy, what it need not look at.
    gc.freeze()


def compile_ahead(name: str, origin: Provenance) -> None:
    """Compile the file of an algorithm before the fork. Its mistakes are the child's to report."""
    file = origin.reference.rpartition(":")[0]
    with suppress(OSError, SyntaxError, ValueError):
        if file.endswith(".py"):
            source = Path(file).read_bytes()
            compile_source(source, file)
            if b"compiled" in source and origin.digest not in TRIED:
                TRIED.add(origin.digest)
                # Machine code takes seconds to make. Its module is loaded here too, and anew for every run.
                with suppress(Exception):
                    load_planned(name, origin).core.probe()


def run_in_child(job: Job, parent: tuple[BinaryIO, BinaryIO], library: ctypes.CDLL) -> bytes:
    """Return the pickled answer of a child process that runs a job; end with it when the parent has ended."""
    with LastCall() as last:
        return watch_child(job, parent, library, last)


def watch_child(job: Job, parent: tuple[BinaryIO, BinaryIO], library: ctypes.CDLL, last: LastCall) -> bytes:
    """Return the pickled answer of a child process, whose calls of libraries are noted."""
    reading, writing = os.pipe()
    this = os.getpid()
    with warnings.catch_warnings():
        # The only other threads are those of numpy's algebra, idle.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        end_with_parent(this, library)
        for pipe in (*parent, reading):
            os.close(pipe if isinstance(pipe, int) else pipe.fileno())
        note_calls_in(last.page)
        answer_and_end(job, writing)
    os.close(writing)
    try:
        answer, ended, overdue = read_answer(reading, child, parent[0].fileno(), last)
    finally:
        os.close(reading)
    if answer is None:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if ended is None else ended
        place = last.place()
        how = overdue or f"ended the process of the run: {status_text(status)}{place and f', in {place}'}"
        return pickle.dumps(answer_of_ended(job, status, how if overdue or status != -signal.SIGKILL else ""))
    if ended is None:
        os.waitpid(child, 0)
    return answer


def answer_of_ended(job: Job, status: int, how: str) -> Answer:
    """Return the answer for a child that ended without one: `how`, if a library may have ended it, which is not tried again."""
    if libraries(job.origins) and how:
        return Answer(raised=raised(ended_by_library(job.scenario, job.origins, how)))
    return Answer(failed=f"a worker process ended with exit code {status}", died=True)


def raised(error: AlgorithmError) -> dict[str, Any]:
    """Return an exception of an algorithm as what can be pickled."""
    return {"message": str(error), "traceback": traceback_of(error), **vars(error)}


def answer_and_end(job: Job, writing: int) -> None:
    """Run a job, write its answer, and end this process without what the interpreter does at its end."""
    try:
        answer = pickle.dumps(run_job(job))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(LENGTH.pack(len(answer)) + answer)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def read_answer(reading: int, child: int, jobs: int, last: LastCall) -> tuple[bytes | None, int | None, str]:
    """Return the answer of a child, None if it ended without one.

    Besides its exit code, if it is known to have ended, and in words the call of a library that did not return.
    """
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    # Reports only that the other end is closed: the parent sends nothing before it has the answer.
    poll.register(jobs, 0)
    found, ended = bytearray(), None
    while len(found) < LENGTH.size or len(found) < LENGTH.size + LENGTH.unpack_from(found)[0]:
        ready = dict(poll.poll(POLL_MS))
        if jobs in ready:
            os.kill(child, signal.SIGKILL)
            os._exit(1)
        if reading in ready:
            part = os.read(reading, 1 << 20)
            if not part:
                return None, ended, ""
            found += part
        elif ended is not None:
            return None, ended, ""
        elif overdue := last.overdue(child):
            os.kill(child, signal.SIGKILL)
            return None, None, overdue
        else:
            pid, status = os.waitpid(child, os.WNOHANG)
            ended = os.waitstatus_to_exitcode(status) if pid else None
    return bytes(found[LENGTH.size :]), ended, ""


def run_job(job: Job) -> Answer:
    """Run one job."""
    started = time.perf_counter()
    try:
        if job.engine:
            text, series = carry(job.engine, job.scenario, job.seed, job.keep_late)
            return Answer(text, series, seconds=time.perf_counter() - started)
        # This process runs nothing else: nothing needs to be loaded anew.
        algorithms = {name: load_planned(name, origin).core for name, origin in job.origins.items()}
        summary, series = run(job.scenario, job.seed, algorithms, *job.limits)
        text = summary.json()
        if job.observer:
            text = with_observed(job, text, series)
        return Answer(text, series, seconds=time.perf_counter() - started)
    except AlgorithmError as error:
        return Answer(raised=raised(with_place(error, job.scenario, job.origins)))
    except ScenarioError as error:
        return Answer(input_error=(error.path, error.message, error.hint))
    except LimitError as error:
        return Answer(limit=str(error))
    except RunFailedError as error:
        return Answer(failed=str(error))
    except EngineError as error:
        return Answer(defect=str(error))
    except BaseException:
        return Answer(failed=traceback.format_exc())


def with_observed(job: Job, summary: str, series: Any) -> str:
    """Return a summary with what the observer of the job found."""
    with observing(job.origins):
        found = loaded(job.observer)(job.scenario, job.seed, summary, series)
    observed = {"run": finite(found.run), "flows": [finite(flow) for flow in found.flows]}
    return f'{{"observed":{json.dumps(observed)},{summary[1:]}'


def finite(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return values for JSON, which has neither infinity nor NaN."""
    return {name: value if value is not None and math.isfinite(value) else None for name, value in values.items()}


def run_batch(jobs: Sequence[Job], build: str) -> list[Answer]:
    """Run jobs of a study that was planned with this build of the engine."""
    if build != engine_build():
        here = f"{engine_version()} ({engine_build()})"
        message = f"a worker of the cluster has engine {here}, this machine has build {build}: install the same package there"
        return [Answer(failed=message) for _ in jobs]
    return [run_apart(job) if job.origins else run_job(job) for job in jobs]


def run_apart(job: Job) -> Answer:
    """Run a job with an algorithm in Python in a process of its own: this one has threads and must not fork."""
    if not hasattr(KEPT, "worker"):
        KEPT.worker = Worker()
    return answer_of(KEPT.worker, job)


if __name__ == "__main__":
    main()
