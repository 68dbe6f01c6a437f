"""What the ends of conversations have measured, in place of what a simulated application would have."""

from collections.abc import Mapping, Sequence
from typing import Any

from tonopah.kernel import conversations
from tonopah.kernel.classes import of_workloads, together
from tonopah.kernel.conversations import Facts
from tonopah.kernel.plan import Flow, Plan
from tonopah.kernel.ranks import Times, mean, nearest_rank

COMPLETIONS = {
    *("completion_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completion_max_s"),
    *("flows_unfinished", "completion_known_share"),
}
"""Of a network whose scenario lists flows with an end."""
MANY = 100
"""Requests from which on their 99th percentile is told."""


def with_applications(summary: dict[str, Any], facts: Mapping[int, Facts], plan: Plan) -> dict[str, Any]:
    """Return the summary with times of requests, of the completion of conversations, and of workloads."""
    for flow in summary["flows"]:
        number = flow["flow"]
        if number < len(plan.flows) and conversations.is_conversation(plan.flows[number].app):
            flow.update(of_conversation(plan.flows[number], facts.get(number, Facts()), plan.warmup_s))
            if flow["completion_s"] is not None:
                flow.pop("unfinished_s", None)
        if number in plan.transfers:
            flow.update(of_workload(flow, plan.transfers[number]))
    listed = [flow for flow in summary["flows"] if flow["flow"] not in plan.transfers]
    network = {key: value for key, value in summary["network"].items() if key not in COMPLETIONS} | completions(listed)
    if not plan.workloads:
        return {**summary, "network": network}
    network |= together(summary["flows"], plan)
    return {**summary, "workloads": of_workloads(summary["flows"], plan), "network": network}


def of_conversation(flow: Flow, facts: Facts, warmup_s: float) -> dict[str, Any]:
    """Return the metrics of an application: of requests that began within the measurement interval."""
    is_over = len(facts.times) == conversations.parts_of(flow.app)
    over = {"completion_s": max(end for _, end in facts.times) - flow.start_s if is_over else None}
    if flow.app["kind"] == "transfer":
        return over
    times = sorted(end - began for began, end in facts.times if began >= warmup_s)
    return over | {
        "requests": len(times),
        "request_s": mean(times),
        "request_p50_s": nearest_rank(times, 0.50),
        "request_p95_s": nearest_rank(times, 0.95),
        "request_p99_s": nearest_rank(times, 0.99) if len(times) >= MANY else None,
        "request_max_s": times[-1] if times else None,
        "request_cwnd_bytes": mean(facts.cwnds),
        "connections_opened": min(1, len(facts.cwnds) + len(facts.times)),
    }


def of_workload(flow: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a workload knows of its flow."""
    fct, ideal = flow["completion_s"], told["ideal_fct_s"]
    return {**told, "fct_s": fct, "slowdown": fct / ideal if fct and ideal else None}


def completions(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the completion times over all flows with an end, if there are any."""
    ended = [flow["completion_s"] for flow in flows if flow["completion_s"] is not None]
    times = Times(ended, [flow["unfinished_s"] for flow in flows if flow.get("unfinished_s") is not None])
    if not times.all:
        return {}
    return {
        "completion_s": times.mean(),
        "completion_p50_s": times.quantile(0.50),
        "completion_p95_s": times.quantile(0.95),
        "completion_p99_s": times.quantile(0.99),
        "completion_max_s": times.longest,
        "flows_unfinished": len(times.longer),
        "completion_known_share": times.known,
    }
