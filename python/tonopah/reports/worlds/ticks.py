"""The clocks of ns-2's TCP agents, each of which begins at a random part of a tick of 10 ms.

An agent draws its part when it is made, Vegas twice, and again when the run begins: node by node, in the order in which Tcl lists
the names of an array, which is that of its hash table. Only the last draw counts. The generator is MRG32k3a (L'Ecuyer 1999), all
words 1, which `ns-random` shows to be the state of ns-2's default generator.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

TICK_S = 0.01
MODULI = (4294967087, 4294944443)
FACTORS = ((1403580, 810728), (527612, 1370589))
FIRST_BUCKETS, LOAD, WORD = 4, 3, 0xFFFFFFFF
"""Tcl's hash tables: the number of buckets is four times as large once there are three entries for each."""


def mrg32k3a() -> Iterator[float]:
    """Yield uniform numbers."""
    first, second = [1, 1, 1], [1, 1, 1]
    while True:
        one = (FACTORS[0][0] * first[1] - FACTORS[0][1] * first[0]) % MODULI[0]
        two = (FACTORS[1][0] * second[2] - FACTORS[1][1] * second[0]) % MODULI[1]
        first, second = [*first[1:], one], [*second[1:], two]
        yield ((one - two) % MODULI[0] or MODULI[0]) / (MODULI[0] + 1)


def hashed(name: str) -> int:
    """Return Tcl's hash of a string."""
    result = ord(name[0])
    for letter in name[1:]:
        result += (result << 3) + ord(letter)
    return result & WORD


def array_names(count: int) -> list[int]:
    """Return the numbers 0 to `count` - 1 in the order of `array names` after they were set one after the other."""
    buckets: list[list[int]] = [[] for _ in range(FIRST_BUCKETS)]
    for number in range(count):
        buckets[hashed(str(number)) % len(buckets)].insert(0, number)
        if number + 1 >= LOAD * len(buckets):
            before, buckets = buckets, [[] for _ in range(4 * len(buckets))]
            for one in (one for bucket in before for one in bucket):
                buckets[hashed(str(one)) % len(buckets)].insert(0, one)
    return [one for bucket in buckets for one in bucket]


def phases_s(nodes: int, sources: Sequence[int], draws: int) -> list[float]:
    """Return where in a tick the clock of each agent begins, by flow; `draws` is how often an agent draws when it is made."""
    order = [flow for node in array_names(nodes) for flow, source in enumerate(sources) if source == node]
    made = draws * len(sources)
    drawn = islice(mrg32k3a(), made, made + len(order))
    by_flow = dict(zip(order, drawn, strict=True))
    return [TICK_S * by_flow[flow] for flow in range(len(sources))]
