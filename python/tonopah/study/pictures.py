"""Pictures for a notebook: a metric of a study over an axis, and the series of a run."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tonopah.analysis.asked_figures import asked_figures
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers, step_of
from tonopah.errors import InputError
from tonopah.metrics import metric
from tonopah.plot import picture, style
from tonopah.plot.chart import STEPS, numbers
from tonopah.report.cell import cell
from tonopah.runs.simulation import RunResult
from tonopah.scenario.flow_names import called
from tonopah.spec.model import StudySpec
from tonopah.spec.plan import Plan
from tonopah.store.store import Store
from tonopah.writing import replace_file

if TYPE_CHECKING:
    import pandas as pd

MAX_LINES = 12
"""More flows in one panel could not be told apart."""


@dataclass(frozen=True)
class Interactive:
    """Figures that a notebook shows with values under the pointer, zoom, and lines that can be switched off."""

    figures: Sequence[FigureData]

    def _repr_html_(self) -> str:
        return cell(self.figures)


@dataclass(frozen=True)
class Picture:
    """A picture, which a notebook shows as SVG."""

    draw: Callable[[str], bytes]
    """Return it in a format: svg, pdf or png."""
    data: Callable[[], Sequence[FigureData]]
    """Return what it shows."""

    def interactive(self) -> Interactive:
        """Return the same as the report shows it. It carries its scripts, half a megabyte, and fetches nothing."""
        return Interactive(self.data())

    def _repr_svg_(self) -> str:
        return self.draw("svg").decode()

    def save(self, path: str | Path) -> Path:
        """Write it to a file, in the format of its ending: svg, pdf or png. Raises InputError for any other."""
        target = Path(path)
        form = target.suffix.lstrip(".").lower()
        if form not in ("svg", "pdf", "png"):
            raise InputError("path", f"{target.suffix or target.name!r} is no format of a picture", ".svg, .pdf or .png")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("path", f"{target} cannot be written: {error.strerror}", "another file") from None
        replace_file(target, self.draw(form))
        return target


def plot_study(spec: StudySpec, plan: Plan, store: Store, name: str, x: str | None) -> Picture:
    """Return a metric over an axis that a sweep varies, or bars at the nominal point, with intervals. Raises InputError."""
    found = asked_figures(spec, plan, store, name, x)
    if not found:
        axes = sorted({axis for part in spec.parts for sweep in part.sweeps for axis in sweep.vary})
        if x is None and axes:
            hint = f"over an axis: x={axes[0]!r}" + (f" (axes: {', '.join(axes)})" if len(axes) > 1 else "")
            raise InputError("plot", f"no run measured {name} at the nominal point", hint)
        raise InputError("plot", f"no run measured {name} over {x or 'the algorithms'}", f"axes: {', '.join(axes) or 'none'}")
    return Picture(lambda form: picture.picture(found[0], picture.make_look(form, width="5.4in"), form), lambda: found[:1])


def plot_result(result: RunResult, names: Sequence[str]) -> Picture:
    """Return recorded series of a run, a panel each, with a line for each flow, link or node. Raises InputError."""
    chosen = list(names) or result.names
    if not chosen:
        raise InputError("plot", "the run has recorded no series", 'add record = { series = ["cwnd", "queue"] } to the scenario')
    tables = {name: result.series(name) for name in chosen}
    owners = {owner: labels(result, owner) for owner in {table.columns[1] for table in tables.values()}}

    def draw(form: str) -> bytes:
        with style.settings({"figure.constrained_layout.use": True}) as plt:
            figure, axes = plt.subplots(len(chosen), 1, sharex=True, squeeze=False, figsize=(6.4, 2.2 * len(chosen)))
            for panel, made in zip(axes[:, 0], figures(), strict=True):
                for one in made.series:
                    look = {key: value for key, value in style.line_style(one.style).items() if not key.startswith("marker")}
                    panel.plot(numbers(one.x), numbers(one.y), drawstyle=STEPS[made.step], label=one.label, **look)
                panel.set_ylabel(made.y.title)
                # Beside the panel: within it, it would lie on the lines.
                panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
            axes[-1, 0].set_xlabel("Time (s)")
            buffer = io.BytesIO()
            figure.savefig(buffer, format=form, metadata=picture.METADATA[form])
            plt.close(figure)
            return buffer.getvalue()

    def figures() -> list[FigureData]:
        return [series_figure(name, table, owners[table.columns[1]]) for name, table in tables.items()]

    return Picture(draw, figures)


def labels(result: RunResult, owner: str) -> dict[int, str]:
    """Return what flows, links or nodes of a run are called, by number; workloads are called by their numbers."""
    if owner == "flow":
        return called(result.summary["flows"], result.summary["resolved"])
    if owner == "link":
        return {one["link"]: f"{one['from']} → {one['to']}" for one in result.summary["links"]}
    return {number: one["node"] for number, one in enumerate(result.summary["nodes"])} if owner == "node" else {}


def series_figure(name: str, table: "pd.DataFrame", names: Mapping[int, str]) -> FigureData:
    """Return a recorded series as a figure, with a line for each flow, link or node."""
    shown, owner = metric(name), table.columns[1]
    lines = [
        Series(
            names.get(int(number), f"{owner} {number}"), index, as_numbers(rows["t_s"]), as_numbers(rows["value"] * shown.factor)
        )
        for index, (number, rows) in enumerate(list(table.groupby(owner))[:MAX_LINES])
    ]
    scale = FigureScale(name, shown.label, shown.unit)
    return FigureData(
        name, "", "series", shown.label, shown.definition, FigureAxis("t_s", "Time", "s"), scale, lines, step=step_of(name)
    )
