"""`tonopah coexist`: every pair of algorithms on one bottleneck, in both orders and for the long run."""

import argparse
import json
import re
import tomllib
from typing import Any

from tonopah._core import parse_quantity
from tonopah.cli.arguments import add_common
from tonopah.cli.execution import add_execution, carry_out, size_of
from tonopah.errors import InputError
from tonopah.judge.coexist import answer, begin, standings
from tonopah.terminal.grid import Grid, print_answer, print_grids

SIZES = {"quick": "20 Mb/s and 4 replicates", "full": "50 Mb/s and 5 replicates"}
MOST_PRINTED = 40
"""Cells that the terminal lists; the page and the files have more."""
EXAMPLES = (
    "tonopah coexist                                   # all algorithms: hours",
    "tonopah coexist cubic bbr bbr3 my.py:MyCC --quick",
    "tonopah coexist cubic bbr --buffers 0.25,1,16 --rtts 10:10,10:100 --queue fq_codel",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, coexist, *EXAMPLES)
    command.add_argument(
        "algorithms", nargs="*", metavar="ALGORITHM", help="default: all of the engine, each in its usual profile"
    )
    command.add_argument("--buffers", default="", metavar="B,…", help="lengths of the queue in BDP at 40 ms (default: 0.5,1,4)")
    command.add_argument(
        "--rtts", default="", metavar="A:B,…", help="round-trip times of the two in ms (default: 40:40,20:80,80:20)"
    )
    command.add_argument("--flows", default="1:1", metavar="N:M", help="flows of each of the two (default: 1:1)")
    command.add_argument("--queue", metavar="KIND", help="queue discipline: a kind, or a table as `queue` of a scenario takes it")
    command.add_argument("--ecn", action="store_true", help="flows take marks (RFC 3168)")
    command.add_argument(
        "--order", choices=["share", "cluster"], default="share", help="order of the algorithms (default: share)"
    )
    add_execution(command, SIZES, "full")


def coexist(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah coexist`."""
    matrix = begin(
        arguments.algorithms,
        numbers(arguments.buffers),
        cases(arguments.rtts),
        arguments.replicates or 0,
        size_of(arguments) == "quick",
        queue_of(arguments.queue),
        flows_of(arguments.flows),
        arguments.ecn,
        arguments.out,
        arguments.store,
    )
    done = carry_out(matrix, arguments)
    if arguments.shard:
        return 0
    cells = matrix.cells()
    report = matrix.write(cells, arguments.order)
    standing = standings(cells)
    if arguments.json:
        print(json.dumps(matrix.facts(cells) | {"report": str(report), "run_now": done}, allow_nan=False))
        return 0
    pairs = [cell for cell in cells if cell.row != cell.column]
    if len(pairs) <= MOST_PRINTED:
        listed = [[cell.row, cell.column, f"{cell.buffer:g}", cell.rtt, cell.share_text, f"{cell.excess:+.3f}"] for cell in pairs]
        print_grids(Grid("Pairs", ("", "beside", "queue, BDP", "RTTs", "share [95 %]", "excess harm to it"), listed, 2))
    rows = [
        [one.name, f"{100 * one.share:.1f} %", f"{one.done:+.3f}", f"{one.suffered:+.3f}", one.worst_neighbour]
        for one in standing
    ]
    print_grids(Grid("Beside one another", ("", "mean share", "excess harm done", "suffered", "worst neighbour"), rows, 1))
    print(f"report: {report.resolve()}")
    print_answer(answer(cells))
    return 0


def numbers(text: str) -> tuple[float, ...]:
    """Return lengths of queues. Raises InputError."""
    try:
        found = tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        found = (-1.0,)
    if any(not 0 < one <= 1000 for one in found):
        raise InputError("--buffers", f"{text!r} is no list of lengths", "like 0.5,1,4")
    return found


def cases(text: str) -> tuple[tuple[str, str], ...]:
    """Return cases of round-trip times; numbers are milliseconds. Raises InputError."""
    found = []
    for part in text.split(",") if text else ():
        pair = tuple(f"{one}ms" if re.fullmatch(r"[\d.]+", one) else one for one in part.split(":"))
        try:
            good = len(pair) == 2 and all(parse_quantity(one, "duration") > 0 for one in pair)
        except ValueError:
            good = False
        if not good:
            raise InputError("--rtts", f"{part!r} is no pair of round-trip times", "like 20:80")
        found.append((pair[0], pair[1]))
    return tuple(found)


def flows_of(text: str) -> tuple[int, int]:
    """Return how many flows each of the two has. Raises InputError."""
    found = re.fullmatch(r"(\d{1,3}):(\d{1,3})", text, re.ASCII)
    if not found or not int(found[1]) or not int(found[2]):
        raise InputError("--flows", f"{text!r} is not two numbers of flows", "like 1:4")
    return int(found[1]), int(found[2])


def queue_of(text: str | None) -> dict[str, Any] | None:
    """Return a queue discipline. Raises InputError."""
    if not text or not text.lstrip().startswith("{"):
        return {"kind": text} if text else None
    try:
        return dict(tomllib.loads(f"queue = {text}")["queue"])
    except (ValueError, RecursionError) as error:
        raise InputError("--queue", f"{text!r} is not a table: {error}", '{ kind = "fq_codel" }') from None
