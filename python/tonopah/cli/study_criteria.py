"""`tonopah study criteria`: the hash of a study's criteria, and their history."""

import argparse
import datetime
import json

from tonopah.cli.arguments import add_common
from tonopah.spec.criteria import changed_since
from tonopah.study.study import Study


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, print_criteria, "tonopah study criteria asran")
    command.add_argument("study", metavar="NAME", help="name of a shipped study, or a study file")


def print_criteria(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study criteria`."""
    study = Study.load(arguments.study)
    spec, changed = study.spec, changed_since(study.spec)
    if arguments.json:
        history = [entry.model_dump(mode="json") for entry in spec.history]
        print(json.dumps({"study": study.name, "hash": spec.criteria, "changed": changed or None, "history": history}))
        return 0
    print(f"{study.name}: the criteria of its {len(spec.claims)} claims have the hash {spec.criteria}")
    for entry in spec.history:
        print(f"  {entry.date}  {entry.hash}  {', '.join(entry.claims) or 'all'}: {entry.reason}")
    if changed:
        print(f"note: {changed}")
    if changed or not spec.history:
        what = "Why they were changed." if spec.history else "Where they come from."
        print(
            f'an entry for now:\n[[history]]\ndate   = "{datetime.date.today()}"\nhash   = "{spec.criteria}"\nreason = "{what}"'
        )
    return 0
