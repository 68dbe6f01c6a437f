"""A worker process: reads jobs from standard input and writes answers to standard output, pickled.

`run_batch` does the same for a worker of a cluster.
"""

import os
import pickle
import signal
import time
import traceback
from collections.abc import Sequence
from functools import cache

from tonopah._core import engine_build, engine_version, run
from tonopah.cc.description import LoadedAlgorithm, Provenance
from tonopah.cc.loading import load, load_entry
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, ScenarioError, traceback_of
from tonopah.execution.processes import Answer, Job


def main() -> None:
    """Run jobs until there are no more."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What an algorithm prints must not get between the answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The process that started this one handles interrupts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        pickle.dump(run_job(job), answers)
        answers.flush()


def run_job(job: Job) -> Answer:
    """Run one job."""
    started = time.perf_counter()
    try:
        algorithms = {name: load_planned(name, origin).core for name, origin in job.origins.items()}
        summary, series = run(job.scenario, job.seed, algorithms, *job.limits)
        return Answer(summary, series, seconds=time.perf_counter() - started)
    except AlgorithmError as error:
        return Answer(raised={"message": str(error), "traceback": traceback_of(error), **vars(error)})
    except ScenarioError as error:
        return Answer(input_error=(error.path, error.message, error.hint))
    except LimitError as error:
        return Answer(limit=str(error))
    except EngineError as error:
        return Answer(defect=str(error))
    except BaseException:
        return Answer(failed=traceback.format_exc())


def run_batch(jobs: Sequence[Job], build: str) -> list[Answer]:
    """Run jobs of a study that was planned with this build of the engine."""
    if build != engine_build():
        here = f"{engine_version()} ({engine_build()})"
        message = f"a worker of the cluster has engine {here}, this machine has build {build}: install the same package there"
        return [Answer(failed=message) for _ in jobs]
    return [run_job(job) for job in jobs]


@cache
def load_planned(name: str, origin: Provenance) -> LoadedAlgorithm:
    """Return an algorithm. Raises InputError when it is not the one that the run was planned with."""
    reference = origin.reference
    algorithm = load(reference, "cc", called=name) if ":" in reference else load_entry(reference, "cc")
    if algorithm.origin.digest != origin.digest:
        raise InputError("cc", f"{name} has been edited since the study was started", "run the study again")
    return algorithm


if __name__ == "__main__":
    main()
