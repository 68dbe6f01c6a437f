"""Fuzzing of the readers of files and links of others, guided by coverage: `make fuzz`.

An input that takes a reader from one line to another, where none before it went, is kept and changed again. Each is read, or
refused with a sentence, within 10 s of CPU time and 1 GB; one that is not is written to fuzz/artifacts and ends the search.
"""

import hashlib
import itertools
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import file_kinds

import tonopah

ARTIFACTS, CORPUS = (Path(__file__).parents[2] / "fuzz" / name for name in ("artifacts", "corpus"))
"""What was found; inputs to begin with, which the fuzzer of crates/captures takes too."""
HOME = Path(tonopah.__file__).parent
READERS = {
    "captures": ("validate/trace",), "qlogs": ("validate/trace", "qlog"), "packetdrill": ("packetdrill",),
    "packs": ("store", "spec/manifest.py", "study", "report/index.py"), "links": ("scenario",),
}  # fmt: skip
"""What is watched: the code below these places; of other kinds that of all readers of scenarios and imports."""
OTHERS = ("scenario", "importing", "compat", "breaking", "judge/statement.py", "lab/lessons.py")
CPU_S, MEMORY_KB = 10, 1 << 20
Move = tuple[str, int, int]


def watched(moves: set[Move], below: tuple[str, ...]) -> Callable[[FrameType, str, Any], Any]:
    """Return a tracer that notes the steps from line to line in the readers."""
    last: dict[FrameType, int] = {}

    def step(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            moves.add((frame.f_code.co_filename, last.get(frame, 0), frame.f_lineno))
            last[frame] = frame.f_lineno
        elif event == "return":
            last.pop(frame, None)
        return step

    return lambda frame, _event, _value: step if frame.f_code.co_filename.startswith(below) else None


def fuzz(target: str, turns: Iterator[int], draw: random.Random) -> tuple[int, int, set[Move]]:
    """Return how many inputs were tried, how many were read, and which steps they took. Raises what a reader raises."""
    kind, below = file_kinds.KINDS[target], tuple(str(HOME / part) for part in READERS.get(target, OTHERS))
    corpus, met, tried, answers = kind.seeds(), set[Move](), 0, 0
    first = list(corpus)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        for _ in turns:
            data = first.pop() if first else kind.change(draw.choice(corpus), draw.choice(corpus), kind.tokens, draw)
            moves: set[Move] = set()
            began, tracer = time.process_time(), sys.gettrace()
            sys.settrace(watched(moves, below))
            try:
                answers += file_kinds.read_once(kind, data, Path(folder))
                assert time.process_time() - began < CPU_S, f"{CPU_S} s of CPU time"
                assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KB, "1 GB of memory"
            except BaseException:
                keep(target, data)
                raise
            finally:
                sys.settrace(tracer)
            tried += 1
            if not moves <= met:
                met |= moves
                corpus.append(data)
    return tried, answers, met


def keep(target: str, data: bytes) -> None:
    """Write an input that was found."""
    file = ARTIFACTS / target / hashlib.sha1(data).hexdigest()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    print(f"found: {file}", file=sys.stderr)


def main(target: str, length_s: str) -> None:
    """Fuzz a target for so many seconds."""
    end = time.monotonic() + float(length_s)
    CORPUS.joinpath(target).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(file_kinds.KINDS[target].seeds()):
        CORPUS.joinpath(target, f"seed-{number}").write_bytes(data)
    turns = itertools.takewhile(lambda _: time.monotonic() < end, itertools.count())
    tried, answers, met = fuzz(target, turns, random.Random())
    print(f"{target}: {tried} inputs, {answers} of them read, {len(met)} steps from line to line, no finding")


if __name__ == "__main__":
    main(*sys.argv[1:])
