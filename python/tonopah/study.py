"""A study: one question, answered by replicated runs. Load it, run it, look at its tables, write its report."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.analysis.sequential import Reached, Target, confidence, schedule, widest
from tonopah.errors import InputError, relay
from tonopah.execution import runner
from tonopah.execution.options import Execution, Shard
from tonopah.spec.library import find
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.plan import Plan, make_plan
from tonopah.spec.reader import parse_spec, read_spec, reduce_spec
from tonopah.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


class Study:
    """A study file and the folder that holds its results.

    `Study.load("asran")` takes a shipped study by name or any study by its file.
    """

    def __init__(self, name: str, spec: StudySpec, document: dict[str, Any], source: str):
        self.name, self.spec, self.document, self.source = name, spec, document, source
        self.quick = False
        self.reached: dict[str, Reached] = {}
        """By part: how the search for narrow intervals ended, if there was one."""
        self.target: Target | None = None
        self.folder = Path("results") / name
        self.home = Path(source).resolve().parent
        self._plan: Plan | None = None

    @classmethod
    def load(cls, name_or_path: str | Path) -> "Study":
        """Return the study of that name (see `shipped`) or in that file. Raises InputError."""
        path = find(name_or_path)
        spec, document = read_spec(path)
        return cls(path.stem, spec, document, str(path))

    @classmethod
    def open(cls, folder: str | Path) -> "Study":
        """Return the study whose results are in `folder`, as it was run. Raises InputError when there is none."""
        with Store(folder, create=False) as store:
            kept = store.recall("study")
        if kept is None:
            raise InputError("", "holds no study that was run to the end of its preparation", None, str(folder))
        study = cls(kept["name"], parse_spec(kept["document"]), kept["document"], kept["source"])
        study.resize(kept["quick"], kept["replicates"])
        if kept.get("target"):
            study.target = Target(**kept["target"] | {"metrics": tuple(kept["target"]["metrics"])})
            study.reached = {part: Reached(**facts) for part, facts in kept["reached"].items()}
            for part in study.spec.parts:
                part.confidence = confidence(study.reached[part.id].looks)
        study.folder = Path(folder)
        study.home = Path(kept.get("home", study.home))
        return study

    def resize(self, quick: bool = False, replicates: int | dict[str, int] | None = None) -> None:
        """Reduce the study to its quick form, or change the number of replicates: of all parts, or of each by its id."""
        if quick:
            self.spec, self.quick = reduce_spec(self.spec), True
            self.folder = Path("results") / f"{self.name}-quick"
        if replicates is not None:
            for part in self.spec.parts:
                count = replicates if isinstance(replicates, int) else replicates[part.id]
                if count < 1:
                    raise InputError("replicates", f"{count} is out of range", "at least 1")
                part.replicates = count
        self._plan = None

    @property
    def plan(self) -> Plan:
        """All runs of the study, checked by the engine. Raises InputError."""
        if self._plan is None:
            try:
                self._plan = make_plan(self.spec, self.home)
            except InputError as error:
                raise relay(error, self.source) from None
        return self._plan

    def run(
        self,
        jobs: int | None = None,
        replicates: int | None = None,
        quick: bool = False,
        out: str | Path | None = None,
        quiet: bool = False,
        until: Target | None = None,
        advance: Callable[[], None] | None = None,
        how: Execution | None = None,
    ) -> int:
        """Run what is missing in the folder `out` (default: results/NAME) and return how many runs that were.

        `jobs` is the number of threads (default: all cores), `quick` the reduced size of the study file; `how` says more,
        such as a cluster or a limit. Runs of algorithms in Python use processes instead. With `until`, replicates are added
        part by part until intervals are narrow enough (sequential.py). `advance` is called after each run instead of showing
        progress. An interruption is harmless: the next call goes on. Raises InputError, AlgorithmError and RunFailedError.
        """
        how = how or Execution(jobs=jobs)
        if quick or replicates is not None:
            self.resize(quick, replicates)
        if out is not None:
            self.folder = Path(out)
        elif how.shard:
            self.folder = self.folder.with_name(f"{self.folder.name}.shard-{how.shard.index}-of-{how.shard.count}")
        if until is None:
            return self.run_planned(how, quiet, advance)
        looks = {part.id: schedule(part.replicates, until.at_most) for part in self.spec.parts}
        self.target, open_parts, done = until, list(self.spec.parts), 0
        for part in open_parts:
            part.confidence = confidence(len(looks[part.id]))
        for look in range(max(len(counts) for counts in looks.values())):
            for part in open_parts:
                part.replicates = looks[part.id][look]
                self.reached[part.id] = Reached(math.inf, "", look + 1, len(looks[part.id]), part.replicates, False)
            self._plan = None
            done += self.run_planned(how, quiet, advance)
            for part in open_parts:
                width, where = widest(part, self.plan.parts[part.id], self.part_table(part), until.metrics)
                ended = Reached(width, where, look + 1, len(looks[part.id]), part.replicates, width <= until.percent)
                self.reached[part.id] = ended
            open_parts = [p for p in open_parts if not self.reached[p.id].narrow and look + 1 < len(looks[p.id])]
            if not open_parts:
                break
        with Store(self.folder, wait=how.wait) as store:
            self.remember(store)
        return done

    def run_planned(self, how: Execution, quiet: bool, advance: Callable[[], None] | None = None) -> int:
        """Run what is missing of the plan and return how many runs that were."""
        if any(run.origins for run in self.plan.runs.values()):
            # An algorithm may have been edited since the plan was made.
            self._plan = None
        plan = self.plan
        with Store(self.folder, wait=how.wait) as store:
            self.remember(store)
            try:
                return runner.run_missing(plan, store, quiet=quiet, how=how, shown=advance)
            except InputError as error:
                raise relay(error, self.source) from None

    def remember(self, store: Store) -> None:
        """Keep with the results what study they are of, and at which size."""
        kept = {"name": self.name, "document": self.document, "source": self.source, "home": str(self.home), "quick": self.quick}
        kept["replicates"] = {part.id: part.replicates for part in self.spec.parts}
        if self.target:
            kept |= {"target": vars(self.target), "reached": {part: vars(found) for part, found in self.reached.items()}}
        store.remember("study", kept)

    def missing(self, shard: Shard | None = None) -> int:
        """Return how many runs, of a shard or of all, are not in the folder yet."""
        with Store(self.folder, create=False) as store:
            return len({run.id for run in runner.part(self.plan, shard)} - store.ids())

    def part_table(self, part: Part) -> "pd.DataFrame":
        """Return the table of runs of one part."""
        from tonopah.analysis import tables

        with Store(self.folder, create=False) as store:
            return tables.part_tables(part, self.plan.parts[part.id], store)[0]

    def table(self, level: str = "run") -> "pd.DataFrame":
        """Return the results as tidy table, one row for each run, or with level "flow" for each run and flow.

        In a study of parts the first column names the part; a run that two parts share has a row in each.
        """
        from tonopah.analysis import tables

        if level not in ("run", "flow"):
            raise InputError("level", f"{level!r} is unknown", "run or flow")
        with Store(self.folder, create=False) as store:
            both = [tables.part_tables(part, self.plan.parts[part.id], store) for part in self.spec.parts]
        return tables.joined([tables[level == "flow"] for tables in both])

    def report(self, out: str | Path | None = None) -> Path:
        """Write report, tables and figures into `out` (default: the study's folder); return the path of the report."""
        from tonopah.report import document

        with Store(self.folder, create=False) as store:
            return document.write(self, store, Path(out) if out is not None else self.folder)
