"""Flows of workloads as flows that a kernel carries: a simulation of the scenario says which arrive, when, and how large.

Arrivals, ends and sizes are draws that no network changes, unless users wait for their answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tonopah.errors import InputError, LimitError
from tonopah.runs.simulation import run_prepared

KEYS = ("name", "from", "to", "ends", "arrivals", "size", "app", "start", "stop", "count", "classes", "tcp", "cc", "dscp")
TOLD = ("workload", "class", "ideal_fct_s")
"""What the summary of a flow says of its workload, whoever carries it."""


@dataclass(frozen=True)
class Listing:
    """A scenario with the flows of its workloads in its list."""

    scenario: dict[str, Any]
    told: dict[int, dict[str, Any]]
    """What is told of each, by its number."""
    summaries: list[dict[str, Any]]
    """What the simulation says of the workloads."""


def listed(scenario: Mapping[str, Any], resolved: Mapping[str, Any], seed: int) -> Listing:
    """Return a scenario, as the engine takes it, with the flows of its workloads listed.

    `resolved`: with every default. Raises InputError for a workload whose flows depend on what the network does.
    """
    known = {one["name"]: one for one in resolved["workload"]}
    for index, one in enumerate(resolved["workload"]):
        refuse(f"workload[{index}]", one)
    summary = simulated(scenario, seed)
    drawn = [flow for flow in summary["flows"] if "workload" in flow]
    first = len(scenario.get("flow", []))
    flows = [flow_of(flow, known[flow["workload"]]) for flow in drawn]
    rest = {key: value for key, value in scenario.items() if key != "workload"}
    told = {first + number: {key: flow[key] for key in TOLD} for number, flow in enumerate(drawn)}
    return Listing({**rest, "flow": [*scenario.get("flow", []), *flows]}, told, summary["workloads"])


def refuse(path: str, workload: Mapping[str, Any]) -> None:
    """Raise InputError for a workload that cannot be listed."""
    for key, value in workload.items():
        if key not in KEYS and value is not None:
            raise InputError(f"{path}.{key}", "cannot be carried by the kernel", f"keys: {', '.join(KEYS)}")
    if workload["arrivals"]["kind"] == "closed":
        raise InputError(f"{path}.arrivals.kind", "users who wait for the network cannot be listed before", "poisson, list, …")
    if workload["app"]["kind"] != "transfer":
        raise InputError(f"{path}.app.kind", f"{workload['app']['kind']!r} of a workload does not run on the kernel", "transfer")


def simulated(scenario: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the summary of a simulation that tells all flows of workloads."""
    all_of_them = {**scenario, "warmup": "0s", "cooldown": "0s", "record": {"flows": "all"}}
    try:
        return run_prepared(all_of_them, None, seed).summary
    except LimitError as error:
        raise InputError("workload", f"its flows cannot be listed: {error}") from None


def tcp_of(workload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the flows of a workload. Their ports differ, so that none waits for another to leave TIME-WAIT."""
    return {key: value for key, value in workload["tcp"].items() if key != "time_wait"}


def flow_of(flow: Mapping[str, Any], workload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flow of a workload as a scenario lists it."""
    app = workload["app"]
    made = {
        "from": flow["from"],
        "to": flow["to"],
        "start": f"{round(1e9 * flow['start_s'])}ns",
        "start_jitter": "0s",
        "app": {
            "kind": "transfer",
            "size": f"{flow['size_bytes']}B",
            "direction": {"kind": app["direction"]},
            "request": app["request"],
        },
        "tcp": tcp_of(workload),
    }
    return made | ({"dscp": workload["dscp"]} if workload.get("dscp") else {})
