"""`tonopah study run`: one study, or all shipped ones."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_code, add_common, percent, positive
from tonopah.cli.execution import add_execution, execution_options, resumable, same_command, size_of, stored_text
from tonopah.cli.study_index import index_around
from tonopah.cli.study_report import print_report
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import runner
from tonopah.execution.options import Shard
from tonopah.execution.progress import show_progress
from tonopah.spec.columns import check_metric, own_columns
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Target
from tonopah.store.store import Store
from tonopah.study.stored import stored_runs
from tonopah.study.study import Study

SIZES = {"quick": "the reduced size of the study, for a first look", "full": "all of it"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, run_study, "tonopah study run asran --quick")
    command.add_argument("study", help="name of a shipped study, a study file, or all (the shipped ones, one after the other)")
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
    keeping = "runs by the kernel count, and the report marks them, though packets left too late (docs/kernel.md)"
    command.add_argument("--keep-late", action="store_true", help=keeping)
    add_code(command, "a study")
    add_execution(command, SIZES, "full")


def run_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study run`."""
    until = target(arguments)
    if arguments.study == "all":
        return run_all(arguments, until)
    study = Study.load(arguments.study)
    with resumable(lambda: count_stored(study, arguments.shard)):
        done = run_missing(study, arguments, until)
        if arguments.shard:
            return print_shard(study, done, arguments)
        return print_report(study, done, arguments.json, report_folder(study, arguments))


def target(arguments: argparse.Namespace) -> Target | None:
    """Return the precision that --until asks for."""
    if arguments.until is None:
        if arguments.metric:
            raise InputError("--metric", "has no meaning without --until", "--until 5%")
        return None
    return Target(arguments.until, arguments.at_most, tuple(arguments.metric))


def run_missing(study: Study, arguments: argparse.Namespace, until: Target | None = None) -> int:
    """Run what is missing of a study and return the number of runs made now."""
    options = execution_options(arguments)
    check_target(study, until)
    runs = arguments.store or arguments.out
    size = size_of(arguments) == "quick"
    done = study.run(None, arguments.replicates, size, runs, until=until, options=options, seeds=arguments.seeds)
    with Store(study.folder, create=False) as store:
        for other, count in store.other_builds().items():
            print(f"note: {count} results of engine {other} in {study.folder} are not used", file=sys.stderr)
    return done


def report_folder(study: Study, arguments: argparse.Namespace) -> Path | None:
    """Return the folder of the report, if it is not that of the runs."""
    if not arguments.store:
        return None
    return Path(arguments.out) if arguments.out else Path("results") / (f"{study.name}-quick" if study.quick else study.name)


def check_target(study: Study, until: Target | None) -> None:
    """Refuse a metric of --until that no part has."""
    own = [column for part in study.spec.parts for column in own_columns(part.derived, part.scenario)]
    for name in until.metrics if until else ():
        check_metric(name, "--metric", "run", own)


def count_stored(study: Study, shard: Shard | None) -> str:
    """Return in words how many runs are stored and how many are missing."""
    return stored_text(study.folder, lambda: (len(runner.select_shard(study.plan, shard)), study.missing(shard)))


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
    """Run every shipped study and write their reports; return the exit code. `--out` and `--store` hold their folders."""
    if arguments.shard:
        raise InputError("--shard", "divides one study, not all of them", "a study's name instead of all")
    studies = [Study.load(name) for name in shipped()]
    for study in studies:
        study.resize(size_of(arguments) == "quick", arguments.replicates, arguments.seeds)
        if runs := arguments.store or arguments.out:
            study.folder = Path(runs) / study.folder.name
    facts: list[dict[str, Any]] = []
    started = time.monotonic()
    # With --until nobody knows the whole before the end: each study then shows its own progress.
    total = 0 if until else sum(len(study.plan.runs) for study in studies)
    done = 0 if until else sum(map(stored_runs, studies))
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
        own = Path(arguments.out or "results") / study.folder.name if arguments.store else None
        path = study.report(own, quiet=True)
    except runner.TimeUpError:
        rest = f"{count_stored(study, None)}; run {same_command()} to continue"
        return {"study": study.name, "error": f"stopped: --max-hours {arguments.max_hours:g} reached; {rest}"}
    except (InputError, RunFailedError) as error:
        return {"study": study.name, "error": str(error)}
    return {"study": study.name, "runs": len(study.plan.runs), "run_now": now, "report": str(path.resolve())}
