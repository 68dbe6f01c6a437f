"""Looks at the data: at how many sizes a study has had a report.

Who adds replicates until a word appears finds one too often: a report at a second size is a second look, as with `--until`
(analysis/sequential.py). A quick run judges nothing, so it is none.
"""

from tonopah.errors import reading
from tonopah.store.pack import VERDICTS
from tonopah.store.store import Store

KEY = "sizes"


def remember(store: Store, size: int) -> int:
    """Note that a study is run at a size, which is 0 for one that judges nothing, and return how many looks it then has."""
    reported, before = known(store)
    if before and (store.folder / VERDICTS).is_file():
        reported.add(before)
    store.remember(KEY, {"reported": sorted(reported), "size": size})
    return count(store)


def count(store: Store) -> int:
    """Return the number of sizes at which there was a report, the present one among them."""
    reported, size = known(store)
    return max(1, len({*reported, size} - {0}))


def known(store: Store) -> tuple[set[int], int]:
    """Return the sizes at which there was a report, and the present one, 0 if there is none. Raises InputError."""
    facts = store.recall(KEY) or {"reported": [], "size": 0}
    with reading(str(store.path), "run the study again, into another folder"):
        return {int(size) for size in facts["reported"]}, int(facts["size"])
