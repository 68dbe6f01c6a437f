"""How long a run is: measured in its own time, so that what it tells is the long run and not the start.

A coexistence or fairness result is about the long run (S. Floyd, RFC 5166 §2.1.2 keeps transients apart). A run is long enough
when the flow with the fewest epochs of loss, or of probing, has had twenty of them after the warm-up, and the two halves of the
measured interval agree over replicates. Until then it is run again at twice the length, or four times, eight times, whatever is
expected to have twenty epochs, up to a limit; what does not settle by then is "not converged". The numbers are ours.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median_high, stdev
from typing import Any

from tonopah.judge.definitions import World
from tonopah.judge.worlds import WIRE_BYTES, bits_per_second, queue_limit, rtts_of, seconds
from tonopah.stats import CONFIDENCE, t_quantile

EPOCHS = 20
"""Epochs that the slowest flow has in the measured interval."""
QUIET_EPOCH_S = 10.0
"""An epoch of a flow that loses nothing: how often BBR looks for the round trip of an empty queue (draft-cardwell-iccrg-bbr)."""
AGREE = 0.25
"""The halves differ by less than this share of the margin."""
LIMIT_S, MOST_PACKETS = 300.0, 2.5e6
"""No run is longer, nor carries more full packets over its bottleneck."""
WARMUP_SHARE = 1 / 3
SPREAD = 1.3
"""Epochs of flows that do not lose together / those of flows that do; only the first length depends on it."""


def epochs(flows: Sequence[Mapping[str, Any]], length_s: float) -> float:
    """Return how many epochs the flow with the fewest of them had in an interval: recoveries and time-outs, else probes."""
    found = [(flow.get("recovery_count") or 0) + (flow.get("rto_count") or 0) for flow in flows]
    return min((float(count) if count else length_s / QUIET_EPOCH_S for count in found), default=0.0)


def has_settled(counts: Sequence[float], first: Sequence[float], second: Sequence[float], margin: float) -> bool:
    """Tell whether runs of one arm are long enough.

    Parameters
    ----------
    counts : sequence of float
        Epochs of the slowest flow, by replicate; half of the replicates have enough.
    first, second : sequence of float
        A share in the halves of the interval, by replicate. They agree if their difference is within a quarter of the margin, or
        if its 95 % interval over replicates has zero (one standard error would turn down a third of all settled arms).
    margin : float
        The difference of the share that counts.
    """
    if not counts or median_high(counts) < EPOCHS:
        return False
    drift = [later - earlier for earlier, later in zip(first, second, strict=True)]
    if not drift or abs(fmean(drift)) <= AGREE * margin:
        return True
    count = len(drift)
    return count > 1 and abs(fmean(drift)) <= t_quantile((1 + CONFIDENCE) / 2, count - 1) * stdev(drift) / math.sqrt(count)


def limit_s(world: World) -> float:
    """Return the length beyond which a world is not run."""
    return min(LIMIT_S, 8 * WIRE_BYTES * MOST_PACKETS / bits_per_second(world.rate))


def expected_s(world: World) -> float:
    """Return the length at which CUBIC is expected to have had enough epochs, to a tenth of a minute: where a run begins.

    An epoch lasts K of RFC 9438 §4.2, equation 2, or as long as Reno's where that is shorter (§4.3).
    """
    rtt_s, rate_bps = max(rtts_of(world)), bits_per_second(world.rate)
    packet_s, count = 8 * WIRE_BYTES / rate_bps, world.flows if isinstance(world.flows, int) else sum(world.flows)
    waits_s = queue_limit(world) * packet_s if world.queue.get("kind") == "drop_tail" else 0.0
    full = (rtt_s + waits_s) / packet_s / max(1, count)
    epoch_s = min((0.3 * full / 0.4) ** (1 / 3), 0.3 / 0.53 * full * (rtt_s + waits_s))
    return 6.0 * math.ceil(EPOCHS * SPREAD * epoch_s / (1 - WARMUP_SHARE) / 6.0)


def first_length_s(world: World) -> float:
    """Return the length that a world is run at first."""
    return min(max(seconds(world.duration), expected_s(world)), limit_s(world))


def next_length_s(world: World, length_s: float, count: float = EPOCHS) -> float | None:
    """Return the length that follows for runs that had so many epochs and have not settled; None at the limit.

    It is twice the length as often as epochs need that come as they came: the lengths between have too few in all likelihood, and
    would cost as much again.
    """
    doublings = max(1, math.ceil(math.log2(EPOCHS / max(1.0, count))))
    return min(2**doublings * length_s, limit_s(world)) if length_s < limit_s(world) else None


def of_length(world: World, length_s: float) -> World:
    """Return a world whose runs have this length, a third of it warm-up."""
    return world.model_copy(update={"duration": f"{length_s:g}s", "warmup": f"{WARMUP_SHARE * length_s:.3f}s"})
