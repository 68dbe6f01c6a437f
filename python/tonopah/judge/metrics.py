"""The metrics of one run, by name: from its summary and from what was read from its series. docs/evaluate.md defines them.

Groups: `x` are the flows of the first algorithm of an arm, `y` those of the second; names without a prefix mean both. Connections
of a listed workload belong to neither: they have slowdowns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tonopah.judge.length import epochs
from tonopah.judge.traces import STARVED_SHARE
from tonopah.judge.workload import SEGMENTS
from tonopah.judge.worlds import Built
from tonopah.metrics import COUNT, MBPS, MS, PERCENT, Metric, readable
from tonopah.stats import jain
from tonopah.stats.kinds import KindName

Values = dict[str, float]
Flows = Sequence[Mapping[str, Any]]

NOTHING_BPS = 8 * 1448 / 100
SHORT_BYTES, MEDIUM_BYTES = 30e3, 1e6
LAST_STARTS = 0.8
"""Connections that begin later than at this share of the run are not counted."""


def measure(built: Built, summary: Mapping[str, Any], warmup_s: float) -> Values:
    """Return the metrics of a run; what it does not have is left out."""
    flows, derived = summary["flows"], summary.get("derived") or {}
    first, second = ([flows[number] for number in group] for group in built.groups)
    tcp = [*first, *second]
    values = totals(tcp, summary) | link_values(summary) | delays(built, tcp) | energy(summary)
    values |= {f"x_{name}": value for name, value in (totals(first, summary) | delays(built, first)).items()}
    if first and second:
        values |= {f"y_{name}": value for name, value in (totals(second, summary) | delays(built, second)).items()}
        values |= between(first, second)
    else:
        values |= within(tcp)
    values |= {name.partition(".")[2]: float(value) for name, value in derived.items() if value is not None}
    values |= requests(first)
    values |= {"epochs": epochs(tcp, summary["duration_s"] - warmup_s)}
    values |= starved(built, first, second, values)
    for role in sorted({role for role in built.roles.values() if role != "background"}):
        values |= {f"{role}_{name}": value for name, value in media_of(built, flows, role).items()}
    if built.ideal_s:
        values |= {"last_completion_s": last_completion(built, flows, summary["duration_s"])}
    if built.connections:
        values |= slowdowns(flows, warmup_s, summary["duration_s"])
    values |= drawn_connections(summary.get("workloads", []))
    return {name: value for name, value in values.items() if value is not None and not math.isnan(value)}


def requests(flows: Flows) -> Values:
    """Return what the applications of flows measured: times of requests, and of messages that a limited one writes."""
    found: Values = {}
    for name in ("request_s", "request_p95_s", "app_delay_p95_s"):
        known = [flow[name] for flow in flows if flow.get(name) is not None]
        if known:
            found[name] = float(np.mean(known))
    return found


def totals(flows: Flows, summary: Mapping[str, Any]) -> Values:
    """Return sums over flows."""
    sent = sum(flow["sent_packets"] for flow in flows)
    start, end = summary["window_s"] if isinstance(summary["window_s"], list) else (0.0, summary["window_s"])
    return {
        "goodput_bps": sum(flow["goodput_bps"] or 0.0 for flow in flows),
        "sent_per_s": sent / (end - start),
        "loss": sum(flow["dropped_packets"] for flow in flows) / sent if sent else 0.0,
        "retx": sum(flow["retransmitted_packets"] or 0 for flow in flows) / sent if sent else 0.0,
        "rto_count": sum(flow["rto_count"] or 0 for flow in flows),
        "ack_ratio": sum(flow["ack_packets"] for flow in flows) / max(1, sum(flow["received_packets"] for flow in flows)),
    }


def link_values(summary: Mapping[str, Any]) -> Values:
    """Return utilisation, mean wait and loss of the bottleneck, the first link; its drops cover the whole run."""
    if not summary["links"] or summary["links"][0]["utilisation"] is None:
        return {}
    link = summary["links"][0]
    arrived = link["sent_packets"] + link["dropped_packets"]
    found = {"utilisation": link["utilisation"], "link_loss": link["dropped_packets"] / arrived if arrived else 0.0}
    return found | ({} if link["delay_queue_mean_s"] is None else {"link_wait_s": link["delay_queue_mean_s"]})


def delays(built: Built, flows: Flows) -> Values:
    """Return the queueing delay: percentiles of the one-way delay without that of the empty path, mean over flows."""
    found: Values = {}
    for name in ("p50", "p95", "p99"):
        waits = [
            max(0.0, flow[f"delay_{name}_s"] - built.base_delay_s[flow["flow"]])
            for flow in flows if flow[f"delay_{name}_s"] is not None and flow["flow"] in built.base_delay_s
        ]  # fmt: skip
        if waits:
            found[f"qdelay_{name}_s"] = float(np.mean(waits))
    return found


def between(first: Flows, second: Flows) -> Values:
    """Return how two groups share."""
    mine, theirs = (sum(flow["goodput_bps"] or 0.0 for flow in flows) for flows in (first, second))
    total = mine + theirs
    each, other = mine / len(first), theirs / len(second)
    # Who gets nothing counts too: as if one segment had arrived in a hundred seconds.
    some, rest = max(each, NOTHING_BPS), max(other, NOTHING_BPS)
    ratio = {"each_ratio": some / rest, "larger_ratio": max(some, rest) / min(some, rest)}
    fair = total / (len(first) + len(second))
    return ratio | {"x_share": mine / total if total else 0.5, "x_fair_share": each / fair if fair else 1.0}


def within(flows: Flows) -> Values:
    """Return how the flows of one group share."""
    rates = [flow["goodput_bps"] or 0.0 for flow in flows]
    if len(rates) < 2:
        return {}
    index = jain(rates)
    ratio = {"flow_ratio": rates[-1] / rates[0]} if rates[0] > 0 else {}
    return ratio | {"jain": 0.0 if math.isnan(index) else index, "maxmin": min(rates) / max(rates) if max(rates) > 0 else 0.0}


def starved(built: Built, first: Flows, second: Flows, values: Values) -> Values:
    """Return 1 for a group that has a flow that starves, else 0: below a share of its fair share for 10 s, or in the mean."""
    least = STARVED_SHARE * built.rate_bps / max(1, len(first) + len(second) + built.connections)
    found: Values = {}
    for prefix, flows, name in (("x", first, "starving"), ("y", second, "starving_others")):
        if flows:
            below = any((flow["goodput_bps"] or 0.0) < least for flow in flows)
            found[f"{prefix}_starved"] = float(below or values.get(name, 0.0) > 0)
    return found


def media_of(built: Built, flows: Flows, role: str) -> Values:
    """Return what the flows of datagrams of a role meet, in the mean."""
    found = [media(flows[number]) for number, its_role in built.roles.items() if its_role == role]
    common = set.intersection(*(set(one) for one in found))
    return {name: float(np.mean([one[name] for one in found])) for name in found[0] if name in common}


def media(flow: Mapping[str, Any]) -> Values:
    """Return what a flow of datagrams meets: delay, loss, jitter, and the quality of speech that they allow."""
    delay, loss, jitter = flow["delay_p95_s"], flow["loss_ratio"], flow["jitter_rfc3550_s"]
    found = {"loss": loss, "delay_p95_s": delay, "jitter_s": jitter, "goodput_bps": flow["goodput_bps"]}
    if delay is not None and loss is not None:
        found["mos"] = opinion_score(1000 * delay, 100 * loss)
    return {name: float(value) for name, value in found.items() if value is not None}


def opinion_score(delay_ms: float, loss_percent: float) -> float:
    """Return the mean opinion score of speech by the E-model, G.711 with loss concealment (ITU-T G.107).

    Parameters
    ----------
    delay_ms : float
        One-way delay.
    loss_percent : float
        Packet loss.
    """
    late = 0.024 * delay_ms + 0.11 * max(0.0, delay_ms - 177.3)
    rating = 93.2 - late - 95.0 * loss_percent / (loss_percent + 25.1)
    if rating < 0:
        return 1.0
    return 4.5 if rating > 100 else 1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6


def energy(summary: Mapping[str, Any]) -> Values:
    """Return the energy per byte of radios."""
    used = summary["network"]["energy_per_byte_j"]
    return {} if used is None else {"energy_j_per_byte": used}


def last_completion(built: Built, flows: Flows, duration_s: float) -> float:
    """Return the completion time of the last of the flows that start together, mean over such rounds."""
    last: dict[float, float] = {}
    for number in built.ideal_s:
        start_s = round(flows[number]["start_s"], 3)
        last[start_s] = max(last.get(start_s, 0.0), completion(flows[number], duration_s))
    return float(np.mean(list(last.values())))


def completion(flow: Mapping[str, Any], duration_s: float) -> float:
    """Return how long a connection took, or has taken so far at the end of the run."""
    took = flow["completion_s"]
    return float(duration_s - flow["start_s"] if took is None else took)


def drawn_connections(workloads: Flows) -> Values:
    """Return slowdowns and mean goodput of the connections that the engine drew, those of full segments, by group.

    Those of the first group are the slowdowns of the run. What is not finished at the end counts only in `x_unfinished`.
    """
    found: Values = {}
    for workload in workloads:
        prefix, _, segments = workload["name"].partition("-")
        if segments != f"mss{max(SEGMENTS)}":
            continue
        found[f"{prefix}_each_goodput_bps"] = workload["goodput_mean_bps"]
        found[f"{prefix}_unfinished"] = workload["unfinished"] / max(1, workload["started"])
        kinds = dict(zip(("all", "S", "M", "L"), (workload, *workload["classes"]), strict=True))
        found |= {
            f"slowdown_{kind}_p{share}" if prefix == "x" else f"{prefix}_slowdown_{kind}_p{share}": one[f"slowdown_p{share}"]
            for kind, one in kinds.items()
            for share in (50, 99)
        }
    return found


def slowdowns(flows: Flows, warmup_s: float, duration_s: float) -> Values:
    """Return completion times of the connections of a workload, divided by those of each alone on its path, by size."""
    times: dict[str, list[float]] = {"S": [], "M": [], "L": [], "all": []}
    for flow in flows:
        if flow.get("workload") and warmup_s <= flow["start_s"] <= LAST_STARTS * duration_s:
            size = flow["size_bytes"]
            kind = "S" if size < SHORT_BYTES else "M" if size <= MEDIUM_BYTES else "L"
            times[kind].append(completion(flow, duration_s) / flow["ideal_fct_s"])
            times["all"].append(times[kind][-1])
    return {
        f"slowdown_{kind}_p{share}": float(np.percentile(values, share, method="inverted_cdf"))
        for kind, values in times.items()
        for share in ((50, 99) if values else ())
    }


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
    "mos": Metric("Opinion score", "", 1.0, "Mean opinion score of speech by the E-model (ITU-T G.107)", bounds=(1.0, 4.5)),
    "slowdown": Metric("Slowdown", "", 1.0, "Completion time / that over the empty path"),
    "delay_p95_s": Metric("Delay, 95th percentile", *MS, "95th percentile of the one-way delay"),
    "energy_j_per_byte": Metric("Energy per byte", "µJ", 1e6, "Energy of all radios / payload bytes received"),
    "goodput_after_bps": Metric("Goodput afterwards", *MBPS, "Goodput after the event is over"),
    "rtt_p95_after_s": Metric("RTT afterwards, 95th percentile", *MS, "Of the sender's samples after the event is over"),
    "w0_bps": Metric("Goodput after the first change", *MBPS, "Goodput in the first interval that the experiment names"),
    "w1_bps": Metric("Goodput after the second change", *MBPS, "Goodput in the second interval that the experiment names"),
    "each_goodput_bps": Metric("Goodput of a connection", *MBPS, "Size / completion time, mean over connections that finished"),
    "unfinished": Metric("Unfinished", *PERCENT, "Connections under way at the end / begun in the interval"),
    "left": Metric("Goodput left", "%", 100.0, "Goodput of a victim / its fair share: what it has where all run its algorithm"),
    "late_share": Metric("Share of the latecomer", *PERCENT, "Goodput of the flow that starts last / of all, at the end"),
    "request_s": Metric("Time of a request", *MS, "From asking to the last byte of the answer, mean"),
    "app_delay_p95_s": Metric("Delay of messages, 95th percentile", *MS, "From writing to reading"),
    "again": Metric("Sent again", *COUNT, "Data packets sent again until 90 % is reached"),
}
KINDS: dict[KindName, tuple[str, ...]] = {
    "share": ("utilisation", "jain", "maxmin", "x_share", "late_share"),
    "signed": ("left",),
    "count": ("rto_count", "sent", "sent_after_timeout", "trips", "again"),
    "proportion": ("loss", "retx", "link_loss", "unfinished"),
    "time": ("t90_s", "t_fair_s", "last_completion_s", "slowdown"),
    "outcome": ("starved",),
    "scale": ("mos",),
}
"""Metrics by their kind (stats/kinds.py); all others are `positive`."""
KIND_OF: dict[str, KindName] = {name: kind for kind, names in KINDS.items() for name in names}
SIZES = {"S": "below 30 kB", "M": "30 kB to 1 MB", "L": "above 1 MB", "all": "of any size"}
OWNERS = {"x": "first flows", "y": "flows beside", "voice": "voice", "video": "video", "cross": "cross traffic"}


def label(name: str) -> Metric:
    """Return how a metric is shown."""
    kind = KIND_OF.get(name, "positive")
    if name in LABELS:
        return replace(LABELS[name], column=name, kind=kind)
    owner, _, rest = name.partition("_")
    if owner == "slowdown":
        size, _, share = rest.partition("_")
        return replace(LABELS["slowdown"], label=f"Slowdown {SIZES[size]}, {share[1:]}th percentile", column=name, kind="time")
    if owner in OWNERS and rest:
        known = label(rest)
        return replace(known, label=f"{known.label} ({OWNERS[owner]})", column=name)
    return Metric(readable(name), "", 1.0, "", name, kind=kind)
