"""The random losses of the recordings, read back from the samples of the sender. data/linux/README.md describes the method.

The link emulator drew once for each data packet that entered, from the same seed in every case: all cases with the same
probability lost the packets with the same numbers. Each case shows the losses within its length, and so they check each other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tonopah.validate.linux.worlds import MSS_BYTES

if TYPE_CHECKING:
    import pandas as pd

DISORDER = 1
"""ca_state from which on something is missing at the receiver."""


@dataclass(frozen=True)
class RecordedSender:
    """A sender's samples in segments."""

    una: NDArray[np.int64]
    """First segment not acknowledged."""
    sent: NDArray[np.int64]
    """Segments sent for the first time so far."""
    again: NDArray[np.int64]
    """Segments retransmitted so far."""
    waiting: NDArray[np.int64]
    """Packets that may be in the network: no more can be in the queue."""
    holed: NDArray[np.bool_]
    """`una` was lost: SACK has reported something behind it."""
    calm: NDArray[np.bool_]
    """Nothing is missing."""

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Number of the packet that carries `una`, once all before it is repaired."""
        return self.una + self.again


def sender(samples: "pd.DataFrame") -> RecordedSender:
    """Return what the samples of one flow say."""
    una = (samples["bytes_acked"].to_numpy() - 1) // MSS_BYTES
    state, sacked, unacked = (samples[name].to_numpy() for name in ("ca_state", "sacked", "unacked"))
    return RecordedSender(
        una, np.maximum.accumulate(una + unacked), samples["total_retrans"].to_numpy(),
        waiting=unacked + samples["retrans"].to_numpy(),
        holed=(state >= DISORDER) & (sacked > 0),
        calm=(state == 0) & (sacked == 0) & (samples["lost"].to_numpy() == 0),
    )  # fmt: skip


def holes(flow: RecordedSender, queue: int) -> set[int]:
    """Return the numbers of the lost packets that show as a hole and cannot have met a full queue."""
    lost = np.unique(flow.una[flow.holed])
    # A segment was sent for the first time between the samples `after - 1` and `after`.
    after = np.minimum(np.searchsorted(flow.sent, lost + 1), len(flow.sent) - 1)
    before = np.maximum(after - 1, 0)
    # What was retransmitted just then may have been sent before it or after it.
    certain = flow.again[before] == flow.again[after]
    roomy = np.maximum(flow.waiting[before], flow.waiting[after]) < queue
    return {int(number) for number in (lost + flow.again[after])[certain & roomy]}


@dataclass(frozen=True)
class Repair:
    """A time in which something was missing."""

    packets: range
    """Numbers of the packets, all of which were sent or lost in it."""
    again: int
    """Segments retransmitted."""


def repairs(flow: RecordedSender) -> Iterator[Repair]:
    """Yield the repairs in order."""
    for start, end in pairwise(np.flatnonzero(flow.calm)):
        if end > start + 1:
            numbers = range(int(flow.numbers[start]), int(flow.numbers[end]))
            yield Repair(numbers, int(flow.again[end] - flow.again[start]))


def neighbours(flow: RecordedSender, known: set[int]) -> set[int]:
    """Return losses right behind a known one: two segments were retransmitted and only one hole was seen."""
    found = set()
    for repair in repairs(flow):
        inside = known.intersection(repair.packets)
        if len(inside) == 1 and repair.again == 2:
            found.add(min(inside) + 1)
    return found


def unexplained(samples: "pd.DataFrame", lost: Iterable[int]) -> list[int]:
    """Return for each repair, in which something is left over, how many more segments were retransmitted than were lost."""
    more = [repair.again - len(set(lost).intersection(repair.packets)) for repair in repairs(sender(samples))]
    return [number for number in more if number]


def common(recordings: Iterable[tuple["pd.DataFrame", int]]) -> list[int]:
    """Return the numbers of the packets that were lost by chance, from samples and queue limits of all recordings."""
    flows = [(sender(samples), queue) for samples, queue in recordings]
    known = set().union(*(holes(flow, queue) for flow, queue in flows))
    known |= set().union(*(neighbours(flow, known) for flow, _ in flows))
    return sorted(known)
