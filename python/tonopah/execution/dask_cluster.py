"""Runs on a Dask cluster: an existing one, or processes on this machine. Needs `pip install '.[dask]'`.

Runs are sent in batches long enough to keep Dask's overhead small (docs/cluster.md has the figures). The batch of a worker that
ends is given to another one; a run that ends three workers in turn stops the study. Results do not depend on the order in
which they arrive: a run depends on its scenario and seed only. A cluster that has lost its scheduler or all of its workers stops
the study.

Whoever reaches a scheduler or a worker can have it execute anything. The cluster that is started here listens on the loopback
interface only, where other users of the machine are, and therefore talks TLS with a certificate that only its own processes have.
"""

import asyncio
import concurrent.futures
import logging
import queue
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
WATCH_S = 2.0
"""Interval at which the cluster is looked at while no batch arrives."""
ANSWER_S = 10
"""Time within which a scheduler that has answered before must answer again."""
NO_WORKERS_S = 15
"""Time that a cluster may be without workers before the study stops: those that are replaced come back within a few seconds."""
SILENT_S = 60
"""Time without a heartbeat, of which there are several in ten seconds, after which a worker has its runs taken from it."""
LOOK_S = 15.0
"""Interval at which heartbeats are looked at: what the scheduler answers grows with the number of workers."""
CLOSE_S = 5
"""Time that a connection may take to end."""
LOOPBACK = "127.0.0.1"
OLDEST = (2025, 1)
"""Of Dask, for a cluster on this machine: 2024.8 listens on all interfaces, whatever its host is to be (the lower bound of pip's
extra is no promise: an environment may have any version)."""
NO_PAGES: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # Nothing of the working directory is imported by the processes of a cluster.
    "distributed.nanny.pre-spawn-environ.PYTHONSAFEPATH": "1",
}
"""Configuration of a cluster on this machine: its HTTP servers, which Dask cannot do without, serve nothing."""


