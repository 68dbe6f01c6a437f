"""`tonopah study run`: one study, or all shipped ones."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import WAIT, add_common, checked, events, hours, percent, positive
from tonopah.cli.study_index import index_around
from tonopah.cli.study_report import print_report
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions, Limits, Shard, parse_memory, parse_shard
from tonopah.execution.progress import show_progress
from tonopah.spec.columns import check_metric, own_columns
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Target
from tonopah.store.store import Store
from tonopah.study.study import Study


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, run_study, "tonopah study run asran --quick")
    command.add_argument("study", help="name of a shipped study, a study file, or all (the shipped ones, one after the other)")
    command.add_argument("--out", metavar="DIR", help="results folder (default: results/NAME)")
    command.add_argument("--replicates", type=positive, metavar="N", help="number of replicates (default: that of the study)")
    command.add_argument("--quick", action="store_true", help="reduced size of the study, for a first look")
    command.add_argument(
        "--until",
        type=percent,
        metavar="WIDTH%",
        help="add replicates until the half-width of every interval of a difference in the figures is below WIDTH, like 5%%",
    )
    command.add_argument("--at-most", type=positive, default=100, metavar="N", help="replicates with --until (default: 100)")
    command.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="with --until: only this metric counts; may be repeated"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="number of threads (default: all cores)")
    command.add_argument(
        "--executor", choices=["local", "dask"], default="local", help="dask: on a cluster, or in processes on this machine"
    )
    command.add_argument("--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler, like tcp://HOST:8786")
    shard = "run only shard I of N; `study merge` puts them together"
    command.add_argument("--shard", type=checked(parse_shard), metavar="I/N", help=shard)
    continued = "start no new run after H hours; the same command continues the study"
    command.add_argument("--max-hours", type=hours, metavar="H", help=continued)
    command.add_argument("--max-events", type=events, metavar="N", help="stop a run that needs more than N events")
    memory = "stop a run that needs more memory than SIZE, like 2GB"
    command.add_argument("--max-memory", type=checked(parse_memory), metavar="SIZE", help=memory)
    command.add_argument("--wait", action="store_true", help=WAIT)


def run_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study run`."""
    until = target(arguments)
    if arguments.study == "all":
        return run_all(arguments, until)
    study = Study.load(arguments.study)
    with told_what_is_kept(study, arguments):
        done = run_missing(study, arguments, until)
        if arguments.shard:
            return print_shard(study, done, arguments)
        return print_report(study, done, arguments.json)


def target(arguments: argparse.Namespace) -> Target | None:
    """Return the precision that --until asks for."""
    if arguments.until is None:
        if arguments.metric:
            raise InputError("--metric", "has no meaning without --until", "--until 5%")
        return None
    return Target(arguments.until, arguments.at_most, tuple(arguments.metric))


def execution_options(arguments: argparse.Namespace) -> ExecutionOptions:
    """Return how the study is to be carried out."""
    return ExecutionOptions(
        jobs=arguments.jobs,
        executor=arguments.executor,
        scheduler=arguments.scheduler,
        shard=arguments.shard,
        max_hours=arguments.max_hours,
        limits=Limits(arguments.max_events, arguments.max_memory),
        wait=arguments.wait,
    )


@contextmanager
def told_what_is_kept(study: Study, arguments: argparse.Namespace) -> Iterator[None]:
    """Raise RunFailedError, which says how to continue, after an interruption or when --max-hours is reached."""
    try:
        yield
    except (KeyboardInterrupt, runner.TimeUpError) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        kept = count_stored(study, arguments.shard)
        raise RunFailedError(f"{why}; {kept}; run {same_command()} to continue") from None


def run_missing(study: Study, arguments: argparse.Namespace, until: Target | None = None) -> int:
    """Run what is missing of a study and return the number of runs made now."""
    options = execution_options(arguments)
    check_target(study, until)
    done = study.run(None, arguments.replicates, arguments.quick, arguments.out, until=until, options=options)
    with Store(study.folder, create=False) as store:
        for other, count in store.other_builds().items():
            print(f"note: {count} results of engine {other} in {study.folder} are not used", file=sys.stderr)
    return done


