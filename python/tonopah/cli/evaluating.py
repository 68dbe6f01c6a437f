"""What `evaluate`, `compare` and `coexist` have in common: how the runs are carried out, and what is said when they stop."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tonopah.cli.arguments import WAIT, checked, hours, positive
from tonopah.errors import RunFailedError
from tonopah.execution.options import ExecutionOptions, parse_shard
from tonopah.execution.runner import TimeUpError


def add_execution(command: argparse.ArgumentParser, sizes: bool = True) -> None:
    """Add how the runs are carried out; with `sizes`, that all of them are asked for."""
    if sizes:
        command.add_argument("--full", action="store_true", help="all points and more replicates: 30 min on two cores, not 3")
    command.add_argument("--replicates", type=positive, metavar="N", help="number of replicates")
    command.add_argument("--out", metavar="DIR", help="folder of the report (default: in results/)")
    command.add_argument(
        "--store", metavar="DIR", help="folder of the runs, which several reports may share (default: that of the report)"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="number of threads (default: all cores)")
    command.add_argument("--executor", choices=["local", "dask"], default="local", help="dask: on a cluster")
    command.add_argument("--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler")
    command.add_argument("--shard", type=checked(parse_shard), metavar="I/N", help="run only shard I of N, and write no report")
    command.add_argument(
        "--max-hours", type=hours, metavar="H", help="start no new run after H hours; the same command continues"
    )
    command.add_argument("--wait", action="store_true", help=WAIT)


def execution_options(arguments: argparse.Namespace) -> ExecutionOptions:
    """Return how the runs are to be carried out."""
    return ExecutionOptions(
        jobs=arguments.jobs,
        executor=arguments.executor,
        scheduler=arguments.scheduler,
        shard=arguments.shard,
        max_hours=arguments.max_hours,
        wait=arguments.wait,
    )


@contextmanager
def finished(missing: Callable[[], int], folder: Path) -> Iterator[None]:
    """Raise RunFailedError, which says how to continue, after an interruption or when --max-hours is reached."""
    try:
        yield
    except (KeyboardInterrupt, TimeUpError) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        again = f"`{shlex.join(['tonopah', *sys.argv[1:]])}`"
        raise RunFailedError(f"{why}; {missing()} runs are missing in {folder}; run {again} to continue") from None
