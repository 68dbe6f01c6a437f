"""`tonopah study report`: the report of stored results."""

import argparse
import json
import shlex
import sys
from pathlib import Path

from tonopah.cli.arguments import add_common
from tonopah.cli.results import results_folder
from tonopah.cli.study_index import index_around
from tonopah.errors import InputError
from tonopah.report import verdicts
from tonopah.spec.reader import is_edited
from tonopah.store.pack import SUFFIX, unpacked
from tonopah.study.study import Study
from tonopah.terminal.grid import print_answer


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, report_study, "tonopah study report beside-cubic", "tonopah study report results/beside-cubic")
    command.add_argument(
        "folder", metavar="NAME|DIR|FILE", help="study that was run: its name, its results folder, or a file of `study pack`"
    )
    command.add_argument("--out", metavar="DIR", help="folder to write into (default: DIR; for FILE the folder of its name)")


def report_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study report`."""
    given = Path(arguments.folder)
    if given.is_file() and given.suffix != ".toml":
        out = Path(arguments.out) if arguments.out else given.with_name(given.name.removesuffix(SUFFIX).removesuffix(".zip"))
        if out == given:
            raise InputError("--out", "is needed: the file has the name of the folder", "a folder", str(given))
        with unpacked(given) as folder:
            return print_report(Study.open(folder), 0, arguments.json, out)
    study = Study.open(results_folder(arguments.folder))
    file = study.home / Path(study.source).name
    if is_edited(study.document, file):
        again = f"`tonopah study run {shlex.quote(str(file))}` takes the edited one"
        print(
            f"note: {file} was edited or removed since the study was run; the report shows the study as it was; {again}",
            file=sys.stderr,
        )
    return print_report(study, 0, arguments.json, Path(arguments.out) if arguments.out else None)


def print_report(study: Study, done: int, as_json: bool, out: Path | None = None) -> int:
    """Write the report of a study, into the folder of its results or another, and print where it is."""
    path = study.report(out)
    facts = {
        "study": study.name,
        "runs": len(study.plan.runs),
        "measured": study.plan.measured,
        "run_now": done,
        "missing": study.missing(),
        "folder": str(path.parent),
        "report": str(path),
        "warnings": study.plan.warnings,
    }
    index = index_around(path.parent)
    found = verdicts.read(path.parent)
    facts["answer"] = found["answer"] if found else []
    if as_json:
        print(json.dumps(facts | {"index": index and str(index)}))
    else:
        missing = f"; {facts['missing']} of them missing" if facts["missing"] else ""
        print(
            f"{study.name}: {study.plan.size}{missing}; {done} run now\nreport: {path.resolve()}"
            + (f"\nindex: {index}" if index else "")
        )
        print_answer(facts["answer"])
    return 0
