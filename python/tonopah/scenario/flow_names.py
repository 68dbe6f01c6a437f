"""Names of flows, which are shown beside their numbers."""

from collections.abc import Mapping
from typing import Any


def names_of_flows(scenario: Any) -> dict[int, str]:
    """Return the names of the listed flows of a scenario by their numbers; of those that have none nothing."""
    flows = scenario.get("flow") if isinstance(scenario, Mapping) else None
    listed = enumerate(flows) if isinstance(flows, list) else ()
    return {i: flow["name"] for i, flow in listed if isinstance(flow, Mapping) and isinstance(flow.get("name"), str)}
