"""What the scripts of the reports build, as scenarios."""

from collections.abc import Mapping
from typing import Any

Scenario = dict[str, Any]
SILENCE = {"kind": "constant", "length": "100000s"}
"""Period without writes, longer than any run: an application that ends, but closes nothing."""


def own_or(own: Mapping[str, Any], algorithm: Any) -> Any:
    """Return the congestion control that a script calls so; of what it does not have, the algorithm itself."""
    return own.get(algorithm, algorithm) if isinstance(algorithm, str) else algorithm
