"""What the command line prints for people: tables of a run, of the algorithms, of the speed test."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tonopah.metrics import parameter, parameter_range, show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MAX_ROWS = 20
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


FLOW_COLUMNS = (
    ("flow", "flow", 1.0, ""), ("from → to", "", 1.0, ""), ("cc", "cc", 1.0, ""), ("goodput", "goodput_bps", 1e-6, "Mb/s"),
    ("delay", "delay_s", 1e3, "ms"), ("p95", "delay_p95_s", 1e3, "ms"), ("delivered", "delivery_ratio", 100.0, "%"),
    ("lost", "loss_ratio", 100.0, "%"), ("retransm.", "retransmitted_packets", 1.0, "packets"), ("srtt", "srtt_s", 1e3, "ms"),
    ("timeouts", "rto_count", 1.0, ""),
)  # fmt: skip
MARKED = ("marked", "marked_packets", 1.0, "packets")
"""A column of the flows and of the network; it and the links' are left out when no queue marked a packet."""
WITHOUT_PATH = ("without a path", "flows_without_path", 1.0, "flows")
"""A column of the network; left out when every flow had a path at some instant."""


def run_tables(summary: Mapping[str, Any]) -> list["Table"]:
    """Return the tables of a run: its flows, the network as a whole, its busiest links."""
    start, end = summary["window_s"]
    seconds = f"{summary['duration_s']:g} s simulated, measured from {start:g} s to {end:g} s"
    flows = plain_table(f"{seconds}, seed {summary['seed']}, {summary['events']:,} events")
    columns = (*FLOW_COLUMNS, MARKED) if has_marks(summary) else FLOW_COLUMNS
    for name, _, _, unit in columns:
        flows.add_column(
            f"{name}\n{unit}" if unit else name,
            justify="left" if name in ("from → to", "cc") else "right",
            no_wrap=True,
        )
    for flow in summary["flows"][:MAX_ROWS]:
        flows.add_row(*(flow_cell(flow, key, factor) for _, key, factor, _ in columns))
    if (left := len(summary["flows"]) - MAX_ROWS) > 0:
        flows.add_row("…", f"{left} more (--json shows all)")
    tables = [flows, network_table(summary)]
    if summary["network"].get("mac_data_frames") is not None:
        tables.extend(radio_tables(summary))
    if summary.get("links") or summary["network"].get("mac_data_frames") is None:
        tables.append(link_table(summary))
    return tables


def has_marks(summary: Mapping[str, Any]) -> bool:
    """Tell whether a queue marked a packet; a link's count covers the whole run, its warm-up included."""
    return any(part["marked_packets"] for part in (summary["network"], *summary.get("links", [])))


def flow_cell(flow: Mapping[str, Any], key: str, factor: float) -> str:
    """Return one cell of the table of flows."""
    if not key:
        return f"{flow['from']} → {flow['to']}"
    value = flow.get(key)
    if isinstance(value, int) and factor == 1.0:
        return f"{value:,}"
    return str(value) if isinstance(value, str) else show(None if value is None else value * factor)


def network_table(summary: Mapping[str, Any]) -> "Table":
    """Return the table of the network as a whole."""
    network = summary["network"]
    table = plain_table(f"Network, {len(summary['flows'])} flows")
    rows = (
        ("goodput", "goodput_bps", 1e-6, "Mb/s"), ("offered", "offered_bps", 1e-6, "Mb/s"), ("delay", "delay_s", 1e3, "ms"),
        ("delivered", "delivery_ratio", 100.0, "%"), ("lost", "loss_ratio", 100.0, "%"), ("fairness", "jain", 1.0, "Jain"),
        ("retransm.", "retransmitted_packets", 1.0, "packets"), ("without delivery", "flows_without_delivery", 1.0, "flows"),
    )  # fmt: skip
    rows = (*rows, MARKED) if has_marks(summary) else rows
    rows = (*rows, WITHOUT_PATH) if network.get("flows_without_path") else rows
    for name, _, _, unit in rows:
        table.add_column(f"{name}\n{unit}", justify="right", no_wrap=True)
    table.add_row(*(flow_cell(network, key, factor) for _, key, factor, _ in rows))
    return table


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


def radio_tables(summary: Mapping[str, Any]) -> "list[Table]":
    """Return the tables of the radios: what they sent and lost; what they consumed; the pieces that the network falls into.

    Energy is shown if it is modelled, pieces if there is more than one or a flow had a path at no instant.
    """
    network = summary["network"]
    radio = (*RADIO_COLUMNS, *(LRWPAN_COLUMNS if network["mac_access_failures"] is not None else ()))
    drops = tuple((f"dropped: {name}", key, 1.0, "packets") for name, key in RADIO_DROPS if network["drops"][key])
    tables = [row_table("Radio", {**network, **network["drops"]}, radio + drops)]
    if network["energy_j"] is not None:
        tables.append(row_table("Energy", network, ENERGY_COLUMNS))
    if network["components"] > 1 or network["flows_without_path"] > 0:
        tables.append(row_table("The network is in pieces", network, PIECES_COLUMNS))
    return tables


def row_table(title: str, values: Mapping[str, Any], columns: tuple[tuple[str, str, float, str], ...]) -> "Table":
    """Return a table with one row: a column for each name, key in `values`, factor and unit."""
    table = plain_table(title)
    for name, _, _, unit in columns:
        table.add_column(f"{name}\n{unit}", justify="right", no_wrap=True)
    table.add_row(*(flow_cell(values, key, factor) for _, key, factor, _ in columns))
    return table


def link_table(summary: Mapping[str, Any]) -> "Table":
    """Return the table of the three busiest links: the first is the bottleneck."""
    table = plain_table("Busiest links")
    counts = [("dropped", "dropped_packets"), *([MARKED[:2]] if has_marks(summary) else [])]
    names = ["link", "rate\nMb/s", "utilisation\n%", "mean queue\npackets", "longest queue\npackets"]
    for name in (*names, *(f"{name}\npackets" for name, _ in counts)):
        table.add_column(name, justify="left" if name == "link" else "right", no_wrap=True)
    busiest = sorted(summary.get("links", []), key=lambda link: -(link["utilisation"] or 0.0))
    for link in busiest[:3]:
        share = link["utilisation"]
        table.add_row(
            f"{link['from']} → {link['to']}", show(link["rate_bps"] * 1e-6), show(None if share is None else share * 100),
            show(link["queue_mean_packets"]), show(link["queue_max_packets"]), *(f"{link[key]:,}" for _, key in counts),
        )  # fmt: skip
    return table


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
    words = [f'{"python" if ":" in name else "name"} = "{name}"', *(f'profile = "{p["name"]}"' for p in profiles[-1:])]
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
