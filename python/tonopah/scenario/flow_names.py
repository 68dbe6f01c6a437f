"""Names of flows, which are shown beside their numbers."""

from collections.abc import Iterable, Mapping
from typing import Any


def names_of_flows(scenario: Any) -> dict[int, str]:
    """Return the names of the listed flows of a scenario by their numbers; of those that have none nothing."""
    flows = scenario.get("flow") if isinstance(scenario, Mapping) else None
    listed = enumerate(flows) if isinstance(flows, list) else ()
    return {i: flow["name"] for i, flow in listed if isinstance(flow, Mapping) and isinstance(flow.get("name"), str)}


def called(flows: Iterable[Mapping[str, Any]], scenario: Any) -> dict[int, str]:
    """Return what the flows of a summary are called, by number: by their names, or else by their numbers and ends."""
    names = names_of_flows(scenario)
    return {flow["flow"]: names.get(flow["flow"], f"{flow['flow']}: {flow['from']} → {flow['to']}") for flow in flows}
