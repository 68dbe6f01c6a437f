"""The commands `tonopah study run|merge|report|list`."""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add, checked, events, hours, percent, positive
from tonopah.errors import InputError, RunFailedError
from tonopah.execution import runner
from tonopah.execution.options import Execution, Limits, Shard, parse_memory, parse_shard
from tonopah.execution.progress import progress
from tonopah.scenario.document import load
from tonopah.spec.library import shipped
from tonopah.spec.manifest import Target
from tonopah.store.store import Store
from tonopah.study import Study


def add_study(commands: Any) -> None:
    """Add `study run|merge|report|list`."""
    study = commands.add_parser(
        "study", help="run studies and write their reports", description="Run studies and write their reports."
    )
    inner = study.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = add(
        inner,
        "run",
        "run what is missing of a study and write its report",
        "tonopah study run asran --quick",
        do_study_run,
    )
    command.add_argument("study", help="name of a shipped study, a study file, or all (the shipped ones, one after the other)")
    command.add_argument("--out", metavar="DIR", help="folder of the results (default: results/NAME)")
    command.add_argument("--replicates", type=positive, metavar="N", help="instead of the number in the study")
    command.add_argument("--quick", action="store_true", help="the study's reduced size, for a first look")
    add_until(command)
    add_run_options(command)
    example = "tonopah study merge results/asran.shard-*-of-4 --out results/asran"
    command = add(inner, "merge", "put the parts of a study together", example, do_merge)
    command.add_argument("folders", nargs="+", metavar="DIR", help="folders of the parts")
    command.add_argument("--out", required=True, metavar="DIR", help="folder of the whole")
    command.add_argument("--wait", action="store_true", help="wait for another process that writes into the folder")
    command = add(
        inner,
        "report",
        "write the report of stored results again",
        "tonopah study report results/asran",
        do_study_report,
    )
    command.add_argument("folder", metavar="DIR", help="folder of a study that was run")
    add(inner, "list", "list the shipped studies", "tonopah study list", do_study_list)
    add(inner, "schema", "print the JSON schema of a study file", "tonopah study schema > study.schema.json", do_study_schema)


def do_study_run(options: argparse.Namespace) -> int:
    """Carry out `tonopah study run`."""
    until = target(options)
    if options.study == "all":
        return run_all(options, until)
    study, done = carry_out(options, until)
    if options.shard:
        return print_shard(study, done, options)
    return print_report(study, done, options.json)


def do_study_schema(options: argparse.Namespace) -> int:
    """Carry out `tonopah study schema`."""
    del options
    from tonopah.spec.schema import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return 0


def do_study_report(options: argparse.Namespace) -> int:
    """Carry out `tonopah study report`."""
    return print_report(Study.open(options.folder), 0, options.json)


def print_report(study: Study, done: int, as_json: bool) -> int:
    """Write the report of a study and print where it is."""
    path = study.report()
    facts = {
        "study": study.name,
        "runs": len(study.plan.runs),
        "run_now": done,
        "missing": study.missing(),
        "folder": str(study.folder),
        "report": str(path),
    }
    if as_json:
        print(json.dumps(facts))
    else:
        missing = f", {facts['missing']} of them missing" if facts["missing"] else ""
        print(f"{study.name}: {facts['runs']} runs{missing}; {done} run now\nreport: {path.resolve()}")
    return 0


def do_study_list(options: argparse.Namespace) -> int:
    """Carry out `tonopah study list`."""
    listed = [{"name": name, "title": load(path).get("title", ""), "file": str(path)} for name, path in shipped().items()]
    if options.json:
        print(json.dumps(listed))
    else:
        for study in listed:
            print(f"{study['name']:<12} {study['title']}")
    return 0


def add_run_options(command: argparse.ArgumentParser) -> None:
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
        done = study.run(None, options.replicates, options.quick, options.out, until=until, options=how)
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
    if Path(sys.argv[0]).name in ("tonopah", "main.py") and sys.argv[1:3] == ["study", "run"]:
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


def add_until(command: argparse.ArgumentParser) -> None:
    """Add --until, --at-most and --metric."""
    command.add_argument(
        "--until",
        type=percent,
        metavar="WIDTH%",
        help="add replicates until half the interval of every difference in the figures is narrower, like 5%%",
    )
    command.add_argument("--at-most", type=positive, default=100, metavar="N", help="replicates with --until (default: 100)")
    command.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="with --until: look at this metric only; may be repeated"
    )


def target(options: argparse.Namespace) -> Target | None:
    """Return what --until asks for."""
    if options.until is None:
        if options.metric:
            raise InputError("--metric", "has no meaning without --until", "--until 5%")
        return None
    return Target(options.until, options.at_most, tuple(options.metric))


def run_all(options: argparse.Namespace, until: Target | None) -> int:
    """Run every shipped study and write their reports; return the exit code. `--out` is the folder of their folders."""
    if options.shard:
        raise InputError("--shard", "divides one study, not all of them", "a study's name instead of all")
    studies = [Study.load(name) for name in shipped()]
    for study in studies:
        study.resize(options.quick, options.replicates)
        if options.out:
            study.folder = Path(options.out) / study.folder.name
    facts: list[dict[str, Any]] = []
    started = time.monotonic()
    # With --until nobody knows the whole before the end: each study then shows its own progress.
    total = 0 if until else sum(len(study.plan.runs) for study in studies)
    done = 0 if until else sum(finished(study) for study in studies)
    with progress(total, done, quiet=until is not None) as advance:
        for study in studies:
            if not options.json:
                print(f"{study.name}: {len(study.plan.runs)} runs", file=sys.stderr, flush=True)
            facts.append(run_one(study, options, until, advance, time.monotonic() - started))
    if options.json:
        print(json.dumps(facts))
    else:
        for fact in facts:
            print(f"{fact['study']}: " + (fact.get("error") or f"{fact['runs']} runs, report: {fact['report']}"))
    return 1 if any("error" in fact for fact in facts) else 0


def run_one(
    study: Study, options: argparse.Namespace, until: Target | None, advance: Callable[[], None], elapsed_s: float
) -> dict[str, Any]:
    """Run one study and write its report; a study that fails does not stop the others. --max-hours is for all of them."""
    how = execution(options)
    if how.max_hours is not None:
        how = replace(how, max_hours=max(0.0, how.max_hours - elapsed_s / 3600))
    try:
        now = study.run(until=until, on_progress=None if until else advance, options=how)
        path = study.report()
    except runner.TimeUpError:
        rest = f"{left(study, None)}; {same_command()} goes on from there"
        return {"study": study.name, "error": f"the {options.max_hours:g} hours of --max-hours are over; {rest}"}
    except (InputError, RunFailedError) as error:
        return {"study": study.name, "error": str(error)}
    return {"study": study.name, "runs": len(study.plan.runs), "run_now": now, "report": str(path.resolve())}


def finished(study: Study) -> int:
    """Return how many runs of a study are stored."""
    if not (study.folder / "runs.sqlite").is_file():
        return 0
    return len(study.plan.runs) - study.missing()
