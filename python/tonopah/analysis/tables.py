"""Results as tidy tables: one row for each run (network level) or for each run and flow.

Columns: part (in a study of parts), run (id), algorithm, seed, one for each axis (as written in the study), then the metrics with
SI units in their names; nested names are joined by a dot (`drops.queue`). What was not measured is empty.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.errors import InputError, RunFailedError
from tonopah.metrics import Metric, count_text
from tonopah.metrics import metric as describe
from tonopah.runs.summary import workload_columns
from tonopah.spec import measures
from tonopah.spec.columns import flatten
from tonopah.spec.model import Part
from tonopah.spec.plan import PartPlan, Run
from tonopah.stats import Estimate, Method, jain
from tonopah.writing import written_whole

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from tonopah.store.store import Store


@dataclass(frozen=True)
class PartTables:
    """The data of one part: its plan, its tables, and the store of its series."""

    part: Part
    plan: PartPlan
    runs: "pd.DataFrame"
    flows: "pd.DataFrame"
    store: "Store"


def require_runs(sources: Sequence[PartTables], store: "Store") -> None:
    """Raise InputError if no part has a finished run of this build of the engine, and say of which builds there are any."""
    if all(source.runs.empty for source in sources):
        others = ", ".join(f"{count_text(count, 'run')} of engine {build}" for build, count in store.other_builds().items())
        hint = f"it has {others}; results belong to one build: `study run` does them again" if others else None
        raise InputError("", "contains no finished run", hint, str(store.folder))


KEYS = ["run", "algorithm", "seed"]
"""The first columns of every table, after the part if there are several; also of one without rows."""


def key_columns(run: Run, part: str) -> dict[str, Any]:
    """Return the columns that identify a row; a study of one part without id has no column `part`."""
    return {**({"part": part} if part else {}), "run": run.id, "algorithm": run.algorithm, "seed": run.seed, **run.values}


def part_tables(part: Part, plan: PartPlan, store: "Store") -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Return the tables of runs (network level) and of flows of one part.

    Representative runs are excluded: they repeat replicate 1 with series.
    """
    stored = {run.id: summary for run, summary in store.summaries({run.id: run for run in plan.runs.values()})}
    runs, flows = [], []
    for run in (run for run in plan.runs.values() if run.id in stored):
        keys = key_columns(run, part.id)
        with reading(run, store):
            network, of_run = rows_of(run, stored[run.id], part)
        runs.append({**keys, **network})
        flows += [{**keys, **flow} for flow in of_run]
    start = ["part"] * bool(part.id) + KEYS
    return frame(runs, start), frame(flows, [*start, "flow"])


def rows_of(run: Run, summary: Mapping[str, Any], part: Part) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the columns of a run at network level, and those of each of its flows."""
    busiest = max((link["utilisation"] or 0.0 for link in summary.get("links", [])), default=None)
    observed = summary.get("observed", {"run": {}, "flows": []})
    more = [*observed["flows"], *([{}] * len(summary["flows"]))]
    flows = [flatten(flow) | own for flow, own in zip(summary["flows"], more, strict=False)]
    listed = [flow for flow in flows if "workload" not in flow]
    measured = observed["run"] | summary.get("derived", {}) | measures.from_flows(part.derived, listed or flows)
    conserved = flatten({"conservation": summary.get("conservation", {})})
    network = {
        **flatten(summary["network"]), **workload_columns(summary), **network_ratios(run, summary),
        **host_fairness(summary["flows"]), "utilisation_max": busiest, **measured, **conserved, "events": summary.get("events"),
    }  # fmt: skip
    return network, flows


@contextmanager
def reading(run: Run, store: "Store") -> Iterator[None]:
    """Raise RunFailedError where the summary of a run lacks what every summary has: somebody wrote it, with its digest."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"the result of run {run.id} is none of this version ({type(error).__name__}: {error})"
        raise RunFailedError(f"{store.path}: {why}; run the study in another folder") from error


