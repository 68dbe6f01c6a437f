"""Figures of a comparison of engines: the windows of flows and the longest queue, of all engines over one another."""

from pathlib import Path

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers, spread, step_of
from tonopah.cross.comparison import Arm, Compare
from tonopah.metrics import metric
from tonopah.plot.picture import make_look, write_picture
from tonopah.runs.simulation import RunResult

MOST_FLOWS = 3
"""Windows of more flows of each engine could not be told apart."""
MOST_SAMPLES = 1000
WIDTH = "6.4in"


def write(one: Compare, folder: Path, form: str = "svg") -> list[Path]:
    """Write the figures of a world and their numbers, each from the first replicate of every engine; return their paths."""
    arms = [arm for arm in one.carried if arm.first]
    link = busiest(arms[0].first)
    flows = min(MOST_FLOWS, len(one.world.graph.get("flow", ())))
    made = [figure(one, arms, "cwnd", range(flows)), figure(one, arms, "queue", [link])]
    look = make_look(form, width=WIDTH)
    return [write_picture(data, look, form, folder) for data in made if not data.is_empty()]


def busiest(result: RunResult | None) -> int:
    """Return the number of the link whose queue is the longest on average."""
    if result is None or "queue" not in result.names:
        return 0
    means = result.series("queue").groupby("link")["value"].mean()
    return int(means.idxmax()) if len(means) else 0


def figure(one: Compare, arms: list[Arm], name: str, owners: "range | list[int]") -> FigureData:
    """Return a series of some flows or links, a line for each engine and owner."""
    shown, lines = metric(name), []
    for arm in arms:
        if arm.first is None or name not in arm.first.names:
            continue
        table = arm.first.series(name)
        for owner in owners:
            rows = table[table[table.columns[1]] == owner]
            rows = rows.iloc[spread(len(rows), MOST_SAMPLES)] if len(rows) else rows
            label = f"{arm.engine.name}, flow {owner}" if len(owners) > 1 else arm.engine.name
            if len(rows):
                lines.append(Series(label, len(lines), as_numbers(rows["t_s"]), as_numbers(rows["value"] * shown.factor)))
    title = f"{shown.label} of the first replicate"
    where = f" ({one.world.label})" if one.world.label else ""
    scale = FigureScale(name, shown.label, shown.unit)
    return FigureData(
        f"{one.world.slug}{name}", "", "series", f"{title}{where}", shown.definition, FigureAxis("t_s", "Time", "s"), scale,
        lines, step=step_of(name), wide=True,
    )  # fmt: skip
