"""Tcl's random numbers, from which the scripts of ns-2 draw places and flows."""

from collections.abc import Iterator

MODULUS = 2**31 - 1
MULTIPLIER = 16807
SRAND = 19
"""The author's argument of Tcl's `srand`."""


def uniform(seed: int) -> Iterator[float]:
    """Yield the numbers that Tcl's `rand()` gives after `srand(seed)`, which takes the first itself (Park and Miller 1988)."""
    state = seed * MULTIPLIER % MODULUS
    while True:
        state = state * MULTIPLIER % MODULUS
        yield state / MODULUS


def drawn(source: Iterator[float], scale: int, count: int) -> int:
    """Return the author's `int(scale u) mod count`."""
    return int(scale * next(source)) % count
