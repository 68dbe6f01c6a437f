"""Distributions of what was measured of every packet, ACK or message of a flow (`record.distributions`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTIONS = {
    "delay": ("One-way delay", "packets"),
    "app_delay": ("Delay from write to read", "messages"),
    "rtt": ("Round-trip time", "samples"),
}
"""By name: what is measured, and of what."""


@dataclass(frozen=True)
class Distribution:
    """Values in seconds, rising and exact to 1 %, and how many there were of each."""

    values_s: NDArray[np.float64]
    counts: NDArray[np.int64]

    def share_up_to(self, values_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share that does not exceed each of the values."""
        up_to = np.concatenate([[0], np.cumsum(self.counts)])
        shares: NDArray[np.float64] = up_to[np.searchsorted(self.values_s, values_s, side="right")] / up_to[-1]
        return shares

    def frame(self) -> "pd.DataFrame":
        """Return it as a table: `value_s`, `count` and the cumulative `share`."""
        import pandas as pd

        share = np.cumsum(self.counts) / self.counts.sum()
        return pd.DataFrame({"value_s": self.values_s, "count": self.counts, "share": share})


def pooled(found: Iterable[Mapping[str, Any]]) -> Distribution:
    """Return the distributions of summaries, at least one, as one."""
    found = list(found)
    values = np.concatenate([np.asarray(one["values_s"], dtype=float) for one in found])
    counts = np.concatenate([np.asarray(one["counts"], dtype=np.int64) for one in found])
    rising, places = np.unique(values, return_inverse=True)
    return Distribution(rising, np.bincount(places, weights=counts).astype(np.int64))