def network_ratios(run: Run, summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the power of all radios and the goodput per node of the scenario.

    They follow from the summary by division alone; published reports give energy in J/s and throughput per node.
    """
    network, ratios = summary["network"], {}
    start, end = summary.get("window_s", (0.0, 0.0))
    nodes = json.loads(run.resolved).get("network", {}).get("nodes")
    if network.get("energy_j") is not None and end > start:
        ratios["energy_power_w"] = network["energy_j"] / (end - start)
    # A network of listed nodes has their names there, others their number.
    count = nodes if isinstance(nodes, int) else len(nodes or [])
    if network.get("goodput_bps") is not None and count:
        ratios["goodput_per_node_bps"] = network["goodput_bps"] / count
    return ratios


def host_fairness(flows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return Jain's index over hosts, from the flows of a run; nothing with a single host, or where not all flows are listed."""
    if any("workload" in flow for flow in flows):
        return {}
    received, sent = Counter[str](), Counter[str]()
    for flow in flows:
        if flow["lifetime_s"]:
            received[flow["to"]] += flow["delivered_bytes"]
            sent[flow["from"]] += flow["delivered_bytes"]
    by_host = received if len(received) > 1 else sent
    if len(by_host) < 2:
        return {}
    index = jain(list(by_host.values()))
    return {} if np.isnan(index) else {"jain_hosts": index}


def concatenate(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Return the tables of all parts as one; a column that a part lacks is empty there."""
    import pandas as pd

    filled = [table.dropna(axis="columns", how="all") for table in tables if not table.empty]
    if len(tables) == 1 or not filled:
        return tables[0]
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    return frame(pd.concat(filled, ignore_index=True).reindex(columns=columns), columns)


def frame(rows: "list[dict[str, Any]] | pd.DataFrame", columns: list[str]) -> "pd.DataFrame":
    """Return rows as a data frame; a column of mixed types becomes text, since Parquet has one type for each column."""
    import pandas as pd

    table = pd.DataFrame(rows) if len(rows) else pd.DataFrame(columns=columns)
    for name in table.columns:
        column = table[name]
        if column.dtype.kind in "biuf":
            continue
        if column.isna().all():
            table[name] = column.astype("float64")
        elif not column.map(lambda v: isinstance(v, int | float)).all() and not column.map(lambda v: isinstance(v, str)).all():
            table[name] = column.map(lambda v: None if pd.isna(v) else str(v))
    return table


def write(table: "pd.DataFrame", folder: Path, name: str) -> None:
    """Write a table as CSV and as Parquet, in place of a link, not through it."""
    texts = {column: table[column].map(safe_text) for column in table.select_dtypes(["object", "string"]).columns}
    with written_whole(folder / f"{name}.csv") as file:
        table.assign(**texts).rename(columns=safe_text).to_csv(file, index=False)
    with written_whole(folder / f"{name}.parquet") as file:
        table.to_parquet(file, index=False)


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes text that begins so for a formula (OWASP, CSV Injection)."""


def safe_text(value: Any) -> Any:
    """Return text so that a spreadsheet does not take it for a formula; a number stays a number."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def values_at(table: "pd.DataFrame", metric: str, algorithm: str, where: Mapping[str, Any]) -> "pd.Series":
    """Return the metric of one algorithm at one point, by seed; empty if it was not measured."""
    import pandas as pd

    found = sample_at(table, metric, algorithm, where)
    return pd.Series(found.values, index=found.seeds, name=metric if metric in table.columns else None)


@dataclass(frozen=True)
class Sample:
    """The metric of one algorithm at one point: seeds in order, and their values; NaN where it was not measured."""

    seeds: "NDArray[np.int64]"
    values: "NDArray[np.float64]"


def sample_at(table: "pd.DataFrame", metric: str, algorithm: str, where: Mapping[str, Any]) -> Sample:
    """Return the metric of one algorithm at one point; empty if it was not measured.

    A report calls this thousands of times, on tables a hundred columns wide: arrays take a third of the time of pandas'
    selections.
    """
    import pandas as pd

    if metric not in table.columns:
        return Sample(np.empty(0, dtype=np.int64), np.empty(0))
    chosen = np.array([label == algorithm for label in table["algorithm"].tolist()], dtype=bool)
    for axis, value in where.items():
        chosen &= equals(table[axis], value)
    seeds, values = table["seed"].to_numpy()[chosen], table[metric].to_numpy()[chosen]
    if values.dtype.kind not in "iuf":
        values = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy()
    order = np.argsort(seeds, kind="stable")
    return Sample(seeds[order], values[order].astype(float))


def equals(column: "pd.Series", value: Any) -> "NDArray[np.bool_]":
    """Tell which values of an axis are this one, also if one is text and the other a number."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and isinstance(value, int | float):
        return column.to_numpy() == value
    return np.array([v == value or str(v) == str(value) for v in column.tolist()], dtype=bool)


def estimate(table: "pd.DataFrame", shown: Metric, algorithm: str, where: Mapping[str, Any], method: Method) -> Estimate:
    """Return the mean (or median, or share) of a metric over replicates, with its interval, at one point."""
    values = sample_at(table, shown.column, algorithm, where).values
    return method.interval(values, shown.bounds, shown.kind)


def difference(
    table: "pd.DataFrame", metric: str, algorithm: str, baseline: str, where: Mapping[str, Any], method: Method
) -> Estimate:
    """Return the paired difference to the baseline in percent at one point; replicates are paired by seed."""
    mine, base = (sample_at(table, metric, label, where) for label in (algorithm, baseline))
    _, i, j = np.intersect1d(mine.seeds, base.seeds, assume_unique=True, return_indices=True)
    return method.difference_percent(mine.values[i], base.values[j], describe(metric).kind)


def is_measured(table: "pd.DataFrame", name: str, algorithms: list[str]) -> bool:
    """Tell whether the metric was measured at all."""
    return any(not np.isnan(sample_at(table, name, algorithm, {}).values).all() for algorithm in algorithms)
