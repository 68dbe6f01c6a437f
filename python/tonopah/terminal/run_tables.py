"""The tables of a run: its flows, applications and workloads, the network, its radios, its busiest links."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tonopah.metrics import busiest, count_text, readable, show
from tonopah.metrics.applications import APPLICATION_COLUMNS, REVERSE_COLUMNS
from tonopah.metrics.workloads import CLASS_COLUMNS, LOADS, USER_TIMES
from tonopah.scenario.flow_names import names_of_flows
from tonopah.terminal.grid import PIPE_WIDTH, Columns, Grid, cells, fit, headings, row_grid

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_ROWS = 20
MAX_READ = 1000
"""So many flows, and links, are looked at for the tables of a run: 100,000 would take longer to read than to simulate."""
MIN_WIDTH = 40
"""A narrower terminal breaks the lines itself."""
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
    named = names_of_flows(summary.get("resolved"))
    rows = [[called(flow, named), f"{flow['from']} → {flow['to']}", flow["cc"] or "–", *cells(flow, columns)] for flow in flows]
    left = count - MAX_ROWS
    return Grid(
        title, ("flow", "from → to", "cc", *headings(columns)), rows, 3, f"… {left:,} more (--json shows all)" if left > 0 else ""
    )


def called(flow: Mapping[str, Any], named: Mapping[int, str]) -> str:
    """Return number and name of a flow."""
    return f"{flow['flow']} {named.get(flow['flow'], '')}".rstrip()


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


def application_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """Return a table for each kind of application that measures something of its own, and one for data in reverse."""
    grids = []
    named = names_of_flows(summary.get("resolved"))
    for app, columns in APPLICATION_COLUMNS.items():
        flows = [flow for flow in summary["flows"] if flow["app"] == app and flow.get("connection_of") is None]
        grids += [numbered_grid(readable(app), flows, flows, columns, named)] if flows else []
    both = [flow for flow in summary["flows"] if flow.get("reverse_size_bytes") is not None]
    both = [flow for flow in both if flow.get("reverse")]
    return grids + (
        [numbered_grid("Data in reverse", both, [flow["reverse"] for flow in both], REVERSE_COLUMNS, named)] if both else []
    )


def numbered_grid(
    title: str, flows: list[Mapping[str, Any]], values: list[Mapping[str, Any]], columns: Columns, named: Mapping[int, str]
) -> Grid:
    """Return a table of values of flows, a row for each."""
    rows = [[called(flow, named), *cells(row, columns)] for flow, row in zip(flows, values, strict=True)][:MAX_ROWS]
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


UNANSWERED_COLUMNS = (
    ("unanswered", "mac_failures", 1.0, "frames"), ("collision", "mac_collisions", 1.0, "frames"),
    ("hidden", "mac_hidden", 1.0, "frames"), ("receiver busy", "mac_receiver_busy", 1.0, "frames"),
    ("weak, in error", "mac_weak", 1.0, "frames"),
)  # fmt: skip
LRWPAN_COLUMNS = (("medium busy", "mac_access_failures", 1.0, "frames"), ("too long", "mac_too_long", 1.0, "packets"))
"""What only radios of 802.15.4 have."""
STALLED_COLUMN = ("stalled", "stalled", 1.0, "stations")
"""Of a MAC of 802.15.4 that can stall: stations whose MAC waited for ever at the end."""
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
    stalled = sum(node["mac_stalled_s"] is not None for node in summary["nodes"])
    radio += (STALLED_COLUMN,) if stalled else ()
    drops = tuple((f"dropped: {name}", key, 1.0, "packets") for name, key in RADIO_DROPS if network["drops"][key])
    grids = [row_grid("Radio", {**network, **network["drops"], "stalled": stalled}, radio + drops)]
    if network["mac_failures"]:
        known = sum(network[key] for key in ("mac_collisions", "mac_hidden", "mac_receiver_busy"))
        weak = max(network["mac_failures"] - known, 0)
        grids.append(row_grid("Frames without response, by cause", {**network, "mac_weak": weak}, UNANSWERED_COLUMNS))
    if network["energy_j"] is not None:
        grids.append(row_grid("Energy", network, ENERGY_COLUMNS))
    if network["components"] > 1 or network["flows_without_path"] > 0:
        grids.append(row_grid("The network is in pieces", network, PIECES_COLUMNS))
    return grids


LINK_COLUMNS = (
    ("rate", "rate_bps", 1e-6, "Mb/s"), ("utilisation", "utilisation", 100.0, "%"),
    ("mean queue", "queue_mean_packets", 1.0, "packets"), ("longest queue", "queue_max_packets", 1.0, "packets"),
    ("dropped", "dropped_packets", 1.0, "packets"),
)  # fmt: skip


def link_grid(summary: Mapping[str, Any]) -> Grid:
    """Return the table of the three busiest links: the first is the bottleneck."""
    columns = [*LINK_COLUMNS, *([MARKED] if has_marks(summary) else [])]
    rows = [[f"{link['from']} → {link['to']}", *cells(link, columns)] for link in busiest(summary.get("links", []), 3)]
    return Grid("Busiest links", ("link", *headings(columns)), rows, 1)
