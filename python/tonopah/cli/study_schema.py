"""`tonopah study schema`: the keys of a study file for editors."""

import argparse
import json

from tonopah.cli.arguments import add_common
from tonopah.spec.schema import json_schema


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, print_schema, "tonopah study schema > study.schema.json")


def print_schema(_: argparse.Namespace) -> int:
    """Carry out `tonopah study schema`."""
    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return 0
