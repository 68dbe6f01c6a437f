"""The command line. Exit codes: 0 done, 1 failed or interrupted, 2 wrong input. A message, never a traceback of this package.

Set TONOPAH_DEBUG=1 to see the traceback of an internal error.
"""

import argparse
import json
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah import _core, study_all, study_command
from tonopah.algorithm import described
from tonopah.bench.command import add_bench
from tonopah.doctor import add_doctor
from tonopah.errors import (
    AlgorithmError,
    EngineError,
    InputError,
    LimitError,
    RunFailedError,
    ScenarioError,
    relay,
    traceback_of,
)
from tonopah.result import OWNERS, Result, algorithms, run
from tonopah.scenario import check, engine_form, load, parse_assignment, prepare, to_toml
from tonopah.study import Study, shipped
from tonopah.study_file import SERIES
from tonopah.validate.command import add_validate


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        options = parser().parse_args(arguments)
        code = options.action(options)
        sys.stdout.flush()
        return code
    except ScenarioError as error:
        return complain(str(error), 2)
    except AlgorithmError as error:
        # The one traceback that is the user's: it leads into the algorithm.
        print(traceback_of(error), end="", file=sys.stderr)
        return complain(str(error), 1)
    except (RunFailedError, LimitError, EngineError) as error:
        return complain(str(error), 1)
    except KeyboardInterrupt:
        return complain("interrupted", 1)
    except BrokenPipeError:
        # The reader of the output has gone (`tonopah … | head`); nothing is left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), 1)
    except SystemExit:
        raise
    except BaseException as error:
        # Also a panic of the engine, which Python sees as a BaseException.
        if os.environ.get("TONOPAH_DEBUG"):
            traceback.print_exc()
        return complain(f"internal error, please report it: {type(error).__name__}: {error}", 1)


def complain(message: str, code: int) -> int:
    """Print one message to standard error and return the exit code."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="tonopah", description="A test range for TCP congestion control.")
    top.add_argument("--version", action="version", version=f"tonopah {_core.engine_version()}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_run(commands)
    add_study(commands)

    command = add(
        commands,
        "check",
        "check a scenario or a study without running it",
        "tonopah check dumbbell.toml --expand",
        do_check,
    )
    command.add_argument("file", help="scenario or study, TOML")
    command.add_argument("--expand", action="store_true", help="print the world as a graph scenario, TOML")
    command.add_argument("--seed", type=seed, default=1, help="draws random topologies (default: 1)")
    add_set(command)

    command = add(
        commands, "algorithms", "list congestion-control algorithms, or show one", "tonopah algorithms cubic", do_algorithms
    )
    command.add_argument("name", nargs="?", help="show all of this one; also a class in Python, like my_algorithm.py:MyCC")

    add_validate(commands, positive)
    add_map(commands)
    add_doctor(commands)

    add_bench(commands, positive)
    return top


def add(commands: Any, name: str, summary: str, example: str, action: Any) -> argparse.ArgumentParser:
    """Add a command with its help, an example and --json."""
    command = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", epilog=f"example: {example}"
    )
    command.set_defaults(action=action)
    command.add_argument("--json", action="store_true", help="print JSON for machines")
    return command


def add_set(command: argparse.ArgumentParser) -> None:
    """Add --set."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change a value, like flow.0.cc=reno; may be repeated",
    )


def add_run(commands: Any) -> None:
    """Add `run`."""
    example = "tonopah run dumbbell.toml --seed 2 --set flow.0.cc=reno"
    command = add(commands, "run", "run one scenario and print what it measured", example, do_run)
    command.add_argument("scenario", help="scenario, TOML")
    command.add_argument("--seed", type=seed, default=1, help="number of the replicate (default: 1)")
    add_set(command)
    command.add_argument(
        "--series", metavar="DIR", help="write recorded series into DIR, one CSV each (without record.series: all)"
    )
    command.add_argument("--netanim", metavar="FILE", help="write an animation for NetAnim (XML; a sample of the packets)")
    command.add_argument("--events", action="store_true", help="print every event of the run instead of a summary")


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
    study_all.add_until(command, positive)
    study_command.add_run_options(command, positive)
    example = "tonopah study merge results/asran.shard-*-of-4 --out results/asran"
    command = add(inner, "merge", "put the parts of a study together", example, study_command.do_merge)
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


def add_map(commands: Any) -> None:
    """Add `map`."""
    command = add(
        commands,
        "map",
        "draw the satellites of a scenario on a map, and the delay of its paths over a day",
        "tonopah map leo.toml --at 10min --out leo.svg",
        do_map,
    )
    command.add_argument("scenario", help="scenario with network.kind = constellation, TOML")
    command.add_argument(
        "--at", type=instant, default=0.0, metavar="TIME", help="instant of the map, like 90s, 10min or 5h (default: 0s)"
    )
    command.add_argument("--out", default="map.svg", metavar="FILE", help="where to write the picture, SVG (default: map.svg)")
    command.add_argument("--seed", type=seed, default=1, help="draws the times at which terminals look (default: 1)")
    add_set(command)


