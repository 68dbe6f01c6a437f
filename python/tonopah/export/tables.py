"""A run as tables: flows, links and nodes, and its series."""

from pathlib import Path

from tonopah.runs.simulation import OWNERS, RunResult
from tonopah.writing import written_whole


def write_tables(result: RunResult, folder: Path) -> None:
    """Write the tables and the series of a run as Parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"flows": result.flows, "links": result.links, "nodes": result.nodes}
    tables |= {"workloads": result.workloads} if len(result.workloads) else {}
    for name, table in {**tables, **{name: result.series(name) for name in result.names}}.items():
        with written_whole(folder / f"{name}.parquet") as file:
            table.to_parquet(file, index=False)


def write_series(result: RunResult, folder: Path) -> list[str]:
    """Write every series of a run as CSV and return their names; those of nodes and workloads only where there are any."""
    names = [name for name in result.names if OWNERS.get(name) not in ("node", "workload") or len(result.series(name))]
    for name in names:
        with written_whole(folder / f"{name}.csv") as file:
            result.series(name).to_csv(file, index=False)
    return names
