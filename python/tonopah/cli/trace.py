"""`tonopah trace`: the metrics of a run, of an ASCII trace that another simulator wrote."""

import argparse
import json
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_common
from tonopah.compat.traces import read_trace_flows
from tonopah.metrics import METRICS, show
from tonopah.terminal.grid import Grid, print_grids

EXAMPLES = ("tonopah trace out.tr", "tonopah trace out.tr.gz --json | jq '.[].goodput_bps'")
SHOWN = ("goodput_bps", "delay_s", "delay_p95_s", "delivery_ratio", "dropped_packets", "retransmitted_packets", "sent_packets")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `trace`."""
    add_common(command, print_trace, *EXAMPLES)
    command.add_argument("file", metavar="FILE", help="the trace (ASCII; also compressed, .gz)")


def print_trace(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah trace`."""
    flows = read_trace_flows(Path(arguments.file))
    if arguments.json:
        print(json.dumps(flows))
        return 0
    metrics = [METRICS[key] for key in SHOWN]
    columns = ("from", "to", *(f"{metric.label}\n{metric.unit}" for metric in metrics))
    rows = [
        [flow["from"], flow["to"], *(cell(flow[key], metric.factor) for key, metric in zip(SHOWN, metrics, strict=True))]
        for flow in flows
    ]
    print_grids(Grid("Flows of the trace", columns, rows, keys=2))
    return 0


def cell(value: Any, factor: float) -> str:
    """Return a value in the unit of its column."""
    return show(None if value is None else value * factor)
