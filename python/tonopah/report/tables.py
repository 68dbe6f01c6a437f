"""Tables of a report: a row for each point and algorithm, or for each flow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tonopah.analysis.tables import difference, estimate
from tonopah.report.formatting import difference_text, plus_minus
from tonopah.spec.model import Figure, Part

if TYPE_CHECKING:
    import pandas as pd

Cell = tuple[str, str]
"""Text, and the small text below it."""

WITHOUT_PATH = "flows_without_path"


@dataclass(frozen=True)
class ReportTable:
    """A table of a report."""

    caption: str
    head: list[str]
    rows: list[list[Cell]]


def point_table(part: Part, runs: "pd.DataFrame", points: list[dict[str, Any]], names: list[str]) -> ReportTable:
    """Return mean (median) ± half the interval of each metric, with the difference to the baseline below.

    Where flows never had a path, a column shows their share: partitioned networks are not averaged in silence.
    """
    partitioned = WITHOUT_PATH in runs.columns and runs[WITHOUT_PATH].sum() > 0
    head = [*next(iter(points)), "algorithm", *(part.metric(name).axis for name in names), "n"]
    rows = []
    for where in points:
        for label in part.labels:
            cells: list[Cell] = [(str(value), "") for value in where.values()] + [(label, "")]
            counts = []
            for name in names:
                found = estimate(runs, part.metric(name), label, where, part.method).scaled(part.metric(name).factor)
                counts.append(found.n)
                other = label != part.baseline
                change = difference(runs, name, label, part.baseline, where, part.method) if other else None
                cells.append((plus_minus(found), difference_text(change)))
            rows.append([*cells, (str(max(counts)), "")] + ([(without_path(runs, label, where), "")] if partitioned else []))
    return ReportTable("", head + (["flows without a path"] if partitioned else []), rows)


def without_path(runs: "pd.DataFrame", label: str, where: Mapping[str, Any]) -> str:
    """Return the share of flows whose ends were never connected."""
    chosen = runs[runs["algorithm"] == label]
    for axis, value in where.items():
        chosen = chosen[chosen[axis].map(str) == str(value)]
    flows = chosen["flows"].sum()
    return f"{100 * chosen[WITHOUT_PATH].sum() / flows:.1f} %" if flows else "–"


def flow_tables(part: Part, figure: Figure, flows: "pd.DataFrame", points: list[dict[str, Any]]) -> list[ReportTable]:
    """Return a table for each point and algorithm with a row for each flow: mean (median) ± half the interval."""
    report_tables = []
    for where in points:
        for label in part.labels:
            rows: list[list[Cell]] = []
            for flow, mine in flows[flows["algorithm"] == label].groupby("flow"):
                shown = [part.metric(name) for name in figure.y]
                found = [estimate(mine, one, label, where, part.method).scaled(one.factor) for one in shown]
                if any(one.n for one in found):
                    rows.append([(str(flow), ""), *((plus_minus(one), "") for one in found)])
            at = "".join(f", {axis} = {value}" for axis, value in where.items())
            report_tables.append(ReportTable(f"{label}{at}", ["flow", *(part.metric(name).axis for name in figure.y)], rows))
    return [table for table in report_tables if table.rows]
