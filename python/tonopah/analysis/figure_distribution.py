"""Figures of what was measured of every packet, ACK or message: distributions from the engine's own counts.

Each replicate has a cumulative distribution; what is drawn is their mean at each value, with its interval.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, as_numbers, spread
from tonopah.analysis.tables import PartTables
from tonopah.names import figure_id
from tonopah.runs.distribution import DISTRIBUTIONS, Distribution, pooled
from tonopah.scenario.flow_names import names_of_flows
from tonopah.spec.model import Figure
from tonopah.stats import Method

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = 400
"""More values than a panel has room for."""
SHARES = (0.0, 1.0)


def cdf_figures(source: PartTables, figure: Figure, name: str) -> list[FigureData]:
    """Return the distribution of the flow, or of the flows, of each algorithm at the nominal point; none without a value."""
    flows = figure.flow if isinstance(figure.flow, tuple) else (figure.flow,)
    counted = {label: list(replicates(source, label, name, flows)) for label in source.part.labels}
    above = "y" in figure.log
    shown = [
        over_replicates(label, source.part.labels.index(label), found, source.part.method, above)
        for label, found in counted.items()
        if found
    ]
    if not shown:
        return []
    label, of = DISTRIBUTIONS[name]
    whose = named(flows, names_of_flows(source.part.scenario))
    share = FigureScale(
        name, f"Share of {of} above" if above else f"Share of {of}", "", *((None, None) if above else (0.0, 1.0)), log=above
    )
    log = "x" in figure.log and all(place > 0 for one in shown for place in one.x if place is not None)
    banded = any(value is not None for one in shown for value in one.low)
    interval = f", with {100 * source.part.confidence:.3g} % intervals at each value" if banded else ""
    caption = (
        f"{'Complementary c' if above else 'C'}umulative distribution of the {label.lower()} of {of}, {whose}, at the nominal "
        f"point: {source.part.method.statistic} over replicates{interval}. Values are exact to 1 %."
    )
    keys = [name, *(["above"] if above else []), *([whose] if figure.flow != 0 else [])]
    axis = FigureAxis(f"{name}_ms", label, "ms", log=log)
    return [FigureData(figure_id(source.part.id, "cdf", *keys), source.part.id, "cdf", f"{label} of {of}, {whose}", caption, axis,
                       share, shown)]  # fmt: skip


def named(flows: tuple[int, ...], names: Mapping[int, str]) -> str:
    """Return which flows are shown, all if none is named, by name where they have one."""
    if not flows:
        return "all flows"
    return ("flow " if len(flows) == 1 else "flows ") + ", ".join(names.get(number, str(number)) for number in flows)


def replicates(source: PartTables, label: str, name: str, flows: tuple[int, ...]) -> "Iterator[Distribution]":
    """Yield the distribution of each replicate at the nominal point that has one."""
    runs = {run.id: run for run in source.plan.runs.values() if run.id in source.plan.base and run.algorithm == label}
    for _, summary in source.store.summaries(runs):
        wanted = [one for one in summary["flows"] if not flows or one["flow"] in flows]
        found = [one["distributions"][name] for one in wanted if name in one.get("distributions", {})]
        if found:
            yield pooled(found)


def over_replicates(label: str, style: int, found: Sequence[Distribution], method: Method, above: bool) -> Series:
    """Return the mean of the distributions of replicates, with its interval at each value."""
    values = np.unique(np.concatenate([one.values_s for one in found]))
    values = values[spread(len(values), PLACES)]
    shares = np.array([one.share_up_to(values) for one in found])
    if above:
        shares = 1 - shares
    made = [method.interval(column, SHARES, "share") for column in shares.T]
    share, low, high = (as_numbers(getattr(one, name) for one in made) for name in ("value", "low", "high"))
    return Series(label, style, as_numbers(1000 * values), share, low, high, [len(found)] * len(values))
