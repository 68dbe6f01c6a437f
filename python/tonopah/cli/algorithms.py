"""`tonopah algorithms`."""

import argparse
import ast
import json
from pathlib import Path
from typing import Any

from tonopah.cc.loading import describe_reference
from tonopah.cc.references import is_code
from tonopah.cli.arguments import add_common
from tonopah.errors import InputError, near_names
from tonopah.runs.simulation import algorithms
from tonopah.scenario.files import read_file
from tonopah.terminal.algorithm_tables import algorithm_tables, lists
from tonopah.terminal.grid import console

EXAMPLE = "tonopah algorithms cubic"
METHODS = ("on_ack", "on_congestion")
EXAMPLES_THERE = ("Reno", "Cubic")
"""Classes of tonopah.examples, from which others are derived."""
MOST_BYTES = 1 << 20
"""Of a file of algorithms."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `algorithms`."""
    add_common(command, show_algorithms, EXAMPLE)
    command.add_argument(
        "name", nargs="?", help="show all of this one; also a class, like my.py:MyCC, or a library, like ./libmine.so"
    )


def show_algorithms(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah algorithms`."""
    entries = [find_algorithm(arguments.name)] if arguments.name else algorithms()
    if arguments.json:
        print(json.dumps(entries[0] if arguments.name else entries))
        return 0
    shown = console()
    for table in algorithm_tables(entries[0], shown.width) if arguments.name else lists(entries):
        shown.print(table)
    return 0


def classes_in(path: Path) -> list[str]:
    """Return the classes of a file that are algorithms, found by reading it: nothing is executed. Raises InputError."""
    try:
        tree = ast.parse(read_file(path, "an algorithm", MOST_BYTES))
    except (SyntaxError, ValueError, RecursionError):
        raise InputError("", "is not Python", None, str(path)) from None
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    found: list[str] = []
    for one in classes:
        own = any(isinstance(part, ast.FunctionDef) and part.name in METHODS for part in one.body)
        bases = [ast.unparse(base) for base in one.bases]
        known = any("CongestionControl" in base or base in found or base.rpartition(".")[2] in EXAMPLES_THERE for base in bases)
        found += [one.name] if own or known else []
    return found


def find_algorithm(name: str) -> dict[str, Any]:
    """Return the description of one algorithm. Raises InputError when there is none of that name."""
    if is_code(name):
        return describe_reference(name, "algorithms")
    known = {entry["name"]: entry for entry in algorithms()}
    if name.endswith(".py"):
        found = classes_in(Path(name))
        hint = ", ".join(f"{name}:{one}" for one in found) or f"{name}:CLASS; no class in it derives from CongestionControl"
        raise InputError("algorithms", f"{name!r} is a file, not an algorithm", hint)
    if name not in known:
        near = near_names(name, known)
        hint = f"known: {', '.join(known)}" + (f"; did you mean {' or '.join(near)}?" if near else "")
        raise InputError("algorithms", f"{name!r} is unknown", hint)
    return known[name]
