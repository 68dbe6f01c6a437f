"""The candidates, each simulated several times over links like that of the trace."""

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tonopah._core import run_many
from tonopah.execution.options import Limits, cores
from tonopah.execution.processes import Job
from tonopah.execution.processes import run_many as run_apart
from tonopah.identification.features import features
from tonopah.identification.link import Company, PathOf
from tonopah.identification.sending import HEADERS, Acking, Sending, curve
from tonopah.judge.subjects import Algorithm, read_algorithm
from tonopah.scenario.worlds import dumbbell

LINUX = (
    "reno", "cubic", "bic", "bbr", "cdg", "westwood", "highspeed", "hybla", "htcp", "vegas", "nv", "veno", "scalable", "lp",
    "yeah", "illinois",
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    {"name": "cubic", "profile": "linux", "hystart": False}, {"name": "cubic", "profile": "rfc"}, "bbr3", "copa", "vivace",
    "ledbat", "compound", {"name": "lp", "profile": "paper"},
)  # fmt: skip
CANDIDATES: tuple[Any, ...] = (*LINUX, *OTHERS)
MARKED = ("dctcp", "prague")
KIN = (("reno", "lp"), ("cubic",))
"""Names that are one family: Reno and LP of Linux send alike where no delay is in the way, and CUBIC has several forms."""
REPEATS, BESIDE_REPEATS = 6, 10
MOST_PACKETS = 30_000_000
"""Of all simulations together."""
RATE, RTT, QUEUE = 0.01, 0.02, 0.05
"""Shares by which the link is drawn around its estimate; the queue by a packet at least."""
LOAD, SIZE_BYTES = (0.7, 1.4), (5e3, 1e5)
"""Of short flows: factor around the load that was seen, and their mean size."""
SAMPLES, LEAST_STEP_S = 12_000, 0.005
"""Series are so fine that an RTT has several samples, as in a trace: the start and losses are read by the RTT."""
ENOUGH, OPENED = 4, 65_535
"""The receiver's buffer has room for so many times what fills the path; its window opens by two bytes for each that arrives,
from so many on (`tcp_grow_window` of Linux), which holds back who more than doubles its window in a round trip (Hybla)."""
BUFFER = 1 << 30
"""Of a receiver that acknowledges each segment to the end."""
SINGLY = (2e6, 32e6)
"""Of receivers that are not seen: half of the usual largest windows of Linux (`tcp_rmem`, 4 to 64 MB)."""
ACCESS = 100
ALONE = Company()
FEW, OTHER = 8, ("reno", "cubic", "bbr", "vegas", "htcp", "westwood")
BEYOND = 2
"""A simulation counts as if it never had more outstanding than so many times the most of the trace: where no loss tells of the
queue, some fill ten thousand packets, and beside these all others would look the same."""
NAMING = ("name", "profile", "python", "native")
SERIES = ["outstanding", "acked", "retransmits", "srtt"]


@dataclass(frozen=True)
class Candidate:
    """An algorithm that could have made the trace."""

    algorithm: Algorithm
    label: str
    """Name with parameters, as reports show it."""
    profile: str

    @property
    def name(self) -> str:
        """Name of the algorithm alone."""
        cc = self.algorithm.subject.cc
        return str(cc.get("name", self.label)) if isinstance(cc, dict) else str(cc)

    @property
    def family(self) -> str:
        """What it is kin of."""
        linux = self.profile == "linux"
        if self.name in KIN[0] and linux:
            return "reno"
        return "cubic" if self.name == "cubic" else self.label

    def is_kin(self, other: "Candidate") -> bool:
        """Tell whether the two are forms of one algorithm."""
        return self.family == other.family


@dataclass
class Simulated:
    """All simulations: a row of features for each, whose it is, over which drawn link, and what it sent."""

    candidates: list[Candidate]
    rows: np.ndarray
    owner: np.ndarray
    draw: np.ndarray
    sent: list[Sending] = field(default_factory=list)


