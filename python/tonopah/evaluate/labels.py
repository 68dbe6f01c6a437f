"""Label, unit and definition of the metrics of an evaluation."""

from dataclasses import replace

from tonopah.metrics import COUNT, MBPS, MS, PERCENT, Metric, readable

WAIT = "{} of the one-way delay less that of the empty path, mean over TCP flows"
LABELS = {
    "utilisation": Metric("Utilisation", *PERCENT, "Share of the interval in which the bottleneck transmits"),
    "goodput_bps": Metric("Goodput", *MBPS, "New in-order payload of all TCP flows, per second"),
    "qdelay_p50_s": Metric("Queueing delay, median", *MS, WAIT.format("Median")),
    "qdelay_p95_s": Metric("Queueing delay, 95th percentile", *MS, WAIT.format("95th percentile")),
    "qdelay_p99_s": Metric("Queueing delay, 99th percentile", *MS, WAIT.format("99th percentile")),
    "loss": Metric("Loss", *PERCENT, "Data packets dropped / sent, over all TCP flows"),
    "retx": Metric("Retransmissions", *PERCENT, "Data packets retransmitted / sent, over all TCP flows"),
    "jain": Metric("Jain's index", "", 1.0, "(sum x)² / (n · sum x²) of goodputs"),
    "x_share": Metric("Share of the first", *PERCENT, "Goodput of the first flows / goodput of all TCP flows"),
    "each_ratio": Metric("Ratio of goodputs", "", 1.0, "Goodput of one of the first flows / of one beside them"),
    "larger_ratio": Metric("Larger / smaller goodput", "", 1.0, "Goodput of one flow of the group that has more / of the other"),
    "sent_per_s": Metric("Packets sent", "packets/s", 1.0, "Data packets sent per second, retransmissions included"),
    "t90_s": Metric("Time to 90 %", "s", 1.0, "From the event until goodput is 90 % of what is free, for five bins"),
    "t_fair_s": Metric("Time to fairness", "s", 1.0, "From the last start until Jain's index of means over 5 s is 0.95 for 5 s"),
    "cov": Metric("Variation of goodput", *PERCENT, "Standard deviation / mean of goodput in bins of 1 s"),
    "link_wait_s": Metric("Queueing delay of the link, mean", *MS, "Mean wait in the queue of the bottleneck, of all packets"),
    "link_loss": Metric("Loss at the link", *PERCENT, "Packets dropped at the bottleneck / arrived there, over the whole run"),
    "sent": Metric("Sent during the outage", *COUNT, "Data packets sent again while the link is down"),
    "sent_after_timeout": Metric("Sent after the first time-out", *COUNT, "Data packets sent again from the first time-out on"),
    "trips": Metric("Trips of the breaker", "", 1.0, "More than 10 % of loss in three windows of 5 s in a row"),
    "last_completion_s": Metric("Last completion", *MS, "Completion of the last connection of a round, mean over rounds"),
    "mos": Metric("Opinion score", "", 1.0, "Mean opinion score of speech by the E-model (ITU-T G.107)"),
    "slowdown": Metric("Slowdown", "", 1.0, "Completion time / that over the empty path"),
    "delay_p95_s": Metric("Delay, 95th percentile", *MS, "95th percentile of the one-way delay"),
    "energy_j_per_byte": Metric("Energy per byte", "µJ", 1e6, "Energy of all radios / payload bytes received"),
    "goodput_after_bps": Metric("Goodput afterwards", *MBPS, "Goodput after the event is over"),
    "rtt_p95_after_s": Metric("RTT afterwards, 95th percentile", *MS, "Of the sender's samples after the event is over"),
    "w0_bps": Metric("Goodput after the first change", *MBPS, "Goodput in the first interval that the experiment names"),
    "w1_bps": Metric("Goodput after the second change", *MBPS, "Goodput in the second interval that the experiment names"),
    "each_goodput_bps": Metric("Goodput of a connection", *MBPS, "Size / completion time, mean over connections that finished"),
    "unfinished": Metric("Unfinished", *PERCENT, "Connections under way at the end / begun in the interval"),
    "again": Metric("Sent again", *COUNT, "Data packets sent again until 90 % is reached"),
}
SIZES = {"S": "below 30 kB", "M": "30 kB to 1 MB", "L": "above 1 MB", "all": "of any size"}
OWNERS = {"x": "first flows", "y": "flows beside", "voice": "voice", "video": "video", "cross": "cross traffic"}


def label(name: str) -> Metric:
    """Return how a metric is shown."""
    if name in LABELS:
        return replace(LABELS[name], column=name)
    owner, _, rest = name.partition("_")
    if owner == "slowdown":
        size, _, share = rest.partition("_")
        return replace(LABELS["slowdown"], label=f"Slowdown {SIZES[size]}, {share[1:]}th percentile", column=name)
    if owner in OWNERS and rest:
        known = label(rest)
        return replace(known, label=f"{known.label} ({OWNERS[owner]})", column=name)
    return Metric(readable(name), "", 1.0, "", name)
