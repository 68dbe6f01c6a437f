"""The options of every command that carries out many runs, and what is said when one of them is interrupted."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tonopah.cli.arguments import WAIT, checked, events, first_seed, hours, positive
from tonopah.errors import InputError, RunFailedError
from tonopah.execution.options import ExecutionOptions, Limits, parse_memory, parse_shard
from tonopah.execution.runner import TimeUpError

if TYPE_CHECKING:
    from tonopah.judge.study import JudgedStudy

SIZES = ("smoke", "quick", "full")


def add_execution(command: argparse.ArgumentParser, sizes: Mapping[str, str], default: str) -> None:
    """Add how much is run, how it is carried out, and where it is kept; `sizes` says what each size is for this command."""
    explained = "; ".join(f"{size}: {text}" for size, text in sizes.items())
    group = command.add_mutually_exclusive_group()
    group.add_argument("--size", choices=SIZES, help=f"{explained} (default: {default})")
    group.add_argument("--quick", dest="size", action="store_const", const="quick", help="short for --size quick")
    command.set_defaults(sizes=tuple(sizes), usual_size=default)
    command.add_argument("--replicates", type=positive, metavar="N", help="number of replicates (default: that of the size)")
    command.add_argument(
        "--seeds",
        type=first_seed,
        default=1,
        metavar="FROM",
        help="seed of the first replicate: another set of draws (default: 1)",
    )
    command.add_argument(
        "--out", metavar="DIR", help="folder of the report, and of its runs without --store (default: in results/)"
    )
    command.add_argument("--store", metavar="DIR", help="folder of the runs, which several reports may share")
    command.add_argument("--jobs", type=positive, metavar="N", help="number of threads (default: all cores)")
    command.add_argument(
        "--executor", choices=["local", "dask"], default="local", help="dask: on a cluster, or in processes on this machine"
    )
    command.add_argument("--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler, like tcp://HOST:8786")
    command.add_argument(
        "--shard", type=checked(parse_shard), metavar="I/N", help="run only shard I of N, and write no report of all"
    )
    command.add_argument(
        "--max-hours", type=hours, metavar="H", help="start no new run after H hours; the same command continues"
    )
    command.add_argument("--max-events", type=events, metavar="N", help="stop a run that needs more than N events")
    command.add_argument(
        "--max-memory", type=checked(parse_memory), metavar="SIZE", help="stop a run that needs more memory than SIZE, like 2GB"
    )
    command.add_argument("--wait", action="store_true", help=WAIT)


class Renamed(argparse.Action):
    """An option that has another name now: giving it is an error that says which."""

    def __init__(self, option_strings: list[str], dest: str, const: str):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, const=const, help=argparse.SUPPRESS)

    def __call__(self, *given: Any) -> NoReturn:
        """Refuse the old name."""
        raise InputError(self.option_strings[0], "has another name", str(self.const))


def size_of(arguments: argparse.Namespace) -> str:
    """Return the size that is asked for. Raises InputError for one that the command does not have."""
    size = arguments.size or arguments.usual_size
    if size not in arguments.sizes:
        raise InputError("--size", f"there is no size {size} of this", " or ".join(arguments.sizes))
    return str(size)


def execution_options(arguments: argparse.Namespace) -> ExecutionOptions:
    """Return how the runs are to be carried out."""
    return ExecutionOptions(
        jobs=arguments.jobs,
        executor=arguments.executor,
        scheduler=arguments.scheduler,
        shard=arguments.shard,
        max_hours=arguments.max_hours,
        limits=Limits(arguments.max_events, arguments.max_memory),
        wait=arguments.wait,
        keep_late=getattr(arguments, "keep_late", False),
    )


def carry_out(study: "JudgedStudy", arguments: argparse.Namespace) -> int:
    """Run what a study of evaluate, compare or coexist lacks, and return how many runs that were; of a shard, print it."""
    study.command = shlex.join(["tonopah", *sys.argv[1:]])
    study.draw_from(arguments.seeds)
    with resumable(lambda: stored_text(study.folder, study.counted)):
        done = study.carry_out(execution_options(arguments), quiet=arguments.json)
    if arguments.shard:
        print(json.dumps({"shard": arguments.shard, "run_now": done}) if arguments.json else f"shard complete: {done} runs now")
    return done


@contextmanager
def resumable(stored: Callable[[], str]) -> Iterator[None]:
    """Raise RunFailedError, which says what is kept and how to continue, after an interruption or when time is up."""
    try:
        yield
    except (KeyboardInterrupt, TimeUpError) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        raise RunFailedError(f"{why}; {stored()}; run {same_command()} to continue") from None


def stored_text(folder: Path, counted: Callable[[], tuple[int, int]]) -> str:
    """Return in words how many runs of a folder are stored and how many are missing; `counted` returns all, and the missing."""
    try:
        total, missing = counted()
    except InputError:
        return f"nothing is stored in {folder}"
    return f"{total - missing} of {total} runs are stored in {folder}, {missing} are missing"


def same_command() -> str:
    """Return the command as it was given, to be given again."""
    program = Path(sys.argv[0])
    if program.name in ("tonopah", "main.py") or program.parts[-2:] == ("tonopah", "__main__.py"):
        return f"`{shlex.join(['tonopah', *sys.argv[1:]])}`"
    return "the same command"
