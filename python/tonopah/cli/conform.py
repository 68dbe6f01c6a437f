"""`tonopah conform`: an algorithm against the cases of a specification. Exit code 1 if something deviates."""

import argparse
from pathlib import Path

from tonopah.cli.arguments import add_common, add_set, changes, first_seed, positive
from tonopah.conform.api import conform
from tonopah.conform.report import as_text, lines
from tonopah.conform.specs import SPECS, cases_of, spec_of
from tonopah.errors import InputError
from tonopah.names import listed
from tonopah.terminal.grid import console

EXAMPLES = (
    "tonopah conform bbr3 --spec bbr-draft",
    "tonopah conform my.py:MyCC --spec rfc9438 --case c1,c2 --out report",
    'tonopah conform \'{ name = "cubic", profile = "hystart++" }\' --spec rfc9406 --json',
    'tonopah conform \'{ transport = "libquinn_endpoint.so", cc = "newreno" }\' --spec rfc9002',
    "tonopah conform --list",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, act, *EXAMPLES)
    command.add_argument(
        "subject",
        nargs="?",
        metavar="ALGORITHM",
        help="what `cc` of a scenario takes: name, FILE.py:Class, library, a whole transport",
    )
    command.add_argument("--spec", default="", metavar="SPEC", help=f"{', '.join(SPECS)}")
    command.add_argument("--case", default="", metavar="ID,…", help="only these cases")
    command.add_argument("--list", action="store_true", help="list the cases, of one specification or of all")
    add_set(command)
    command.add_argument(
        "--map", action="append", default=[], metavar="NAME=NAME",
        help="what the algorithm calls a variable or state that the cases read, like state=my_phase; may be repeated",
    )  # fmt: skip
    command.add_argument("--seed", type=first_seed, default=1, metavar="N", help="seed of all runs (default: 1)")
    command.add_argument("--jobs", type=positive, metavar="N", help="cases at a time (default: all cores)")
    command.add_argument("--out", metavar="DIR", help="write report.html, conform.json and the worlds, each a scenario")
    command.add_argument(
        "--qlog", metavar="DIR", help="write a qlog of each run, with the variables of the algorithm; of a transport its logs"
    )
    command.add_argument("--strict", action="store_true", help="what cannot be told counts as a deviation")


def act(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah conform`."""
    if arguments.list:
        return show(arguments)
    if not arguments.subject:
        raise InputError("ALGORITHM", "is missing", "a name, FILE.py:Class or a library; --list lists the cases")
    for option, given in (("--out", arguments.out), ("--qlog", arguments.qlog)):
        if given and Path(given).exists() and not Path(given).is_dir():
            raise InputError(option, f"{given} is no folder", "a folder, which may be new")
    report = conform(
        arguments.subject, arguments.spec, case=listed(arguments.case), set=changes(arguments), map=arguments.map,
        seed=arguments.seed, jobs=arguments.jobs, out=arguments.out, qlogs=arguments.qlog,
    )  # fmt: skip
    print(as_text(report) if arguments.json else "\n".join(lines(report, console().width)), end="" if arguments.json else "\n")
    return report.status(arguments.strict)


def show(arguments: argparse.Namespace) -> int:
    """List cases."""
    import json

    specs = [spec_of(arguments.spec)] if arguments.spec else list(SPECS.values())
    rows = [
        {"spec": spec.name, "id": case.id, "title": case.title, "source": case.source, "outside": case.outside is not None}
        for spec in specs
        for case in cases_of(spec, listed(arguments.case))
    ]
    if arguments.json:
        print(json.dumps(rows))
        return 0
    for spec in specs:
        print(f"{spec.name}: {spec.title} ({spec.text_of}); for example tonopah conform {spec.subject!r} --spec {spec.name}")
        for case in cases_of(spec, listed(arguments.case)):
            print(f"  {case.id:<4} {case.title:<31} {case.source}")
    return 0
