"""`tonopah study report`: the report of stored results."""

import argparse
import json
import shlex
import sys
from pathlib import Path

from tonopah.cli.arguments import add_common
from tonopah.cli.study_index import index_around
from tonopah.spec.reader import is_edited
from tonopah.study import Study


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, report_study, "tonopah study report results/asran")
    command.add_argument("folder", metavar="DIR", help="results folder of a study")


def report_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study report`."""
    study = Study.open(arguments.folder)
    file = study.home / Path(study.source).name
    if is_edited(study.document, file):
        again = f"`tonopah study run {shlex.quote(str(file))}` takes the edited one"
        print(
            f"note: {file} was edited or removed since the study was run; the report shows the study as it was; {again}",
            file=sys.stderr,
        )
    return print_report(study, 0, arguments.json)


def print_report(study: Study, done: int, as_json: bool) -> int:
    """Write the report of a study and print where it is."""
    path = study.report()
    facts = {
        "study": study.name,
        "runs": len(study.plan.runs),
        "measured": study.plan.measured,
        "run_now": done,
        "missing": study.missing(),
        "folder": str(study.folder),
        "report": str(path),
    }
    index = index_around(study.folder)
    if as_json:
        print(json.dumps(facts | {"index": index and str(index)}))
    else:
        missing = f"; {facts['missing']} of them missing" if facts["missing"] else ""
        print(
            f"{study.name}: {study.plan.size}{missing}; {done} run now\nreport: {path.resolve()}"
            + (f"\nindex: {index}" if index else "")
        )
    return 0