def instant(text: str) -> float:
    """Return a time of a day from the command line in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h)?", text, re.ASCII)
    seconds = float(found[1]) * {"s": 1, "min": 60, "h": 3600}[found[2] or "s"] if found else -1.0
    if not 0 <= seconds <= 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 0s to 10000000s, like 90s, 10min or 5h")
    return seconds


def seed(text: str) -> int:
    """Return a seed from the command line."""
    if not text.isascii() or not text.isdigit() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^64 - 1")
    return int(text)


def positive(text: str) -> int:
    """Return a positive whole number from the command line."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1,000,000")
    return int(text)


def changes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of all --set."""
    return dict(parse_assignment(text) for text in options.set)


def do_run(options: argparse.Namespace) -> int:
    """Carry out `tonopah run`."""
    made = changes(options)
    if options.events:
        scenario, name = prepare(options.scenario, made)
        try:
            bound = engine_form(scenario, name)
            print(_core.trace(bound.text, options.seed, bound.algorithms), end="")
        except ScenarioError as error:
            raise relay(error, name) from None
        return 0
    if options.series:
        Path(options.series).mkdir(parents=True, exist_ok=True)
        scenario, name = prepare(options.scenario, made)
        if not (scenario.get("record") or {}).get("series"):
            made["record.series"] = list(SERIES)
    if options.netanim:
        from tonopah import netanim

        result = netanim.run(*prepare(options.scenario, made), options.seed, Path(options.netanim))
    else:
        result = run(options.scenario, options.seed, made)
    if options.series:
        write_series(result, Path(options.series))
    if options.json:
        print(json.dumps(result.summary))
    else:
        print_run(result)
    return 0


def write_series(result: Result, folder: Path) -> None:
    """Write every series of a run as CSV; those of nodes only where there are radios."""
    names = [name for name in result.names if OWNERS.get(name) != "node" or len(result.series(name))]
    for name in names:
        result.series(name).to_csv(folder / f"{name}.csv", index=False)
    print(f"series: {', '.join(names)} in {folder}", file=sys.stderr)


def print_run(result: Result) -> None:
    """Print the tables of a run."""
    from tonopah import render

    console = render.console()
    for table in render.run_tables(result.summary):
        console.print(table)


def do_study_run(options: argparse.Namespace) -> int:
    """Carry out `tonopah study run`."""
    until = study_all.target(options)
    if options.study == "all":
        return study_all.run(options, until)
    study, done = study_command.carry_out(options, until)
    if options.shard:
        return study_command.print_shard(study, done, options)
    return print_report(study, done, options.json)


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


def do_check(options: argparse.Namespace) -> int:
    """Carry out `tonopah check`."""
    document = load(options.file)
    if "compare" in document or "question" in document:
        study = Study.load(Path(options.file))
        facts = {
            "runs": len(study.plan.runs),
            "parts": len(study.spec.parts),
            "algorithms": len({label for part in study.spec.parts for label in part.labels}),
            "sweeps": sum(len(part.sweeps) for part in study.spec.parts),
        }
        print(json.dumps(facts) if options.json else f"ok: a study of {facts['runs']} runs")
        return 0
    checked = check(options.file, options.seed, changes(options))
    graph = checked["graph"]
    if options.json:
        print(json.dumps(checked))
    elif options.expand:
        print(to_toml(graph), end="")
    else:
        from tonopah.picture import describe

        print(f"ok: {describe(graph)}")
    return 0


def do_algorithms(options: argparse.Namespace) -> int:
    """Carry out `tonopah algorithms`."""
    known = algorithms()
    if options.name and ":" in options.name:
        known = [described(options.name, "algorithms")]
    elif options.name:
        known = [entry for entry in known if entry["name"] == options.name]
        if not known:
            names = ", ".join(entry["name"] for entry in algorithms())
            raise InputError("algorithms", f"{options.name!r} is unknown", f"known: {names}")
    if options.json:
        print(json.dumps(known[0] if options.name else known))
        return 0
    from tonopah import render

    for table in render.algorithm_tables(known[0]) if options.name else [render.algorithm_table(known)]:
        render.console().print(table)
    return 0


def do_map(options: argparse.Namespace) -> int:
    """Carry out `tonopah map`."""
    from tonopah import earth

    surveyed = earth.survey_of(options.scenario, options.seed, changes(options), options.at)
    Path(options.out).write_text(earth.draw(surveyed), encoding="utf-8")
    if options.json:
        print(json.dumps(surveyed))
    else:
        print(f"{earth.caption(surveyed)}\nmap: {Path(options.out).resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
