"""Two flows that were recorded several times: the distributions of shares on both sides, and the test between them.

One recording of two flows is one draw: which of them loses a packet when the queue overflows depends on single packets, and
what follows from it. Here the recordings of one experiment differ in the start of flow 1. Each start is a block: one run of
the kernel, several of ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from tonopah.stats import Estimate, mean_interval
from tonopah.validate.linux.flow_track import FlowTrack, moved


@dataclass(frozen=True)
class TwoFlowSide:
    """The runs of one side, by start."""

    shares: list[list[float]]
    """Flow 0's part of the payload that both flows moved while both were there."""
    goodputs_bps: list[list[float]]
    """Payload of both flows per second of that time."""

    @property
    def mean_share(self) -> float:
        """Mean over the starts, each of which counts the same."""
        return float(np.mean([np.mean(block) for block in self.shares]))

    @property
    def share_range(self) -> tuple[float, float]:
        """Least and greatest share."""
        return min(min(block) for block in self.shares), max(max(block) for block in self.shares)

    @property
    def mean_goodput_bps(self) -> float:
        """Mean over the starts, each of which counts the same."""
        return float(np.mean([np.mean(block) for block in self.goodputs_bps]))

    @property
    def count(self) -> int:
        """Number of runs."""
        return sum(len(block) for block in self.shares)


@dataclass
class TwoFlows:
    """Both sides, and how probable a difference of shares as large as this one is if there is none."""

    ours: TwoFlowSide
    kernel: TwoFlowSide
    p: float
    p_adjusted: float = nan
    """Adjusted for the number of cases."""

    @property
    def difference(self) -> Estimate:
        """Mean difference of shares, ours - kernel's at the same start, with its 95 % t interval."""
        blocks = zip(self.ours.shares, self.kernel.shares, strict=True)
        return mean_interval([float(np.mean(ours) - np.mean(theirs)) for ours, theirs in blocks])


def compare(ours: Sequence[Sequence[Sequence[FlowTrack]]], kernel: Sequence[Sequence[FlowTrack]]) -> TwoFlows:
    """Return the comparison of two flows: `ours[i]` holds the tracks of our runs of the i-th recording, `kernel[i]` its own."""
    mine, theirs = side(ours), side([[run] for run in kernel])
    return TwoFlows(mine, theirs, blocked_rank_p(theirs.shares, mine.shares))


def side(blocks: Sequence[Sequence[Sequence[FlowTrack]]]) -> TwoFlowSide:
    """Return shares and goodputs of runs with two flows."""
    found = [[moved(run) for run in block] for block in blocks]
    shares = [[payload[0] / sum(payload) for payload, _ in block] for block in found]
    return TwoFlowSide(shares, [[8 * sum(payload) / seconds for payload, seconds in block] for block in found])


def blocked_rank_p(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    """Test "a and b come from one distribution in each block" by ranks within the blocks: the exact, two-sided p value.

    The statistic is the sum over the blocks of the rank sums of `a`; each block has the same sizes (otherwise van Elteren's
    weights would be needed). With one block it is the test of Mann and Whitney. Ties have their mean rank.

    References
    ----------
    P. H. van Elteren, Bull. Inst. Internat. Statist. 37, 1960, 351-361; E. L. Lehmann, Nonparametrics, 1975, §3.3.
    """
    from scipy.stats import rankdata

    sizes = {(len(x), len(y)) for x, y in zip(a, b, strict=True)}
    if len(sizes) != 1:
        raise ValueError("blocks of different sizes")
    found, chances = 0, np.ones(1)
    for x, y in zip(a, b, strict=True):
        # Doubled, so that mean ranks are whole numbers.
        ranks = np.rint(2 * rankdata([*x, *y])).astype(int)
        found += int(ranks[: len(x)].sum())
        chances = np.convolve(chances, rank_sum_chances(ranks, len(x)))
    return min(1.0, 2 * float(min(chances[: found + 1].sum(), chances[found:].sum())))


def rank_sum_chances(ranks: NDArray[np.int_], count: int) -> NDArray[np.float64]:
    """Return the probability of each sum of `count` of these ranks, drawn without replacement."""
    # ways[n, s]: how many choices of n ranks have the sum s.
    ways = np.zeros((count + 1, int(ranks.sum()) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    return ways[count] / ways[count].sum()
