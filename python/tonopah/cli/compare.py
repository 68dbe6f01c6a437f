"""`tonopah compare`: a candidate against a reference, for continuous integration. Exit code 1 on a regression."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common, percent
from tonopah.cli.execution import Renamed, add_execution, carry_out, size_of
from tonopah.errors import RunFailedError
from tonopah.judge.comparison import begin, outcome
from tonopah.writing import replace_file

SIZES = {
    "smoke": "three experiments with 5 replicates, some ten seconds",
    "quick": "fourteen with 10, a minute and a half on two cores",
    "full": "all experiments",
}
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
    command.add_argument("--markdown", metavar="FILE", help="write a comment for a pull request")
    add_execution(command, SIZES, "quick")
    for size in ("smoke", "full"):
        command.add_argument(f"--{size}", action=Renamed, const=f"--size {size}")


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
    for row in [] if arguments.json else [row for row in rows if outcome(row) == "regressed"]:
        value = row.estimate.value
        change = f"{value:+.1f} %" if row.kind == "percent" else f"{row.baseline:g} → {row.subject:g}"
        print(f"  regressed: {row.metric} at {row.place}: {change}")
    return 1 if made.failed(rows) else 0
