"""The tables of `tonopah metrics`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tonopah.terminal.grid import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType


def metric_tables(metrics: Sequence[Mapping[str, Any]]) -> list["RenderableType"]:
    """Return the metrics by what they belong to: name, unit in tables and definition."""
    from rich.text import Text

    groups = (
        ("Of runs and of flows", {"run", "flow"}), ("Of runs", {"run"}), ("Of flows", {"flow"}),
        ("Of workloads: workload.NAME.METRIC, and workload.NAME.class.CLASS.METRIC of a class of sizes", {"workload"}),
        ("Time series: record.series, figures of the kind series", {"series"}),
    )  # fmt: skip
    tables: list[RenderableType] = []
    for title, owners in groups:
        table = plain_table()
        for name in ("metric", "unit"):
            table.add_column(name, no_wrap=True)
        table.add_column("definition", overflow="fold")
        for entry in (entry for entry in metrics if owners in (set(entry["of"]), set(entry["of"]) - {"workload"})):
            table.add_row(entry["name"], entry["unit"], entry["definition"] or entry["label"])
        if table.row_count:
            tables += [Text(title, style="bold"), table]
    return tables


def metric_facts(entry: Mapping[str, Any]) -> list["RenderableType"]:
    """Return all there is to say of one metric."""
    from rich.table import Table

    table = Table(
        title=f"{entry['name']}: {entry['label']}", title_justify="left", title_style="bold", box=None, show_header=False
    )
    owners = {
        "run": "runs",
        "flow": "flows",
        "workload": "workloads (workload.NAME.METRIC)",
        "series": "time series (record.series)",
    }
    table.add_row("unit", f"{entry['unit']}; reports show {entry['shown_in'] or '1'}")
    table.add_row("of", ", ".join(owners[owner] for owner in entry["of"]))
    table.add_row("definition", entry["definition"])
    return [table]
