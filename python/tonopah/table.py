"""Results as tidy tables: one row for each run (network level) or for each run and flow.

Columns: run (id), algorithm, seed, one for each axis of the study (as written in its file), then the metrics, SI units
in their names, nested names joined by a dot (`student_ns3.delay_s`). What was not measured is empty.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.plan import Plan, Run
from tonopah.stats import Estimate, difference_percent, mean_interval

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


def lead(run: Run) -> dict[str, Any]:
    """Return the columns that every row starts with."""
    return {"run": run.id, "algorithm": run.algorithm, "seed": run.seed, **run.values}


def run_table(plan: Plan, store: "Store") -> "pd.DataFrame":
    """Return the table of runs (network level), typical runs left out: they repeat replicate 1 with series."""
    rows = []
    for run, summary in store.summaries({k: r for k, r in plan.runs.items() if not r.typical}):
        busiest = max((link["utilisation"] or 0.0 for link in summary.get("links", [])), default=None)
        conserved = flatten({"conservation": summary.get("conservation", {})})
        measured = flatten(summary["network"])
        rows.append({**lead(run), **measured, "utilisation_max": busiest, **conserved, "events": summary.get("events")})
    return frame(rows, ["run", "algorithm", "seed"])


def flow_table(plan: Plan, store: "Store") -> "pd.DataFrame":
    """Return the table of runs and flows, typical runs left out."""
    rows = [
        {**lead(run), **flatten(flow)}
        for run, summary in store.summaries({k: r for k, r in plan.runs.items() if not r.typical})
        for flow in summary["flows"]
    ]
    return frame(rows, ["run", "algorithm", "seed", "flow"])


def frame(rows: list[dict[str, Any]], columns: list[str]) -> "pd.DataFrame":
    """Return rows as a data frame in which a column of mixed types is text, so that Parquet can hold it."""
    import pandas as pd

    table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)
    for name in table.columns:
        column = table[name]
        if column.isna().all():
            table[name] = column.astype("float64")
        elif not column.map(lambda v: isinstance(v, int | float)).all() and not column.map(lambda v: isinstance(v, str)).all():
            table[name] = column.map(lambda v: v if v is None else str(v))
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


def estimate(table: "pd.DataFrame", metric: str, algorithm: str, where: Mapping[str, Any]) -> Estimate:
    """Return the mean over replicates, with its interval, at one point."""
    return mean_interval(values_at(table, metric, algorithm, where).to_numpy())


def difference(table: "pd.DataFrame", metric: str, algorithm: str, baseline: str, where: Mapping[str, Any]) -> Estimate:
    """Return the paired difference to the baseline in percent at one point; replicates are paired by seed."""
    import pandas as pd

    both = pd.concat(
        [values_at(table, metric, algorithm, where), values_at(table, metric, baseline, where)], axis=1, join="inner"
    )
    return difference_percent(both.iloc[:, 0].to_numpy(), both.iloc[:, 1].to_numpy())
