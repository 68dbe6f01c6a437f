"""`tonopah study run all`, with one progress for the whole, and the options that add replicates until intervals are narrow."""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah import runner, study_command
from tonopah.errors import InputError, RunFailedError
from tonopah.sequential import Target
from tonopah.study import Study, shipped


def add_until(command: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
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


def percent(text: str) -> float:
    """Return a width in percent from the command line."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%?", text, re.ASCII)
    if not found or not 0 < float(found[1]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a width in percent, like 5%")
    return float(found[1])


def target(options: argparse.Namespace) -> Target | None:
    """Return what --until asks for."""
    if options.until is None:
        if options.metric:
            raise InputError("--metric", "has no meaning without --until", "--until 5%")
        return None
    return Target(options.until, options.at_most, tuple(options.metric))


def run(options: argparse.Namespace, until: Target | None) -> int:
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
    with runner.progress(total, done, quiet=until is not None) as advance:
        for study in studies:
            if not options.json:
                print(f"{study.name}: {len(study.plan.runs)} runs", file=sys.stderr, flush=True)
            facts.append(one(study, options, until, advance, time.monotonic() - started))
    if options.json:
        print(json.dumps(facts))
    else:
        for fact in facts:
            print(f"{fact['study']}: " + (fact.get("error") or f"{fact['runs']} runs, report: {fact['report']}"))
    return 1 if any("error" in fact for fact in facts) else 0


def one(
    study: Study, options: argparse.Namespace, until: Target | None, advance: Callable[[], None], elapsed_s: float
) -> dict[str, Any]:
    """Run one study and write its report; a study that fails does not stop the others. --max-hours is for all of them."""
    how = study_command.execution(options)
    if how.max_hours is not None:
        how = replace(how, max_hours=max(0.0, how.max_hours - elapsed_s / 3600))
    try:
        now = study.run(until=until, advance=None if until else advance, how=how)
        path = study.report()
    except runner.TimeUpError:
        left = f"{study_command.left(study, None)}; {study_command.same_command()} goes on from there"
        return {"study": study.name, "error": f"the {options.max_hours:g} hours of --max-hours are over; {left}"}
    except (InputError, RunFailedError) as error:
        return {"study": study.name, "error": str(error)}
    return {"study": study.name, "runs": len(study.plan.runs), "run_now": now, "report": str(path.resolve())}


def finished(study: Study) -> int:
    """Return how many runs of a study are stored."""
    if not (study.folder / "runs.sqlite").is_file():
        return 0
    return len(study.plan.runs) - study.missing()
