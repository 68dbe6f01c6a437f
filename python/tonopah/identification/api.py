"""`tonopah.identify`: which congestion control made a trace, how sure that is, and what could not be told."""

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tonopah._core import engine_version
from tonopah.errors import InputError
from tonopah.identification.features import features
from tonopah.identification.judging import UNKNOWN, Judge, Judged
from tonopah.identification.link import BESIDE, PathOf, company_of, estimate, mark_threshold
from tonopah.identification.parameters import Parameters, cubic_parameters
from tonopah.identification.sending import Acking, Seen, Sending, curve, read
from tonopah.identification.simulations import (
    BESIDE_REPEATS,
    REPEATS,
    Candidate,
    candidates_of,
    longest_s,
    others_than,
    simulate,
)
from tonopah.validate.trace.comparison import MAX_SECONDS, quantity

NONE, LITTLE = "none of ours", "not enough data"
FEWEST_RTTS, FEWEST_SEGMENTS = 3, 10
NEAREST_SHOWN = 3
BUT = "; one with these parameters would be nearer ({:.2f})"
LIMITED = 0.5
"""Share of the time in which the application limits, beyond which nothing is said."""
CLOCKED = 0.5
"""A sender whose segments follow ACKs less often than this, and whose packets never wait, is limited by its application."""


@dataclass(frozen=True)
class Ranked:
    """A candidate and its distance from the trace; `own` is the median distance of its own simulations."""

    candidate: str
    profile: str
    distance: float
    own: float


@dataclass(frozen=True)
class Shown:
    """What the page draws."""

    sending: Sending
    path: PathOf
    judge: Judge
    judged: Judged
    nearest: list[Sending]
    """The nearest simulation of each of the first candidates."""


@dataclass(frozen=True)
class Identification:
    """What a trace is taken for."""

    file: str
    connection: str
    connections: int
    captured_at: str
    seconds: float
    link: dict[str, Any]
    beside: str
    answer: str
    also: tuple[str, ...]
    confidence: float | None
    unknown: float | None
    ranking: tuple[Ranked, ...]
    parameters: Parameters | None
    notes: tuple[str, ...]
    version: str
    shown: Shown | None = field(default=None, repr=False, compare=False)

    @property
    def json(self) -> dict[str, Any]:
        """The answer as JSON has it; numbers have 4 digits."""
        found = {key: value for key, value in vars(self).items() if key != "shown"}
        found["ranking"] = [vars(one) for one in self.ranking]
        found["also"], found["notes"] = list(self.also), list(self.notes)
        found["parameters"] = vars(self.parameters) if self.parameters else None
        return short(found)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(one.candidate)}</td><td>{one.distance:.2f}</td></tr>" for one in self.ranking[:5])
        return f"<p>{html.escape(sentence(self))}</p><table><tr><th>candidate</th><th>distance</th></tr>{rows}</table>"


