"""An evaluation: an algorithm, what it is held against, and the folder that holds its runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tonopah._core import engine_build, engine_version
from tonopah.analysis.sequential import schedule
from tonopah.errors import InputError
from tonopah.evaluate.definitions import Criterion, Definitions, Experiment, Mode, definitions, tcpeval_definitions
from tonopah.evaluate.measured import Measured, collect
from tonopah.evaluate.plan import REPLICATES, EvaluationPlan, count_missing, make_plan
from tonopah.evaluate.scoreboard import Row, judge
from tonopah.evaluate.subjects import REFERENCES, Cast, read_subject
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions
from tonopah.execution.progress import show_progress
from tonopah.names import slug
from tonopah.store.store import Store


@dataclass
class Evaluation:
    """What is evaluated, how, and where."""

    cast: Cast
    mode: Mode = "quick"
    wanted: Sequence[str] = ()
    replicates: int = 0
    folder: Path = Path()
    store_folder: Path = Path()
    command: str = ""
    definitions: Definitions = field(default_factory=definitions)
    made: EvaluationPlan | None = None
    at_most: int = 0
    """Replicates are added up to so many where a row is unclear; 0: none are."""
    own: dict[str, int] = field(default_factory=dict)
    """Replicates of experiments that have more than the others."""

    @property
    def schedule(self) -> list[int]:
        """Numbers of replicates after which the rows are looked at."""
        return schedule(self.replicates, self.at_most) if self.at_most > self.replicates else [self.replicates]

    @property
    def criteria(self) -> list[Criterion]:
        """The criteria that are asked for."""
        return self.definitions.chosen(list(self.wanted))

    @property
    def experiments(self) -> list[Experiment]:
        """The experiments that they need."""
        marks = self.cast.subject.takes_marks
        return self.definitions.experiments_of([one for one in self.criteria if one.rule != "marks" or marks])

    def plan(self, quiet: bool = True) -> EvaluationPlan:
        """Return all runs, checked by the engine. Raises InputError."""
        if self.made is None:
            count = len(self.experiments)
            with show_progress(count, 0, quiet or count < 2, "experiments to plan") as on_progress:
                self.made = make_plan(
                    self.cast, self.experiments, self.mode, self.replicates, on_experiment=on_progress, own=self.own
                )
        return self.made

    def run(self, options: ExecutionOptions, quiet: bool = False) -> int:
        """Run what the folder lacks, and return how many runs that were. Raises as `runner.run_missing`."""
        done = self.run_planned(options, quiet)
        for count in self.schedule[1:]:
            unclear = [row.criterion for row in self.rows(self.measured()) if row.is_undecided]
            if not unclear:
                break
            self.own |= {experiment.id: count for experiment in self.definitions.experiments_of(unclear)}
            self.made = None
            done += self.run_planned(options, quiet)
        return done

    def run_planned(self, options: ExecutionOptions, quiet: bool) -> int:
        """Run what the folder lacks of the present plan."""
        plan = self.plan(quiet)
        with Store(self.store_folder, wait=options.wait) as store:
            store.remember("evaluation", {"subject": self.cast.subject.label, "mode": self.mode, "engine": engine_version()})
            return runner.run_missing(plan.runs, store, quiet=quiet, options=options)

    def counted(self) -> tuple[int, int]:
        """Return how many runs there are, and how many are not stored."""
        return len(self.plan().runs.runs), count_missing(self.plan(), self.store_folder)

    def measured(self) -> Measured:
        """Return the metrics of the stored runs."""
        with Store(self.store_folder, create=False) as store:
            return replace(collect(self.plan(), store), looks=len(self.schedule))

    def rows(self, measured: Measured) -> list[Row]:
        """Return the scoreboard."""
        return judge(self.criteria, measured, self.cast)


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
    folder = (
        Path(out) if out else Path("results") / f"{'tcpeval' if mode == 'tcpeval' else 'evaluate'}-{slug(subject.name.lower())}"
    )
    suite = tcpeval_definitions() if mode == "tcpeval" else definitions()
    suite.chosen(list(criteria))
    count = replicates or REPLICATES[mode]
    cast, store_folder = Cast(subject, *references), Path(store) if store else folder
    return Evaluation(cast, mode, tuple(criteria), count, folder, store_folder, definitions=suite, at_most=at_most)


def facts(evaluation: Evaluation) -> dict[str, object]:
    """Return what the page and the JSON say of an evaluation as a whole."""
    cast = evaluation.cast
    return {
        "subject": {"name": cast.subject.label, "cc": cast.subject.cc, "source": cast.subject.source},
        "baselines": [cast.baseline.label, cast.second.label],
        "engine": {"version": engine_version(), "build": engine_build()},
        "document": evaluation.definitions.document,
        "mode": evaluation.mode,
        "replicates": evaluation.replicates,
        "replicates_most": max([evaluation.replicates, *evaluation.own.values()]),
        "looks": len(evaluation.schedule),
        "runs": len(evaluation.plan().runs.runs),
        "command": evaluation.command,
    }
