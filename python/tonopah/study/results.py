"""What a study shows of its results: tables, figures, the report, and itself in a notebook."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.analysis import figure_data, tables
from tonopah.errors import InputError
from tonopah.report import document
from tonopah.report.paper_tables import paper_tables
from tonopah.report.tables import ReportTable
from tonopah.scenario.document import to_toml
from tonopah.spec.manifest import Manifest
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.plan import Plan
from tonopah.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.analysis.figure_model import FigureData
    from tonopah.study.pictures import Picture


class StudyResults:
    """A study whose results are in `folder`."""

    name: str
    spec: StudySpec
    document: dict[str, Any]
    folder: Path

    @property
    def plan(self) -> Plan:
        """All runs of the study."""
        raise NotImplementedError

    @property
    def manifest(self) -> Manifest:
        """What the folder of the results says about the study."""
        raise NotImplementedError

    def to_toml(self) -> str:
        """Return the study as the text of a study file that needs no other file."""
        return to_toml(self.document)

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

    def tables(self, *metrics: str) -> list[ReportTable]:
        """Return what `tonopah study table` shows: for each axis, and the nominal point, a table of means with their intervals.

        Parameters
        ----------
        *metrics
            Columns of `table()`; those of the figures if absent.

        Returns
        -------
        list of ReportTable
            Each with `caption`, `head` and `rows`; `tonopah.report.paper_tables.latex` gives one as LaTeX.

        Raises
        ------
        InputError
            If the folder contains no results.

        """
        with Store(self.folder, create=False) as store:
            return paper_tables([document.read_part(self.spec, self.plan, part.id, store) for part in self.spec.parts], metrics)

    @property
    def answer(self) -> str:
        """What the report says first: the answer to the question, a sentence with numbers on each line. Raises InputError."""
        with Store(self.folder, create=False) as store:
            return "\n".join(document.answer_of(self.manifest, self.spec, self.plan, store).sentences)

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

    def plot(self, metric: str, x: str | None = None) -> "Picture":
        """Return a picture of a metric with its intervals.

        Parameters
        ----------
        metric : str
            Column of `table()`.
        x : str, optional
            Axis that a sweep varies; bars at the nominal point if absent.

        Returns
        -------
        Picture
            A notebook shows it; `save("x.pdf")` writes it.

        Raises
        ------
        InputError
            If there is no such metric or axis, or the folder contains no results.

        """
        from tonopah.study import pictures

        with Store(self.folder, create=False) as store:
            return pictures.plot_study(self.spec, self.plan, store, metric, x)

    def _repr_html_(self) -> str:
        rows = [("Question", self.spec.question), ("Results", str(self.folder))]
        for part in self.spec.parts:
            axes = "; ".join(f"{axis}: {', '.join(map(str, values))}" for s in part.sweeps for axis, values in s.vary.items())
            about = f"{', '.join(part.labels)}; {part.replicates} replicates" + (f"; {axes}" if axes else "")
            rows.append((part.id or "Runs", about))
        cells = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
        return f"<table><caption>Study {escape(self.name)}</caption>{cells}</table>"
