"""`tonopah study run|merge|report|figure|index|sensitivity|criteria|list|schema`."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cli import study_criteria, study_figure, study_index, study_sensitivity
from tonopah.cli.arguments import add_command, checked, events, hours, percent, positive
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions, Limits, Shard, parse_memory, parse_shard
from tonopah.execution.progress import show_progress
from tonopah.scenario.document import load
from tonopah.spec.columns import check_metric
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Manifest, Target
from tonopah.spec.reader import is_edited
from tonopah.spec.schema import json_schema
from tonopah.store.store import Store
from tonopah.study import Study

WAIT = "wait until no other process is writing to the folder"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the commands of `study`, each with its arguments."""
    command.epilog = "example: tonopah study run asran --quick"
    commands = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    summary = "run the missing runs of a study and write its report"
    add_run_arguments(add_command(commands, "run", summary, run_study, "tonopah study run asran --quick"))
    example = "tonopah study merge results/asran.shard-*-of-4 --out results/asran"
    merge = add_command(commands, "merge", "merge the shards of a study", merge_shards, example)
    merge.add_argument("folders", nargs="+", metavar="DIR", help="results folders of the shards")
    merge.add_argument("--out", required=True, metavar="DIR", help="results folder of the whole study")
    merge.add_argument("--wait", action="store_true", help=WAIT)
    summary = "write the report again from stored results"
    report = add_command(commands, "report", summary, report_study, "tonopah study report results/asran")
    report.add_argument("folder", metavar="DIR", help="results folder of a study")
    study_figure.add_arguments(commands)
    study_index.add_arguments(commands)
    study_sensitivity.add_arguments(commands)
    study_criteria.add_arguments(commands)
    add_command(commands, "list", "list the shipped studies", list_studies, "tonopah study list")
    example = "tonopah study schema > study.schema.json"
    add_command(commands, "schema", "print the JSON schema of a study file", print_schema, example)


def add_run_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `study run`."""
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
    own = [column for part in study.spec.parts for derived in part.derived for column in derived.columns()]
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


def print_report(study: Study, done: int, as_json: bool) -> int:
    """Write the report of a study and print where it is."""
    path = study.report()
    facts = {
        "study": study.name,
        "runs": len(study.plan.runs),
        "measured": study.plan.measured,
        "run_now": done,
        "missing": study.missing(),
        "folder": str(study.folder),
        "report": str(path),
    }
    index = study_index.index_around(study.folder)
    if as_json:
        print(json.dumps(facts | {"index": index and str(index)}))
    else:
        missing = f"; {facts['missing']} of them missing" if facts["missing"] else ""
        print(
            f"{study.name}: {study.plan.size}{missing}; {done} run now\nreport: {path.resolve()}"
            + (f"\nindex: {index}" if index else "")
        )
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
    index = study_index.index_around(studies[0].folder, always=True)
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


def report_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study report`."""
    study = Study.open(arguments.folder)
    file = study.home / Path(study.source).name
    if is_edited(study.document, file):
        again = f"`tonopah study run {shlex.quote(str(file))}` takes the edited one"
        print(
            f"note: {file} was edited or removed since the study was run; the report shows the study as it was; {again}",
            file=sys.stderr,
        )
    return print_report(study, 0, arguments.json)


def list_studies(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study list`."""
    entries = [{"name": name, "title": load(path).get("title", ""), "file": str(path)} for name, path in shipped().items()]
    if arguments.json:
        print(json.dumps(entries))
    else:
        for entry in entries:
            print(f"{entry['name']:<12} {entry['title']}")
    return 0


def print_schema(_: argparse.Namespace) -> int:
    """Carry out `tonopah study schema`."""
    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return 0


def merge_shards(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study merge`."""
    out, new = Path(arguments.out), 0
    with ExitStack() as stack:
        shards = [stack.enter_context(Store(folder, create=False)) for folder in arguments.folders]
        sizes = [read_size(store) for store in shards]
        other = f"holds another study, or another size of it, than {shards[0].folder}"
        for store, found in zip(shards, sizes, strict=True):
            if found != sizes[0]:
                raise InputError("", other, None, str(store.folder))
        into = stack.enter_context(Store(out, wait=arguments.wait))
        if into.recall("study") is None:
            into.remember("study", shards[0].recall("study"))
        elif read_size(into) != sizes[0]:
            raise InputError("", other, None, str(out))
        for store in shards:
            new += into.merge(store)
    study = Study.open(out)
    facts = {"folder": str(out), "runs": len(study.plan.runs), "new": new, "missing": study.missing()}
    if arguments.json:
        print(json.dumps(facts))
    else:
        print(f"{out}: {new} new runs, {facts['missing']} of {facts['runs']} missing")
        print(f"write its report with: tonopah study report {shlex.quote(str(out))}")
    return 0


def read_size(store: Store) -> tuple[dict[str, Any], bool, dict[str, int]]:
    """Return what must be equal for results to be of the same study: its file, quick or not, and replicates."""
    manifest = Manifest.from_json(store.recall("study"), str(store.folder))
    return manifest.document, manifest.quick, manifest.replicates
