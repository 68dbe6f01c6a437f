"""Harm to others: what a victim loses beside the subject, more than it loses beside the baseline.

R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index", HotNets 2019: harm is the share of a victim's own
performance alone that another takes; a new algorithm is held against the harm that deployed ones do. The bound is ours.
"""

from dataclasses import dataclass

EXCESS = 0.10
"""Excess harm that counts."""


def harm_more(alone: float, beside: float) -> float:
    """Return the harm to something of which more is better: 0 for none, 1 for all, negative for a benefit."""
    return (alone - beside) / alone


def harm_less(alone: float, beside: float) -> float:
    """Return the harm to something of which less is better."""
    return (beside - alone) / beside if beside else 0.0


@dataclass(frozen=True)
class HarmPoint:
    """Excess harm to one victim at one point: one value for each replicate, positive is harm."""

    victim: str
    experiment: str
    point: str
    metric: str
    """goodput, or what is compared as the logarithm of a ratio: loss, qdelay_p95_s."""
    samples: tuple[float, ...]
    beside_subject: float
    beside_baseline: float
    starved: bool = False
    """Whether the subject starves the victim and the baseline does not."""
