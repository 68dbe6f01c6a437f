"""`tonopah study`: a group of commands, each in a module of its own that is imported only if it runs."""

import argparse

from tonopah.cli.parser import add_modules

COMMANDS = {
    "run": "run the missing runs of a study and write its report",
    "merge": "merge the shards of a study",
    "report": "write the report again from stored results",
    "pack": "pack a finished study into one file",
    "figure": "draw figures of a study for a paper, each with its numbers as CSV",
    "table": "print means with intervals and differences to the baseline, for papers too (LaTeX)",
    "index": "write a page over all studies of a folder: question, answer, verdicts",
    "sensitivity": "judge the claims of a study again where something else is assumed",
    "criteria": "print the hash of the criteria of a study, and their history",
    "list": "list the shipped studies",
    "schema": "print the JSON schema of a study file",
}
"""Commands by name with their summary; the module `cli.study_NAME` has `add_arguments`."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the commands of `study`."""
    command.epilog = "example: tonopah study run asran --quick"
    add_modules(command, COMMANDS, "tonopah.cli.study_")
