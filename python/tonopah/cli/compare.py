"""`tonopah compare`: a candidate against a reference, for continuous integration. Its exit code says what was found."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common, percent
from tonopah.cli.execution import Renamed, add_execution, carry_out, size_of
from tonopah.errors import RunFailedError
from tonopah.judge.comparison import SECTIONS, SHOWN, Status, begin, change_text, may_regress, size, threshold_text
from tonopah.judge.effects import Effect
from tonopah.terminal.grid import print_answer
from tonopah.writing import replace_file

SIZES = {
    "smoke": "three experiments with 5 replicates: some ten seconds, a minute with classes in Python",
    "quick": "fourteen with 10, a minute and a half on two cores",
    "full": "all experiments",
}
STATUS: dict[Status, int] = {"regression": 1, "unclear": 3, "ok": 0}
"""Exit codes; 2 is a mistake in what was asked for."""
EXAMPLES = (
    "tonopah compare cubic my.py:MyCC --markdown comment.md",
    "tonopah compare old.py:MyCC new.py:MyCC --size smoke --threshold 10%",
    "tonopah compare cubic my.py:MyCC --experiments E1,E6 --replicates 20 --json",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, compare, *EXAMPLES)
    command.add_argument("a", metavar="A", help="the reference: a name, FILE.py:CLASS, or a table as `cc` of a scenario takes it")
    command.add_argument("b", metavar="B", help="the candidate")
    command.add_argument("--experiments", metavar="E1,E6", help="only these experiments")
    command.add_argument(
        "--threshold", type=percent, metavar="P%", help="loss of goodput that counts; scales all thresholds (default: 5%%)"
    )
    command.add_argument(
        "--equivalence", action="store_true", help="a row that is not shown to be the same counts too: for refactorings"
    )
    command.add_argument(
        "--allow-unclear", action="store_true", help="exit with 0 where nothing is decided and a regression not excluded (else 3)"
    )
    command.add_argument("--markdown", metavar="FILE", help="write a comment for a pull request")
    add_execution(command, SIZES, "quick")
    for name in ("smoke", "full"):
        command.add_argument(f"--{name}", action=Renamed, const=f"--size {name}")


def compare(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah compare`."""
    made = begin(
        arguments.a,
        arguments.b,
        size_of(arguments),
        arguments.experiments.split(",") if arguments.experiments else (),
        arguments.threshold,
        arguments.replicates or 0,
        arguments.out,
        arguments.store,
    )
    made.equivalence = arguments.equivalence
    carry_out(made, arguments)
    if arguments.shard:
        return 0
    rows = made.compare(made.measured())
    facts, text = made.facts(rows), made.markdown(rows)
    try:
        made.out.mkdir(parents=True, exist_ok=True)
        replace_file(made.out / "compare.json", json.dumps(facts, indent=1, allow_nan=False) + "\n")
        replace_file(Path(arguments.markdown) if arguments.markdown else made.out / "compare.md", text)
    except OSError as error:
        raise RunFailedError(f"{error.filename or made.out}: cannot be written: {error.strerror or error}") from error
    print(json.dumps(facts, allow_nan=False) if arguments.json else made.headline(rows))
    if not arguments.json:
        show_rows(rows)
        print_answer([made.sentence(rows)])
    status = made.status(rows)
    return STATUS["ok" if arguments.allow_unclear and status == "unclear" else status]


def show_rows(rows: list[Effect]) -> None:
    """Print what regressed, and the rows where a regression is not excluded, those with the greatest changes first."""
    for word, wanted in (("regressed", SECTIONS["Regressions"]), ("unclear", may_regress)):
        found = sorted((row for row in rows if wanted(row)), key=lambda row: (not row.broken, -size(row)))
        most = len(found) if word == "regressed" else SHOWN
        for row in found[:most]:
            change = f"{row.baseline:g} → {row.subject:g}, allowed {row.margin:g}" if row.broken else change_text(row)
            limit = "" if row.broken else f" (counts from {threshold_text(row)})"
            print(f"  {word}: {row.metric} at {row.place}: {change}{limit}")
        if len(found) > most:
            print(f"  {word}: {len(found) - most} more in compare.json")
