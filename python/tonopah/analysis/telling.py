"""What was found at many places in one sentence: at which places which word, and the number where it is most.

The words are those of verdicts; this module only counts and lists them. Every report's answer is made of it.
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


def tell(found: Sequence[Found], words: Iterable[str] = (), many: str = "") -> str:
    """Return at which places which word was found, in the order of `words`, else in that of the places.

    `many` names the places where they are too many to be listed, such as "of 27 criteria".
    """
    order = dict.fromkeys([*words, *(one.word for one in found)])
    told = [one_word(mine, len(found), many) for word in order if (mine := [one for one in found if one.word == word])]
    return ", ".join(told)


def one_word(mine: Sequence[Found], total: int, many: str = "") -> str:
    """Return where one word was found, with the number of the place where it is most."""
    word, top = mine[0].word, max(mine, key=lambda one: one.size if math.isfinite(one.size) else -1.0)
    if total == 1:
        return f"{word} ({top.said})" if top.said else word
    named = len(mine) <= MOST_PLACES and not many
    where = join([one.place for one in mine]) if named else f"{len(mine)} {many or f'of {total}'}"
    if len(mine) == total and not many:
        where = "both points" if total == 2 else f"all {total} points"
    most = f"most at {top.place}: " if len(mine) > 1 else f"{top.place}: " if many else ""
    number = f" ({most}{top.said})" if top.said else ""
    return f"{word} at {where}{number}"


def join(texts: Sequence[str]) -> str:
    """Return parts of an enumeration as text."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
