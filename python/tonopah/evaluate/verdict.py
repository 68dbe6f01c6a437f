"""The words of the scoreboard, by rules on paired replicates.

An effect is the difference of the subject to its baseline, one value for each replicate, positive where the subject is better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tonopah.analysis.sequential import confidence
from tonopah.evaluate.harm import EXCESS, HarmPoint
from tonopah.stats import Estimate, Mean, confidence_of_each, holm, mean_of

LEVEL = 0.05
EQUIVALENCE = 0.90
"""Confidence of the interval that has to lie within the margin (two one-sided tests at 5 %)."""
LOG_MARGIN = math.log(1.25)
MARGINS = {"utilisation": 0.05, "jain": 0.05, "mos": 0.2, "voice_mos": 0.2, "x_share": 0.10}
"""Differences that count, by metric; of the logarithm of a ratio, `LOG_MARGIN`."""

Colour = Literal["grey", "red", "orange", "green", "blue", "yellow"]
COLOURS: dict[str, Colour] = {
    "not tested": "grey", "not applicable": "grey", "author states": "grey", "starves others": "red",
    "harmful to others": "red", "out of bounds": "red", "worse": "orange", "better": "green", "gentler": "green",
    "within bounds": "blue", "unclear": "yellow",
}  # fmt: skip
"""Of all words; "like …" is blue."""
WORST_FIRST = (
    "starves others",
    "harmful to others",
    "out of bounds",
    "worse",
    "unclear",
    "like",
    "within bounds",
    "gentler",
    "better",
)


def colour(word: str) -> Colour:
    """Return the colour of a word."""
    return COLOURS.get(word, "blue")


def margin_of(metric: str, kind: str) -> float:
    """Return the effect that counts."""
    return LOG_MARGIN if kind == "log" else MARGINS.get(metric, 0.05)


@dataclass(frozen=True)
class Effect:
    """Paired differences of one metric, and what they say."""

    samples: tuple[float, ...]
    margin: float
    two_sided: bool = False
    """Whether a difference to either side is worse."""
    p_holm: float = math.nan
    looks: int = 1
    """How often the data may be looked at before more replicates are added: all intervals together have the level of one."""

    @property
    def quantity(self) -> Mean:
        """The mean as a quantity."""
        return mean_of(self.samples)

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval: of 95 %, or wider for several looks."""
        return self.quantity.interval(confidence(self.looks))

    @property
    def p(self) -> float:
        """The p value of the paired t test, two-sided."""
        return two_sided_p(self.quantity, self.looks)

    @property
    def equivalent(self) -> bool:
        """Tell whether two one-sided tests show that it is within the margin."""
        found = self.quantity.interval(confidence_of_each(EQUIVALENCE, self.looks))
        return -self.margin <= found.low and found.high <= self.margin

    @property
    def is_worse(self) -> bool:
        """Tell whether the subject is surely worse, by the margin at least."""
        return self.p_holm < LEVEL and self.estimate.value <= -self.margin

    @property
    def needed(self) -> int:
        """The number of replicates whose interval would be as narrow as the margin."""
        half = self.estimate.half_width
        return 0 if math.isnan(half) else math.ceil(self.estimate.n * (half / self.margin) ** 2)


def two_sided_p(quantity: Mean, looks: int = 1) -> float:
    """Return the two-sided p value of "it is not zero", multiplied by the number of looks."""
    return min(1.0, 2 * looks * min(quantity.p_greater(), quantity.p_less()))


def word_of(effect: Effect, baseline: str, gentle: bool = False) -> str:
    """Return the word of an effect whose p value has been adjusted; `gentle` is that of less harm than the baseline's."""
    value = effect.estimate.value
    if math.isnan(value):
        return "unclear"
    if effect.is_worse or (effect.two_sided and effect.p_holm < LEVEL and value >= effect.margin):
        return "worse"
    if effect.p_holm < LEVEL and value >= effect.margin:
        return "gentler" if gentle else "better"
    return f"like {baseline}" if effect.equivalent else "unclear"


@dataclass(frozen=True)
class Harmed:
    """A point at which a rule on harm holds."""

    point: HarmPoint
    estimate: Estimate
    p_holm: float


def harmed(points: Sequence[HarmPoint], looks: int = 1) -> tuple[list[Harmed], list[Harmed]]:
    """Return all points with estimate and adjusted p value, and those at which the victim is harmed."""
    quantities = [mean_of(point.samples) for point in points]
    adjusted = holm([two_sided_p(quantity, looks) for quantity in quantities])
    estimates = [quantity.interval(confidence(looks)) for quantity in quantities]
    found = [Harmed(point, estimate, p) for point, estimate, p in zip(points, estimates, adjusted, strict=True)]
    return found, [one for one in found if is_harm(one)]


def is_harm(one: Harmed) -> bool:
    """Tell whether a point shows harm: surely, and more than counts."""
    least = EXCESS if one.point.metric == "goodput" else LOG_MARGIN
    return one.p_holm < LEVEL and one.estimate.value >= least


def worst_word(words: Sequence[str]) -> str:
    """Return the worst of some words; "not tested" if none of them judges."""
    for word in WORST_FIRST:
        for given in words:
            if given == word or (word == "like" and given.startswith("like ")):
                return given
    return "not tested"


def starved_mostly(outcomes: Sequence[float]) -> bool:
    """Tell whether a flow starves in more than half of the replicates."""
    return sum(outcomes) > len(outcomes) / 2
