"""`tonopah evaluate`: what a congestion control does to a network, along RFC 9743."""

import argparse
import json
from typing import TYPE_CHECKING, cast

from tonopah.cli.arguments import add_common, positive
from tonopah.cli.execution import Renamed, add_execution, carry_out, size_of
from tonopah.errors import InputError
from tonopah.judge import page, sentences
from tonopah.judge.evaluation import SCALES, Evaluation, begin
from tonopah.judge.scoreboard import Row
from tonopah.judge.statement import read_statement
from tonopah.judge.study import Results
from tonopah.terminal.grid import Grid, print_answer, print_grids

if TYPE_CHECKING:
    from tonopah.judge.definitions import Mode

SIZES = {"quick": "5 replicates and a second set that confirms", "full": "10 replicates of more points"}
EXAMPLES = (
    "tonopah evaluate bbr3",
    "tonopah evaluate my.py:MyCC --criteria C2,C6",
    'tonopah evaluate \'{ name = "cubic", profile = "rfc" }\' --size full --jobs 2',
    "tonopah evaluate cubic --tcp.start=search,hystart++ --criteria C5,C10,C21",
    "tonopah evaluate bbr3 --tcpeval --criteria T3,T5",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, evaluate, *EXAMPLES)
    command.add_argument("algorithm", help="name of an algorithm, FILE.py:CLASS, or a table as `cc` of a scenario takes it")
    command.add_argument(
        "--against", default="cubic,reno", metavar="A[,B]", help="baseline and second reference (default: cubic,reno)"
    )
    for key, what in (("start", "how its connections start"), ("cwnd_validation", "whether a window grows that is not used")):
        command.add_argument(
            f"--tcp.{key}",
            metavar="A[,B]",
            help=f"{what}, as `tcp.{key}` of a scenario; B is that of the references, which have none otherwise",
        )
    command.add_argument(
        "--until", choices=["clear"], help="add replicates where a row is unclear; every interval is wider for it"
    )
    command.add_argument("--at-most", type=positive, default=30, metavar="N", help="replicates with --until (default: 30)")
    command.add_argument(
        "--margin", action="store_true", help="show how the words change between half and double the margins that count"
    )
    command.add_argument("--criteria", metavar="C2,C6", help="only these criteria, and the runs that they need")
    command.add_argument(
        "--tcpeval",
        action="store_true",
        help="the scenarios of draft-irtf-iccrg-tcpeval instead, for the draft's own times: about 25 min on two cores",
    )
    command.add_argument(
        "--statement", metavar="FILE", help='what the author states (TOML), for the page "For your specification"'
    )
    add_execution(command, SIZES, "quick")
    command.add_argument("--full", action=Renamed, const="--size full")


def evaluate(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah evaluate`."""
    statement = read_statement(arguments.statement) if arguments.statement else None
    if arguments.until and arguments.shard:
        raise InputError("--until", "does not go with --shard, which sees a part of the runs only", "one of the two")
    if arguments.tcpeval and (arguments.size or arguments.statement):
        raise InputError(
            "--tcpeval", "is a suite of one size, without a page for a specification", "neither --size nor --statement"
        )
    evaluation = begin(
        arguments.algorithm,
        arguments.against.split(","),
        cast("Mode", "tcpeval" if arguments.tcpeval else size_of(arguments)),
        arguments.criteria.split(",") if arguments.criteria else (),
        arguments.out,
        arguments.store,
        arguments.replicates or 0,
        arguments.at_most if arguments.until else 0,
        {key: value for key in ("start", "cwnd_validation") if (value := getattr(arguments, f"tcp.{key}"))},
    )
    evaluation.shows_margins = arguments.margin
    done = carry_out(evaluation, arguments)
    if arguments.shard:
        return 0
    measured = evaluation.measured()
    rows = evaluation.rows(measured)
    report = page.write(evaluation, measured, rows, statement)
    if arguments.json:
        margins = {"by_margin": evaluation.by_margin(measured)} if arguments.margin else {}
        print(json.dumps(evaluation.scoreboard(rows) | margins | {"report": str(report), "run_now": done}, allow_nan=False))
        return 0
    show_rows(evaluation, measured, rows)
    print(f"report: {report.resolve()}")
    print_answer(sentences.summary(rows, evaluation.cast))
    return 0


def show_rows(evaluation: Evaluation, measured: Results, rows: list[Row]) -> None:
    """Print the scoreboard."""
    title = f"{evaluation.cast.subject.label}, against {evaluation.cast.baseline.label}"
    lines = [
        [
            row.criterion.id,
            row.criterion.name,
            sentences.seen_text(row, evaluation.cast),
            sentences.effect_text(row.primary),
            row.word + (f", {row.second_word}" if row.second_word else ""),
        ]
        for row in rows
    ]
    print_grids(Grid(title, ("", "criterion", "seen", "subject / reference [interval]", "verdict"), lines, 3))
    if evaluation.shows_margins:
        names = ("criterion", *(f"{scale:g} x the margins" for scale in SCALES))
        words = [[name, *(by_scale[scale] for scale in SCALES)] for name, by_scale in evaluation.by_margin(measured).items()]
        print_grids(Grid("Words that change with the margins", names, words, 1))
