"""Runs on a Dask cluster: an existing one, or processes on this machine. Needs `pip install tonopah[dask]`.

Runs are sent in batches long enough to keep Dask's overhead small (docs/cluster.md has the figures). The batch of a worker that
ends is given to another one; a run that ends three workers in turn stops the study. Results do not depend on the order in
which they arrive: a run depends on its scenario and seed only.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tonopah._core import engine_build
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import worker
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.processes import Answer, Job, outcome_of
from tonopah.spec.plan import Run

BATCH_S = 1.0
"""Intended duration of a batch: some hundred times the overhead of a task in Dask."""
BATCHES_PER_THREAD = 2
"""Batches queued or running for each thread of the cluster, so that none is idle."""
CONNECT_S = 30
"""Time within which a scheduler must answer."""


@contextmanager
def connect(options: ExecutionOptions) -> Iterator[Callable[[Sequence[Run], Any], None]]:
    """Connect to the scheduler of `options`, or start a cluster on this machine; yield the executor of runs on it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        hint = 'pip install "tonopah[dask]"'
        raise InputError("executor", "dask is not installed", hint) from None
    # A lost worker is reported by this module, not in Dask's log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if options.scheduler:
        try:
            client = Client(options.scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError("scheduler", f"{options.scheduler} does not answer: {error}", "like tcp://HOST:8786") from None
        with client:
            yield lambda runs, on_done: ClusterRunner(client, options).execute(runs, on_done)
        return
    # The processes on this machine share its memory: Dask must not end one that needs more than an equal share.
    settings = {"n_workers": options.threads, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with (
        LocalCluster(processes=True, silence_logs=logging.CRITICAL, **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield lambda runs, on_done: ClusterRunner(client, options).execute(runs, on_done)


class ClusterRunner:
    """Runs in progress on a cluster."""

    def __init__(self, client: Any, options: ExecutionOptions):
        self.client, self.options = client, options
        self.seconds, self.count = 0.0, 0
        self.waiting: deque[int] = deque()
        # Runs that may have ended a worker, and the one that is now on the cluster alone.
        self.suspects: deque[int] = deque()
        self.retried: int | None = None
        self.in_flight: dict[Any, list[int]] = {}

    def execute(self, runs: Sequence[Run], on_done: Callable[[int, str | Exception, Any], bool]) -> None:
        """Run runs; `on_done` is called in this process as each ends, and returns False to stop."""
        from distributed import as_completed

        self.waiting = deque(range(len(runs)))
        # A scheduler may have no workers yet.
        self.client.wait_for_workers(1)
        arrivals = as_completed(loop=self.client.loop)
        try:
            self.fill(runs, arrivals)
            for future in arrivals:
                for index, answer in self.collect(future):
                    if not on_done(index, outcome_of(answer), answer.series):
                        return
                self.fill(runs, arrivals)
        finally:
            self.client.cancel(list(self.in_flight), force=True)

    def fill(self, runs: Sequence[Run], arrivals: Any) -> None:
        """Keep every thread of the cluster busy."""
        slots = max(1, sum(self.client.nthreads().values()))
        while self.waiting and not self.suspects and len(self.in_flight) < BATCHES_PER_THREAD * slots:
            count = min(self.batch_size(slots), len(self.waiting))
            self.submit([self.waiting.popleft() for _ in range(count)], runs, arrivals)
        if self.suspects and not self.in_flight:
            self.retried = self.suspects.popleft()
            self.submit([self.retried], runs, arrivals)

    def submit(self, indices: list[int], runs: Sequence[Run], arrivals: Any) -> None:
        """Submit a batch to the cluster."""
        jobs = [Job(runs[index].scenario, runs[index].seed, runs[index].origins, self.options.limits) for index in indices]
        future = self.client.submit(worker.run_batch, jobs, engine_build(), pure=False)
        self.in_flight[future] = indices
        arrivals.add(future)

    def batch_size(self, slots: int) -> int:
        """Return the number of runs in a batch: one at first, then by the time of a run, and few again towards the end."""
        if not self.count:
            return 1
        enough = int(BATCH_S / max(self.seconds / self.count, 1e-6))
        return max(1, min(enough, len(self.waiting) // (BATCHES_PER_THREAD * slots)))

    def collect(self, future: Any) -> list[tuple[int, Answer]]:
        """Return the answers of a batch.

        Dask suspects every batch that was queued on a worker when it ended. The runs of a suspect are therefore repeated one at a
        time with nothing else on the cluster: a run that then ends its worker is the culprit.
        """
        from distributed import KilledWorker

        indices = self.in_flight.pop(future)
        try:
            answers = future.result()
        except KilledWorker as error:
            if indices == [self.retried]:
                return [(indices[0], Answer(failed=f"the run ended its worker repeatedly ({error.last_worker})"))]
            self.suspects.extend(indices)
            return []
        except Exception as error:
            # Also a batch that the worker could not read, because there is no Tonopah there.
            raise RunFailedError(f"the cluster failed: {type(error).__name__}: {error}") from error
        self.seconds += sum(answer.seconds for answer in answers)
        self.count += len(answers)
        return list(zip(indices, answers, strict=True))
