"""The commands `tonopah study run` and `tonopah study merge`."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tonopah import runner
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import Execution, Limits, Shard, parse_memory, parse_shard
from tonopah.sequential import Target
from tonopah.store import Store
from tonopah.study import Study


def add_run_options(command: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    """Add the options of `study run` that say how it is carried out."""
    command.add_argument("--jobs", type=positive, metavar="N", help="threads (default: all cores)")
    command.add_argument(
        "--executor", choices=["local", "dask"], default="local", help="dask: on a cluster, or on processes of this machine"
    )
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask scheduler, like tcp://HOST:8786")
    command.add_argument("--shard", type=checked(parse_shard), metavar="I/N", help="only part I of N; see study merge")
    command.add_argument("--max-hours", type=hours, metavar="H", help="start no run after H hours; the same command goes on")
    command.add_argument("--max-events", type=events, metavar="N", help="stop a run that needs more events")
    command.add_argument("--max-memory", type=checked(parse_memory), metavar="SIZE", help="stop a run that holds more, like 2GB")
    command.add_argument("--wait", action="store_true", help="wait for another process that writes into the folder")


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of argparse that refuses what `parse` refuses."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{error.message} ({error.hint})") from None

    return parsed


def hours(text: str) -> float:
    """Return a time in hours from the command line."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of hours, like 0.5 or 12")
    return value


def events(text: str) -> int:
    """Return a number of events from the command line."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of events")
    return int(text)


def execution(options: argparse.Namespace) -> Execution:
    """Return what the options say."""
    return Execution(
        jobs=options.jobs,
        executor=options.executor,
        scheduler=options.scheduler,
        shard=options.shard,
        max_hours=options.max_hours,
        limits=Limits(options.max_events, options.max_memory),
        wait=options.wait,
    )


def carry_out(options: argparse.Namespace, until: Target | None = None) -> tuple[Study, int]:
    """Carry out `tonopah study run`, and return the study and how many runs that were.

    Raises RunFailedError, which says how to go on, when it was interrupted or its time is over.
    """
    study, how = Study.load(options.study), execution(options)
    try:
        done = study.run(None, options.replicates, options.quick, options.out, until=until, how=how)
    except (KeyboardInterrupt, runner.TimeUpError) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        raise RunFailedError(f"{why}; {left(study, how.shard)}; {same_command()} goes on from there") from None
    with Store(study.folder, create=False) as store:
        for other, count in store.others().items():
            print(f"note: {count} results of engine {other} in {study.folder} are not used", file=sys.stderr)
    return study, done


def left(study: Study, shard: Shard | None) -> str:
    """Return what was done and what was not."""
    try:
        total, missing = len(runner.part(study.plan, shard)), study.missing(shard)
    except InputError:
        return "nothing was started"
    return f"{total - missing} of {total} runs are stored in {study.folder}, {missing} are left"


def same_command() -> str:
    """Return the command that was given, as it can be given again."""
    if Path(sys.argv[0]).name in ("tonopah", "cli.py") and sys.argv[1:3] == ["study", "run"]:
        return f"`{shlex.join(['tonopah', *sys.argv[1:]])}`"
    return "the same command"


def print_shard(study: Study, done: int, options: argparse.Namespace) -> int:
    """Print what a shard gave; a report needs all of them."""
    index, count = options.shard
    facts = {"study": study.name, "shard": index, "of": count, "run_now": done, "folder": str(study.folder)}
    if options.json:
        print(json.dumps(facts))
    else:
        print(f"{study.name}: part {index} of {count} is complete, {done} runs now\nfolder: {study.folder.resolve()}")
    return 0


def do_merge(options: argparse.Namespace) -> int:
    """Carry out `tonopah study merge`."""
    out, new = Path(options.out), 0
    with ExitStack() as stack:
        parts = [stack.enter_context(Store(folder, create=False)) for folder in options.folders]
        facts = [essence(store) for store in parts]
        for store, fact in zip(parts, facts, strict=True):
            if fact != facts[0]:
                raise InputError("", f"holds another study, or size of it, than {parts[0].folder}", None, str(store.folder))
        into = stack.enter_context(Store(out, wait=options.wait))
        if into.recall("study") is None:
            into.remember("study", parts[0].recall("study"))
        elif essence(into) != facts[0]:
            raise InputError("", f"holds another study, or size of it, than {parts[0].folder}", None, str(out))
        for store in parts:
            new += into.take(store)
    study = Study.open(out)
    facts = {"folder": str(out), "runs": len(study.plan.runs), "new": new, "missing": study.missing()}
    if options.json:
        print(json.dumps(facts))
    else:
        print(f"{out}: {new} runs taken over, {facts['missing']} of {facts['runs']} missing")
        print(f"write its report with: tonopah study report {shlex.quote(str(out))}")
    return 0


def essence(store: Store) -> dict[str, Any]:
    """Return what must be the same for results to be of the same study."""
    kept = store.recall("study")
    if kept is None:
        raise InputError("", "holds no study that was run to the end of its preparation", None, str(store.folder))
    return {key: kept[key] for key in ("document", "quick", "replicates")}
