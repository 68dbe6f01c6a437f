"""`tonopah share`."""

import argparse
import json

from tonopah.cli.arguments import add_common, add_set, changes, scenario_source, seed, warn
from tonopah.errors import warning_texts
from tonopah.runs.simulation import checked_in
from tonopah.scenario import links
from tonopah.scenario.document import prepare

PAGE = "http://127.0.0.1:8600/"
"""Of `tonopah serve`."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `share`."""
    add_common(command, share, "tonopah share dumbbell.toml --page https://example.org/lab/")
    command.add_argument("scenario", help="scenario (TOML); - is standard input")
    command.add_argument("--seed", type=seed, default=1, help="random seed (default: 1)")
    page = f"address of the page that opens the link, of `make page` or `tonopah serve` (default: {PAGE})"
    command.add_argument("--page", metavar="ADDRESS", default=PAGE, help=page)
    add_set(command)


def share(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah share`."""
    document, name = prepare(scenario_source(arguments.scenario), changes(arguments))
    warn(warning_texts(checked_in(document, name, arguments.seed)["warnings"], name))
    link = links.write(document, arguments.seed, arguments.page)
    print(json.dumps({"link": link}) if arguments.json else link)
    return 0
