"""The summary of workloads whose flows a kernel has carried: what the simulated one says, by the times of the kernel."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tonopah.kernel.plan import Plan
from tonopah.kernel.ranks import Times, mean

GIVEN = ("name", "app", "arrived", "arrival_rate_per_s", "size_mean_bytes", "class", "above_bytes", "upto_bytes", "classes")
"""What a simulation says of workloads and their classes before anything is carried."""
QUANTILES = (("p50", 0.50, 1), ("p95", 0.95, 1), ("p99", 0.99, 100), ("p999", 0.999, 1000))
"""Names, shares, and the flows from which on they are told."""


def of_workloads(flows: Sequence[Mapping[str, Any]], plan: Plan) -> list[dict[str, Any]]:
    """Return the summary of each workload. What is not known of the kernel's flows is absent."""
    found = []
    for given in plan.workloads:
        own = [flow for flow in flows if flow.get("workload") == given["name"]]
        counted = [flow for flow in own if plan.warmup_s <= flow["start_s"] < plan.duration_s - plan.cooldown_s]
        measured = plan.duration_s - plan.warmup_s
        classes = [
            blank(one) | of_flows([flow for flow in counted if flow["class"] == one["class"]], plan) for one in given["classes"]
        ]
        whole = blank(given) | of_flows(counted, plan)
        whole["offered_bps"] = 8.0 * whole["bytes"] / (measured - plan.cooldown_s)
        whole["carried_bps"] = 8.0 * sum(flow["delivered_bytes"] for flow in own) / measured
        whole["alive_max"], whole["alive_mean"] = alive(own, plan)
        whole |= {key: total(flow[key] for flow in own) for key in ("retransmitted_packets", "rto_count", "marked_packets")}
        whole["drops"] = {reason: sum(flow["drops"][reason] for flow in own) for reason in given["drops"]}
        found.append({**whole, "classes": classes})
    return found


def together(flows: Sequence[Mapping[str, Any]], plan: Plan) -> dict[str, Any]:
    """Return what workloads add to the summary of the network."""
    own = [flow for flow in flows if flow.get("workload")]
    counted = [flow for flow in own if plan.warmup_s <= flow["start_s"] < plan.duration_s - plan.cooldown_s]
    return {"slowdown_mean": of_flows(counted, plan)["slowdown"], "flows_alive_max": alive(own, plan)[0]}


def alive(flows: Sequence[Mapping[str, Any]], plan: Plan) -> tuple[int, float]:
    """Return the most flows that were alive at once in the measurement interval, and their mean over time."""
    changes = [(flow["start_s"], 1) for flow in flows]
    changes += [(flow["start_s"] + flow["fct_s"], -1) for flow in flows if flow["fct_s"] is not None]
    number, most, area, since = 0, 0, 0.0, plan.warmup_s
    for at, change in [*sorted(changes), (plan.duration_s, 0)]:
        if at >= since:
            most, area, since = max(most, number), area + number * (at - since), at
        number += change
    return most, area / (plan.duration_s - plan.warmup_s)


def blank(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary without what was measured."""
    return {key: value if key in GIVEN else None for key, value in given.items()}


def total(values: Iterable[int | None]) -> int | None:
    """Return a sum, if all of it is known."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def of_flows(flows: Sequence[Mapping[str, Any]], plan: Plan) -> dict[str, Any]:
    """Return what the flows of a class took."""
    over = [flow for flow in flows if flow["fct_s"] is not None]
    under_way = [(plan.duration_s - flow["start_s"], flow["ideal_fct_s"]) for flow in flows if flow["fct_s"] is None]
    fct = Times([flow["fct_s"] for flow in over], [age for age, _ in under_way])
    slowdowns = [flow["slowdown"] for flow in over if flow["slowdown"] is not None]
    return {
        "started": len(flows),
        "bytes": sum(flow["size_bytes"] for flow in flows),
        "finished": len(over),
        "unfinished": len(under_way),
        "unfinished_age_max_s": max((age for age, _ in under_way), default=None),
        "fct_known_share": fct.known,
        "goodput_mean_bps": mean([8.0 * flow["size_bytes"] / flow["fct_s"] for flow in over]),
        **shown("fct", fct, "_s"),
        **shown("slowdown", Times(slowdowns, [age / ideal for age, ideal in under_way if ideal]), ""),
    }


def shown(name: str, times: Times, unit: str) -> dict[str, float | None]:
    """Return mean, percentiles and maximum of times by the names of a summary."""
    of_all = {f"{name}{unit}": times.mean(), f"{name}_max{unit}": times.longest}
    enough = [(key, share) for key, share, least in QUANTILES if len(times.all) >= least]
    return {**of_all, **{f"{name}_{key}{unit}": None for key, *_ in QUANTILES}} | {
        f"{name}_{key}{unit}": times.quantile(share) for key, share in enough
    }
