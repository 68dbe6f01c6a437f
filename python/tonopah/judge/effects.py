"""Effects: paired differences over replicates, and what they show.

An effect stands for the claim that the first of two is better; its verdict has the words of a study, and words.py those that a
report says instead. All margins but those of compare.toml are here, and all tests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tonopah.analysis.sequential import confidence
from tonopah.judge.metrics import label
from tonopah.stats import Estimate, Exact, Mean, confidence_of_each, difference_of, holm, mean_of, ratio_of
from tonopah.stats.kinds import KINDS

LEVEL = 0.05
EQUIVALENCE = 0.90
"""Confidence of the interval that has to lie within the margin (two one-sided tests at 5 %)."""
LOG_MARGIN = math.log(1.25)
MARGINS = {"utilisation": 0.05, "jain": 0.05, "mos": 0.2, "voice_mos": 0.2, "x_share": 0.10}
"""Differences that count, by metric; of the logarithm of a ratio, `LOG_MARGIN`."""

LEAST = {"loss": 0.005, "link_loss": 0.005, "y_loss": 0.005, "x_loss": 0.005, "voice_loss": 0.005, "video_loss": 0.005}
"""Differences that have to be exceeded beside the ratio, by metric: half a percentage point of loss. Ours."""

Better = Literal["more", "less", "equal"]
EffectKind = Literal["difference", "log", "percent"]
Verdict = Literal["supported", "contradicted", "no effect", "undecided"]
ByReplicate = Mapping[int, float]


def margin_of(metric: str, kind: str) -> float:
    """Return the effect that counts."""
    return LOG_MARGIN if kind == "log" else MARGINS.get(metric, 0.05)


@dataclass(frozen=True)
class Effect:
    """A quantity made of paired differences, where it is from, and what it shows."""

    quantity: Mean | Exact
    margin: float
    samples: tuple[float, ...] = ()
    """The differences, one for each replicate."""
    better: Better = "more"
    """Which sign is good; `equal`: neither is."""
    looks: int = 1
    """How often the data may be looked at before more replicates are added: all intervals together have the level of one."""
    equivalence: float = EQUIVALENCE
    p_holm: float = math.nan
    metric: str = ""
    kind: EffectKind = "difference"
    """Of differences, of logarithms of ratios ("log"), or of percent."""
    experiment: str = ""
    point: str = ""
    of: str = ""
    """Who is harmed, or the criterion that reads the experiment."""
    subject: float = math.nan
    baseline: float = math.nan
    """Means of the metric in the arms of these."""
    identical: bool = False
    """Whether both have the same value in every replicate."""
    least: float = 0.0
    """The difference of the means that has to be exceeded too."""
    broken: bool = False
    """Whether it is a bound that the baseline keeps and the subject does not."""

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.experiment}, {self.point}"

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval: of 95 %, or wider for several looks."""
        return self.quantity.interval(confidence(self.looks))

    @property
    def p(self) -> float:
        """The p value of the paired t test of "it is not zero", two-sided, multiplied by the number of looks."""
        return min(1.0, 2 * self.looks * min(self.quantity.p_greater(), self.quantity.p_less()))

    @property
    def equivalent(self) -> bool:
        """Tell whether it is shown to be within the margin; the same runs are."""
        if self.identical:
            return True
        found = self.quantity.interval(confidence_of_each(self.equivalence, self.looks))
        return -self.margin <= found.low and found.high <= self.margin

    @property
    def gain(self) -> float:
        """The value with the sign that is positive where it is better."""
        value = self.estimate.value
        return -value if self.better == "less" else -abs(value) if self.better == "equal" else value

    @property
    def counts(self) -> bool:
        """Tell whether the difference of the means is as large as has to be exceeded beside the margin."""
        return not abs(self.subject - self.baseline) < self.least

    @property
    def is_worse(self) -> bool:
        """Tell whether it is surely worse, by the margin at least."""
        return self.p_holm < LEVEL and self.gain <= -self.margin and self.counts

    @property
    def verdict(self) -> Verdict:
        """What it says of "the first is better".

        Surely so or the opposite, by the margin at least; surely less than that; or nothing yet.
        """
        if self.broken or self.is_worse:
            return "contradicted"
        if self.p_holm < LEVEL and self.gain >= self.margin and self.counts:
            return "supported"
        return "no effect" if self.equivalent else "undecided"

    @property
    def needed(self) -> int:
        """The number of replicates whose interval would be as narrow as the margin; 0 where the interval has no end."""
        half = self.estimate.half_width
        return 0 if not math.isfinite(half) else math.ceil(self.estimate.n * (half / self.margin) ** 2)


def effect_of(samples: Sequence[float], margin: float, **about: Any) -> Effect:
    """Return the effect of paired differences, one value for each replicate."""
    about = {"identical": bool(samples) and not any(samples)} | about
    return Effect(mean_of(samples), margin, tuple(samples), **about)


def paired_effect(
    metric: str, mine: ByReplicate, theirs: ByReplicate, *, margin: float | None = None, least: float | None = None, **about: Any
) -> Effect:
    """Return how much more of a metric one has than the other, from the replicates that both have.

    The kind of the metric decides what is compared and how (stats/kinds.py). Positive is more of the metric, so `better` says
    which sign is good.

    Parameters
    ----------
    metric : str
        Name in the list of metrics.py.
    mine, theirs : mapping of int to float
        Values by replicate, in the unit of the metric.
    margin : float, optional
        The effect that counts: of the logarithm of a ratio, or of the difference; that of the metric if absent.
    least : float, optional
        The difference that has to be exceeded too, of numbers and proportions of events; that of the metric if absent.
    **about
        Fields of `Effect`.
    """
    known = label(metric)
    kind: EffectKind = "difference" if KINDS[known.kind].effect == "difference" else "log"
    both = sorted(set(mine) & set(theirs))
    x, y = ([values[k] for k in both] for values in (mine, theirs))
    if kind == "log":
        quantity: Mean | Exact = ratio_of(x, y, known.kind).logarithmic()
        samples = tuple(log_ratio(one, other) for one, other in zip(x, y, strict=True))
    else:
        quantity = difference_of(x, y, known.bounds if known.kind in ("scale", "signed") else (0.0, 1.0), known.kind)
        samples = tuple(one - other for one, other in zip(x, y, strict=True))
    floor = (LEAST.get(metric, 0.0) if least is None else least) if KINDS[known.kind].events else 0.0
    facts = {
        "subject": average(x),
        "baseline": average(y),
        "kind": kind,
        "identical": bool(both) and x == y and not quantity.undecided,
    } | about
    return Effect(quantity, margin_of(metric, kind) if margin is None else margin, samples, metric=metric, least=floor, **facts)


def log_ratio(one: float, other: float) -> float:
    """Return the logarithm of a ratio: 0 where both are zero, infinite where one is."""
    if one <= 0 or other <= 0:
        return 0.0 if one <= 0 and other <= 0 else math.copysign(math.inf, one - other)
    return math.log(one / other)


def adjusted(effects: Sequence[Effect]) -> list[Effect]:
    """Return a family of effects with their p values adjusted by Holm; what is identical needs no test."""
    family = holm([math.nan if one.identical else one.p for one in effects])
    return [replace(one, p_holm=p) for one, p in zip(effects, family, strict=True)]


def average(values: Sequence[float]) -> float:
    """Return the mean of what was measured; NaN of nothing."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def mostly(outcomes: Sequence[float]) -> bool:
    """Tell whether something happens in more than half of the replicates."""
    return sum(outcomes) > len(outcomes) / 2
