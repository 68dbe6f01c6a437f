"""The command line. Exit codes: 0 done, 1 failed or interrupted, 2 wrong input. A message, never a traceback of this package.

Set TONOPAH_DEBUG=1 to see the traceback of an internal error.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version, trace
from tonopah.cc.loading import described
from tonopah.cli.arguments import add, add_set, instant, seed
from tonopah.cli.bench import add_bench
from tonopah.cli.doctor import add_doctor
from tonopah.cli.study import add_study
from tonopah.cli.validate import add_validate
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, RunFailedError, ScenarioError, relay, traceback_of
from tonopah.scenario.document import load, prepare, to_toml
from tonopah.scenario.paths import parse_assignment
from tonopah.simulation import OWNERS, Result, algorithms, check, engine_form, run
from tonopah.spec.derived import SERIES
from tonopah.study import Study


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
    top.add_argument("--version", action="version", version=f"tonopah {engine_version()}")
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

    add_validate(commands)
    add_map(commands)
    add_doctor(commands)

    add_bench(commands)
    return top


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
            print(trace(bound.text, options.seed, bound.algorithms), end="")
        except ScenarioError as error:
            raise relay(error, name) from None
        return 0
    if options.series:
        Path(options.series).mkdir(parents=True, exist_ok=True)
        scenario, name = prepare(options.scenario, made)
        if not (scenario.get("record") or {}).get("series"):
            made["record.series"] = list(SERIES)
    if options.netanim:
        from tonopah.export import netanim

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
    from tonopah import terminal

    console = terminal.console()
    for table in terminal.run_tables(result.summary):
        console.print(table)


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
        from tonopah.plot.network import describe

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
    from tonopah import terminal

    for table in terminal.algorithm_tables(known[0]) if options.name else [terminal.algorithm_table(known)]:
        terminal.console().print(table)
    return 0


def do_map(options: argparse.Namespace) -> int:
    """Carry out `tonopah map`."""
    from tonopah.plot import satellites

    surveyed = satellites.survey_of(options.scenario, options.seed, changes(options), options.at)
    Path(options.out).write_text(satellites.draw(surveyed), encoding="utf-8")
    if options.json:
        print(json.dumps(surveyed))
    else:
        print(f"{satellites.caption(surveyed)}\nmap: {Path(options.out).resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
