# ruff: noqa: N999
"""`tonopah break`: worlds in which an algorithm fails, each as small as it can be; and whether they still fail."""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from tonopah.breaking.api import AGAINST, MOST, Counterexamples, Progress, budget, counterexamples
from tonopah.breaking.classes import NAMES
from tonopah.breaking.folder import FINDINGS, Folder
from tonopah.breaking.replay import Replay, replay
from tonopah.breaking.search import State
from tonopah.breaking.told import Told, weaknesses
from tonopah.cli.arguments import add_code, add_common, positive
from tonopah.errors import InputError
from tonopah.execution.options import cores
from tonopah.metrics import count_text
from tonopah.names import listed
from tonopah.terminal.grid import Grid, print_grids

EXAMPLES = (
    "tonopah break my.py:MyCC                          # ten minutes beside cubic, reno and bbr",
    "tonopah break bbr --only harm,loss --worlds 300   # the same findings on any machine",
    "tonopah break my.py:MyCC --against old.py:MyCC --budget cpu:1h",
    "tonopah break --resume results/break-mycc --budget 1h   # goes on as it was begun",
    "tonopah break --replay results/break-mycc         # for CI, exit code 1 if one still fails",
)
INTERRUPTED = 130


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, act, *EXAMPLES)
    command.add_argument(
        "subject",
        nargs="?",
        metavar="SUBJECT",
        help="a name, FILE.py:CLASS, a library, or a table as `cc` of a scenario takes it",
    )
    command.add_argument("--against", metavar="A,…", help=f"references (default: {','.join(AGAINST)}); the subject is left out")
    command.add_argument("--only", default="", metavar="CLASS,…", help=f"only these classes of failure: {', '.join(NAMES)}")
    command.add_argument(
        "--most", type=positive, default=MOST, metavar="N", help=f"findings of a class, alone and shared each (default: {MOST})"
    )
    limits = command.add_mutually_exclusive_group()
    limits.add_argument("--budget", metavar="TIME", help="10min of wall time, cpu:10min of all workers' (default: 10min)")
    limits.add_argument("--worlds", type=positive, metavar="N", help="so many worlds: the same findings everywhere")
    command.add_argument("--seed", type=positive, default=1, metavar="N", help="seed of the search (default: 1)")
    command.add_argument(
        "--margin", type=float, default=1.0, metavar="F", help="by what factor every threshold has to be exceeded (default: 1)"
    )
    command.add_argument("--space", metavar="FILE", help="a file that changes the space of worlds")
    command.add_argument("--resume", metavar="DIR", help="go on with the search in a folder, as it was begun")
    command.add_argument("--replay", metavar="DIR", help="run the findings of a folder again, with SUBJECT if it is given")
    command.add_argument(
        "--out", metavar="DIR", help="folder of the findings; a search in it goes on (default: results/break-NAME)"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="runs at a time (default: all cores)")
    add_code(command, "a folder")