def candidates_of(given: Sequence[Any], marks: bool = False) -> list[Candidate]:
    """Return candidates by what names them; the usual ones without names. Raises InputError."""
    wanted = list(given) or [*CANDIDATES, *(MARKED if marks else ())]
    found = []
    for one in wanted:
        algorithm = read_algorithm(one, "--candidates")
        subject = algorithm.subject
        own = subject.label.removesuffix(")").partition(" (")[2]
        table = subject.cc if isinstance(subject.cc, dict) else {}
        extra = "".join(f" {key}={json.dumps(value)}" for key, value in table.items() if key not in NAMING)
        label = str(table.get("name", "")) or subject.name
        found.append(Candidate(algorithm, label + extra, str(table.get("profile", own or "own"))))
    return found


def others_than(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return some who are no candidates: where these are few, they show what a sender that is none of them looks like."""
    if len(candidates) >= FEW:
        return []
    return [one for one in candidates_of(OTHER) if not any(one.is_kin(other) for other in candidates)]


def longest_s(path: PathOf, runs: int) -> float:
    """Return how long simulations may be."""
    return MOST_PACKETS / runs * 8 * (path.mss_bytes + HEADERS) / path.rate_bps


@dataclass(frozen=True)
class Drawn:
    """What of a simulation is drawn around the estimate."""

    rate: float
    rtt: float
    queue: float
    """From -1 to 1: where in the range of the queue."""
    singly_bytes: float
    late: float
    """Share of the latest start by which one flow begins later than the other."""
    is_first: bool
    load: float
    size_bytes: float
    """Mean size of short flows."""


def drawn(count: int, seed: int) -> list[Drawn]:
    """Return draws that fill their ranges evenly: of each range every `count`-th part is met once (McKay et al. 1979)."""
    draw = random.Random(f"identify/{seed}")

    def spread() -> list[float]:
        return [(place + draw.random()) / count for place in draw.sample(range(count), count)]

    def between(ends: tuple[float, float], place: float) -> float:
        low, high = map(math.log, ends)
        return math.exp(low + (high - low) * place)

    return [
        Drawn(
            1 + RATE * (2 * rate - 1), 1 + RTT * (2 * rtt - 1), 2 * queue - 1,
            between(SINGLY, singly), late, first < 0.5, between(LOAD, load), between(SIZE_BYTES, size),
        )
        for rate, rtt, queue, singly, late, first, load, size in zip(*(spread() for _ in range(8)), strict=True)
    ]  # fmt: skip


def receiver(path: PathOf, acking: Acking | None, singly_bytes: float) -> dict[str, Any]:
    """Return what makes a simulated receiver delay its ACKs from where on that of the trace does; drawn where that is unknown.

    It does so from where its window is open. One that delays before a window is open that never limits begins with more.
    """
    if acking and acking.is_stock:
        return {"buffers": "stock", "ack_every": acking.every}
    singly, every = (acking.singly_bytes, acking.every) if acking else (singly_bytes, 2)
    if not math.isfinite(singly):
        return {"recv_buffer": f"{BUFFER}B", "initial_recv_window": f"{OPENED}B", "ack_every": every}
    full = path.bdp_bytes + path.queue_packets * path.mss_bytes
    buffer = int(max(OPENED + 2 * singly, ENOUGH * full))
    return {"recv_buffer": f"{buffer}B", "initial_recv_window": f"{buffer - int(2 * singly)}B", "ack_every": every}


def world(
    path: PathOf, cc: Any, seconds: float, one: Drawn, company: Company, marks: int, acking: Acking | None
) -> dict[str, Any]:  # fmt: skip
    """Return the scenario of a candidate over a link drawn around the estimate."""
    rate, rtt = path.rate_bps * one.rate, 2 * path.delay_s * one.rtt
    limit = max(2, round(path.queue_packets + one.queue * max(1.0, QUEUE * path.queue_packets)))
    beside = company.kind == "cubic"
    late_s = one.late * min(1.0, seconds / 3)
    starts = (0.0, late_s) if one.is_first else (late_s, 0.0)
    queue: dict[str, Any] = {"kind": "drop_tail", "limit": f"{limit}p"} | ({"mark_threshold": marks} if marks else {})
    bottleneck = {"rate": f"{rate:.9g}bps", "delay": f"{rtt / 2:.9f}s", "queue": queue}
    flows = [{"from": "left0", "to": "right0", "cc": cc, "start": f"{starts[0] if beside else 0.0:.6f}s", "start_jitter": "0s"}]
    cubic, more = {"name": "cubic", "profile": "linux"}, {}
    if beside:
        flows.append({"from": "left1", "to": "right1", "cc": cubic, "start": f"{starts[1]:.6f}s", "start_jitter": "0s"})
    longer = seconds + 2 * rtt + (starts[0] if beside else 0.0) + 0.1
    access = {"rate": f"{min(ACCESS * rate, 1e12):.9g}bps", "delay": "0s"}
    tcp = {"profile": "linux", "mss": f"{path.mss_bytes}B", **receiver(path, acking, one.singly_bytes)}
    record = {"series": SERIES, "every": f"{max(LEAST_STEP_S, seconds / SAMPLES):.6f}s"}
    if company.kind == "short":
        arrivals = {"kind": "poisson", "load": min(1.0, company.load * one.load), "link": ["r0", "r1"]}
        size = {"kind": "exponential", "mean": f"{one.size_bytes:.0f}B"}
        ways = {"name": "short", "from": ["left1"], "to": ["right1"], "cc": cubic}
        more["workload"] = [{**ways, "size": size, "arrivals": arrivals}]
    ends = {"pairs": 1 if company.kind == "none" else 2, "flows": 0, "access": access}
    return dumbbell(f"{longer:.6f}s", bottleneck, tcp, **ends, flow=flows, record=record, **more)


def simulate(
    path: PathOf, candidates: Sequence[Candidate], like: Sending, seed: int, company: Company = ALONE, marks: int = 0,
    progress: Callable[[], None] = lambda: None, repeats: int = 0,
) -> Simulated:  # fmt: skip
    """Return simulations of all candidates, as long as a trace; the draws are the same for each. Raises what ends a run."""
    seconds = like.seconds
    count = repeats or (REPEATS if company.kind == "none" else BESIDE_REPEATS)
    jobs: list[tuple[int, str, int]] = []
    for number, one in enumerate(candidates):
        for turn, link in enumerate(drawn(count, seed), 1):
            scenario = world(path, one.algorithm.cc, seconds, link, company, marks, like.acking)
            jobs.append((number, json.dumps(scenario), turn))
    sent: list[Sending | None] = [None] * len(jobs)
    failures: list[Exception] = []

    def done(places: Sequence[int]) -> Callable[[int, Any, Any], bool]:
        def take(index: int, outcome: Any, series: Any) -> bool:
            progress()
            if isinstance(outcome, Exception):
                failures.append(outcome)
                return False
            sent[places[index]] = of_series(series, path.mss_bytes, seconds)
            return True

        return take

    native = [place for place, (number, _, _) in enumerate(jobs) if not candidates[number].algorithm.is_code]
    apart = [place for place in range(len(jobs)) if place not in set(native)]
    run_many([(jobs[place][1], jobs[place][2]) for place in native], cores(), done(native), None, None)
    if apart and not failures:
        own = [(jobs[place], dict(candidates[jobs[place][0]].algorithm.origins)) for place in apart]
        run_apart([Job(text, turn, origins, Limits()) for (_, text, turn), origins in own], cores(), done(apart))
    if failures:
        raise failures[0]
    made = [one for one in sent if one is not None]
    most = BEYOND * float(like.outstanding[:, 1].max())
    rows = np.array([features(one.below(most), path) for one in made])
    owner, draw = np.array([(number, turn) for number, _, turn in jobs]).T
    return Simulated(list(candidates), rows, owner, draw, made)


def of_series(series: Any, mss_bytes: int, seconds: float) -> Sending:
    """Return the first flow of a simulation as it would be read of a trace."""

    def mine(name: str) -> np.ndarray:
        columns = series[name]
        keep = columns["id"] == 0
        return curve(columns["t_s"][keep], columns["value"][keep])

    outstanding = mine("outstanding")
    begun = np.flatnonzero(outstanding[:, 1] > 0)
    start_s = float(outstanding[begun[0], 0]) if len(begun) else 0.0
    shifted = []
    for name in SERIES:
        found = mine(name)
        found[:, 0] -= start_s
        shifted.append(found[(found[:, 0] >= 0) & ~np.isnan(found[:, 1])])
    sent, acked, again, srtt = shifted
    count = np.diff(again[:, 1], prepend=0.0) if len(again) else np.zeros(0)
    times = np.repeat(again[:, 0], np.maximum(count, 0).astype(int)) if len(again) else np.zeros(0)
    return Sending(sent, acked, srtt, times, mss_bytes, seconds).until(seconds)
