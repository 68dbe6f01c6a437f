"""What a run of a peer gave, as the summary and series of a run, as far as they are known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tonopah.peers.plan import Flow, PeerPlan
from tonopah.runs.simulation import RunResult
from tonopah.stats import jain

Samples = Mapping[int, "np.ndarray"]
"""A quantity on the grid of times, of each flow or link."""


@dataclass
class Counted:
    """What is counted of a flow in the measurement interval."""

    sent: int = 0
    received: int = 0
    dropped: int = 0
    retransmitted: int = 0
    delivered_bytes: int = 0
    """Payload, to the application."""
    delays: list[float] = field(default_factory=list)


def grid_of(plan: PeerPlan) -> "np.ndarray":
    """Return the times of samples."""
    return np.arange(0.0, plan.duration_s, plan.every_s)


def result_of(plan: PeerPlan, counted: Mapping[int, Counted], series: Mapping[str, Samples], engine: str) -> RunResult:
    """Return what was counted, by flow, and sampled as the result of a run; what is not known is not there."""
    grid, windows = grid_of(plan), series["cwnd"]
    flows = [flow_summary(plan, flow, counted[flow.number], grid, windows.get(flow.number)) for flow in plan.flows]
    totals = {key: sum(flow[key] for flow in flows) for key in ("sent_packets", "dropped_packets", "retransmitted_packets")}
    sent, dropped = totals["sent_packets"], totals["dropped_packets"]
    fair = jain([flow["goodput_bps"] for flow in flows if flow["goodput_bps"] is not None])
    network = {**totals, "loss_ratio": dropped / sent if sent else None, "jain": None if np.isnan(fair) else fair}
    links = [
        {"link": number, "from": plan.nodes[link.source], "to": plan.nodes[link.sink]} for number, link in enumerate(plan.links)
    ]
    window = [plan.warmup_s, plan.duration_s]
    summary = {"engine": engine, "window_s": window, "flows": flows, "links": links, "network": network}
    return RunResult(summary, {name: columns(grid, found) for name, found in series.items()})


def flow_summary(plan: PeerPlan, flow: Flow, counted: Counted, grid: "np.ndarray", window: "np.ndarray | None") -> dict[str, Any]:
    """Return the metrics of a flow."""
    stop = min(plan.duration_s, plan.duration_s if flow.stop_s is None else flow.stop_s)
    lifetime = max(0.0, stop - max(plan.warmup_s, flow.start_s))
    delays = np.array(counted.delays)
    measured = None if window is None else window[(grid >= plan.warmup_s) & (grid >= flow.start_s) & np.isfinite(window)]
    return {
        "flow": flow.number, "from": plan.nodes[flow.source], "to": plan.nodes[flow.sink], "lifetime_s": lifetime,
        "start_s": flow.start_s, "transport": "tcp" if flow.cc else "udp",
        "goodput_bps": 8 * counted.delivered_bytes / lifetime if lifetime else None,
        "sent_packets": counted.sent, "received_packets": counted.received, "dropped_packets": counted.dropped,
        "retransmitted_packets": counted.retransmitted,
        "delay_s": float(delays.mean()) if len(delays) else None,
        "delay_p95_s": float(np.percentile(delays, 95)) if len(delays) else None,
        "cwnd_mean_bytes": float(measured.mean()) if measured is not None and len(measured) else None,
    }  # fmt: skip


def columns(grid: "np.ndarray", found: Samples) -> dict[str, Any]:
    """Return a series of several owners in the order of time, as the engine gives one."""
    owners = sorted(found)
    values = np.stack([found[owner] for owner in owners], axis=1).ravel() if owners else np.array([])
    times = np.repeat(grid, len(owners))
    return {"t_s": times, "id": np.tile(np.array(owners, dtype=np.uint32), len(grid)), "value": values.astype(float)}
