"""The summary of a run with types: what is known about a flow and about a link. docs/glossary.md defines the terms."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

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
    retransmitted_packets: int
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
    return FlowSummary(**chosen(FlowSummary, values))


def link_summary(values: Mapping[str, Any]) -> LinkSummary:
    """Return a link of a summary."""
    return LinkSummary(**chosen(LinkSummary, values))


def chosen(kind: type[FlowSummary] | type[LinkSummary], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a dataclass from a summary; `from` is no name in Python."""
    return {field.name: values.get(field.name.rstrip("_")) for field in fields(kind)}


def table(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    """Return entries of a summary as a table; names of nested values are joined by a dot."""
    import pandas as pd

    return pd.DataFrame([flatten(row) for row in rows])


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested dictionary as a flat one; names are joined by a dot."""
    flat: dict[str, Any] = {}
    for key, below in value.items():
        if isinstance(below, Mapping):
            flat |= flatten(below, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = below
    return flat
