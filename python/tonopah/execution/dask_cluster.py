"""Runs on a cluster with Dask: on one that runs already, or on processes of this machine. Needs `pip install tonopah[dask]`.

Runs go out in batches that are long enough for Dask's own work to stay small (docs/cluster.md has the figures). The batch of a
worker that ends is done by another one; a run that ends three workers in turn stops the study. The order in which results
come changes nothing about them: a run depends on its scenario and seed only.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tonopah._core import engine_build
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import worker
from tonopah.execution.options import Execution
from tonopah.execution.processes import Answer, Job, outcome_of
from tonopah.spec.plan import Run

BATCH_S = 1.0
"""A batch is to take so long: some hundred times what Dask needs for a task."""
AHEAD = 2
"""So many batches wait or run for each thread of the cluster, so that none is idle."""
CONNECT_S = 30
"""How long a scheduler may take to answer."""


@contextmanager
def connected(how: Execution) -> Iterator[Callable[[Sequence[Run], Any], None]]:
    """Connect to the scheduler of `how`, or start a cluster on this machine; give what carries out runs there."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        hint = 'pip install "tonopah[dask]"'
        raise InputError("executor", "dask is not installed", hint) from None
    # What a lost worker means is said here, not in Dask's log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if how.scheduler:
        try:
            client = Client(how.scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError("scheduler", f"{how.scheduler} does not answer: {error}", "like tcp://HOST:8786") from None
        with client:
            yield lambda runs, on_done: Farm(client, how).carry_out(runs, on_done)
        return
    # The processes of this machine share its memory: Dask is not to end one that takes more than an equal part.
    settings = {"n_workers": how.threads, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with (
        LocalCluster(processes=True, silence_logs=logging.CRITICAL, **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield lambda runs, on_done: Farm(client, how).carry_out(runs, on_done)


class Farm:
    """The runs that a cluster does."""

    def __init__(self, client: Any, how: Execution):
        self.client, self.how = client, how
        self.seconds, self.count = 0.0, 0
        self.waiting: deque[int] = deque()
        # Those under suspicion, and the one that is on the cluster by itself.
        self.alone: deque[int] = deque()
        self.tried: int | None = None
        self.flying: dict[Any, list[int]] = {}

    def carry_out(self, runs: Sequence[Run], on_done: Callable[[int, str | Exception, Any], bool]) -> None:
        """Do runs; `on_done` is called here as each ends, and returns False to stop."""
        from distributed import as_completed

        self.waiting = deque(range(len(runs)))
        # A scheduler may have no workers yet.
        self.client.wait_for_workers(1)
        arrivals = as_completed(loop=self.client.loop)
        try:
            self.send(runs, arrivals)
            for future in arrivals:
                for index, answer in self.received(future):
                    if not on_done(index, outcome_of(answer), answer.series):
                        return
                self.send(runs, arrivals)
        finally:
            self.client.cancel(list(self.flying), force=True)

    def send(self, runs: Sequence[Run], arrivals: Any) -> None:
        """Keep every thread of the cluster busy."""
        slots = max(1, sum(self.client.nthreads().values()))
        while self.waiting and not self.alone and len(self.flying) < AHEAD * slots:
            count = min(self.size(slots), len(self.waiting))
            self.submit([self.waiting.popleft() for _ in range(count)], runs, arrivals)
        if self.alone and not self.flying:
            self.tried = self.alone.popleft()
            self.submit([self.tried], runs, arrivals)

    def submit(self, indices: list[int], runs: Sequence[Run], arrivals: Any) -> None:
        """Hand a batch to the cluster."""
        jobs = [Job(runs[index].scenario, runs[index].seed, runs[index].origins, self.how.limits) for index in indices]
        future = self.client.submit(worker.batch, jobs, engine_build(), pure=False)
        self.flying[future] = indices
        arrivals.add(future)

    def size(self, slots: int) -> int:
        """Return how many runs go into a batch: one at first, then by what runs take, and few again towards the end."""
        if not self.count:
            return 1
        enough = int(BATCH_S / max(self.seconds / self.count, 1e-6))
        return max(1, min(enough, len(self.waiting) // (AHEAD * slots)))

    def received(self, future: Any) -> list[tuple[int, Answer]]:
        """Return the answers of a batch.

        Dask suspects everything that a worker had before it when it ended. So the runs of a suspect are done again, each with
        nothing else on the cluster: what ends its workers then does it by itself.
        """
        from distributed import KilledWorker

        indices = self.flying.pop(future)
        try:
            answers = future.result()
        except KilledWorker as error:
            if indices == [self.tried]:
                return [(indices[0], Answer(failed=f"the run ended its worker again and again ({error.last_worker})"))]
            self.alone.extend(indices)
            return []
        except Exception as error:
            # Also a batch that the worker could not read, because there is no Tonopah there.
            raise RunFailedError(f"the cluster failed: {type(error).__name__}: {error}") from error
        self.seconds += sum(answer.seconds for answer in answers)
        self.count += len(answers)
        return list(zip(indices, answers, strict=True))
