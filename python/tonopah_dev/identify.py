"""How often `tonopah identify` is right, by the parts of what must hold of it: `python -m tonopah_dev.identify [PART …]`.

Captures are made by simulation, so that sender, link and company are known; `tonopah identify --check` has recordings of Linux.
"""

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tonopah as tp
from tonopah.errors import InputError
from tonopah.export import pcapng
from tonopah.identification.api import LITTLE, NONE, Identification, identify_sending
from tonopah.identification.check import curves, recordings
from tonopah.identification.sending import read
from tonopah.identification.simulations import CANDIDATES, KIN, LINUX, candidates_of
from tonopah.scenario.document import prepare
from tonopah.scenario.worlds import PACKET_BYTES, bdp_packets, drop_tail, dumbbell
from tonopah.validate.linux.recordings import shipped
from tonopah_dev.command import run_command

TESTS = Path(__file__).parents[1] / "tests" / "data" / "identify"
MOST_PACKETS, LONGEST_S, SHORTEST_S = 60_000, 60.0, 20.0
SHORT_BYTES, SHORT_LOAD = "20kB", 0.01
CUBICS: tuple[Any, ...] = (
    {"name": "cubic", "profile": "linux"}, {"name": "cubic", "profile": "linux", "hystart": False},
    {"name": "cubic", "profile": "rfc"},
)  # fmt: skip
STRANGERS = ("Stairs", "Gentle", "Steep", "Ramp", "Swing")
"""Classes of `python/tests/data/identify/strangers.py`."""


@dataclass(frozen=True)
class Link:
    """A bottleneck and how long a flow is watched on it."""

    mbps: float
    rtt_ms: float
    queue: int
    seconds: float

    @property
    def given(self) -> dict[str, Any]:
        """What `identify` may be told of it."""
        return {"rate": f"{self.mbps}Mbps", "delay": f"{self.rtt_ms / 2}ms", "queue": self.queue}

    def __str__(self) -> str:
        return f"{self.mbps:.3g} Mb/s, {self.rtt_ms:.3g} ms, {self.queue} packets, {self.seconds:.0f} s"


def drawn_link(draw: random.Random) -> Link:
    """Return a link drawn anew: 2 to 30 Mb/s, 10 to 150 ms, a queue of 0.3 to 2 bandwidth-delay products."""
    mbps, rtt_ms = (math.exp(draw.uniform(math.log(low), math.log(high))) for low, high in ((2, 30), (10, 150)))
    queue = max(8, round(draw.uniform(0.3, 2) * bdp_packets(1e6 * mbps, rtt_ms / 1e3)))
    seconds = min(LONGEST_S, max(SHORTEST_S, MOST_PACKETS * 8 * PACKET_BYTES / (1e6 * mbps)))
    return Link(float(f"{mbps:.3g}"), float(f"{rtt_ms:.3g}"), queue, round(seconds, 1))


@dataclass(frozen=True)
class Trial:
    """A trace whose sender is known, and what it was taken for."""

    name: str
    right: tuple[tuple[str, str], ...]
    """Names and profiles of it; none if it is no candidate."""
    found: Identification
    took_s: float
    good: bool | None = None
    """Whether it is right, where that is not the answer."""

    @property
    def place(self) -> int:
        """Of the right one in the ranking, from 0."""
        order = [(one.candidate, one.profile) for one in self.found.ranking]
        return next((place for place, one in enumerate(order) if one in self.right), len(order))

    @property
    def is_right(self) -> bool:
        """Tell whether it was named rightly, or refused where it is none of the candidates."""
        if self.good is not None:
            return self.good
        if not self.right:
            return self.found.answer == NONE
        return self.found.answer not in (NONE, LITTLE) and self.place == 0

    @property
    def in_set(self) -> bool:
        """Tell whether the right name is among those that are named."""
        return self.place == 0 or any(name in (self.found.answer, *self.found.also) for name, _ in self.right)

    def __str__(self) -> str:
        one = self.found
        first = ", ".join(f"{row.candidate} {row.profile} {row.distance:.2f}" for row in one.ranking[:3])
        doubt = "" if one.unknown is None else f", unknown {one.unknown:.2f}"
        sure = "" if one.confidence is None else f" {one.confidence:.2f}"
        mark = "" if self.is_right else "WRONG "
        return f"{mark}{self.name}: {one.answer}{sure}{doubt} ({first}), {self.took_s:.0f} s"


