"""Whether an evaluation says the same with other seeds: `python -m tonopah_dev.stable_words FOLDER FOLDER…`.

Each folder is that of a `tonopah evaluate ALGORITHM --seeds FROM`; those of one algorithm are held against one another. Of each
criterion the decided words are counted, and those that equal the most common of them.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tonopah.judge.words import UNJUDGED
from tonopah_dev.command import run_command

NOT_DECIDED = frozenset({"unclear", "not converged", *UNJUDGED.values()})


def words(folder: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield algorithm, criterion and word of a stored scoreboard."""
    board = json.loads((folder / "scoreboard.json").read_text(encoding="utf-8"))
    for row in board["criteria"]:
        yield (board["subject"]["name"], f"{row['id']} {row['name']}"), row["verdict"]


def told(folders: Iterable[Path]) -> Iterator[str]:
    """Yield what is to be said of these evaluations, line by line; last the share of words that are the same."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for folder in folders:
        for row, word in words(folder):
            if word not in NOT_DECIDED:
                found[row].append(word)
    same = 0
    for (algorithm, criterion), said in sorted(found.items()):
        counts = Counter(said).most_common()
        same += counts[0][1]
        if len(counts) > 1:
            yield f"{algorithm}, {criterion}: {', '.join(f'{count} {word}' for word, count in counts)}"
    decided = sum(map(len, found.values()))
    yield f"{same} of {decided} decided words are the same, {same / max(decided, 1):.1%}"


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""

    def tell(arguments: argparse.Namespace) -> int:
        print("\n".join(told(arguments.folders)))
        return 0

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="of a `tonopah evaluate`")

    about = "Tell whether evaluations of the same algorithms with other seeds have the same words."
    return run_command(
        "stable_words", about, add_arguments, tell, "python -m tonopah_dev.stable_words set1/* set2/*", given=given
    )


if __name__ == "__main__":
    sys.exit(main())
