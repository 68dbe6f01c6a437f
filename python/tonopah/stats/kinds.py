"""What is measured decides how it is compared: the kinds of metrics, and what each has. Every metric declares one.

docs/method.md says the same in words, with the error rates of each kind.
"""

from dataclasses import dataclass
from typing import Literal

KindName = Literal["positive", "share", "count", "proportion", "time", "outcome", "scale", "signed"]


@dataclass(frozen=True)
class Kind:
    """How the values of a kind are compared."""

    words: str
    """What they are."""
    effect: Literal["ratio", "difference", "both"]
    """What is compared; of `both`, each has to exceed its margin."""
    events: bool = False
    """Whether the values are numbers of events, or proportions of them: fewer than `FEWEST_EVENTS` decide nothing."""


KINDS: dict[KindName, Kind] = {
    "positive": Kind("a quantity above zero, such as goodput or delay", "ratio"),
    "share": Kind("a share of a whole or an index", "difference"),
    "count": Kind("a number of events", "both", events=True),
    "proportion": Kind("a proportion of events", "both", events=True),
    "time": Kind("a time until something", "ratio"),
    "outcome": Kind("yes or no in a run", "difference"),
    "scale": Kind("quality on a scale with two ends", "difference"),
    "signed": Kind("a quantity of either sign", "difference"),
}
FEWEST_EVENTS = 10
"""Fewer events on both sides together decide nothing."""
