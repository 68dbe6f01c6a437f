"""What the command line prints for people: tables of a run, of the algorithms, of the speed test."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tonopah.application_metrics import APPLICATION_COLUMNS, REVERSE_COLUMNS
from tonopah.metrics import count_text, parameter, parameter_range, readable, show
from tonopah.references import key_of
from tonopah.workload_metrics import CLASS_COLUMNS, LOADS, USER_TIMES

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

MAX_ROWS = 20
MAX_READ = 1000
"""So many flows are looked at for the tables of a run: those of 100,000 would take longer to read than to simulate."""
PIPE_WIDTH = 160


def console() -> "Console":
    """Return a console on standard output: as wide as the terminal, or wide enough for every table in a pipe."""
    from rich.console import Console

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = shutil.get_terminal_size().columns if known else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, soft_wrap=False)


def plain_table(title: str = "") -> "Table":
    """Return an empty table in the common style."""
    from rich import box
    from rich.table import Table

    return Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


@dataclass(frozen=True)
class Grid:
    """A table before it is fitted to a width: titles of columns may have a second line, the unit."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    keys: int = 0
    """Leading columns of text. The first of them is repeated when the columns continue below."""
    note: str = ""
    """A line below it."""


MIN_WIDTH = 40
"""A narrower terminal breaks the lines itself."""
GAP, EDGES = 3, 2
"""Letters between two columns, and outside the outer ones, in the common style."""


