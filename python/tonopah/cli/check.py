"""`tonopah check`."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common, add_set, changes, seed, warn
from tonopah.errors import InputError, relay, warning_texts
from tonopah.plot.network import describe
from tonopah.scenario.document import is_study, load, to_toml
from tonopah.simulation import check

EXAMPLE = "tonopah check dumbbell.toml --expand"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    add_common(command, check_file, EXAMPLE)
    command.add_argument("file", help="scenario or study (TOML)")
    command.add_argument("--expand", action="store_true", help="print the network as a graph scenario (TOML)")
    command.add_argument("--seed", type=seed, default=1, help="random seed of topology and placement (default: 1)")
    add_set(command)


def check_file(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah check`."""
    document = load(arguments.file)
    if is_study(document):
        return check_study(arguments)
    checked = check(arguments.file, arguments.seed, changes(arguments))
    graph = checked["graph"]
    if arguments.json:
        print(json.dumps(checked))
        return 0
    warn(warning_texts(checked["warnings"], arguments.file))
    if arguments.expand:
        print(to_toml(graph), end="")
    else:
        print(f"ok: {describe(graph)}")
    return 0


def check_study(arguments: argparse.Namespace) -> int:
    """Print the size of a study, and what is to be known of it."""
    from tonopah.analysis.sensitivity import check_alternatives
    from tonopah.spec.criteria import changed_since
    from tonopah.study import Study

    study = Study.load(Path(arguments.file))
    notes = study.plan.notes()
    try:
        alternatives = check_alternatives(study.spec, study.home)
    except InputError as error:
        raise relay(error, study.source) from None
    if changed := changed_since(study.spec):
        notes.append(f"{changed}; `tonopah study criteria` prints their hash")
    facts = {
        "runs": len(study.plan.runs),
        "measured": study.plan.measured,
        "notes": notes,
        "warnings": study.plan.warnings,
        "parts": len(study.spec.parts),
        "algorithms": len({label for part in study.spec.parts for label in part.labels}),
        "sweeps": sum(len(part.sweeps) for part in study.spec.parts),
        "alternatives": alternatives,
        "criteria": {"hash": study.spec.criteria, "changed": bool(changed)},
    }
    if arguments.json:
        print(json.dumps(facts))
    else:
        warn(study.plan.warnings)
        print("\n".join([f"ok: a study of {study.plan.size}", *(f"note: {note}" for note in notes)]))
    return 0
