"""A finding: what one metric shows at one place, against every reference, in each of two sets of replicates.

The first set proposes what is better or worse, the second, drawn after it, decides: what it does not confirm is unclear. So the
choice of the place needs no correction of its own. That nothing differs is read from both sets together.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tonopah.judge.definitions import Term
from tonopah.judge.effects import EQUIVALENCE, LEVEL, Better, Effect, paired_effect
from tonopah.judge.study import Place, Results
from tonopah.judge.thresholds import margin_at, smallest_difference
from tonopah.stats import confidence_of_each, mean_of

ByReplicate = Mapping[int, float]


@dataclass(frozen=True)
class Finding:
    """One metric at one place. An effect is that against the reference beside which the subject looks best."""

    place: Place
    metric: str
    better: Better
    mine: ByReplicate
    theirs: Mapping[str, ByReplicate]
    """By arm of the references, the baseline first."""
    first_count: int
    """Replicates of the first set."""
    scale: float = 1.0
    """Of all margins."""
    looks: int = 1
    family: int = 1
    """Questions of the report: each is decided at a level that holds for all of them together (Bonferroni)."""
    word: str = "worse"
    margin: float | None = None
    of: str = ""
    """Who is harmed, if the metric is of a victim."""
    arm: str = ""
    """That of the subject."""
    settled: bool = True

    @property
    def where(self) -> str:
        """The place in words."""
        return f"{self.place.experiment}, {self.place.label}" if self.place.label else self.place.experiment

    @property
    def least(self) -> float:
        """The difference that has to be exceeded beside the margin."""
        return self.scale * smallest_difference(self.metric)

    @cached_property
    def first(self) -> Effect:
        """What the first set shows."""
        return self.against_all(lambda k: k <= self.first_count, self.looks)

    @cached_property
    def second(self) -> Effect:
        """What the second set shows, with the interval and p value of one question among all of the report."""
        return self.against_all(lambda k: k > self.first_count, self.looks * self.family)

    @cached_property
    def both(self) -> Effect:
        """What all replicates show."""
        return self.against_all(lambda _: True, self.looks)

    @property
    def baseline(self) -> str:
        """The arm of the baseline."""
        return next(iter(self.theirs))

    @cached_property
    def against_baseline(self) -> Effect:
        """What all replicates show against the baseline alone."""
        return self.against(self.baseline, lambda _: True, self.looks)

    def beside_baseline(self) -> "Finding":
        """Return the same, held against the baseline alone."""
        return replace(self, theirs={self.baseline: self.theirs[self.baseline]})

    def against(self, arm: str, chosen: Any, looks: int) -> Effect:
        """Return the effect against one reference over some replicates."""
        mine, theirs = ({k: value for k, value in one.items() if chosen(k)} for one in (self.mine, self.theirs[arm]))
        margin = self.scale * (margin_at(self.metric) if self.margin is None else self.margin)
        about: dict[str, Any] = {"experiment": self.place.experiment, "point": self.place.label, "of": arm}
        return paired_effect(self.metric, mine, theirs, margin=margin, better=self.better, looks=looks, **about)

    def against_all(self, chosen: Any, looks: int) -> Effect:
        """Return the effect against the reference beside which the subject looks best: that of the envelope."""
        return max((self.against(arm, chosen, looks) for arm in self.theirs), key=lambda one: known(one.gain))

    def counts(self, effect: Effect) -> bool:
        """Tell whether the means differ by enough."""
        return not abs(effect.subject - effect.baseline) < self.least

    def excess(self, effect: Effect) -> float:
        """Return how much worse it is, in margins; of something better it is negative."""
        return -known(effect.gain) / effect.margin if self.counts(effect) and not math.isnan(effect.gain) else 0.0

    @property
    def sure_excess(self) -> float:
        """What the first set shows at least, in margins: the nearer end of its interval, half of the value without one."""
        found, sign = self.first.estimate, -1.0 if self.first.better == "less" else 1.0
        ends = [sign * end for end in (found.low, found.high) if not math.isnan(end)]
        gain = self.first.gain
        nearer = max(ends, default=gain / 2) if gain < 0 else min(ends, default=gain / 2)
        return -nearer / self.first.margin if self.better != "equal" else abs(gain) / self.first.margin

    @property
    def suspicious(self) -> bool:
        """Tell whether the first set says that it is worse by the margin."""
        return self.settled and not self.first.identical and self.excess(self.first) >= 1.0

    @property
    def promising(self) -> bool:
        """Tell whether the first set says that it is better by the margin."""
        return self.settled and self.excess(self.first) <= -1.0

    @property
    def is_worse(self) -> bool:
        """Tell whether the second set confirms that it is worse by the margin."""
        return self.second.p < LEVEL and self.excess(self.second) >= 1.0

    @property
    def is_better(self) -> bool:
        """Tell whether the second set confirms that it is better by the margin."""
        return self.second.p < LEVEL and self.excess(self.second) <= -1.0

    @property
    def is_like(self) -> bool:
        """Tell whether it is shown to be like the baseline: two one-sided tests of both sets, and no set says otherwise."""
        one = self.against_baseline
        sets = [self.against(self.baseline, half, 1) for half in (self.in_first, self.in_second)]
        small = all(abs(self.excess(each)) < 1.0 or each.identical for each in sets if each.samples)
        return one.identical or (small and (one.equivalent or self.within_least(one)))

    def in_first(self, replicate: int) -> bool:
        """Tell whether a replicate is of the first set."""
        return replicate <= self.first_count

    def in_second(self, replicate: int) -> bool:
        """Tell whether a replicate is of the second set."""
        return replicate > self.first_count

    @property
    def is_no_worse(self) -> bool:
        """Tell whether it is shown to be no worse than the references: one one-sided test of both sets."""
        one = self.both
        if self.is_like or one.identical:
            return True
        if self.better == "equal" or any(self.excess(each) >= 1.0 for each in (self.first, self.second) if each.samples):
            return False
        found = one.quantity.interval(confidence_of_each(EQUIVALENCE, one.looks))
        worst = -found.high if self.better == "less" else found.low
        return worst >= -one.margin or self.within_least(one, one_sided=True)

    def within_least(self, effect: Effect, *, one_sided: bool = False) -> bool:
        """Tell whether the difference is shown to be below what has to be exceeded beside the margin."""
        arm = effect.of if effect.of in self.theirs else self.baseline
        common = sorted(set(self.mine) & set(self.theirs[arm]))
        if not self.least or len(common) < 2:
            return False
        sign = 1.0 if self.better == "less" else -1.0
        found = mean_of([sign * (self.mine[k] - self.theirs[arm][k]) for k in common]).interval(EQUIVALENCE)
        return found.high <= self.least and (one_sided or found.low >= -self.least)

    @property
    def shown(self) -> Effect:
        """The effect that a report shows: that of the second set where it decides, else of both."""
        return self.second if self.is_worse or self.is_better else self.both


def known(value: float) -> float:
    """Return a value, or 0 for one that was not measured."""
    return 0.0 if math.isnan(value) else value


def of_term(term: Term, results: Results, family: int) -> list[Finding]:
    """Return what a term shows at each of its points."""
    found = []
    for place in results.at(term.experiment, term.where):
        theirs = {arm: values for arm in term.arms[1:] if (values := place.metric(arm, term.metric))}
        mine = place.metric(term.arms[0], term.metric)
        if not mine or not theirs:
            continue
        settled = all(place.has_settled(arm) for arm in (term.arms[0], *theirs))
        found.append(
            Finding(
                place, term.metric, term.better, mine, theirs, results.first, results.scale, results.looks, family, term.word,
                term.margin, "", term.arms[0], settled,
            )
        )  # fmt: skip
    return found
