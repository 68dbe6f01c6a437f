"""Metrics by the definitions of other tools, from the counts of a summary.

The tools are awk scripts over traces of ns-2, ns-3's FlowMonitor, and NetSim.
"""

import json
from collections.abc import Mapping
from typing import Any

from tonopah.spec.source import Observed

PLACE = "tonopah.reports.counters.other_tools:observe"
COLUMNS = (
    "ns2_awk.throughput_bps", "ns2_awk.delay_s", "ns2_awk.delivery_ratio", "ns2_awk.drop_ratio",
    "flowmonitor.throughput_bps", "flowmonitor.delay_s", "flowmonitor.jitter_s", "flowmonitor.delivery_ratio",
    "flowmonitor.drop_ratio", "flowmonitor.throughput_kibps", "netsim.throughput_bps", "netsim.delay_s", "netsim.jitter_s",
)  # fmt: skip
AWK_HEADER_BYTES = 20
"""What remains of the header of each packet after the scripts have taken 20 B off: they count so much of it."""


def observe(scenario: str, seed: int, summary: str, series: Any) -> Observed:
    """Return the metrics of a run and of each of its flows."""
    found = json.loads(summary)
    measured_s = between(*found["window_s"])
    run, *flows = (measures(one, measured_s) for one in (found["network"], *found["flows"]))
    return Observed(run, tuple(flows))


def measures(counts: Mapping[str, Any], measured_s: float) -> dict[str, Any]:
    """Return the metrics of a flow, or of all flows together; None where nothing was counted."""
    forward = counts["forward"]
    active_s = between(forward["first_sent_s"], forward["last_received_s"])
    awk_bytes = counts["received_bytes"] + AWK_HEADER_BYTES * counts["received_packets"]
    values = (
        # 8 x sum(size - 20) of received data packets / (last reception - first transmission).
        ratio(8.0 * awk_bytes, active_s), counts["delay_s"], counts["delivery_ratio"], counts["loss_ratio"],
        # ns-3's FlowMonitor on the direction of the data, handshake included.
        ratio(8.0 * forward["received_bytes"], active_s), counts["delay_s"], counts["jitter_s"],
        ratio(forward["received_packets"], forward["sent_packets"]), ratio(forward["dropped_packets"], forward["sent_packets"]),
        ratio(8.0 * forward["received_bytes"] / 1024, active_s),
        # NetSim's application metrics: 8 x payload received in order / measured time, generation to delivery.
        ratio(8.0 * counts["delivered_bytes"], measured_s), counts["app_delay_s"], counts["app_jitter_s"],
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def between(start_s: float | None, end_s: float | None) -> float:
    """Return the time between two instants of the engine, which counts nanoseconds; 0 without one of them."""
    if start_s is None or end_s is None:
        return 0.0
    return max(0, round(end_s * 1e9) - round(start_s * 1e9)) / 1e9


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`, None for an empty whole."""
    return part / whole if whole > 0.0 else None