@contextmanager
def connect(options: ExecutionOptions) -> Iterator[Callable[[Sequence[Run], Any], None]]:
    """Connect to the scheduler of `options`, or start a cluster on this machine; yield the executor of runs on it."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("executor", "dask is not installed", "pip install '.[dask]' in the checkout") from None
    silence_dask()
    if not options.scheduler:
        with start_cluster(options.threads) as cluster, closing(Client(cluster, set_as_default=False)) as client:
            yield lambda runs, on_done: ClusterRunner(client, options).execute(runs, on_done)
        return
    reach(options.scheduler)
    with closing(Client(options.scheduler, timeout=CONNECT_S, set_as_default=False)) as client:
        yield lambda runs, on_done: ClusterRunner(client, options).execute(runs, on_done)


def reach(address: str) -> None:
    """Raise InputError if no scheduler answers at an address. A Client that finds none leaves its event loop running for ever."""
    from distributed.comm.core import connect as connect_to
    from distributed.security import Security
    from distributed.utils import LoopRunner

    async def greet() -> None:
        # Dask's own limit is not that of a greeting to which nothing is answered.
        async with asyncio.timeout(CONNECT_S):
            comm = await connect_to(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
            await comm.close()

    try:
        LoopRunner().run_sync(greet)
    except (OSError, TypeError, ValueError) as error:
        # TypeError: an address tls:// without certificates.
        message = f"{address} does not answer: {str(error) or f'nothing within {CONNECT_S} s'}"
        raise InputError("scheduler", message, "like tcp://HOST:8786; docs/cluster.md says what TLS needs") from None


def start_cluster(count: int) -> Any:
    """Return a cluster of processes on this machine that only these processes can talk to."""
    import dask
    from distributed import LocalCluster, __version__  # pyright: ignore[reportPrivateImportUsage]
    from distributed.security import Security

    if tuple(int(part) for part in __version__.split(".")[:2]) < OLDEST:
        message = f"distributed {__version__} would let other machines reach the cluster"
        raise InputError("executor", message, "pip install --upgrade '.[dask]' in the checkout")
    try:
        security = Security.temporary()
    except ImportError:
        raise InputError("executor", "cryptography is not installed, for TLS", "pip install '.[dask]' in the checkout") from None
    # The processes on this machine share its memory: Dask must not end one that needs more than an equal share.
    with dask.config.set(NO_PAGES):  # pyright: ignore[reportPrivateImportUsage]
        return LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, memory_limit=0, silence_logs=logging.CRITICAL,
            host=LOOPBACK, security=security, dashboard_address=f"{LOOPBACK}:0", scheduler_kwargs={"dashboard": False},
        )  # fmt: skip


@contextmanager
def closing(client: Any) -> Iterator[Any]:
    """Close a connection at the end, also one whose other end has gone."""
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CLOSE_S)


def silence_dask() -> None:
    """Let Dask log nothing: a lost worker or scheduler is a traceback there, and a sentence of this module."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


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
        self.arrivals: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.address = str(getattr(client.scheduler, "address", "")) if client else ""
        # By worker: its last heartbeat, by the scheduler's clock, and since when it is that one, by this machine's.
        self.heard: dict[str, tuple[float, float]] = {}
        self.looked_at = 0.0

    def execute(self, runs: Sequence[Run], on_done: Callable[[int, str | Exception, Any], bool]) -> None:
        """Run runs; `on_done` is called in this process as each ends, and returns False to stop."""
        self.waiting = deque(range(len(runs)))
        self.await_first_worker()
        try:
            self.fill(runs)
            while self.in_flight:
                for index, answer in self.collect(self.next_arrival()):
                    if not on_done(index, outcome_of(answer), answer.series):
                        return
                self.fill(runs)
        finally:
            if self.client.status == "running":
                with suppress(Exception):
                    self.client.cancel(list(self.in_flight), force=True)

    def await_first_worker(self) -> None:
        """Wait until the scheduler has a worker, and say so: a queue of a cluster may take hours."""
        if not self.count_threads():
            print(f"waiting for the first worker of {self.address}", file=sys.stderr, flush=True)
        while not self.count_threads():
            time.sleep(WATCH_S)

    def count_threads(self) -> int:
        """Return how many threads the workers of the cluster have."""
        return sum(self.ask(self.client.scheduler.ncores).values())

    def ask(self, question: Any, **arguments: Any) -> Any:
        """Return what the scheduler answers. Raises RunFailedError if it does not."""
        try:
            return self.client.sync(question, callback_timeout=ANSWER_S, **arguments)
        except Exception as error:
            raise self.lost("its scheduler has ended or cannot be reached") from error

    def leave_silent_workers(self) -> None:
        """Take its runs from a worker whose heartbeats have stopped, and say so: its machine sleeps, or its network is gone.

        Others repeat them. Dask itself waits for five minutes, and then for the worker's own process to end it.
        """
        now = time.monotonic()
        if now - self.looked_at < LOOK_S:
            return
        self.looked_at = now
        beats = {address: about["last_seen"] for address, about in self.ask(self.client.scheduler.identity)["workers"].items()}
        known = self.heard
        self.heard = {at: known[at] if at in known and known[at][0] == beat else (beat, now) for at, beat in beats.items()}
        for address, (_, since) in self.heard.items():
            if now - since > SILENT_S:
                self.ask(self.client.scheduler.unregister, address=address, stimulus_id=f"silent-{address}")
                text = f"the worker {address} has not been heard of for {SILENT_S} s; others repeat its runs"
                print(text, file=sys.stderr, flush=True)

    def lost(self, what: str) -> RunFailedError:
        """Return the error of a cluster that is not there any more."""
        hint = "finished runs are stored; run the same command to continue"
        return RunFailedError(f"the cluster {self.address} is lost: {what} ({hint})")

    def next_arrival(self) -> Any:
        """Return the next batch that has ended."""
        return self.watched(lambda: self.arrivals.get(timeout=WATCH_S))

    def fetch(self, future: Any) -> Any:
        """Return the result of a batch. If its worker has ended meanwhile another one repeats it."""

        async def gather() -> Any:
            return await self.client.gather(future, asynchronous=True)

        result = asyncio.run_coroutine_threadsafe(gather(), self.client.loop.asyncio_loop)

        def look() -> Any:
            if not concurrent.futures.wait([result], timeout=WATCH_S).done:
                raise queue.Empty
            return result.result()

        return self.watched(look)

    def watched(self, look: Callable[[], Any]) -> Any:
        """Return what `look` finds, which raises queue.Empty while there is nothing.

        Raises RunFailedError when nothing can come any more.
        """
        without_workers_since = None
        while True:
            try:
                return look()
            except queue.Empty:
                self.leave_silent_workers()
                now = time.monotonic()
                if self.count_threads():
                    without_workers_since = None
                elif without_workers_since is None:
                    without_workers_since = now
                elif now - without_workers_since > NO_WORKERS_S:
                    raise self.lost("it has had no worker for a while") from None

    def fill(self, runs: Sequence[Run]) -> None:
        """Keep every thread of the cluster busy."""
        slots = max(1, self.count_threads())
        while self.waiting and not self.suspects and len(self.in_flight) < BATCHES_PER_THREAD * slots:
            count = min(self.batch_size(slots), len(self.waiting))
            self.submit([self.waiting.popleft() for _ in range(count)], runs)
        if self.suspects and not self.in_flight:
            self.retried = self.suspects.popleft()
            self.submit([self.retried], runs)

    def submit(self, indices: list[int], runs: Sequence[Run]) -> None:
        """Submit a batch to the cluster."""
        jobs = [Job.of(runs[index], self.options.limits) for index in indices]
        future = self.client.submit(worker.run_batch, jobs, engine_build(), pure=False)
        self.in_flight[future] = indices
        future.add_done_callback(self.arrivals.put)

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
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError  # pyright: ignore[reportPrivateImportUsage]

        indices = self.in_flight.pop(future)
        try:
            answers = self.fetch(future)
        except KilledWorker as error:
            if indices == [self.retried]:
                return [(indices[0], Answer(failed=f"the run ended its worker repeatedly ({error.last_worker})"))]
            self.suspects.extend(indices)
            return []
        except (CancelledError, CommClosedError) as error:
            # The client gives up what it has sent to a scheduler as soon as the connection ends, or was fetching a result.
            raise self.lost("its scheduler has ended or cannot be reached") from error
        except RunFailedError:
            raise
        except Exception as error:
            # Also a batch that the worker could not read, because there is no Tonopah there.
            raise RunFailedError(f"the cluster failed: {type(error).__name__}: {error}") from error
        self.seconds += sum(answer.seconds for answer in answers)
        self.count += len(answers)
        return list(zip(indices, answers, strict=True))
