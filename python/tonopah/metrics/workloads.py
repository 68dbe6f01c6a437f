"""The metrics of workloads, of their flows and series. docs/workloads.md shows them."""

from tonopah.metrics.metric import MBPS, MS, PERCENT, Metric

FCT = "{} from the arrival of a flow of a workload, when its SYN leaves, to the last byte read in order"
IDEAL = (
    "2 d for the handshake, d + sum of 8 w / rate over the links for the first segment, 8 (W - w) / R for the others on the link "
    "that takes longest: d propagation delay, w and W bytes on the link of the first segment and of all"
)
SLOWDOWN = "{}low completion time / ideal completion time (" + IDEAL + ")"
PAGES = "{} over the flows of a workload of the time from the arrival to the last byte of the last object"
LOADS = (("load offered", "load_offered"), ("carried", "load_carried"))
USER_TIMES = {
    "request_response": (("request", "request_s"), ("p95", "request_p95_s")),
    "page": (("page load", "page_load_s"), ("p95", "page_load_p95_s")),
}
"""What applications of workloads measure of each flow: mean and 95th percentile over the flows, in words and by name."""

WORKLOADS = {
    "fct_s": Metric("Flow completion time", *MS, FCT.format("Time")),
    "fct_p50_s": Metric("Flow completion time, median", *MS, FCT.format("Median of the times")),
    "fct_p95_s": Metric("Flow completion time, 95th percentile", *MS, FCT.format("95th percentile of the times")),
    "fct_p99_s": Metric(
        "Flow completion time, 99th percentile", *MS, FCT.format("99th percentile (of 100 or more) of the times")
    ),
    "fct_p999_s": Metric(
        "Flow completion time, 99.9th percentile", *MS, FCT.format("99.9th percentile (of 1000 or more) of the times")
    ),
    "fct_max_s": Metric("Flow completion time, maximum", *MS, FCT.format("Longest of the times")),
    "ideal_fct_s": Metric("Ideal completion time", *MS, IDEAL),
    "slowdown": Metric("Slowdown", "", 1.0, SLOWDOWN.format("Mean of f")),
    "slowdown_mean": Metric("Slowdown of all workloads", "", 1.0, SLOWDOWN.format("Mean of f")),
    "slowdown_p50": Metric("Slowdown, median", "", 1.0, SLOWDOWN.format("Median of f")),
    "slowdown_p95": Metric("Slowdown, 95th percentile", "", 1.0, SLOWDOWN.format("95th percentile of f")),
    "slowdown_p99": Metric("Slowdown, 99th percentile", "", 1.0, SLOWDOWN.format("99th percentile (of 100 flows or more) of f")),
    "slowdown_p999": Metric(
        "Slowdown, 99.9th percentile", "", 1.0, SLOWDOWN.format("99.9th percentile (of 1000 flows or more) of f")
    ),
    "slowdown_max": Metric("Slowdown, maximum", "", 1.0, SLOWDOWN.format("Largest f")),
    "handshake_s": Metric("Handshake", *MS, "Arrival or start of the flow to the end of its handshake; of a workload the mean"),
    "first_byte_s": Metric("Time to first byte", *MS, "Arrival of the flow to its first byte read; of a workload the mean"),
    "size_mean_bytes": Metric("Mean size", "kB", 1e-3, "Mean of the distribution of sizes of the workload"),
    "arrived": Metric("Arrived", "flows", 1.0, "Flows of the workload that arrived over the whole run"),
    "arrival_rate_per_s": Metric("Arrival rate", "1/s", 1.0, "Flows per second that the arrivals of the workload ask for"),
    "started": Metric("Flows started", "flows", 1.0, "Flows that arrived after the warm-up and before the cool-down"),
    "bytes": Metric("Bytes of flows", "kB", 1e-3, "Sizes of these flows together"),
    "finished": Metric("Flows finished", "flows", 1.0, "Those of them whose last byte was read in order before the run ended"),
    "aborted": Metric("Flows aborted", "flows", 1.0, "Those of them that TCP gave up (RFC 9293 §3.8.3)"),
    "unfinished": Metric("Flows unfinished", "flows", 1.0, "Those of them that were under way at the end"),
    "fct_known_share": Metric(
        "Known completion times",
        *PERCENT,
        "Share of the flows whose time is known: those under way at the end and those given up lasted at least as long as they "
        "did (product-limit estimate of Kaplan and Meier, 1958); a percentile beyond it is a lower bound, a mean is restricted",
    ),
    "unfinished_age_max_s": Metric("Oldest unfinished flow", "s", 1.0, "Age at the end of the oldest flow that was under way"),
    "carried_bps": Metric("Carried load", *MBPS, "Bytes of the workload read in order in the measurement interval, per second"),
    "load_offered": Metric("Offered load of the link", "", 1.0, "Offered bits per second / rate of the link of `load`"),
    "load_carried": Metric("Carried load of the link", "", 1.0, "Carried bits per second / rate of the link of `load`"),
    "alive_max": Metric("Flows alive, maximum", "flows", 1.0, "Most flows that had arrived and were not finished"),
    "alive_mean": Metric("Flows alive, mean", "flows", 1.0, "Time average of the flows that had arrived and were not finished"),
    "flows_alive_max": Metric("Flows alive, maximum", "flows", 1.0, "Most flows of all workloads that were alive at once"),
    "goodput_mean_bps": Metric("Goodput per flow", *MBPS, "Mean over finished flows of size / completion time"),
    "page_load_p50_s": Metric("Page load, median", *MS, PAGES.format("Median")),
    "page_load_p95_s": Metric("Page load, 95th percentile", *MS, PAGES.format("95th percentile")),
    "page_load_p99_s": Metric("Page load, 99th percentile", *MS, PAGES.format("99th percentile (of 100 or more)")),
    "alive": Metric("Flows alive", "flows", 1.0, "Flows of a workload that have arrived and whose data is not yet delivered"),
    "arrivals": Metric("Arrivals", "1/s", 1.0, "Flows of a workload that arrived per bin"),
    "offered": Metric("Offered", *MBPS, "Bytes of the flows of a workload that arrived per bin"),
    "carried": Metric("Carried", *MBPS, "Bytes of the flows of a workload read in order per bin"),
}

CLASS_COLUMNS = (
    ("flows", "started", 1.0, ""), ("not yet", "unfinished", 1.0, "finished"), ("FCT", "fct_s", 1e3, "ms"),
    ("p50", "fct_p50_s", 1e3, "ms"), ("p99", "fct_p99_s", 1e3, "ms"), ("slowdown", "slowdown", 1.0, ""),
    ("p50", "slowdown_p50", 1.0, ""), ("p99", "slowdown_p99", 1.0, ""),
)  # fmt: skip
"""Columns of a workload's classes of sizes."""


def size_class(name: str) -> str:
    """Return a class of sizes in words."""
    return f"up to {name}" if name[:1].isdigit() else name
