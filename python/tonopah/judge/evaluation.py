"""An evaluation: an algorithm, what it is held against, and the folders that hold its runs and its report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tonopah._core import engine_build, engine_version
from tonopah.analysis.sequential import schedule
from tonopah.errors import InputError
from tonopah.execution.options import ExecutionOptions
from tonopah.judge import sentences
from tonopah.judge.definitions import REPLICATES, Definitions, Mode, definitions, points, tcpeval_definitions
from tonopah.judge.scoreboard import Row, by_setting, finding_table, judge, row_facts, wanted_again, wanted_everywhere
from tonopah.judge.study import JudgedStudy, Results, make_part, worlds_of
from tonopah.judge.subjects import REFERENCES, Cast, read_subject, variant
from tonopah.names import slug

FORMAT = 2
NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})
SCALES = (0.5, 1.0, 2.0)
"""Of all margins, in the table of how words change with them."""


class Evaluation(JudgedStudy):
    """The study of an algorithm in the experiments that the criteria read."""

    shows_margins = False
    """Whether the report shows how words change between half and double the margins."""

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
        for part in parts:
            worlds_of(part).everywhere = part.replicates
        super().__init__(cast.subject.label, parts, self.criteria, out, store)

    def carry_out(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, and return how many runs that were.

        A first set of replicates is run until it tells of the long run; a second is drawn after it where that asks for it; and
        with several looks, more of it where a row is unclear.
        """
        with self.writing(options):
            done = super().carry_out(options, quiet)
            if options.shard:
                return done
            self.draw_again(wanted_again(row, self.replicates) for row in self.rows(self.measured()))
            done += self.run(out=self.folder, quiet=quiet, options=options)
            for count in self.schedule[1:]:
                unclear = [row for row in self.rows(self.measured()) if row.is_undecided]
                if not unclear:
                    break
                self.draw_again(wanted_everywhere(row, count) for row in unclear)
                done += self.run(out=self.folder, quiet=quiet, options=options)
        return done

    def draw_again(self, wanted: Iterable[Mapping[tuple[str, str], int]]) -> None:
        """Ask for replicates beyond the first set at these points, by experiment and label."""
        for experiment, label, count in ((*place, count) for one in wanted for place, count in one.items()):
            for worlds in (worlds_of(part) for part in self.spec.parts if part.id == experiment):
                for key, point in worlds.points.items():
                    if point.label == label and not point.experiment.most:
                        worlds.again[key] = max(count, worlds.again.get(key, 0))
        for part in self.spec.parts:
            part.replicates = max([part.replicates, *(self.replicates + more for more in worlds_of(part).again.values())])
        self._plan = None

    def measured(self) -> Results:
        """Return the metrics of the stored runs."""
        return replace(super().measured(), first=self.seeds - 1 + self.replicates)

    def rows(self, results: Results) -> list[Row]:
        """Return the scoreboard."""
        return judge(self.criteria, results, self.cast, self.family)

    @property
    def family(self) -> int:
        """How many questions a report answers, whatever it is asked for: one for each criterion that compares."""
        return sum(bool(one.terms or one.harm) for one in self.suite.criteria.values())

    def by_margin(self, results: Results) -> dict[str, dict[float, str]]:
        """Return the word of each criterion whose word changes between half and double the margins."""
        found: dict[str, dict[float, str]] = {}
        for scale in SCALES:
            for row in self.rows(replace(results, scale=scale)):
                found.setdefault(f"{row.criterion.id} {row.criterion.name}", {})[scale] = row.word
        return {name: by_scale for name, by_scale in found.items() if len(set(by_scale.values())) > 1}

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
            "family": self.family,
            "seeds": self.seeds,
            "runs": len(self.plan.runs),
            "command": self.command,
        }

    def scoreboard(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Return the scoreboard for programs."""
        answer = {"answer": sentences.summary(rows, self.cast)}
        return {"format": FORMAT, **self.facts, **answer, "criteria": [row_facts(row) for row in rows], **self.tables_of(rows)}

    def tables_of(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Return what stands behind the words, for programs."""
        return {"findings": finding_table(rows), "scenarios": by_setting(rows, self.cast)}

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return the scoreboard as a table of Markdown."""
        cast = self.cast
        head = [
            f"# {cast.subject.label}",
            "",
            f"Against {cast.baseline.label} and {cast.second.label}; Tonopah {engine_version()}, {self.mode}, "
            f"{sentences.replicates_text(self.facts)}.",
            "",
            *[f"{text}\n" for text in sentences.summary(rows, cast)],
            f"| criterion | {self.suite.document} | verdict | seen | subject / reference, or difference [interval] | n |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        return "\n".join(
            [*head, *(markdown_row(row, cast) for row in rows), "", sentences.foot(cast), "", f"`{self.command}`", ""]
        )


def markdown_row(row: Row, cast: Cast) -> str:
    """Return a row as a line of the table."""
    criterion = row.criterion
    word = ", ".join(text for text in (row.word, row.second_word) if text)
    kept = f"{sum(line.kept for line in row.limits)} of {len(row.limits)} bounds kept" if row.limits else ""
    seen = sentences.seen_text(row, cast) or kept or row.reason
    effect = sentences.effect_text(row.primary)
    cells = (f"{criterion.id} {criterion.name}", f"§{criterion.section}, {criterion.level}", word, seen, effect)
    return f"| {' | '.join(cells)} | {row.n or '–'} |"


def sides(tcp: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return the settings of flows with the value of the subject, and that of the references if there is one."""
    found = [(key, value.split(",") if isinstance(value, str) else [value]) for key, value in tcp.items()]
    if wrong := next((key for key, names in found if len(names) > 2 or "" in names), None):
        raise InputError(f"--tcp.{wrong}", f"{tcp[wrong]!r} is not one name or two", "A, or A,B with B for the references")
    return found


def begin(
    algorithm: str,
    against: Sequence[str] = REFERENCES,
    mode: Mode = "quick",
    criteria: Sequence[str] = (),
    out: str | Path | None = None,
    store: str | Path | None = None,
    replicates: int = 0,
    at_most: int = 0,
    tcp: Mapping[str, Any] = NO_SETTINGS,
) -> Evaluation:
    """Return an evaluation of an algorithm as the command line names it. Raises InputError.

    `tcp` are settings of its flows; of two names with a comma between them the second is that of the references.
    """
    if not 1 <= len(against) <= 2:
        raise InputError("--against", f"{len(against)} algorithms", "the baseline, or baseline and second reference: cubic,reno")
    ours, theirs = ({key: names[side] for key, names in sides(tcp) if side < len(names)} for side in (0, 1))
    subject = variant(read_subject(algorithm), ours)
    references = [variant(read_subject(name, "--against"), theirs) for name in (*against, *REFERENCES[len(against) :])]
    kind = "tcpeval" if mode == "tcpeval" else "evaluate"
    folder = Path(out) if out else Path("results") / f"{kind}-{slug('-'.join([subject.name.lower(), *map(str, tcp.values())]))}"
    suite = tcpeval_definitions() if mode == "tcpeval" else definitions()
    count = replicates or REPLICATES[mode]
    return Evaluation(Cast(subject, *references), suite, criteria, mode, count, at_most, folder, store)
