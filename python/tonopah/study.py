"""A study: one question, answered by replicated runs. Load it, run it, look at its tables, write its report."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.analysis import figure_data, tables
from tonopah.analysis.sequential import confidence, schedule, widest
from tonopah.errors import InputError, relay
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions, Shard
from tonopah.report import document
from tonopah.spec.library import find
from tonopah.spec.manifest import Manifest, Reached, Target
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.plan import Plan, make_plan
from tonopah.spec.reader import parse_spec, read_spec, reduce_spec, rename_keys
from tonopah.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.analysis.figure_model import FigureData


class Study:
    """A study file and the folder that holds its results.

    `Study.load("asran")` takes a shipped study by name or any study by its file; `Study.open("results/asran")` takes one that was
    run.

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

    """

    def __init__(self, name: str, spec: StudySpec, document: dict[str, Any], source: str):
        self.name, self.spec, self.document, self.source = name, spec, document, source
        self.quick = False
        self.reached: dict[str, Reached] = {}
        self.target: Target | None = None
        self.folder = Path("results") / name
        self.home = Path(source).resolve().parent
        self._plan: Plan | None = None

    @classmethod
    def load(cls, name_or_path: str | Path) -> "Study":
        """Return a study by its name or its file.

        Parameters
        ----------
        name_or_path : str or Path
            Name of a shipped study (`tonopah study list`), or the path of a study file, TOML.

        Returns
        -------
        Study
            The study, not yet run.

        Raises
        ------
        InputError
            If there is no such study, or its file is wrong: with the path of the mistake and what is allowed there.

        """
        path = find(name_or_path)
        spec, document = read_spec(path)
        return cls(path.stem, spec, document, str(path))

    @classmethod
    def open(cls, folder: str | Path) -> "Study":
        """Return the study whose results are in a folder, as it was run.

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
            manifest = Manifest.from_json(store.recall("study"), str(folder))
        try:
            document = rename_keys(manifest.document) if manifest.version == 1 else manifest.document
            study = cls(manifest.name, parse_spec(document), document, manifest.source)
            study.resize(manifest.quick, manifest.replicates)
        except InputError as error:
            raise relay(error, str(folder)) from None
        study.target, study.reached = manifest.target, manifest.reached
        for part in study.spec.parts if manifest.target else []:
            part.confidence = confidence(study.reached[part.id].looks)
        study.folder = Path(folder)
        study.home = Path(manifest.home) if manifest.home else study.home
        return study

    def resize(self, quick: bool = False, replicates: int | dict[str, int] | None = None) -> None:
        """Change the size of the study.

        Parameters
        ----------
        quick : bool
            Reduce it to the size of the `[quick]` section of its file.
        replicates : int or dict of str to int, optional
            Number of replicates, at least 1: of all parts, or of each by its id.

        Raises
        ------
        InputError
            If the number of replicates is below 1, or a part has none.

        """
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
                self._plan = make_plan(self.spec, self.home)
            except InputError as error:
                raise relay(error, self.source) from None
            for part in self.spec.parts:
                # Where nothing is random, every replicate would be the same run.
                part.replicates = self._plan.parts[part.id].replicates
        return self._plan

    @property
    def manifest(self) -> Manifest:
        """What the folder of the results says about the study."""
        replicates = {part.id: part.replicates for part in self.spec.parts}
        return Manifest(
            self.name, self.document, self.source, str(self.home), self.quick, replicates, self.target, dict(self.reached)
        )

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
        if quick or replicates is not None:
            self.resize(quick, replicates)
        if out is not None:
            self.folder = Path(out)
        elif options.shard:
            self.folder = self.folder.with_name(f"{self.folder.name}.shard-{options.shard.index}-of-{options.shard.count}")
        if until is None:
            return self.run_planned(options, quiet, on_progress)
        done = self.run_until(until, options, quiet, on_progress)
        with Store(self.folder, wait=options.wait) as store:
            self.remember(store)
        return done

    def run_until(self, target: Target, options: ExecutionOptions, quiet: bool, on_progress: Callable[[], None] | None) -> int:
        """Add replicates part by part until intervals are narrow enough, and return how many runs that were."""
        looks = {part.id: schedule(part.replicates, target.at_most) for part in self.spec.parts}
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
            part.confidence = confidence(len(looks[part.id]))
        for look in range(max(len(looks[part.id]) for part in open_parts)):
            for part in open_parts:
                part.replicates = looks[part.id][look]
                self.reached[part.id] = Reached(math.inf, "", look + 1, len(looks[part.id]), part.replicates, False)
            self._plan = None
            done += self.run_planned(options, quiet, on_progress)
            for part in open_parts:
                width, where = widest(part, self.plan.parts[part.id], self.part_table(part), target.metrics)
                ended = Reached(width, where, look + 1, len(looks[part.id]), part.replicates, width <= target.percent)
                self.reached[part.id] = ended
            open_parts = [p for p in open_parts if not self.reached[p.id].narrow and look + 1 < len(looks[p.id])]
            if not open_parts:
                break
        return done

    def run_planned(self, options: ExecutionOptions, quiet: bool, on_progress: Callable[[], None] | None = None) -> int:
        """Run what is missing of the plan and return how many runs that were."""
        if any(run.origins for run in self.plan.runs.values()):
            # An algorithm may have been edited since the plan was made.
            self._plan = None
        plan = self.plan
        for note in [] if quiet else plan.notes():
            print(f"note: {note}", file=sys.stderr, flush=True)
        with Store(self.folder, wait=options.wait) as store:
            self.remember(store)
            try:
                return runner.run_missing(plan, store, quiet=quiet, options=options, on_progress=on_progress)
            except InputError as error:
                raise relay(error, self.source) from None

    def remember(self, store: Store) -> None:
        """Store the manifest with the results."""
        store.remember("study", self.manifest.to_json())

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

    def part_table(self, part: Part) -> "pd.DataFrame":
        """Return the table of runs of one part."""
        with Store(self.folder, create=False) as store:
            return tables.part_tables(part, self.plan.parts[part.id], store)[0]

    def table(self, level: str = "run") -> "pd.DataFrame":
        """Return the results as a tidy table.

        Parameters
        ----------
        level : {"run", "flow"}
            One row for each run, or for each run and flow.

        Returns
        -------
        pandas.DataFrame
            Columns `run`, `algorithm`, `seed`, one for each axis, then metrics in SI units, which end their
            names. In a study of parts the first column names the part; a run that two parts share has a row in each.

        Raises
        ------
        InputError
            If the level is unknown, or the folder contains no results.
        RunFailedError
            If a stored result is damaged.

        """
        if level not in ("run", "flow"):
            raise InputError("level", f"{level!r} is unknown", "run or flow")
        with Store(self.folder, create=False) as store:
            both = [tables.part_tables(part, self.plan.parts[part.id], store) for part in self.spec.parts]
        return tables.concatenate([frames[level == "flow"] for frames in both])

    def figures(self) -> "dict[str, FigureData]":
        """Return the figures of the study as data, by their ids, in the order of the report. Raises InputError."""
        with Store(self.folder, create=False) as store:
            return figure_data.study_figures(self.spec, self.plan, store)

    def figure(self, name: str, format: str = "pdf", out: str | Path | None = None, **look: Any) -> Path:
        """Draw one figure for a paper, and write its numbers beside it as CSV.

        Parameters
        ----------
        name : str
            Id of the figure: a key of `figures()`.
        format : {"pdf", "svg", "pgf", "png"}
            PDF has Type 42 fonts, SVG text as text; PGF is for LaTeX.
        out : str or Path, optional
            Folder to write into; `figures` in the folder of the results if absent.
        **look
            `width`, `height` ("3.5in", "89mm"), `font`, `font_size` (points), `palette`, `common_scale`: as on the command line.

        Returns
        -------
        Path
            Path of the picture.

        Raises
        ------
        InputError
            If an argument cannot be used, or the folder contains no results.

        """
        from tonopah.plot import picture

        found = self.figures()
        if name not in found:
            raise InputError("name", f"there is no figure {name!r}", figure_data.near_figures(name, found))
        folder = Path(out) if out is not None else self.folder / "figures"
        return picture.write_picture(found[name], picture.make_look(format, **look), format, folder)

    def report(self, out: str | Path | None = None, quiet: bool = False) -> Path:
        """Write report, verdicts, tables and the data of the figures.

        Parameters
        ----------
        out : str or Path, optional
            Folder to write into; the folder of the results if absent.
        quiet : bool
            Print no progress.

        Returns
        -------
        Path
            Path of `report.html`.

        Raises
        ------
        InputError
            If no run is stored.
        RunFailedError
            If a stored result is damaged, or the report cannot be written.

        """
        with Store(self.folder, create=False) as store:
            folder = Path(out) if out is not None else self.folder
            return document.write(self.manifest, self.spec, self.plan, store, folder, quiet)