def short(value: Any) -> Any:
    """Return a value with its numbers shortened to 4 digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: short(part) for key, part in value.items()}
    return [short(part) for part in value] if isinstance(value, list | tuple) else value


def identify(
    path: str | Path, *, connection: int = 0, rate: str | None = None, delay: str | None = None, queue: int | None = None,
    beside: str = "auto", candidates: Sequence[Any] = (), parameters: bool = False, seconds: float | None = None, seed: int = 1,
    progress: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
) -> Identification:  # fmt: skip
    """Say which congestion control sent the data of a connection in a capture or a qlog.

    Parameters
    ----------
    path : path
        pcap, pcapng (compressed or not), or a qlog as `tonopah run --qlog` writes it.
    connection : int
        0 has the most data.
    rate, delay, queue : str, str, int or None
        The link: rate, delay of one direction, packets that wait; estimated where None.
    beside : str
        "none", "cubic" (a CUBIC flow), "short" (short flows) or "auto": who shared the link.
    candidates : sequence
        What `cc` of a scenario takes; the usual 24 without one.
    parameters : bool
        Whether beta and C are estimated where the answer is a form of CUBIC.
    seconds : float or None
        Only the first so many seconds.
    seed : int
        Of the draws around the link; the same file and seed give the same answer.
    progress : callable
        Is told the number of simulations and returns what is called after each.

    Raises
    ------
    InputError
        The file or an argument is wrong.
    """
    if seconds is not None and not seconds > 0:
        raise InputError("--seconds", f"{seconds!r} is no time", "seconds above 0, like 30")
    seen = read(Path(path), connection, seconds or MAX_SECONDS)
    given = link_given(rate, delay, queue)
    found = candidates_of(candidates, seen.marked)
    return judged(seen, given, beside, found, parameters, seed, str(path), progress)


def identify_sending(
    t_s: ArrayLike, outstanding_bytes: ArrayLike, delivered_bytes: ArrayLike, rtt: ArrayLike, retransmissions_s: ArrayLike,
    mss_bytes: int, *, rate: str | None = None, delay: str | None = None, queue: int | None = None, beside: str = "auto",
    candidates: Sequence[Any] = (), parameters: bool = False, seed: int = 1, singly_bytes: float | None = None,
) -> Identification:  # fmt: skip
    """Say the same of curves from elsewhere (TCP_INFO, `ss`).

    Time 0 is the first data. `rtt` are pairs of time and seconds; one at 0 or before is of the handshake. Up to
    `singly_bytes` the receiver acknowledged each segment, then every second one; drawn where it is None.
    """
    times = np.asarray(t_s, float)
    if not len(times):
        raise InputError("t_s", "is empty", "times in seconds")
    again = np.asarray(retransmissions_s, float)
    samples = np.asarray(rtt, float).reshape(-1, 2)
    first = samples[samples[:, 0] <= 0]
    sent = Sending(
        curve(times, outstanding_bytes), curve(times, delivered_bytes), samples[samples[:, 0] > 0], again, mss_bytes,
        float(times[-1]), None if singly_bytes is None else Acking(singly_bytes),
    )  # fmt: skip
    given = link_given(rate, delay, queue)
    seen = Seen(sent, "curves", 1, "sender", (), float(first[-1, 1]) if len(first) else None, sampled=True)
    return judged(seen, given, beside, candidates_of(candidates), parameters, seed, "curves", lambda total: lambda: None)


def link_given(rate: str | None, delay: str | None, queue: int | None) -> dict[str, float | int | None]:
    """Return what is given of the link, in SI units. Raises InputError."""
    written = {"rate": rate, "delay": delay}
    return {"rate": quantity(written, "rate"), "delay": quantity(written, "delay"), "queue": queue}


def judged(
    seen: Seen, given: dict[str, Any], beside: str, candidates: list[Candidate], parameters: bool, seed: int, source: str,
    progress: Callable[[int], Callable[[], None]],
) -> Identification:  # fmt: skip
    """Return the answer for a connection. Raises InputError."""
    if beside not in BESIDE:
        raise InputError("--beside", f"{beside!r} is unknown", f"known: {', '.join(BESIDE)}")
    sending = seen.sending
    path = estimate(sending, given["rate"], given["delay"], given["queue"], seen.handshake_s, source)
    company, capacity = company_of(seen, path, beside)
    notes = list(seen.notes)
    if company.kind != "none":
        who = "one CUBIC flow" if company.kind == "cubic" else f"short flows of {company.load:.1%} of the rate"
        notes.append(f"assumes {who} beside it" + ("; --beside none judges it alone" if beside == "auto" else ""))
        path = replace(path, rate_bps=capacity if "rate" in path.estimated else path.rate_bps)
    others = others_than(candidates)
    repeats = REPEATS if company.kind == "none" else BESIDE_REPEATS
    runs = repeats * len(candidates + others)
    most_s = longest_s(path, runs)
    if sending.seconds > most_s:
        notes.append(f"of {sending.seconds:.4g} s the first {most_s:.3g} s were judged: more would take too long to simulate")
        sending = sending.until(most_s)
    about = {
        "file": Path(source).name, "connection": seen.name, "connections": seen.connections, "captured_at": seen.captured_at,
        "seconds": sending.seconds, "link": vars(path) | {"estimated": list(path.estimated)},
        "beside": company.kind, "version": engine_version(),
    }  # fmt: skip
    if why := too_little(sending, path):
        return Identification(
            **about, answer=LITTLE, also=(), confidence=None, unknown=None, ranking=(), parameters=None, notes=(*notes, why)
        )
    marks = mark_threshold(seen, path)
    done = progress(runs)
    strange = simulate(path, others, sending, seed, company, marks, done) if others else None
    judge = Judge(simulate(path, candidates, sending, seed, company, marks, done), strange)
    row = features(sending, path)
    result = judge.judge(row, judge.discriminant(row) if company.kind == "cubic" else None)
    answer, also, sure = decided(result, candidates)
    found = None
    if parameters:
        first = result.order[0]
        found, away = cubic_parameters(sending, path, seed)
        near = float(np.abs(away / judge.standard.scale).mean())
        if candidates[first].name != "cubic":
            nearer = near < result.distances[first]
            notes.append(
                f"--parameters: {candidates[first].label} is nearest, and no form of CUBIC{BUT.format(near) if nearer else ''}"
            )
            found = found if nearer else None
    nearest = [judge.nearest(row, one) for one in result.order[:NEAREST_SHOWN]]
    ranking = tuple(
        Ranked(candidates[one].label, candidates[one].profile, float(result.distances[one]), float(result.own[one]))
        for one in result.order
    )
    return Identification(
        **about, answer=answer, also=also, confidence=sure, unknown=result.unknown, ranking=ranking, parameters=found,
        notes=tuple(notes), shown=Shown(sending, path, judge, result, nearest),
    )  # fmt: skip


def decided(result: Judged, candidates: Sequence[Candidate]) -> tuple[str, tuple[str, ...], float]:
    """Return the answer, what else it could be, and how sure it is."""
    first = candidates[result.order[0]]
    if result.unknown > UNKNOWN:
        return NONE, (), result.unknown
    also = [candidates[one] for one in result.names if candidates[one] is not first]
    # Forms of one algorithm are told apart by their profile.
    labels = [one.label if one.label != first.label else f"{one.label} {one.profile}" for one in also]
    return first.label, tuple(dict.fromkeys(labels)), result.confidence


def too_little(sending: Sending, path: PathOf) -> str:
    """Return why a trace says nothing; empty if it does."""
    times, sizes = sending.outstanding[:, 0], sending.outstanding[:, 1]
    spans = np.diff(times, append=sending.seconds)
    busy = float(spans[sizes > FEWEST_SEGMENTS * sending.mss_bytes].sum())
    if busy < FEWEST_RTTS * path.rtt_s:
        return (
            f"only {busy / path.rtt_s:.2g} round trips have more than {FEWEST_SEGMENTS} segments outstanding: "
            f"{FEWEST_RTTS} at least are needed, some seconds of a bulk transfer are better"
        )
    idle = float(spans[sizes <= 0].sum()) / max(sending.seconds, 1e-9)
    if idle > LIMITED:
        return f"nothing is outstanding in {idle:.0%} of the time: the application limits, a bulk transfer is needed"
    waits = sending.rtt[:, 1] > 1.1 * path.rtt_s
    queued = float(waits.mean()) if len(waits) else 1.0
    if not len(sending.retransmissions_s) and queued < 0.1 and clocked(sending) < CLOCKED:
        return "segments do not follow ACKs, and none waits in a queue: the application limits, a bulk transfer is needed"
    return ""


def clocked(sending: Sending) -> float:
    """Return the share of sent data that follows an ACK at once; 1 where that cannot be seen."""
    sizes, times = sending.outstanding[:, 1], sending.outstanding[:, 0]
    sent = np.flatnonzero(np.diff(sizes) > 0) + 1
    acked = sending.delivered[np.diff(sending.delivered[:, 1], prepend=0.0) > 0, 0]
    if len(sent) < 100 or len(acked) < 10:
        return 1.0
    place = np.searchsorted(acked, times[sent], side="right") - 1
    gap = float(np.median(np.diff(acked)))
    after = np.where(place >= 0, times[sent] - acked[np.maximum(place, 0)], np.inf)
    return float((after < 0.1 * gap).mean())


def sentence(one: Identification) -> str:
    """Return the answer in a sentence."""
    if one.answer == LITTLE:
        return f"answer: {LITTLE} ({one.notes[-1]})"
    if one.answer == NONE:
        near = ", then ".join(f"{ranked.candidate} {ranked.distance:.2f}" for ranked in one.ranking[:2])
        bound = one.shown.judged.bound if one.shown else 0.0
        return (
            f"answer: {NONE} (nearest: {near}; a recording of {one.ranking[0].candidate} would lie below {bound:.2f}); "
            f"confidence {one.confidence:.2f}"
        )
    alike = f", or {' or '.join(one.also)} (near it on this link)" if one.also else ""
    return f"answer: {one.answer}{alike}; confidence {one.confidence:.2f}"


def text(one: Identification) -> list[str]:
    """Return what the command prints."""
    link = one.link
    guessed = f"estimated: {', '.join(link['estimated'])}" if link["estimated"] else "all of it given"
    head = f"{one.file}, connection {one.connection}, {one.seconds:.1f} s, captured at the {one.captured_at}"
    lines = [
        head if one.captured_at != "between" else head.replace("at the between", "between sender and receiver"),
        f"link: {link['rate_bps'] / 1e6:.4g} Mb/s, {1e3 * link['delay_s']:.4g} ms each way, a queue of "
        f"{link['queue_packets']:,} packets ({guessed})",
        sentence(one),
    ]
    if one.ranking:
        lines.append("     distance  candidate")
        lines += [f"         {row.distance:4.2f}  {row.candidate:<22} {row.profile}" for row in one.ranking[:3]]
    if one.parameters:
        lines.append(f"parameters: {one.parameters.text}")
    return lines + [f"note: {note}" for note in one.notes if one.answer != LITTLE or note != one.notes[-1]]


def as_text(one: Identification) -> str:
    """Return the JSON as the command prints it."""
    return json.dumps(one.json, ensure_ascii=False)
