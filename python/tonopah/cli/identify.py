"""`tonopah identify`: which congestion control made a trace."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tonopah.cli.arguments import add_common, positive
from tonopah.execution.progress import show_progress
from tonopah.identification import page
from tonopah.identification.api import BESIDE, as_text, identify, text
from tonopah.names import listed

EXAMPLES = (
    "tonopah identify server.pcapng                    # the answer, and server-identify.html",
    "tonopah identify server.pcapng --rate 20Mbps --queue 60 --beside none",
    "tonopah identify server.pcapng --candidates cubic,bbr,my.py:MyCC --json",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, act, *EXAMPLES)
    command.add_argument("file", metavar="FILE", help="a capture of one side, or a qlog of tonopah run")
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
    command.add_argument(
        "--out", metavar="FILE", help="write FILE.html or FILE.svg (default: NAME-identify.html; none with --json)"
    )


def act(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah identify`."""
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
