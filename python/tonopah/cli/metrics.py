"""`tonopah metrics`."""

import argparse
import json

from tonopah.cli.algorithms import find_algorithm
from tonopah.cli.arguments import add_common
from tonopah.errors import InputError
from tonopah.runs.simulation import INTERNAL
from tonopah.spec.columns import columns, describe, near_metrics
from tonopah.terminal.grid import console
from tonopah.terminal.metric_tables import metric_facts, metric_tables

EXAMPLES = ("tonopah metrics", "tonopah metrics delay_p95_s", "tonopah metrics --cc bbr3")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `metrics`."""
    add_common(command, show_metrics, *EXAMPLES)
    command.add_argument("name", nargs="?", help="show all of this one")
    command.add_argument("--cc", metavar="NAME", help="list the series of an algorithm's variables (record.internals) instead")


def show_metrics(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah metrics`."""
    known = columns().all
    if arguments.cc:
        known = tuple(f"{INTERNAL}{shown['name']}" for shown in find_algorithm(arguments.cc)["internals"] or ())
    if arguments.name and arguments.name not in known:
        near = near_metrics(arguments.name, known)
        hint = f"did you mean {' or '.join(near)}?" if near else "`tonopah metrics` lists all"
        raise InputError("metrics", f"{arguments.name!r} is unknown", hint)
    found = [describe(name) for name in ([arguments.name] if arguments.name else known)]
    if arguments.json:
        print(json.dumps(found[0] if arguments.name else found))
        return 0
    out = console()
    for table in metric_facts(found[0]) if arguments.name else metric_tables(found):
        out.print(table)
    return 0
