"""Fuzzing of the readers of captures and of qlogs, guided by coverage of what is Python in them: `make fuzz`.

An input that takes a reader from one line to another, where none before it went, is kept and changed again. Each gives a trace or
an InputError, within 10 s of CPU time and 1 GB; one that does not is written to fuzz/artifacts and ends the search.
"""

import gzip
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

import test_captures
import test_qlog

import tonopah
from tonopah.errors import InputError
from tonopah.validate.trace import comparison

ARTIFACTS, CORPUS = (Path(__file__).parents[2] / "fuzz" / name for name in ("artifacts", "corpus"))
"""What was found; inputs to begin with, which the fuzzer of crates/captures takes too."""
READERS = tuple(str(Path(tonopah.__file__).parent / part) for part in ("validate/trace", "qlog"))
LONGEST = 20_000
"""Bytes of an input; seeds are cut to it."""
CPU_S, MEMORY_KB = 10, 1 << 20
WORDS = tuple(value.to_bytes(4, "little") for value in (0, 1, 20, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1))
TEXTS = (b"null", b"-1", b"1e999", b"NaN", b"[" * 70, b"{}", b'""', b"18446744073709551615", b"\x1e", b"\n")
Move = tuple[str, int, int]


def seeds(target: str) -> list[bytes]:
    """Return the inputs to begin with."""
    if target == "captures":
        return [data[:LONGEST] for data in test_captures.FILES.values()]
    names = (*test_qlog.DIALECTS, "own-0.17.0.sqlog")
    return [gzip.decompress((test_qlog.LOGS / f"{name}.gz").read_bytes())[:LONGEST] for name in names]


def changed(data: bytes, other: bytes, tokens: tuple[bytes, ...], draw: random.Random) -> bytes:
    """Return an input with one to four changes: bytes, numbers and words put in, pieces left out, moved or of another input."""
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(out) + 1), 1 << draw.randrange(10)
        kind = draw.randrange(6)
        if kind == 0:
            out[at : at + 1] = bytes([draw.randrange(256)])
        elif kind == 1:
            token = draw.choice(tokens)
            out[at : at + len(token)] = token
        elif kind == 2:
            out[at:at] = draw.choice(tokens)
        elif kind == 3:
            del out[at : at + length]
        elif kind == 4:
            out[at:at] = out[at : at + length]
        else:
            start = draw.randrange(len(other) + 1)
            out[at:] = other[start:]
    return bytes(out[:LONGEST])


def watched(moves: set[Move]) -> Callable[[FrameType, str, Any], Any]:
    """Return a tracer that notes the steps from line to line in the readers."""
    last: dict[FrameType, int] = {}

    def step(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            moves.add((frame.f_code.co_filename, last.get(frame, 0), frame.f_lineno))
            last[frame] = frame.f_lineno
        elif event == "return":
            last.pop(frame, None)
        return step

    return lambda frame, _event, _value: step if frame.f_code.co_filename.startswith(READERS) else None


def read(file: Path) -> bool:
    """Return whether a file gives a trace; False if it is refused with a sentence. Whatever else it raises is a finding."""
    try:
        comparison.estimate(comparison.read_trace(file), {"rate": "1Mbps", "delay": "1ms"}, "a file")
    except InputError as error:
        assert str(error), "a refusal without a sentence"
        return False
    return True


def fuzz(target: str, turns: Iterator[int], draw: random.Random) -> tuple[int, int, set[Move]]:
    """Return how many inputs were tried, how many gave a trace, and which steps they took. Raises what a reader raises."""
    corpus, met, tried, answers = seeds(target), set[Move](), 0, 0
    tokens = WORDS if target == "captures" else TEXTS
    first = list(corpus)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "input")
        for _ in turns:
            data = first.pop() if first else changed(draw.choice(corpus), draw.choice(corpus), tokens, draw)
            file.write_bytes(data)
            moves: set[Move] = set()
            began, tracer = time.process_time(), sys.gettrace()
            sys.settrace(watched(moves))
            try:
                answers += read(file)
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
    for number, data in enumerate(seeds(target)):
        CORPUS.joinpath(target, f"seed-{number}").write_bytes(data)
    turns = itertools.takewhile(lambda _: time.monotonic() < end, itertools.count())
    tried, answers, met = fuzz(target, turns, random.Random())
    print(f"{target}: {tried} inputs, {answers} of them read, {len(met)} steps from line to line, no finding")


if __name__ == "__main__":
    main(*sys.argv[1:])