def alike(cc: Any, kin: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the candidates that are this algorithm: Reno and LP of Linux count as one, and with `kin` all forms of CUBIC."""
    mine = candidates_of([cc])[0]
    both = mine.name in KIN[0] and mine.profile == "linux"
    known = [*candidates_of([]), mine]
    same = [one for one in known if (one.is_kin(mine) if both or kin else (one.label, one.profile) == (mine.label, mine.profile))]
    return tuple(dict.fromkeys((one.label, one.profile) for one in same))


def linux(name: Any) -> Any:
    """Return a candidate as `cc` of a scenario, as the simulations have it."""
    return candidates_of([name])[0].algorithm.cc


def capture(link: Link, cc: Any, seed: int, folder: Path, **keys: Any) -> dict[str, Path]:
    """Return the captures at the sender and at the receiver of a flow over a link, from a simulation."""
    scenario = dumbbell(
        f"{link.seconds}s", {"rate": f"{link.mbps}Mbps", "delay": f"{link.rtt_ms / 2}ms", "queue": drop_tail(link.queue)},
        {"profile": "linux", "cc": cc} | keys.pop("tcp", {}), pairs=keys.pop("pairs", 1), flows=0,
        access={"rate": f"{max(1000, 20 * link.mbps)}Mbps", "delay": "0s"},
        flow=[{"from": "left0", "to": "right0"} | keys.pop("first", {}), *keys.pop("beside", ())], **keys,
    )  # fmt: skip
    pcapng.run(*prepare(scenario, None), seed, folder, "hosts")
    return {"sender": folder / "left0.pcapng", "receiver": folder / "right0.pcapng"}


def tried(name: str, right: tuple[tuple[str, str], ...], path: Path, **keys: Any) -> Trial:
    """Return what a trace is taken for."""
    start_s = time.monotonic()
    found = tp.identify(path, **keys)
    return Trial(name, right, found, time.monotonic() - start_s)


def fresh(folder: Path, count: int = 40) -> Iterator[Trial]:
    """Try every candidate over links drawn anew, captured at either side."""
    draw = random.Random("fresh")
    turns = [one for _ in range(math.ceil(count / len(CANDIDATES))) for one in draw.sample(CANDIDATES, len(CANDIDATES))]
    for number, cc in enumerate(turns[:count]):
        link, side = drawn_link(draw), ("sender", "receiver")[number % 2]
        label = candidates_of([cc])[0]
        made = capture(link, linux(cc), number + 1, folder)
        yield tried(f"{label.label} {label.profile} over {link}, {side}", alike(cc, kin=True), made[side])


def sides(folder: Path) -> Iterator[Trial]:
    """Try the 16 algorithms of Linux over 10 Mb/s, 40 ms, 34 packets, 60 s, from both sides."""
    for cc in LINUX:
        made = capture(Link(10, 40, 34, 60), linux(cc), 1, folder)
        same = agreement(made)
        for side, path in made.items():
            yield tried(f"{cc} at the {side}, curves alike at {same:.2%}", alike(cc), path)


def agreement(made: Mapping[str, Path]) -> float:
    """Return the share of times at which both sides show the same outstanding, but for the segments of an ACK."""
    one, other = (read(made[side], 0, LONGEST_S).sending for side in ("sender", "receiver"))
    times = np.arange(0.0, min(one.seconds, other.seconds), 0.001)
    every = one.acking.every if one.acking else 2
    return float((np.abs(one.at(times) - other.at(times)) <= every * one.mss_bytes).mean())


def captures(folder: Path) -> Iterator[Trial]:
    """Try the captures of the tests, with the link estimated and given."""
    for name, known in json.loads((TESTS / "answers.json").read_text(encoding="utf-8")).items():
        path, cc = TESTS / f"{name}.pcapng.xz", {"name": known["algorithm"], "profile": known["profile"]}
        right = () if known["algorithm"] == NONE else alike(cc)
        link = Link(known["rate_mbps"], known["rtt_ms"], known["queue_packets"], 0)
        yield tried(f"{name}, link estimated", right, path)
        yield tried(f"{name}, link given", right, path, **link.given)


def beside(folder: Path) -> Iterator[Trial]:
    """Try recordings of Linux beside CUBIC, rate and queue given."""
    for case in shipped().cases:
        if case.kind == "shared" and "cubic" in case.cc:
            for flow in range(case.flows):
                cc, start_s = case.cc[flow % len(case.cc)], time.monotonic()
                keys = curves(case, flow=flow) | {"rate": f"{case.mbps}Mbps", "queue": case.queue, "beside": "cubic"}
                found = identify_sending(**keys)
                yield Trial(f"flow {flow} of {case.id}", alike(cc), found, time.monotonic() - start_s)


def parameters(folder: Path) -> Iterator[Trial]:
    """Estimate beta and C of the CUBIC of both kernels, and of two that are simulated."""
    for case in recordings():
        if case.name == "cubic-10mbit-40ms-1bdp":
            start_s = time.monotonic()
            yield estimated(case.id, identify_sending(**curves(case), parameters=True), 0.7, 0.4, start_s)
    for beta, c in ((0.5, 0.4), (0.85, 0.2)):
        cc, start_s = {"name": "cubic", "profile": "linux", "beta": beta, "c": c}, time.monotonic()
        made = capture(Link(10, 40, 33, 60), cc, 1, folder)
        yield estimated("simulated", tp.identify(made["sender"], parameters=True), beta, c, start_s)


def estimated(name: str, found: Identification, beta: float, c: float, start_s: float) -> Trial:
    """Return an estimate of parameters: right within a step of beta and of C."""
    one = found.parameters
    good = one is not None and abs(one.beta - beta) <= 0.1 + 1e-9 and 0.5 <= one.c / c <= 2
    text = f"{name}, beta {beta}, C {c}: {one.text if one else 'no parameters'}"
    return Trial(text, alike("cubic", kin=True), found, time.monotonic() - start_s, good)


def cubics(folder: Path) -> Iterator[Trial]:
    """Try the forms of CUBIC, told apart: three links, three seeds each."""
    for link in (Link(10, 40, 33, 60), Link(20, 60, 50, 40), Link(5, 100, 60, 60)):
        for cc in CUBICS:
            for seed in (1, 2, 3):
                label = candidates_of([cc])[0]
                made = capture(link, linux(cc), seed, folder, vary={"delays": 0.01, "buffers": 1})
                yield tried(f"{label.label} {label.profile} over {link}, seed {seed}", alike(cc), made["sender"])


def fast(folder: Path) -> Iterator[Trial]:
    """Try ten seconds at 1 Gb/s: it is cut."""
    for cc in ("cubic", "bbr", "reno"):
        made = capture(Link(1000, 20, 1667, 10), linux(cc), 1, folder)
        yield tried(f"{cc} at 1 Gb/s", alike(cc), made["sender"])


def short(folder: Path, count: int = 16) -> Iterator[Trial]:
    """Try the algorithms of Linux beside short flows that ask for 1 % of the rate, over links drawn anew."""
    draw = random.Random("short")
    for number, cc in enumerate(draw.sample(LINUX, count)):
        link, side = drawn_link(draw), ("sender", "receiver")[number % 2]
        flows = {
            "name": "short", "from": ["left1"], "to": ["right1"], "size": {"kind": "constant", "bytes": SHORT_BYTES},
            "arrivals": {"kind": "poisson", "load": SHORT_LOAD, "link": ["r0", "r1"]},
        }  # fmt: skip
        made = capture(link, linux(cc), number + 1, folder, pairs=2, workload=[flows])
        yield tried(f"{cc} beside short flows over {link}, {side}", alike(cc), made[side])


def strangers(folder: Path, count: int = 15) -> Iterator[Trial]:
    """Try senders that are none of the candidates, over links drawn anew."""
    draw = random.Random("strangers")
    for number in range(count):
        name, link, side = STRANGERS[number % len(STRANGERS)], drawn_link(draw), ("sender", "receiver")[number // 5 % 2]
        cc = {"python": f"{TESTS / 'strangers.py'}:{name}"}
        made = capture(link, cc, number + 1, folder)
        yield tried(f"{name} over {link}, {side}", (), made[side])


SURE, WITHIN, SLOWEST_S = 0.98, 0.08, 60.0
PARTS: dict[str, tuple[Callable[[Path], Iterator[Trial]], float]] = {
    "captures": (captures, 13 / 14), "sides": (sides, 15 / 16), "fresh": (fresh, 0.0), "beside": (beside, 0.0),
    "parameters": (parameters, 1.0), "cubics": (cubics, 24 / 27), "fast": (fast, 0.0), "short": (short, 0.8),
    "strangers": (strangers, 0.8),
}  # fmt: skip
"""Parts, and the share that must be right."""


def missed(part: str, found: Sequence[Trial]) -> Iterator[str]:
    """Yield what must hold of a part and does not."""
    right = np.array([one.is_right for one in found], float)
    if right.mean() < PARTS[part][1]:
        yield f"fewer than {PARTS[part][1]:.0%} are right"
    if part == "captures" and not all(one.is_right for one in found if not one.found.link["estimated"]):
        yield "not all are right with the link given"
    if part == "fresh":
        named = [(one.found.confidence, one.is_right) for one in found if one.found.answer not in (NONE, LITTLE)]
        mean, share = np.array(named, float).mean(axis=0)
        if abs(mean - share) > WITHIN:
            yield f"the mean confidence is {mean:.3f}, and {share:.3f} of the named are right"
        if any(sure is not None and sure >= SURE and not true for sure, true in named):
            yield f"an answer with confidence {SURE} is wrong"
        if np.mean([one.in_set for one in found]) < 0.97:
            yield "fewer than 97 % have the right name in the set"
    if part == "beside" and np.mean([one.place < 3 for one in found]) < 0.8:
        yield "fewer than 80 % have the right one in the first three"
    if max(one.took_s for one in found) > SLOWEST_S:
        yield f"one took more than {SLOWEST_S:.0f} s"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    command.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")


def act(arguments: argparse.Namespace) -> int:
    """Try the parts, and print every trial and what does not hold."""
    failed = False
    for part in arguments.parts or PARTS:
        if part not in PARTS:
            raise InputError("PART", f"{part!r} is unknown", f"known: {', '.join(PARTS)}")
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for one in PARTS[part][0](Path(folder)):
                found.append(one)
                print(f"{part}: {one}", file=sys.stderr, flush=True)
        wrong = list(missed(part, found))
        failed |= bool(wrong)
        took = sorted(one.took_s for one in found)
        names = np.mean([1 + len(one.found.also) for one in found])
        print(
            f"{part}: {sum(one.is_right for one in found)} of {len(found)} right, {sum(one.place < 3 for one in found)} in the "
            f"first three, {names:.2f} names, {took[len(took) // 2]:.0f} s in the median, {took[-1]:.0f} s at most",
            *(f"it does not hold: {text}" for text in wrong), sep="\n", flush=True,
        )  # fmt: skip
    return int(failed)


if __name__ == "__main__":
    sys.exit(run_command("identify", str(__doc__), add_arguments, act, "python -m tonopah_dev.identify sides cubics"))
