"""How often something happens: starvation, and bounds that are broken, as proportions of runs with exact intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tonopah.judge.effects import LEVEL

CONFIDENCE = 1 - LEVEL
HALF = 0.5
"""What may happen in half of the runs is said. Ours."""


@dataclass(frozen=True)
class Often:
    """In how many runs something happens to whom beside the subject, and beside each reference."""

    of: str
    experiment: str
    point: str
    count: int
    runs: int
    references: tuple[tuple[int, int], ...] = field(default=())
    """Count and runs of each."""

    @staticmethod
    def counted(mine: Sequence[float], theirs: Sequence[Sequence[float]]) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """Return the counts of outcomes, 1 where it happens, of the subject and of each reference that was run."""
        return round(sum(mine)), len(mine), tuple((round(sum(one)), len(one)) for one in theirs if len(one))

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.experiment}, {self.point}" if self.point else self.experiment

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval of the proportion (Clopper and Pearson)."""
        return interval(self.count, self.runs)

    @property
    def is_more(self) -> bool:
        """Tell whether it happens in a larger part of the runs than beside any reference."""
        return self.count > 0 and all(self.count * runs > count * self.runs for count, runs in self.references)

    @property
    def is_sure(self) -> bool:
        """Tell whether its lower bound exceeds the upper bound of every reference."""
        return all(self.bounds[0] > interval(count, runs)[1] for count, runs in self.references)

    @property
    def may_be_half(self) -> bool:
        """Tell whether it was seen, more than beside the references, and may happen in half of the runs."""
        return self.is_more and self.bounds[1] >= HALF

    @property
    def text(self) -> str:
        """How often, with the interval in percent."""
        low, high = (f"{100 * bound:.0f}" for bound in self.bounds)
        return f"{self.of} in {self.count} of {self.runs} runs ({low} to {high} %) at {self.place}"


def interval(count: int, runs: int) -> tuple[float, float]:
    """Return the interval of a proportion; of nothing it is all."""
    if not runs:
        return 0.0, 1.0
    from scipy.stats import binomtest

    found = binomtest(count, runs).proportion_ci(CONFIDENCE)
    return float(found.low), float(found.high)


def sure(found: Sequence[Often]) -> list[Often]:
    """Return where it surely happens more often than beside the references, the most certain first."""
    return sorted((one for one in found if one.is_sure), key=lambda one: -one.bounds[0])


def possible(found: Sequence[Often]) -> list[Often]:
    """Return where it may happen in half of the runs, if over all places together it does more often than beside every reference.

    Fisher's exact test of the sums: replicates of different places draw what is random independently.
    """
    from scipy.stats import fisher_exact

    count, runs = sum(one.count for one in found), sum(one.runs for one in found)
    for number in range(max((len(one.references) for one in found), default=0)):
        held = [one.references[number] for one in found if len(one.references) > number]
        theirs, of = sum(each for each, _ in held), sum(each for _, each in held)
        if fisher_exact([[count, runs - count], [theirs, of - theirs]], "greater").pvalue >= LEVEL:
            return []
    return sorted((one for one in found if one.may_be_half), key=lambda one: -one.bounds[1])
