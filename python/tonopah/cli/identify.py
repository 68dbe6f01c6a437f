"""`tonopah identify`: which congestion control made a trace."""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tonopah.cli.arguments import add_common, positive
from tonopah.errors import InputError
from tonopah.execution.progress import show_progress
from tonopah.identification import check as checking
from tonopah.identification import page
from tonopah.identification.api import as_text, identify, sentence, text
from tonopah.identification.link import BESIDE
from tonopah.names import listed

EXAMPLES = (
    "tonopah identify server.pcapng                    # the answer, and server-identify.html",
    "tonopah identify server.pcapng --rate 20Mbps --queue 60 --beside none",
    "tonopah identify server.pcapng --candidates cubic,bbr,my.py:MyCC --json",
    "tonopah identify --check                          # in a checkout, on recordings of Linux; exit code 1 if a goal is missed",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, act, *EXAMPLES)
    command.add_argument("file", nargs="?", metavar="FILE", help="a capture of one side, or a qlog of tonopah run")
    command.add_argument("--connection", type=int, default=0, metavar="N", help="0 has the most data (default), 1 the next")
    command.add_argument("--rate", metavar="RATE", help="rate of the link, like 20Mbps (default: estimated)")
    command.add_argument("--delay", metavar="TIME", help="delay of the link one way, like 15ms (default: estimated)")
    command.add_argument("--queue", type=positive, metavar="N", help="packets that wait in its queue (default: estimated)")
    command.add_argument(
        "--beside", default="auto", metavar="WHAT", help=f"who shared the link: {', '.join(BESIDE)} (default: auto)"
    )
    command.add_argument("--candidates", default="", metavar="A,…", help="what `cc` of a scenario takes (default: 24 algorithms)")
    command.add_argument("--parameters", action="store_true", help="beta and C too, if it is a form of cubic")
    command.add_argument("--seconds", type=float, metavar="S", help="only the first S seconds")
    command.add_argument("--seed", type=positive, default=1, metavar="N", help="seed of the draws around the link (default: 1)")
    command.add_argument("--check", action="store_true", help="judge the recordings of Linux whose algorithms are known")
    command.add_argument(
        "--out",
        metavar="FILE",
        help="write FILE.html or FILE.svg (default: NAME-identify.html; none with --json); --check: FILE.md, for its table",
    )


def act(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah identify`."""
    if arguments.check:
        return check(arguments)
    if not arguments.file:
        raise InputError("FILE", "is missing", "a capture or a qlog, or --check")
    path = Path(arguments.file)
    with ExitStack() as stack:

        def progress(total: int) -> Callable[[], None]:
            return stack.enter_context(show_progress(total, 0, arguments.json or not sys.stderr.isatty(), "simulations"))

        found = identify(
            path, connection=arguments.connection, rate=arguments.rate, delay=arguments.delay, queue=arguments.queue,
            beside=arguments.beside, candidates=listed(arguments.candidates), parameters=arguments.parameters,
            seconds=arguments.seconds, seed=arguments.seed, progress=progress,
        )  # fmt: skip
    print(as_text(found) if arguments.json else "\n".join(text(found)))
    if arguments.out or not arguments.json:
        target = Path(arguments.out or f"{path.name.split('.')[0]}-identify.html")
        page.write(found, target)
        print(f"wrote {target}", file=sys.stderr)
    return 0


def check(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah identify --check`."""
    defaults = {"file": None, "rate": None, "delay": None, "queue": None, "seconds": None, "candidates": "", "parameters": False}
    for option, value in (defaults | {"connection": 0, "beside": "auto", "seed": 1}).items():
        if getattr(arguments, option) != value:
            raise InputError("FILE" if option == "file" else f"--{option}", "has no effect with --check", "leave it out")

    def tell(one: checking.Checked) -> None:
        print(f"{one.case.id}: {sentence(one.found)}{'' if one.right else ' (wrong)'}", file=sys.stderr, flush=True)

    found = checking.check(checking.recordings(), tell)
    missed = list(checking.missed(found))
    if arguments.json:
        print(json.dumps({"recordings": {one.case.id: one.found.json for one in found}, "missed": missed}, ensure_ascii=False))
    else:
        print(checking.table(found), *missed, sep="\n")
    if arguments.out:
        checking.write_table(Path(arguments.out), checking.table(found))
    return 1 if missed else 0
