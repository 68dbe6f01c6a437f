"""What was found at many places in one sentence: at which places which word, and the number where it is most.

The words are those of verdicts; this module only counts and lists them. Every answer is made of it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_PLACES = 4
"""So many places are named; of more it is said how many they are."""


@dataclass(frozen=True)
class Found:
    """What was found at one place."""

    word: str
    place: str
    said: str = ""
    """Its number, in words."""
    size: float = 0.0
    """How much it is, to find the place of most."""


def tell(found: Sequence[Found], words: Iterable[str] = (), counted: bool = False) -> str:
    """Return at which places which word was found, in the order of `words`, else in that of the places.

    With `counted` it is how many places have which word: of tens of them nobody wants to read the list.
    """
    order = dict.fromkeys([*words, *(one.word for one in found)])
    groups = [mine for word in order if (mine := [one for one in found if one.word == word])]
    return ", ".join(counted_word(mine) if counted else placed_word(mine, len(found)) for mine in groups)


def placed_word(mine: Sequence[Found], total: int) -> str:
    """Return where one word was found, with the number of the place where it is most."""
    top = most(mine)
    if total == 1:
        return f"{top.word} ({top.said})" if top.said else top.word
    where = join([one.place for one in mine]) if len(mine) <= MOST_PLACES else f"{len(mine)} of {total} points"
    if len(mine) == total:
        where = "both points" if total == 2 else f"all {total} points"
    place = f"most at {top.place}: " if len(mine) > 1 else ""
    return f"{top.word} at {where}" + (f" ({place}{top.said})" if top.said else "")


def counted_word(mine: Sequence[Found]) -> str:
    """Return how often one word was found, with the number of the place where it is most."""
    top = most(mine)
    place = f"most at {top.place}" if len(mine) > 1 else top.place
    return f"{len(mine)} {top.word}" + (f" ({place}: {top.said})" if top.said else "")


def most(mine: Sequence[Found]) -> Found:
    """Return the place where it is most."""
    return max(mine, key=lambda one: one.size if math.isfinite(one.size) else -1.0)


def join(texts: Sequence[str]) -> str:
    """Return parts of an enumeration as text."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
