"""The words of reports: a table from verdict to word for each of them."""

from collections.abc import Sequence
from typing import Literal

from tonopah.judge.effects import Verdict

WORDS: dict[str, dict[Verdict, str]] = {
    "compare": {"supported": "improved", "contradicted": "regressed", "no effect": "same", "undecided": "unclear"},
}
"""By report: what it says instead of a verdict."""
Colour = Literal["grey", "red", "orange", "green", "blue", "yellow"]
COLOURS: dict[str, Colour] = {
    "starves others": "red", "may starve": "red", "harmful to others": "red", "out of bounds": "red", "worse": "orange",
    "favours short round trips": "orange", "slow to converge": "orange", "favours latecomers": "orange",
    "not converged": "yellow", "unclear": "yellow", "no worse": "blue", "like": "blue", "within bounds": "blue",
    "gentler": "green", "better": "green", "not tested": "grey", "not applicable": "grey", "author states": "grey",
}  # fmt: skip
"""Of all words, the worst first; those that do not judge stand at the end."""
UNJUDGED = {"author": "author states", "multipath": "not applicable", "gap": "not tested"}
"""By rule of a criterion: its word where nothing is measured."""


def colour(word: str) -> Colour:
    """Return the colour of a word."""
    return COLOURS["like" if word.startswith("like ") else word]


def worst_word(words: Sequence[str]) -> str:
    """Return the worst of some words; "not tested" if none of them judges."""
    judging = [word for word in words if colour(word) != "grey"]
    places = list(COLOURS)
    return min(judging, key=lambda word: places.index("like" if word.startswith("like ") else word), default="not tested")
