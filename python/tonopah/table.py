"""Results as tidy tables: one row for each run (network level) or for each run and flow.

Columns: part (in a study of parts), run (id), algorithm, seed, one for each axis (as written in the study), then the metrics,
SI units in their names, nested names joined by a dot (`student_ns3.delay_s`). What was not measured is empty.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah import measure
from tonopah.plan import PartPlan, Run
from tonopah.stats import Estimate, Method
from tonopah.study_spec import Part

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.store import Store


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested dictionary as a flat one."""
    flat: dict[str, Any] = {}
    for key, below in value.items():
        if isinstance(below, Mapping):
            flat |= flatten(below, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = below
    return flat


def lead(run: Run, part: str) -> dict[str, Any]:
    """Return the columns that every row starts with; a study of one part without id has no column `part`."""
    return {**({"part": part} if part else {}), "run": run.id, "algorithm": run.algorithm, "seed": run.seed, **run.values}


def part_tables(part: Part, plan: PartPlan, store: "Store") -> tuple["pd.DataFrame", "pd.DataFrame"]:
    """Return the tables of runs (network level) and of flows of one part.

    Typical runs are left out: they repeat replicate 1 with series.
    """
    stored = {run.id: summary for run, summary in store.summaries({run.id: run for run in plan.runs.values()})}
    runs, flows = [], []
    for run in (run for run in plan.runs.values() if run.id in stored):
        first, summary = lead(run, part.id), stored[run.id]
        busiest = max((link["utilisation"] or 0.0 for link in summary.get("links", [])), default=None)
        conserved = flatten({"conservation": summary.get("conservation", {})})
        measured = summary.get("measures", {}) | measure.from_flows(part.measures, [flatten(flow) for flow in summary["flows"]])
        runs.append(
            {**first, **flatten(summary["network"]), "utilisation_max": busiest, **measured, **conserved,
             "events": summary.get("events")}
        )  # fmt: skip
        flows += [{**first, **flatten(flow)} for flow in summary["flows"]]
    start = ["part"] * bool(part.id) + ["run", "algorithm", "seed"]
    return frame(runs, start), frame(flows, [*start, "flow"])


def joined(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Return the tables of all parts as one; an axis or measure that a part lacks is empty there."""
    import pandas as pd

    filled = [table.dropna(axis="columns", how="all") for table in tables if not table.empty]
    if len(tables) == 1 or not filled:
        return tables[0]
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    return frame(pd.concat(filled, ignore_index=True).reindex(columns=columns), columns)


def frame(rows: "list[dict[str, Any]] | pd.DataFrame", columns: list[str]) -> "pd.DataFrame":
    """Return rows as a data frame in which a column of mixed types is text, so that Parquet can hold it."""
    import pandas as pd

    table = pd.DataFrame(rows) if len(rows) else pd.DataFrame(columns=columns)
    for name in table.columns:
        column = table[name]
        if column.isna().all():
            table[name] = column.astype("float64")
        elif not column.map(lambda v: isinstance(v, int | float)).all() and not column.map(lambda v: isinstance(v, str)).all():
            table[name] = column.map(lambda v: None if pd.isna(v) else str(v))
    return table


def write(table: "pd.DataFrame", folder: Path, name: str) -> None:
    """Write a table as CSV and as Parquet."""
    table.to_csv(folder / f"{name}.csv", index=False)
    table.to_parquet(folder / f"{name}.parquet", index=False)


def values_at(table: "pd.DataFrame", metric: str, algorithm: str, where: Mapping[str, Any]) -> "pd.Series":
    """Return the metric of one algorithm at one point, by seed; empty when it was not measured."""
    import pandas as pd

    if metric not in table.columns:
        return pd.Series(dtype=float)
    chosen = table["algorithm"] == algorithm
    for axis, value in where.items():
        chosen &= table[axis].map(lambda v, wanted=value: v == wanted or str(v) == str(wanted))
    return pd.to_numeric(table[chosen].set_index("seed")[metric], errors="coerce").sort_index()


def estimate(table: "pd.DataFrame", metric: str, algorithm: str, where: Mapping[str, Any], method: Method) -> Estimate:
    """Return the mean (or median) over replicates, with its interval, at one point."""
    return method.interval(values_at(table, metric, algorithm, where).to_numpy())


def difference(
    table: "pd.DataFrame", metric: str, algorithm: str, baseline: str, where: Mapping[str, Any], method: Method
) -> Estimate:
    """Return the paired difference to the baseline in percent at one point; replicates are paired by seed."""
    import pandas as pd

    both = pd.concat(
        [values_at(table, metric, algorithm, where), values_at(table, metric, baseline, where)], axis=1, join="inner"
    )
    return method.difference_percent(both.iloc[:, 0].to_numpy(), both.iloc[:, 1].to_numpy())
