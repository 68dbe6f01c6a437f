"""The kind of each metric of the list: what decides how it is compared (stats/kinds.py)."""

import math
from dataclasses import replace

from tonopah.metrics.metric import Metric
from tonopah.stats.kinds import KindName

KINDS: dict[KindName, tuple[str, ...]] = {
    "share": (
        "delivery_ratio", "segment_delivery_ratio", "delivery_reachable_ratio", "utilisation_max", "path_share", "jain",
        "app_limited_ratio", "cwnd_limited_ratio", "rwnd_limited_ratio", "pacing_limited_ratio", "recovery_limited_ratio",
        "jain_hosts", "jain_reachable", "core_utilisation", "bisection_share", "rebuffer_ratio", "completion_known_share",
        "fct_known_share", "rpm_stable",
    ),
    "count": (
        "dropped_packets", "marked_packets", "reordered_packets", "retransmitted_packets", "duplicated_packets",
        "reverse.dropped_packets", "reverse.retransmitted_packets", "reverse.marked_packets", "conservation.dropped",
        "conservation.duplicated", "forward.dropped_packets", "flows_unfinished", "flows_without_delivery", "flows_without_path",
        "undone_count", "needless_retransmissions", "timeouts", "resumed", "retreats",
        "rto_count", "recovery_count", "mac_failures", "mac_given_up", "mac_access_failures", "mac_too_long", "reassociations",
        "reassembly_timeouts", "nodes_without_energy", "unfinished", "aborted", "stalls", "switches", "drops", "marks",
        "retransmits", "undelivered_bytes", "timeouts_per_round", "declared_lost_packets",
        "needless_lost_packets", "too_big_packets",
    ),
    "proportion": (
        "loss_ratio", "drop_ratio", "reordered_ratio", "reorder_3_ratio", "frames_late_ratio", "voice_loss_ratio",
    ),
    "time": (
        "completion_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completion_max_s", "fct_s", "fct_p50_s",
        "fct_p95_s", "fct_p99_s", "fct_p999_s", "fct_max_s", "slowdown", "slowdown_mean", "slowdown_p50", "slowdown_p95",
        "slowdown_p99", "slowdown_p999", "slowdown_max", "page_load_s", "page_load_p50_s", "page_load_p95_s", "page_load_p99_s",
        "first_object_s", "startup_s", "unfinished_s", "breaker_s", "connected_s", "handshake_s", "first_byte_s",
    ),
    "scale": ("mos",),
    "signed": ("position_x", "position_y", "position_z", "qoe", "r_factor"),
}  # fmt: skip
"""Metrics by their kind; all others are `positive`, and so are `drops.*` counts."""
KIND_OF: dict[str, KindName] = {name: kind for kind, names in KINDS.items() for name in names}
BOUNDS: dict[KindName, tuple[float, float]] = {
    "share": (0.0, 1.0), "proportion": (0.0, 1.0), "outcome": (0.0, 1.0), "signed": (-math.inf, math.inf),
}  # fmt: skip
"""Bounds by kind, of metrics that name none. All others have no upper bound, and none below zero."""


def declared(name: str, known: Metric) -> Metric:
    """Return a metric of the list with its kind and bounds."""
    kind = KIND_OF.get(name, "count" if name.startswith("drops.") else known.kind)
    bounds = known.bounds if known.bounds != (0.0, math.inf) else BOUNDS.get(kind, known.bounds)
    return replace(known, kind=kind, bounds=bounds)


EVENTS = {"loss_ratio": "dropped_packets", "drop_ratio": "dropped_packets", "reordered_ratio": "reordered_packets"}
"""Column that counts the events of a proportion; of a derived one `NAME.events` does."""
KNOWN_SHARES = {"completion": "completion_known_share", "fct": "fct_known_share", "slowdown": "fct_known_share",
                "page_load": "fct_known_share", "request": "fct_known_share"}  # fmt: skip
"""Column that holds the share of times that are known, by the start of the name of a time."""
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}


def known_share(name: str) -> tuple[str, float] | None:
    """Return where the share of known times stands that a percentile has to be within, and the share that it asks for.

    A percentile beyond it is only known to be larger; None for what is no percentile of times.
    """
    of, _, key = name.rpartition(".")
    for start, column in KNOWN_SHARES.items():
        word = key.removeprefix(f"{start}_").removesuffix("_s")
        if key.startswith(f"{start}_") and word in SHARES and (of or start == "completion"):
            return (f"{of}.{column}" if of else column), SHARES[word]
    return None
