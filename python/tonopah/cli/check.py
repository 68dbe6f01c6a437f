"""`tonopah check`."""

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.cc.binding import rebase
from tonopah.cli.arguments import (
    add_code,
    add_common,
    add_set,
    changes,
    from_source,
    instant,
    require_place,
    scenario_source,
    seed,
    warn,
)
from tonopah.errors import InputError, relay, warning_texts
from tonopah.plot import network, satellites
from tonopah.plot.network import describe
from tonopah.runs.simulation import check
from tonopah.scenario.document import is_study, prepare, read, to_toml
from tonopah.writing import replace_file

if TYPE_CHECKING:
    from tonopah.spec.source import Sourced

EXAMPLES = (
    "tonopah check dumbbell.toml --expand",
    "tonopah check reports:tcp-fr-hosts --write mine.toml    the network of a script as a scenario",
    "tonopah check leo.toml --at 10min --picture leo.svg    a map with tracks, and the delay over a day",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    add_common(command, check_file, *EXAMPLES)
    command.add_argument("file", help="scenario or study (TOML), or a source such as reports:tcp-fr-hosts; - is standard input")
    command.add_argument("--expand", action="store_true", help="print the network as a graph scenario (TOML)")
    command.add_argument(
        "--write", metavar="FILE", help="write the scenario with its changes (TOML); of a source the scenario that it stands for"
    )
    command.add_argument("--picture", metavar="FILE", help="draw the network (SVG); satellites as a map")
    command.add_argument("--at", type=instant, metavar="TIME", help="time of a map, like 90s, 10min or 5h (default: 0s)")
    command.add_argument("--seed", type=seed, default=1, help="random seed of topology and placement (default: 1)")
    add_set(command)
    add_code(command, "a scenario or study")


def check_file(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah check`."""
    arguments.file = scenario_source(arguments.file)
    made = changes(arguments)
    if found := from_source(arguments.file, made):
        arguments.file, made = found.run_of(), {}
    document, name = read(arguments.file)
    require_place("--write", arguments.write)
    require_place("--picture", arguments.picture)
    if arguments.at is not None and not arguments.picture:
        raise InputError("--at", "is the time of a picture", "--picture FILE")
    if is_study(document):
        return check_study(arguments)
    checked = check(arguments.file, arguments.seed, made)
    graph = checked["graph"]
    lines = [f"ok: {describe(graph)}"]
    if arguments.picture:
        checked, lines = draw(arguments, checked, made)
    if arguments.write:
        lines.append(f"scenario: {write_scenario(Path(arguments.write), prepare(arguments.file, made)[0], found)}")
    if arguments.json:
        print(json.dumps(checked))
        return 0
    warn(warning_texts(checked["warnings"], name))
    if arguments.expand:
        print(to_toml(graph), end="")
    else:
        print("\n".join(lines + reach_lines(checked["radio"])))
    return 0


def write_scenario(path: Path, scenario: dict[str, Any], found: "Sourced | None") -> Path:
    """Write a scenario with the changes that were made in it; of one from a source, what it does not hold too."""
    rebase(scenario, Path(os.path.relpath(Path(), path.absolute().parent)))
    told = [found.title, found.about, f"Not in this file: {found.lacks}." if found.lacks else ""] if found else []
    replace_file(path, "".join(f"# {text}\n" for text in told if text) + to_toml(scenario))
    return path.resolve()


def reach_lines(radio: dict[str, Any] | None) -> list[str]:
    """Return how far the radios reach, by rate, and how many hops each flow has; nothing without radios."""
    if radio is None:
        return []
    lines = []
    for channel in radio["channels"]:
        data = ", ".join(f"{rate / 1e6:g} Mb/s {metres:.0f} m" for rate, metres in channel["data"])
        lines.append(f"reach: {data}; carrier sense {channel['carrier_sense_m']:.0f} m")
    told = [f"{flow['from']} to {flow['to']} {'no path' if flow['hops'] is None else flow['hops']}" for flow in radio["flows"]]
    return list(dict.fromkeys(lines)) + ([f"hops: {', '.join(told)}"] if told else [])


def draw(arguments: argparse.Namespace, checked: dict[str, Any], made: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Draw the network; return what is known of it for a program, and for a person."""
    graph, path = checked["graph"], Path(arguments.picture)
    if graph["network"]["kind"] != "constellation":
        if arguments.at:
            raise InputError("--at", "is for constellations; the picture of another network has no time")
        picture, told = network.draw(graph), f"ok: {describe(graph)}"
    else:
        tracks = satellites.find_ground_tracks(arguments.file, arguments.seed, made, arguments.at or 0.0)
        checked = checked | {"tracks": tracks}
        picture, told = satellites.draw(tracks), satellites.caption(tracks)
    replace_file(path, picture)
    return checked, [told, f"picture: {path.resolve()}"]


def check_study(arguments: argparse.Namespace) -> int:
    """Print the size of a study, and what is to be known of it."""
    from tonopah.analysis.sensitivity import check_alternatives
    from tonopah.spec.criteria import changed_since
    from tonopah.study.study import Study

    if arguments.write:
        raise InputError("--write", "is for a scenario; a study has many", "tonopah check SCENARIO --write FILE")
    if arguments.picture:
        raise InputError("--picture", "is for a scenario; a study has many networks", "tonopah check SCENARIO --picture FILE")
    source = arguments.file
    study = Study.load(Path(source) if isinstance(source, str) else source)
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
