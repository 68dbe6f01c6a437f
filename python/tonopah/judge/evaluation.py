"""An evaluation: an algorithm, what it is held against, and the folders that hold its runs and its report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_build, engine_version
from tonopah.analysis.sequential import schedule
from tonopah.errors import InputError
from tonopah.execution.options import ExecutionOptions
from tonopah.judge import sentences
from tonopah.judge.definitions import REPLICATES, Definitions, Mode, definitions, points, tcpeval_definitions
from tonopah.judge.scoreboard import Row, harm_facts, judge, row_facts
from tonopah.judge.study import JudgedStudy, Results, make_part
from tonopah.judge.subjects import REFERENCES, Cast, read_subject
from tonopah.names import slug

FORMAT = 1


class Evaluation(JudgedStudy):
    """The study of an algorithm in the experiments that the criteria read."""

    def __init__(
        self, cast: Cast, suite: Definitions, wanted: Sequence[str], mode: Mode, replicates: int, at_most: int, out: Path,
        store: str | Path | None,
    ):  # fmt: skip
        self.cast, self.suite, self.mode, self.replicates = cast, suite, mode, replicates
        self.schedule = schedule(replicates, at_most) if at_most > replicates else [replicates]
        self.looks = len(self.schedule)
        self.criteria = suite.chosen(list(wanted))
        marks = cast.subject.takes_marks
        needed = suite.experiments_of([one for one in self.criteria if one.rule != "marks" or marks])
        parts = [make_part(one, at, cast, replicates) for one in needed if (at := points(one, mode))]
        super().__init__(cast.subject.label, parts, self.criteria, out, store)

    def carry_out(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, more of it where a row is unclear, and return how many runs that were."""
        done = super().carry_out(options, quiet)
        for count in self.schedule[1:]:
            unclear = [row.criterion for row in self.rows(self.measured()) if row.is_undecided]
            if not unclear:
                break
            wanted = {experiment.id: experiment.most or count for experiment in self.suite.experiments_of(unclear)}
            for part in (part for part in self.spec.parts if part.id in wanted):
                part.replicates = min(count, wanted[part.id])
            self._plan = None
            done += super().carry_out(options, quiet)
        return done

    def rows(self, results: Results) -> list[Row]:
        """Return the scoreboard."""
        return judge(self.criteria, results, self.cast)

    @property
    def facts(self) -> dict[str, Any]:
        """What the page and the JSON say of it as a whole."""
        cast = self.cast
        return {
            "subject": {"name": cast.subject.label, "cc": cast.subject.cc, "source": cast.subject.source},
            "baselines": [cast.baseline.label, cast.second.label],
            "engine": {"version": engine_version(), "build": engine_build()},
            "document": self.suite.document,
            "mode": self.mode,
            "replicates": self.replicates,
            "replicates_most": max([self.replicates, *(part.replicates for part in self.spec.parts)]),
            "looks": self.looks,
            "seeds": self.seeds,
            "runs": len(self.plan.runs),
            "command": self.command,
        }

    def scoreboard(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Return the scoreboard for programs."""
        return {"format": FORMAT, **self.facts, "criteria": [row_facts(row) for row in rows], "harm": harm_facts(rows)}

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the scoreboard as a table of Markdown."""
        cast, level = self.cast, sentences.level_text(self.looks)
        head = [
            f"# {cast.subject.label}",
            "",
            f"Against {cast.baseline.label} and {cast.second.label}; Tonopah {engine_version()}, {self.mode}, "
            f"{sentences.replicates_text(self.facts)}.",
            "",
            *[f"{text}\n" for text in sentences.summary(rows)],
            f"| criterion | {self.suite.document} | verdict | seen | effect [{level} interval] | n |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        return "\n".join(
            [*head, *(markdown_row(row, cast) for row in rows), "", sentences.foot(cast), "", f"`{self.command}`", ""]
        )


def markdown_row(row: Row, cast: Cast) -> str:
    """Return a row as a line of the table."""
    criterion = row.criterion
    word = ", ".join(text for text in (row.word, row.second_word, row.worst_point and f"at {row.worst_point}") if text)
    kept = f"{sum(line.kept for line in row.limits)} of {len(row.limits)} bounds kept" if row.limits else ""
    seen = (
        f"{sentences.metric_text(row.primary)}: {sentences.values_text(row.primary, cast)}" if row.primary else kept or row.reason
    )
    effect = sentences.effect_text(row.primary)
    cells = (f"{criterion.id} {criterion.name}", f"§{criterion.section}, {criterion.level}", word, seen, effect)
    return f"| {' | '.join(cells)} | {row.n or '–'} |"


def begin(
    algorithm: str,
    against: Sequence[str] = REFERENCES,
    mode: Mode = "quick",
    criteria: Sequence[str] = (),
    out: str | Path | None = None,
    store: str | Path | None = None,
    replicates: int = 0,
    at_most: int = 0,
) -> Evaluation:
    """Return an evaluation of an algorithm as the command line names it. Raises InputError."""
    if not 1 <= len(against) <= 2:
        raise InputError("--against", f"{len(against)} algorithms", "the baseline, or baseline and second reference: cubic,reno")
    subject = read_subject(algorithm)
    references = [read_subject(name, "--against") for name in (*against, *REFERENCES[len(against) :])]
    kind = "tcpeval" if mode == "tcpeval" else "evaluate"
    folder = Path(out) if out else Path("results") / f"{kind}-{slug(subject.name.lower())}"
    suite = tcpeval_definitions() if mode == "tcpeval" else definitions()
    count = replicates or REPLICATES[mode]
    return Evaluation(Cast(subject, *references), suite, criteria, mode, count, at_most, folder, store)
