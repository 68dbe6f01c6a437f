"""The summary of a run with types: what is known about a flow and about a link. docs/glossary.md defines the terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from tonopah.metrics.applications import APPLICATIONS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FlowSummary:
    """What a flow did within the measurement interval; what was not measured is None."""

    flow: int
    from_: str
    """Name of its source."""
    to: str
    """Name of its sink."""
    cc: str | None
    transport: str
    start_s: float
    lifetime_s: float | None
    """The part of the interval in which it lived; rates are over this time."""
    goodput_bps: float | None
    throughput_bps: float | None
    sent_packets: int
    received_packets: int
    dropped_packets: int
    retransmitted_packets: int | None
    marked_packets: int
    reordered_packets: int
    delivered_bytes: int
    loss_ratio: float | None
    delivery_ratio: float | None
    delay_s: float | None
    delay_p50_s: float | None
    delay_p95_s: float | None
    delay_p99_s: float | None
    rtt_s: float | None
    rtt_p50_s: float | None
    rtt_p95_s: float | None
    rtt_p99_s: float | None
    min_rtt_s: float | None
    srtt_s: float | None
    cwnd_mean_bytes: float | None
    rto_count: int | None
    recovery_count: int | None
    completion_s: float | None
    """From the start to the acknowledgment of the last byte, if it has one."""
    unfinished_s: float | None = None
    """How long it had lasted, if it has an end and did not reach it."""
    undone_count: int | None = None
    resumed: int | None = None
    jump_bytes: int | None = None
    retreats: int | None = None
    needless_retransmissions: int | None = None
    app_limited_ratio: float | None = None
    cwnd_limited_ratio: float | None = None
    rwnd_limited_ratio: float | None = None
    pacing_limited_ratio: float | None = None
    recovery_limited_ratio: float | None = None
    workload: str | None = None
    """The workload that it is of; what follows is None of a flow that the scenario lists."""
    class_: str | None = None
    size_bytes: int | None = None
    fct_s: float | None = None
    """From its arrival to the last byte read in order."""
    ideal_fct_s: float | None = None
    slowdown: float | None = None
    """`fct_s / ideal_fct_s`."""
    handshake_s: float | None = None
    first_byte_s: float | None = None
    application: Mapping[str, float] = field(default_factory=dict, hash=False)
    """What its application measured, by the names of metrics: `mos`, `request_p50_s`, `frame_delay_p95_s`, …"""


@dataclass(frozen=True)
class WorkloadSummary:
    """Flows of a workload that arrived in the measurement interval: all of them, or those of one class of sizes."""

    workload: str
    class_: str
    """Upper edge of the sizes, `larger` or `all`."""
    started: int
    bytes: int
    finished: int
    aborted: int
    unfinished: int
    fct_known_share: float | None
    """Share of the flows whose time is known; a percentile beyond it is a lower bound."""
    fct_s: float | None
    """From the arrival of a flow to the last byte read in order; mean over flows."""
    fct_p50_s: float | None
    fct_p95_s: float | None
    fct_p99_s: float | None
    fct_p999_s: float | None
    fct_max_s: float | None
    slowdown: float | None
    """Completion time divided by what it would be alone and without slow start; mean over flows."""
    slowdown_p50: float | None
    slowdown_p95: float | None
    slowdown_p99: float | None
    slowdown_p999: float | None
    slowdown_max: float | None
    goodput_mean_bps: float | None
    handshake_s: float | None
    first_byte_s: float | None


@dataclass(frozen=True)
class LinkSummary:
    """What one direction of a link did within the measurement interval."""

    link: int
    from_: str
    to: str
    rate_bps: float | None
    utilisation: float | None
    sent_packets: int
    sent_bytes: int
    dropped_packets: int
    marked_packets: int
    queue_mean_packets: float | None
    queue_max_packets: int | None
    delay_queue_mean_s: float | None
    delay_queue_p50_s: float | None
    delay_queue_p99_s: float | None
    delay_queue_max_s: float | None


def flow_summary(values: Mapping[str, Any]) -> FlowSummary:
    """Return a flow of a summary."""
    measured = {key: value for key, value in values.items() if key in APPLICATIONS and value is not None}
    found: dict[str, Any] = chosen(FlowSummary, values) | {"application": measured}
    return FlowSummary(**found)


EDGES = ("above_bytes", "upto_bytes")
"""What says which flows are in a class of sizes."""


def workload_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each workload of a summary and for each of its classes; that of the class `all` comes first."""
    rows = []
    for workload in summary.get("workloads", []):
        own = {key: value for key, value in workload.items() if key not in ("name", "classes")}
        rows += [{"workload": workload["name"], **row} for row in (own, *workload["classes"])]
    return rows


def workload_columns(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what workloads measured by the names of metrics: `workload.NAME.KEY` and `workload.NAME.class.CLASS.KEY`."""
    found: dict[str, Any] = {}
    for row in workload_rows(summary):
        name, of_class = row["workload"], row["class"]
        prefix = f"workload.{name}." if of_class == "all" else f"workload.{name}.class.{of_class}."
        measured = {key: value for key, value in flatten(row).items() if not isinstance(value, str) and key not in EDGES}
        found |= {f"{prefix}{key}": value for key, value in measured.items()}
    return found


def workload_summary(values: Mapping[str, Any]) -> WorkloadSummary:
    """Return a row of `workload_rows`."""
    return WorkloadSummary(**chosen(WorkloadSummary, values))


def link_summary(values: Mapping[str, Any]) -> LinkSummary:
    """Return a link of a summary."""
    return LinkSummary(**chosen(LinkSummary, values))


def chosen(kind: type[FlowSummary] | type[LinkSummary] | type[WorkloadSummary], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a dataclass from a summary; `from` is no name in Python."""
    return {field.name: values.get(field.name.rstrip("_")) for field in fields(kind)}


def table(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    """Return entries of a summary as a table; names of nested values are joined by a dot."""
    import pandas as pd

    return pd.DataFrame([flatten(row) for row in rows])


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested dictionary as a flat one, without distributions; names are joined by a dot."""
    flat: dict[str, Any] = {}
    for key, below in value.items():
        if key == "distributions":
            continue
        if isinstance(below, Mapping):
            flat |= flatten(below, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = below
    return flat
