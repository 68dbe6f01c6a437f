"""A study: one question, answered by replicated runs. Load it, run it, look at its tables, write its report."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tonopah.analysis.sequential import confidence, schedule, widest
from tonopah.cc.permission import ANY, of_results, permitting
from tonopah.errors import InputError, relay
from tonopah.execution import runner
from tonopah.execution.machine import machine
from tonopah.execution.options import ExecutionOptions, Shard
from tonopah.execution.progress import show_progress
from tonopah.spec import building
from tonopah.spec.building import Compared, ScenarioSource
from tonopah.spec.library import find
from tonopah.spec.manifest import Manifest, Reached, Target
from tonopah.spec.model import StudySpec
from tonopah.spec.plan import LARGE_PLAN, Plan, count_points, make_plan
from tonopah.spec.reader import parse_spec, read_spec, reduce_spec, rename_keys
from tonopah.spec.source import is_sourced, keeping
from tonopah.store.store import Store
from tonopah.study import looks, sources_of_runs
from tonopah.study.results import StudyResults


class Study(StudyResults):
    """A study file and the folder that holds its results.

    `Study(…)` writes a study in Python. `Study.load("asran")` takes a shipped study by name or any study by its file;
    `Study.open("results/asran")` takes one that was run.

    Parameters
    ----------
    question : str
        What the study answers.
    scenario : str, path or mapping
        A scenario file, or a dictionary of its structure (docs/generated/scenario.md).
    compare : sequence
        Algorithms: by name, as `{"name": …, "profile": …}`, or classes that were imported from a file.
    sweep : mapping, optional
        Values by path, such as `{"network.bottleneck.delay": ["5ms", "20ms"]}`, crossed if there are several; or a list of
        tables as in a study file.
    replicates : int, optional
        Runs of each algorithm at each point.
    name : str, optional
        Names the folder of the results; made from the question if absent.
    **keys
        Any other key of a study file (docs/studies.md): `baseline`, `figure`, `claim`, …

    Attributes
    ----------
    name : str
        Name of the study: that of its file.
    spec : StudySpec
        The study file after reading.
    folder : Path
        Folder of the results; `results/NAME` unless set.
    target : Target or None
        The precision that replicates were added for.
    reached : dict of str to Reached
        By part: the precision that it has, if there was a target.
    code : Permission
        What may be executed of the code that it names: anything, unless set; nothing when results are read (`open`).

    """

    def __init__(
        self,
        question: str,
        scenario: ScenarioSource,
        compare: Compared,
        sweep: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None = None,
        replicates: int | None = None,
        *,
        name: str = "",
        **keys: Any,
    ):
        document = building.build(question, scenario, compare, sweep, replicates, keys)
        own = name or building.name_from(question)
        self._begin(own, parse_spec(document), document, f"{own}.toml")

    def _begin(self, name: str, spec: StudySpec, document: dict[str, Any], source: str) -> None:
        self.name, self.spec, self.document, self.source = name, spec, document, source
        self.quick = False
        self.reached: dict[str, Reached] = {}
        self.target: Target | None = None
        self.folder = Path("results") / name
        self.home = Path(source).resolve().parent
        self._plan: Plan | None = None
        self._store: Store | None = None
        self.told: set[str] = set()
        self.code = ANY

    @classmethod
    def of(cls, name: str, spec: StudySpec, document: dict[str, Any], source: str) -> Self:
        """Return the study that was read from `document`, the content of the file `source`."""
        study = cls.__new__(cls)
        study._begin(name, spec, document, source)
        return study

    @classmethod
    def load(cls, source: str | Path | Mapping[str, Any], name: str = "") -> Self:
        """Return a study by its name or its file, or from a dictionary.

        Parameters
        ----------
        source : str, Path or mapping
            Name of a shipped study (`tonopah study list`), path of a study file, TOML, or a dictionary of the structure of such
            a file, in which paths of files start at the working directory.
        name : str, optional
            Of a dictionary: its name, which names the folder of the results; made from the question if absent.

        Returns
        -------
        Study
            The study, not yet run.

        Raises
        ------
        InputError
            If there is no such study, or it is wrong: with the path of the mistake and what is allowed there.

        """
        if isinstance(source, Mapping):
            document = building.complete(source)
            own = name or building.name_from(document.get("question"))
            return cls.of(own, parse_spec(document), document, f"{own}.toml")
        path = find(source)
        spec, document = read_spec(path)
        return cls.of(path.stem, spec, document, str(path))

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Return the study whose results are in a folder, as it was run. To read them executes none of its algorithms.

        Parameters
        ----------
        folder : str or Path
            Folder of the results.

        Returns
        -------
        Study
            The study at the size at which it was run.

        Raises
        ------
        InputError
            If the folder contains no study, or one that this version cannot read.

        """
        with Store(folder, create=False) as store:
            manifest, seen = Manifest.from_json(store.recall("study"), str(folder)), looks.count(store)
        try:
            document = rename_keys(manifest.document) if manifest.version == 1 else manifest.document
            code = of_results(manifest.algorithms, manifest.sources)
            with permitting(code):
                study = cls.of(manifest.name, parse_spec(document), document, manifest.source)
            study.resize(manifest.quick, manifest.replicates, manifest.seeds)
        except InputError as error:
            raise relay(error, str(folder)) from None
        study.target, study.reached = manifest.target, manifest.reached
        for part in study.spec.parts:
            part.confidence = confidence(study.reached[part.id].looks if manifest.target else seen)
        study.folder, study.code = Path(folder), code
        study.home = Path(manifest.home) if manifest.home else study.home
        return study

    def resize(self, quick: bool = False, replicates: int | dict[str, int] | None = None, seeds: int = 1) -> None:
        """Change the size of the study.

        Parameters
        ----------
        quick : bool
            Reduce it to the size of the `[quick]` section of its file.
        replicates : int or dict of str to int, optional
            Number of replicates, at least 1: of all parts, or of each by its id.
        seeds : int
            Seed of the first replicate; another one draws another set.

        Raises
        ------
        InputError
            If the number of replicates is below 1, or a part has none.

        """
        for part in self.spec.parts:
            part.first_seed = seeds
        if quick:
            self.spec, self.quick = reduce_spec(self.spec), True
            self.folder = Path("results") / f"{self.name}-quick"
        for part in self.spec.parts if replicates is not None else []:
            count = replicates.get(part.id, 0) if isinstance(replicates, dict) else replicates or 0
            if count < 1:
                raise InputError("replicates", f"{count} is out of range", "at least 1")
            part.replicates = count
        self._plan = None

    @property
    def plan(self) -> Plan:
        """All runs of the study, checked by the engine. Raises InputError."""
        if self._plan is None:
            try:
                with permitting(self.code), keeping() as made:
                    if any(is_sourced(part.scenario) for part in self.spec.parts):
                        self.ask_sources()
                    points = count_points(self.spec)
                    with show_progress(points, 0, points < LARGE_PLAN, "points") as on_point:
                        self._plan = make_plan(self.spec, self.home, on_point)
                    self._plan.sources = {**self.code.sources, **made}
            except InputError as error:
                raise relay(error, self.source) from None
            for part in self.spec.parts:
                # Where nothing is random, every replicate would be the same run.
                part.replicates = self._plan.parts[part.id].replicates
        return self._plan

    def ask_sources(self) -> None:
        """Take the columns of sources as they are where the plan is made: what was opened to be read has them as stored."""
        derived = {part.id: part.derived for part in parse_spec(self.document).parts}
        for part in self.spec.parts:
            part.derived = derived.get(part.id, part.derived)

    @property
    def manifest(self) -> Manifest:
        """What the folder of the results says about the study."""
        replicates = {part.id: part.replicates for part in self.spec.parts}
        return Manifest(
            self.name, self.document, self.source, str(self.home), self.quick, replicates, self.target, dict(self.reached),
            self.spec.parts[0].first_seed, algorithms=self.plan.algorithms, sources=self.plan.sources,
        )  # fmt: skip

    def run(
        self,
        jobs: int | None = None,
        replicates: int | None = None,
        quick: bool = False,
        out: str | Path | None = None,
        quiet: bool = False,
        until: Target | None = None,
        on_progress: Callable[[], None] | None = None,
        options: ExecutionOptions | None = None,
        seeds: int = 1,
    ) -> int:
        """Run what is missing in the folder of the results; an interrupted study continues where it stopped.

        Parameters
        ----------
        jobs : int, optional
            Number of threads (of processes for algorithms in Python); all cores if absent.
        replicates : int, optional
            Number of replicates, instead of that of the study file.
        quick : bool
            Run the study at the reduced size of its file.
        out : str or Path, optional
            Folder of the results; `results/NAME` if absent.
        quiet : bool
            Print no progress.
        until : Target, optional
            Add replicates, part by part, until intervals are narrow enough (analysis/sequential.py).
        on_progress : callable, optional
            Called without arguments after each run, instead of printing progress.
        options : ExecutionOptions, optional
            Executor, shard and limits; `jobs` then has no effect.
        seeds : int
            Seed of the first replicate, instead of 1: another set of draws.

        Returns
        -------
        int
            Number of runs that were carried out now.

        Raises
        ------
        InputError
            If the engine refuses a scenario of the study, or the folder cannot be used.
        AlgorithmError
            If an algorithm in Python raises.
        RunFailedError
            If a run fails or its result cannot be stored; everything that was stored before is kept.
        """
        options = options or ExecutionOptions(jobs=jobs)
        if quick or replicates is not None or seeds != 1:
            self.resize(quick, replicates, seeds)
        if out is not None:
            self.folder = Path(out)
        elif options.shard:
            self.folder = self.folder.with_name(f"{self.folder.name}.shard-{options.shard.index}-of-{options.shard.count}")
        return self.run_until(until, options, quiet, on_progress) if until else self.run_planned(options, quiet, on_progress)

    def run_until(self, target: Target, options: ExecutionOptions, quiet: bool, on_progress: Callable[[], None] | None) -> int:
        """Add replicates part by part until intervals are narrow enough, and return how many runs that were."""
        sizes = {part.id: schedule(part.replicates, target.at_most) for part in self.spec.parts}
        open_parts, done = [part for part in self.spec.parts if self.plan.parts[part.id].random], 0
        if not open_parts:
            hint = "run it without --until, or let something be random: start_jitter of flows, loss, bbr, …"
            raise InputError(
                "--until", "has nothing to narrow: nothing in this scenario is random, every replicate is the same run", hint
            )
        self.target = target
        for part in self.spec.parts:
            self.reached[part.id] = Reached(0.0, "nothing is random", 1, 1, 1, True)
        for part in open_parts:
            part.confidence = confidence(len(sizes[part.id]))
        for look in range(max(len(sizes[part.id]) for part in open_parts)):
            for part in open_parts:
                part.replicates = sizes[part.id][look]
                self.reached[part.id] = Reached(math.inf, "", look + 1, len(sizes[part.id]), part.replicates, False)
            self._plan = None
            done += self.run_planned(options, quiet, on_progress)
            for part in open_parts:
                width, where = widest(part, self.plan.parts[part.id], self.part_table(part), target.metrics)
                ended = Reached(width, where, look + 1, len(sizes[part.id]), part.replicates, width <= target.percent)
                self.reached[part.id] = ended
            open_parts = [p for p in open_parts if not self.reached[p.id].narrow and look + 1 < len(sizes[p.id])]
            if not open_parts:
                break
        with self.writing(options) as store:
            self.remember(store)
        return done

    def run_planned(self, options: ExecutionOptions, quiet: bool, on_progress: Callable[[], None] | None = None) -> int:
        """Run what is missing of the plan and return how many runs that were."""
        if self.code.stored is not None:
            # It was opened to be read; whoever runs it has its algorithms executed.
            self.code, self._plan = ANY, None
        if self._plan and any(run.origins for run in self._plan.runs.values()):
            # An algorithm may have been edited since the plan was made.
            self._plan = None
        plan = self.plan
        self.tell(plan, quiet)
        with self.writing(options) as store:
            self.remember(store)
            try:
                return runner.run_missing(plan, store, quiet=quiet, options=options, on_progress=on_progress)
            except InputError as error:
                raise relay(error, self.source) from None

    @contextmanager
    def writing(self, options: ExecutionOptions) -> Iterator[Store]:
        """Open the store for writing; blocks within this one have the same. To open it checks the whole database."""
        if self._store:
            yield self._store
            return
        with Store(self.folder, wait=options.wait) as store:
            self._store = store
            try:
                yield store
            finally:
                self._store = None

    def tell(self, plan: Plan, quiet: bool) -> None:
        """Print what is to be known before the runs, each sentence once."""
        known = [*(f"note: {note}" for note in plan.notes()), *(f"warning: {text}" for text in plan.warnings)]
        for line in [] if quiet else [line for line in known if line not in self.told]:
            self.told.add(line)
            print(line, file=sys.stderr, flush=True)

    def remember(self, store: Store) -> None:
        """Store the manifest with the results, and at how many sizes there was a report: each is a look at the data."""
        store.remember("study", self.manifest.to_json())
        store.remember("machine", machine())
        sources_of_runs.remember(store, self.plan.algorithms, self.home)
        if self.target is None:
            count = looks.remember(store, 0 if self.quick else max(part.replicates for part in self.spec.parts))
            for part in self.spec.parts:
                part.confidence = confidence(count)

    def missing(self, shard: Shard | None = None) -> int:
        """Return how many runs are not in the folder of the results.

        Parameters
        ----------
        shard : Shard, optional
            Count only the runs of this shard.

        Returns
        -------
        int
            Number of missing runs.

        Raises
        ------
        InputError
            If the folder contains no results.

        """
        with Store(self.folder, create=False) as store:
            return len({run.id for run in runner.select_shard(self.plan, shard)} - store.ids())