def fit(grid: Grid, width: int) -> list["RenderableType"]:
    """Return a grid as tables of at most this width. No number is cut: columns that do not fit continue in a further table."""
    from rich.cells import cell_len
    from rich.text import Text

    texts = [[name.split("\n"), *([row[i]] for row in grid.rows)] for i, name in enumerate(grid.columns)]
    widths = [max(cell_len(line) for cell in cells for line in cell) for cells in texts]
    # Long names are folded, so that a number stands beside them.
    widths = [min(own, width // 3) if i < grid.keys else own for i, own in enumerate(widths)]
    pieces: list[list[int]] = [[]]
    for i in range(len(grid.columns)):
        used = sum(widths[k] + GAP for k in pieces[-1]) + EDGES
        if len(pieces[-1]) > (grid.keys if len(pieces) == 1 else 1) and used + widths[i] > width:
            pieces.append([0] if grid.keys else [])
        pieces[-1].append(i)
    tables: list[RenderableType] = [Text(grid.title, style="bold")]
    for piece in pieces if grid.rows else []:
        table = plain_table()
        for i in piece:
            is_text = i < grid.keys and not all(row[i].isdigit() for row in grid.rows)
            table.add_column(
                grid.columns[i],
                justify="left" if is_text else "right",
                no_wrap=not is_text,
                overflow="fold",
                min_width=widths[i],
                max_width=widths[i],
            )
        for row in grid.rows:
            table.add_row(*(row[i] for i in piece))
        tables.append(table)
    return [*tables, *([Text(f" {grid.note}\n")] if grid.note else [])]


FLOW_COLUMNS = (
    ("goodput", "goodput_bps", 1e-6, "Mb/s"), ("completion", "completion_s", 1.0, "s"), ("delay", "delay_s", 1e3, "ms"),
    ("p95", "delay_p95_s", 1e3, "ms"), ("delivered", "delivery_ratio", 100.0, "%"), ("lost", "loss_ratio", 100.0, "%"),
    ("retransm.", "retransmitted_packets", 1.0, "packets"), ("srtt", "srtt_s", 1e3, "ms"), ("timeouts", "rto_count", 1.0, ""),
)  # fmt: skip
"""Columns of the flows, the most important first: in a narrow terminal the last ones come below."""
MARKED = ("marked", "marked_packets", 1.0, "packets")
"""A column of the flows and of the network; it and the links' are left out when no queue marked a packet."""
WITHOUT_PATH = ("without a path", "flows_without_path", 1.0, "flows")
"""A column of the network; left out when every flow had a path at some instant."""


def run_tables(summary: Mapping[str, Any], width: int = PIPE_WIDTH, flows: int | None = None) -> list["RenderableType"]:
    """Return the tables of a run, at most this wide: its flows, its workloads, the network as a whole, its busiest links.

    Of the `flows` of the summary the first MAX_READ are enough.
    """
    listed = flows or len(summary["flows"])
    if summary.get("workloads"):
        listed = summary["network"]["flows"] - sum(workload["arrived"] for workload in summary["workloads"])
    grids = [flow_grid(summary, listed), *application_grids(summary), *workload_grids(summary), network_grid(summary)]
    if summary["network"].get("mac_data_frames") is not None:
        grids.extend(radio_grids(summary))
    if summary.get("links") or summary["network"].get("mac_data_frames") is None:
        grids.append(link_grid(summary))
    return [table for grid in grids for table in fit(grid, max(width, MIN_WIDTH))]


def flow_grid(summary: Mapping[str, Any], count: int) -> Grid:
    """Return the table of flows; completion times are shown if a flow in it is complete, marks if there are any."""
    start, end = summary["window_s"]
    seconds = f"{summary['duration_s']:g} s simulated, measured from {start:g} s to {end:g} s"
    title = f"{seconds}, seed {summary['seed']}, {summary['events']:,} events"
    # Those of workloads follow the others.
    flows = [flow for flow in summary["flows"][:MAX_ROWS] if "workload" not in flow]
    complete = any(flow.get("completion_s") is not None for flow in flows)
    columns = [column for column in FLOW_COLUMNS if complete or column[1] != "completion_s"]
    columns += [MARKED] if has_marks(summary) else []
    rows = [[str(flow["flow"]), f"{flow['from']} → {flow['to']}", str(flow["cc"]), *cells(flow, columns)] for flow in flows]
    left = count - MAX_ROWS
    return Grid(
        title, ("flow", "from → to", "cc", *headings(columns)), rows, 3, f"… {left:,} more (--json shows all)" if left > 0 else ""
    )


def workload_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """Return a table for each workload: all of its flows, then those of each class of sizes that has any."""
    grids = []
    for workload in summary.get("workloads", []):
        rows = [
            (workload, "all"),
            *((row, f"≤ {row['class']}" if row["upto_bytes"] else row["class"]) for row in workload["classes"] if row["started"]),
        ]
        facts = [f"{name} {show(workload[key], 3)}" for name, key in LOADS if workload[key] is not None]
        facts += [f"alive {show(workload['alive_mean'], 3)} (at most {workload['alive_max']:,})"]
        facts += [f"{workload['aborted']:,} aborted"] if workload["aborted"] else []
        times = USER_TIMES.get(workload["app"], ())
        facts += [f"{name} {show(1e3 * workload[key])} ms" for name, key in times if workload[key] is not None]
        title = f"Workload {workload['name']}, {count_text(workload['arrived'], 'flow')}"
        cells_of = [[label, *cells(row, CLASS_COLUMNS)] for row, label in rows]
        grids.append(Grid(title, ("size", *headings(CLASS_COLUMNS)), cells_of, 1, ", ".join(facts)))
    return grids


def has_marks(summary: Mapping[str, Any]) -> bool:
    """Tell whether a queue marked a packet; a link's count covers the whole run, its warm-up included."""
    return any(part["marked_packets"] for part in (summary["network"], *summary.get("links", [])))


Columns = Sequence[tuple[str, str, float, str]]
"""Columns of numbers: heading, key in the summary, factor and unit."""


def headings(columns: Columns) -> tuple[str, ...]:
    """Return the titles of columns, each with its unit below."""
    return tuple(f"{name}\n{unit}" if unit else name for name, _, _, unit in columns)


def cells(values: Mapping[str, Any], columns: Columns) -> list[str]:
    """Return the numbers of a row."""
    return [cell(values.get(key), factor) for _, key, factor, _ in columns]


def cell(value: Any, factor: float) -> str:
    """Return one value as it is shown; counts keep all their digits."""
    if isinstance(value, int) and factor == 1.0:
        return f"{value:,}"
    return str(value) if isinstance(value, str) else show(None if value is None else value * factor)


def application_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """Return a table for each kind of application that measures something of its own, and one for data in reverse."""
    grids = []
    for app, columns in APPLICATION_COLUMNS.items():
        flows = [flow for flow in summary["flows"] if flow["app"] == app and flow.get("connection_of") is None]
        grids += [numbered_grid(readable(app), flows, flows, columns)] if flows else []
    both = [flow for flow in summary["flows"] if flow.get("reverse_size_bytes") is not None]
    both = [flow for flow in both if flow.get("reverse")]
    return grids + ([numbered_grid("Data in reverse", both, [flow["reverse"] for flow in both], REVERSE_COLUMNS)] if both else [])


def numbered_grid(title: str, flows: list[Mapping[str, Any]], values: list[Mapping[str, Any]], columns: Columns) -> Grid:
    """Return a table of values of flows, a row for each."""
    rows = [[str(flow["flow"]), *cells(row, columns)] for flow, row in zip(flows, values, strict=True)][:MAX_ROWS]
    left = len(flows) - MAX_ROWS
    return Grid(title, ("flow", *headings(columns)), rows, 1, f"… {left:,} more (--json shows all)" if left > 0 else "")


NETWORK_COLUMNS = (
    ("goodput", "goodput_bps", 1e-6, "Mb/s"), ("offered", "offered_bps", 1e-6, "Mb/s"), ("delay", "delay_s", 1e3, "ms"),
    ("delivered", "delivery_ratio", 100.0, "%"), ("lost", "loss_ratio", 100.0, "%"), ("fairness", "jain", 1.0, "Jain"),
    ("retransm.", "retransmitted_packets", 1.0, "packets"), ("without delivery", "flows_without_delivery", 1.0, "flows"),
)  # fmt: skip


COMPLETION_COLUMNS = (
    ("completion", "completion_s", 1.0, "s, mean"), ("p50", "completion_p50_s", 1.0, "s"), ("p95", "completion_p95_s", 1.0, "s"),
    ("p99", "completion_p99_s", 1.0, "s"),
)  # fmt: skip
"""Of the flows that have an end and reached it; left out where there is none."""


def network_grid(summary: Mapping[str, Any]) -> Grid:
    """Return the table of the network as a whole."""
    network, columns = summary["network"], [*NETWORK_COLUMNS]
    columns += [column for column in COMPLETION_COLUMNS if network.get(column[1]) is not None]
    columns += [MARKED] if has_marks(summary) else []
    columns += [WITHOUT_PATH] if network.get("flows_without_path") else []
    return row_grid(f"Network, {count_text(network['flows'], 'flow')}", network, columns)


RADIO_COLUMNS = (
    ("data frames", "mac_data_frames", 1.0, "frames"), ("control", "mac_control_frames", 1.0, "frames"),
    ("unanswered", "mac_failures", 1.0, "frames"), ("given up", "mac_given_up", 1.0, "frames"),
    ("airtime", "airtime_s", 1.0, "s"),
)  # fmt: skip
ENERGY_COLUMNS = (
    ("energy", "energy_j", 1.0, "J"), ("sending, receiving", "energy_comm_j", 1.0, "J"),
    ("per packet", "energy_per_packet_j", 1e3, "mJ"), ("per byte", "energy_per_byte_j", 1e6, "µJ"),
    ("out of energy", "nodes_without_energy", 1.0, "nodes"),
)  # fmt: skip


LRWPAN_COLUMNS = (("medium busy", "mac_access_failures", 1.0, "frames"), ("too long", "mac_too_long", 1.0, "packets"))
"""What only radios of 802.15.4 have."""
PIECES_COLUMNS = (
    ("components", "components", 1.0, "at the start"), ("largest", "largest_component", 1.0, "nodes"),
    ("neighbours", "mean_degree", 1.0, "mean"), ("without a path", "flows_without_path", 1.0, "flows"),
)  # fmt: skip


RADIO_DROPS = (
    ("retries", "retry"),
    ("age", "expired"),
    ("TTL", "ttl"),
    ("no route in time", "route_wait"),
    ("no address", "arp"),
    ("busy", "access"),
    ("length", "too_long"),
    ("fragments", "reassembly"),
)


def radio_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """Return the tables of the radios: what they sent and lost; what they consumed; the pieces that the network falls into.

    Energy is shown if it is modelled, pieces if there is more than one or a flow had a path at no instant.
    """
    network = summary["network"]
    radio = (*RADIO_COLUMNS, *(LRWPAN_COLUMNS if network["mac_access_failures"] is not None else ()))
    drops = tuple((f"dropped: {name}", key, 1.0, "packets") for name, key in RADIO_DROPS if network["drops"][key])
    grids = [row_grid("Radio", {**network, **network["drops"]}, radio + drops)]
    if network["energy_j"] is not None:
        grids.append(row_grid("Energy", network, ENERGY_COLUMNS))
    if network["components"] > 1 or network["flows_without_path"] > 0:
        grids.append(row_grid("The network is in pieces", network, PIECES_COLUMNS))
    return grids


def row_grid(title: str, values: Mapping[str, Any], columns: Columns) -> Grid:
    """Return a table with one row."""
    return Grid(title, headings(columns), [cells(values, columns)])


LINK_COLUMNS = (
    ("rate", "rate_bps", 1e-6, "Mb/s"), ("utilisation", "utilisation", 100.0, "%"),
    ("mean queue", "queue_mean_packets", 1.0, "packets"), ("longest queue", "queue_max_packets", 1.0, "packets"),
    ("dropped", "dropped_packets", 1.0, "packets"),
)  # fmt: skip


def link_grid(summary: Mapping[str, Any]) -> Grid:
    """Return the table of the three busiest links: the first is the bottleneck."""
    columns = [*LINK_COLUMNS, *([MARKED] if has_marks(summary) else [])]
    busiest = sorted(summary.get("links", []), key=lambda link: -(link["utilisation"] or 0.0))[:3]
    rows = [[f"{link['from']} → {link['to']}", *cells(link, columns)] for link in busiest]
    return Grid("Busiest links", ("link", *headings(columns)), rows, 1)


def metric_tables(metrics: Sequence[Mapping[str, Any]]) -> list["RenderableType"]:
    """Return the metrics by what they belong to: name, unit in tables and definition."""
    from rich.text import Text

    groups = (
        ("Of runs and of flows", {"run", "flow"}), ("Of runs", {"run"}), ("Of flows", {"flow"}),
        ("Of workloads, as workload.NAME.METRIC; of a class of sizes, as workload.NAME.class.CLASS.METRIC", {"workload"}),
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


def algorithm_table(algorithms: list[dict[str, Any]]) -> "Table":
    """Return the list of algorithms."""
    table = plain_table()
    for name in ("name", "title", "profiles"):
        table.add_column(name, no_wrap=name == "name")
    for entry in algorithms:
        profiles = ", ".join(profile["name"] for profile in entry["profiles"])
        table.add_row(entry["name"], entry["title"], profiles)
    return table


def algorithm_tables(algorithm: dict[str, Any]) -> list["Table"]:
    """Return all there is to say of one algorithm: where it is from and what it asks for, its parameters, its profiles."""
    tables = [facts_table(algorithm)]
    if algorithm["params"]:
        tables.append(parameter_table(algorithm))
    if algorithm["profiles"]:
        tables.append(profile_table(algorithm))
    return tables


def facts_table(algorithm: dict[str, Any]) -> "Table":
    """Return where an algorithm is defined, what it asks of its connection and how a scenario names it."""
    from rich.table import Table

    name, profiles = algorithm["name"], algorithm["profiles"]
    table = Table(title=f"{name}: {algorithm['title']}", title_justify="left", title_style="bold", box=None, show_header=False)
    table.add_row("defined in", algorithm["reference"])
    table.add_row("asks for", requirements_text(algorithm["requirements"]))
    words = [f'{key_of(name)} = "{name}"', *(f'profile = "{p["name"]}"' for p in profiles[-1:])]
    words += [f"{p['name']} = {parameter(p['default'])}" for p in algorithm["params"][:1]]
    table.add_row("written", f"cc = {{ {', '.join(words)} }}")
    return table


def requirements_text(requirements: Mapping[str, Any]) -> str:
    """Return what an algorithm asks of its connection, in words."""
    texts = (
        (requirements["owns_window"], "its own window in recovery too"),
        (requirements["ecn"], f"congestion marks of the form {requirements['ecn']}"),
        (requirements["timestamps"], "timestamps"),
    )
    return "; ".join(text for asked, text in texts if asked) or "nothing special"


def parameter_table(algorithm: dict[str, Any]) -> "Table":
    """Return the parameters of an algorithm: default, range, unit, meaning, and below it the source of the default."""
    table = plain_table()
    for name in ("parameter", "default", "range", "unit"):
        table.add_column(name, justify="right" if name == "default" else "left", no_wrap=True)
    table.add_column("meaning, and where the default is from")
    for entry in algorithm["params"]:
        meaning = "\n".join(text for text in (entry["doc"], entry["source"] and f"({entry['source']})") if text)
        table.add_row(entry["name"], parameter(entry["default"]), parameter_range(entry), entry["unit"] or "", meaning)
    return table


def profile_table(algorithm: dict[str, Any]) -> "Table":
    """Return the profiles of an algorithm: the values that they set, and the loss recovery that they bring."""
    table = plain_table()
    table.add_column("profile", no_wrap=True)
    table.add_column("recovery", no_wrap=True)
    table.add_column("sets")
    for profile in algorithm["profiles"]:
        changes = ", ".join(f"{key} = {parameter(value)}" for key, value in profile["set"].items())
        table.add_row(profile["name"], profile["recovery"] or "the connection's", changes or "nothing: the defaults")
    return table