def check_target(study: Study, until: Target | None) -> None:
    """Refuse a metric of --until that no part has."""
    own = [column for part in study.spec.parts for column in own_columns(part.derived, part.scenario)]
    for name in until.metrics if until else ():
        check_metric(name, "--metric", "run", own)


def count_stored(study: Study, shard: Shard | None) -> str:
    """Return in words how many runs are stored and how many are missing."""
    try:
        total, missing = len(runner.select_shard(study.plan, shard)), study.missing(shard)
    except InputError:
        return f"nothing is stored in {study.folder}"
    return f"{total - missing} of {total} runs are stored in {study.folder}, {missing} are missing"


def same_command() -> str:
    """Return the command as it was given, to be given again."""
    if Path(sys.argv[0]).name in ("tonopah", "main.py") and sys.argv[1:3] == ["study", "run"]:
        return f"`{shlex.join(['tonopah', *sys.argv[1:]])}`"
    return "the same command"


def print_shard(study: Study, done: int, arguments: argparse.Namespace) -> int:
    """Print which shard is complete; a report needs all of them."""
    index, count = arguments.shard
    facts = {"study": study.name, "shard": index, "of": count, "run_now": done, "folder": str(study.folder)}
    if arguments.json:
        print(json.dumps(facts))
    else:
        print(f"{study.name}: shard {index} of {count} is complete, {done} runs now\nfolder: {study.folder.resolve()}")
    return 0


def run_all(arguments: argparse.Namespace, until: Target | None) -> int:
    """Run every shipped study and write their reports; return the exit code. `--out` is the folder of their folders."""
    if arguments.shard:
        raise InputError("--shard", "divides one study, not all of them", "a study's name instead of all")
    studies = [Study.load(name) for name in shipped()]
    for study in studies:
        study.resize(arguments.quick, arguments.replicates)
        if arguments.out:
            study.folder = Path(arguments.out) / study.folder.name
    facts: list[dict[str, Any]] = []
    started = time.monotonic()
    # With --until nobody knows the whole before the end: each study then shows its own progress.
    total = 0 if until else sum(len(study.plan.runs) for study in studies)
    done = 0 if until else sum(finished_runs(study) for study in studies)
    with show_progress(total, done, quiet=until is not None) as on_progress:
        for study in studies:
            if not arguments.json:
                print(f"{study.name}: {study.plan.size}", file=sys.stderr, flush=True)
            try:
                facts.append(run_one(study, arguments, until, on_progress, time.monotonic() - started))
            except KeyboardInterrupt:
                kept = f"{len(facts)} of {len(studies)} studies are done; of {study.name} {count_stored(study, None)}"
                raise RunFailedError(f"interrupted; {kept}; run {same_command()} to continue") from None
    index = index_around(studies[0].folder, always=True)
    if arguments.json:
        print(json.dumps(facts))
    else:
        for fact in facts:
            print(f"{fact['study']}: " + (fact.get("error") or f"{fact['runs']} runs, report: {fact['report']}"))
        if index:
            print(f"index: {index}")
    return 1 if any("error" in fact for fact in facts) else 0


def run_one(
    study: Study, arguments: argparse.Namespace, until: Target | None, on_progress: Callable[[], None], elapsed_s: float
) -> dict[str, Any]:
    """Run one study and write its report; a study that fails does not stop the others. --max-hours is for all of them."""
    options = execution_options(arguments)
    if options.max_hours is not None:
        options = replace(options, max_hours=max(0.0, options.max_hours - elapsed_s / 3600))
    try:
        now = study.run(until=until, on_progress=None if until else on_progress, options=options)
        path = study.report(quiet=True)
    except runner.TimeUpError:
        rest = f"{count_stored(study, None)}; run {same_command()} to continue"
        return {"study": study.name, "error": f"stopped: --max-hours {arguments.max_hours:g} reached; {rest}"}
    except (InputError, RunFailedError) as error:
        return {"study": study.name, "error": str(error)}
    return {"study": study.name, "runs": len(study.plan.runs), "run_now": now, "report": str(path.resolve())}


def finished_runs(study: Study) -> int:
    """Return how many runs of a study are stored."""
    if not (study.folder / "runs.sqlite").is_file():
        return 0
    return len(study.plan.runs) - study.missing()
