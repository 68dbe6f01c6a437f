"""`tonopah packetdrill`: run packetdrill scripts against the endpoint, without a kernel or a network."""

import argparse
import json
import textwrap
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tonopah.cli.arguments import add_common
from tonopah.errors import InputError, limit_text
from tonopah.packetdrill.interpreter import ScriptVerdict, run_file

EXAMPLES = (
    "tonopah packetdrill fr-4pkt.pkt",
    "tonopah packetdrill packetdrill/gtests/net/tcp           every script of a folder",
    "tonopah packetdrill gtests --json | jq '.[].verdict'",
)
WIDTH = 80


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `packetdrill`."""
    command.description = (
        "Run packetdrill scripts against the TCP endpoint, profile linux, in simulated time.\n"
        "A script passes, differs (its first difference is shown), or is not applicable: it asks\n"
        "for something that the endpoint does not model. Exit code 1 if one differs, 2 if a\n"
        "file is no script: line and column follow."
    )
    add_common(command, run_scripts, *EXAMPLES)
    command.add_argument("files", nargs="+", metavar="FILE", help="script, or folder of scripts (*.pkt)")


def run_scripts(arguments: argparse.Namespace) -> int:
    """Run the scripts and print their verdicts."""
    verdicts = [verdict_of(path) for path in scripts_in(arguments.files)]
    if arguments.json:
        print(json.dumps([asdict(verdict) for verdict in verdicts]))
    else:
        for verdict in verdicts:
            print(verdict_text(verdict))
        counts = Counter(verdict.verdict for verdict in verdicts)
        line = f"{counts['pass']} pass, {counts['differs']} differ, {counts['not applicable']} are not applicable"
        print(line + (f", {counts['unreadable']} cannot be read" if counts["unreadable"] else ""))
    found = {verdict.verdict for verdict in verdicts}
    return 2 if "unreadable" in found else int("differs" in found)


def verdict_of(path: Path) -> ScriptVerdict:
    """Return the verdict of a script; an error of this program in one does not hide the verdicts of the others."""
    try:
        return run_file(path)
    except InputError:
        raise
    except Exception as error:
        reason = f"internal error, please report it: {type(error).__name__}: {error}"
        return ScriptVerdict(str(path), "unreadable", reason=limit_text(reason))


def scripts_in(names: list[str]) -> list[Path]:
    """Return the scripts of files and folders, in the order of their names."""
    paths: list[Path] = []
    for name in names:
        path = Path(name)
        found = sorted(path.rglob("*.pkt")) if path.is_dir() else [path]
        if not found:
            raise InputError(name, "contains no script", "a folder with files *.pkt")
        paths += found
    return paths


def verdict_text(verdict: ScriptVerdict) -> str:
    """Return a verdict as lines of at most 80 columns where words allow it."""
    lines = [f"{verdict.verdict:<15} {verdict.script}"]
    place = f"line {verdict.line}" + ("" if verdict.time_s is None else f", {verdict.time_s:g} s")
    if verdict.verdict == "differs":
        lines += [f"  {place}", *wrap("script", verdict.event), *wrap("expected", verdict.expected), *wrap("seen", verdict.seen)]
    elif verdict.verdict == "unreadable":
        lines += wrap("error", verdict.reason)
    elif verdict.reason:
        lines += wrap("reason", verdict.reason if verdict.line is None else f"{verdict.reason} ({place})")
    if verdict.unchecked and verdict.verdict == "pass":
        lines += wrap("not compared", ", ".join(verdict.unchecked))
    return "\n".join(lines)


def wrap(name: str, text: str | None) -> list[str]:
    """Return a named value as lines."""
    return textwrap.wrap(f"{name}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
