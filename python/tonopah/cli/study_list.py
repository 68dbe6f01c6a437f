"""`tonopah study list`: the shipped studies."""

import argparse
import json

from tonopah.cli.arguments import add_common
from tonopah.scenario.document import load
from tonopah.spec.library import shipped


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, list_studies, "tonopah study list")


def list_studies(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study list`."""
    entries = [{"name": name, "title": load(path).get("title", ""), "file": str(path)} for name, path in shipped().items()]
    if arguments.json:
        print(json.dumps(entries))
    else:
        for entry in entries:
            print(f"{entry['name']:<12} {entry['title']}")
    return 0
