"""Tables of an emulation: the flows of programs by their five-tuples, and how late packets were."""

from collections.abc import Mapping
from typing import Any

from tonopah.metrics import show
from tonopah.terminal.grid import Grid, cell

PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6"}
MAX_ROWS = 50
DIRECTIONS = ("→", "←")


def emulation_grids(summary: Mapping[str, Any]) -> list[Grid]:
    """Return the tables of what an emulation knows beside a run."""
    report = summary["emulation"]
    flows = {flow["flow"]: flow for flow in summary["flows"]}
    rows = [
        row for program in report["programs"] if program["flow"] in flows for row in program_rows(program, flows[program["flow"]])
    ]
    left = len(rows) - MAX_ROWS
    columns = ("flow", "", "protocol", "from", "to", "received\nkB", "packets", "dropped", "marked", "delay\nms", "p95\nms")
    note = f"… {left:,} more (--json shows all)" if left > 0 else ""
    programs = [Grid("Flows of programs", columns, rows[:MAX_ROWS], 5, note)] if rows else []
    return [*programs, lateness_grid(report)]


def program_rows(program: Mapping[str, Any], flow: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each direction of a flow that carried data."""
    from_, to = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in (program["from"], program["to"]))
    rows = []
    for direction, measured in zip(DIRECTIONS, (flow, flow.get("reverse")), strict=True):
        if measured and measured["sent_packets"]:
            counts = [cell(measured[key], 1.0) for key in ("received_packets", "dropped_packets", "marked_packets")]
            delays = [show(None if measured[key] is None else 1e3 * measured[key]) for key in ("delay_s", "delay_p95_s")]
            names = [str(program["flow"]), direction, PROTOCOLS.get(program["protocol"], str(program["protocol"])), from_, to]
            rows.append([*names, show(measured["delivered_bytes"] / 1e3), *counts, *delays])
    return rows


def lateness_grid(report: Mapping[str, Any]) -> Grid:
    """Return the table of how late packets left."""
    late = report["lateness"]
    values = [show(None if late[key] is None else 1e3 * late[key]) for key in ("p50_s", "p99_s", "max_s", "bound_s")]
    columns = ("packets", "p50\nms", "p99\nms", "max\nms", "bound of p99\nms", "lost before\nour queues", "of no host")
    lost = sum(report["lost_before_queues"].values())
    counts = [cell(lost, 1.0), cell(report["unrouted_packets"], 1.0)]
    title = "Lateness: too late for what the scenario says" if late["late"] else "Lateness"
    return Grid(title, columns, [[cell(late["packets"], 1.0), *values, *counts]])
