"""What the scripts of the reports build, as scenarios."""

from typing import Any

Scenario = dict[str, Any]
SILENCE = {"kind": "constant", "length": "100000s"}
"""Period without writes, longer than any run: an application that ends, but closes nothing."""
