"""A process that does runs for another one: jobs come in at standard input, answers leave at standard output, pickled.

`batch` is the same for a worker of a cluster.
"""

import os
import pickle
import signal
import time
import traceback
from collections.abc import Sequence
from functools import cache

from tonopah._core import engine_build, engine_version, run
from tonopah.cc.description import Found, Origin
from tonopah.cc.loading import load, load_entry
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, ScenarioError, traceback_of
from tonopah.execution.processes import Answer, Job


def main() -> None:
    """Do jobs until there are no more."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What an algorithm prints must not get between the answers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # An interrupt is the business of the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            job = pickle.load(jobs)
        except EOFError:
            return
        pickle.dump(answer(job), answers)
        answers.flush()


def answer(job: Job) -> Answer:
    """Do one job."""
    started = time.perf_counter()
    try:
        algorithms = {name: found(name, origin).core for name, origin in job.origins.items()}
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


def batch(jobs: Sequence[Job], build: str) -> list[Answer]:
    """Do jobs for a study that was planned with this build of the engine."""
    if build != engine_build():
        here = f"{engine_version()} ({engine_build()})"
        message = f"a worker of the cluster has engine {here}, this machine has build {build}: install the same package there"
        return [Answer(failed=message) for _ in jobs]
    return [answer(job) for job in jobs]


@cache
def found(name: str, origin: Origin) -> Found:
    """Return an algorithm; it has to be the one that the run was planned with."""
    place = origin.place
    again = load(place, "cc", called=name) if ":" in place else load_entry(place, "cc")
    if again.origin.digest != origin.digest:
        raise InputError("cc", f"{name} has been edited since the study was started", "run the study again")
    return again


if __name__ == "__main__":
    main()