def act(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah break`."""
    if arguments.replay:
        return again(arguments)
    if not arguments.subject and not arguments.resume:
        raise InputError("SUBJECT", "is missing", "an algorithm, like my.py:MyCC, or --resume DIR or --replay DIR")
    subject, asked = resumed(arguments) if arguments.resume else (arguments.subject, asked_by(arguments))
    budget_s, cpu = budget(arguments.budget)
    show = not arguments.json
    line = Line(show and sys.stderr.isatty())
    if show:
        print_head()
    try:
        found = counterexamples(
            subject,
            worlds=arguments.worlds,
            budget_s=budget_s,
            cpu=cpu,
            out=arguments.resume or arguments.out,
            jobs=arguments.jobs,
            command=shlex.join(["tonopah", *sys.argv[1:]]),
            progress=Progress(line.show, line.finding) if show else None,
            **asked,
        )
    except KeyboardInterrupt:
        line.clear()
        print("interrupted; what was found is kept, and the same command goes on", file=sys.stderr)
        return INTERRUPTED
    line.clear()
    if arguments.json:
        print((found.folder / FINDINGS).read_text(encoding="utf-8"), end="")
        return 0
    print_found(found)
    return 0


def asked_by(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what decides the findings, as the command line says it."""
    return {
        "against": listed(arguments.against) or AGAINST, "only": listed(arguments.only), "most": arguments.most,
        "seed": arguments.seed, "margin": arguments.margin, "space": arguments.space,
    }  # fmt: skip


def resumed(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the subject of the search in a folder, and what was asked of it. Raises InputError."""
    defaults = {"subject": None, "against": None, "only": "", "most": MOST, "seed": 1, "margin": 1.0, "space": None, "out": None}
    for option, default in defaults.items():
        if getattr(arguments, option) != default:
            name = "SUBJECT" if option == "subject" else f"--{option}"
            raise InputError(name, "has no effect with --resume", "the folder says what is searched")
    return Folder(Path(arguments.resume)).asked()


def print_head() -> None:
    """Say on standard error what the findings mean that follow."""
    print("alone: beside every reference; shared: beside one at least", file=sys.stderr, flush=True)


class Line:
    """The counting line on a terminal, and findings as they are confirmed."""

    def __init__(self, counts: bool):
        self.counts = counts

    def show(self, state: State, elapsed_s: float) -> None:
        """Count."""
        if self.counts:
            rate = state.runs / elapsed_s if elapsed_s > 0 else 0.0
            text = f"{state.worlds} worlds, {state.runs} runs, {rate:.0f}/s, {elapsed_s:.0f} s, {len(state.findings)} findings"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self.counts:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def finding(self, one: Told) -> None:
        """Print a finding when it is confirmed."""
        self.clear()
        print(f"{one.finding.kind} {one.finding.name}, {one.times}: {one.sentence} [{one.axes}]", file=sys.stderr, flush=True)


def print_found(found: Counterexamples) -> None:
    """Print the findings and how they were found."""
    state = found.state
    if not found.findings:
        print(f"none in {state.worlds} worlds of this space")
    else:
        rows = []
        for said, some in weaknesses(found.findings, found.axes):
            rows += [["", said, "", "", ""]] if said else []
            rows += [[str(one.number), note(one), one.times, one.sentence, one.axes] for one in some]
        print_grids(Grid("Where it fails", ("", "class", "fails", "what", "world"), rows, 5))
    alone = sum(one.finding.kind == "alone" for one in found.findings)
    told = f"{count_text(len(found.findings), 'finding')} ({alone} alone), {state.explained} explained"
    counts = f"{state.worlds} worlds, {state.runs:,} runs; {told}, {state.not_confirmed} not confirmed"
    print(f"{counts}: {found.folder / 'index.html'}")


def note(one: Told) -> str:
    """Return kind and class of a finding, and what limits it."""
    notes = [word for word, holds in (("edge", one.finding.edge), ("not confirmed", not one.confirmed)) if holds]
    return f"{one.finding.kind} {one.finding.name}" + (f" ({', '.join(notes)})" if notes else "")


def again(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah break --replay`."""
    for option in ("against", "only", "budget", "worlds", "out", "resume"):
        if getattr(arguments, option):
            raise InputError(f"--{option}", "has no effect with --replay", "the folder says what is run")
    done = replay(Path(arguments.replay), arguments.subject, space=arguments.space, jobs=arguments.jobs or cores())
    if arguments.json:
        facts = {"findings": [one.as_json() for one in done.found], "changed": list(done.changed), "status": done.status}
        print(json.dumps(facts, ensure_ascii=False))
        return done.status
    print_replay(done)
    return done.status


def print_replay(done: Replay) -> None:
    """Print which findings still fail."""
    for text in done.changed:
        print(f"note: {text}")
    rows = [
        [str(one.number), one.word + (" (accepted)" if one.accepted and one.word == "fails" else ""), f"{one.kind} {one.name}",
         f"{one.then} of {one.seeds}", f"{one.now} of {one.seeds}", one.axes]
        for one in done.found
    ]  # fmt: skip
    print_grids(Grid("Findings now", ("", "now", "class", "then", "now", "world"), rows, 6))
