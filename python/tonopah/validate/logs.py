"""One case in detail: windows and packets of both sides in two columns, and the first difference."""

import math
from collections.abc import Iterator
from pathlib import Path

from tonopah._core import run
from tonopah.errors import InputError
from tonopah.scenario.document import to_json
from tonopah.validate import linux, packets, worlds
from tonopah.validate.recordings import Case, Library
from tonopah.validate.tracks import Track, our_track

STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
SEGMENTS = 1.0
"""A window that differs by more is a divergence."""


def write(library: Library, case: Case, folder: Path) -> list[str]:
    """Write the logs of a case into a folder; return what was written and the first differences, as lines."""
    if lacking := worlds.missing(case):
        raise InputError("--case", f"{case.id}: {lacking}")
    folder.mkdir(parents=True, exist_ok=True)
    report = [case.id]
    _, series = run(to_json(worlds.scenario(worlds.as_recorded(case))), 1)
    for index, kernel in enumerate(linux.kernel_tracks(library, case)):
        ours = our_track(series, index).at(kernel.t_s)
        found = [f"flow {index}: {first_difference(kernel, ours)}"]
        report += save(folder / f"{case.kernel}-{case.name}.flow{index}.txt", found, windows(kernel, ours))
    if case.packets:
        theirs, mine = packets.kernel_packets(library.packets(case)), linux.our_log(case)
        found = packets.divergences(theirs, mine) or ["packets: no difference"]
        marks = ["mark #: another number; ~: another time"]
        report += save(folder / f"{case.kernel}-{case.name}.packets.txt", found, packets.side_by_side(theirs, mine), marks)
    return report


def save(path: Path, found: list[str], lines: Iterator[str], notes: list[str] | None = None) -> list[str]:
    """Write one log with what differs first at its head; return that and the path."""
    head = [f"# {text}" for text in (*found, *(notes or []))]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return [*found, str(path)]


def windows(kernel: Track, ours: Track) -> Iterator[str]:
    """Yield window, ssthresh, state and retransmissions of both sides at the samples where one of them changes."""
    yield f"  {'s':>10}  {'kernel: cwnd, ssthresh, state, retransmits':<44} ours"
    last = ("", "")
    for i, t in enumerate(kernel.t_s):
        now = (values(kernel, i), values(ours, i))
        if now != last:
            yield f"{'#' if differs(kernel, ours, i) else ' '} {t:10.6f}  {now[0]:<44} {now[1]}".rstrip()
            last = now


def values(track: Track, i: int) -> str:
    """Return what a track says at one sample."""
    ssthresh = "–" if math.isnan(track.ssthresh[i]) else f"{track.ssthresh[i]:.1f}"
    return f"{track.window[i]:8.1f} {ssthresh:>8}  {STATES[int(track.state[i])]:<9} {int(track.retransmits[i]):>5}"


def differs(kernel: Track, ours: Track, i: int) -> bool:
    """Tell whether the two sides disagree at a sample."""
    apart = abs(kernel.window[i] - ours.window[i]) > SEGMENTS
    return bool(apart or kernel.state[i] != ours.state[i] or kernel.retransmits[i] != ours.retransmits[i])


def first_difference(kernel: Track, ours: Track) -> str:
    """Return the first sample at which the sides disagree and still do at the next: sampling may be late by one."""
    for i in range(len(kernel.t_s) - 1):
        if differs(kernel, ours, i) and differs(kernel, ours, i + 1):
            what = f"kernel {values(kernel, i)} | ours {values(ours, i)}"
            return f"first difference of windows at {kernel.t_s[i]:.6f} s: {' '.join(what.split())}"
    return "no difference of windows"
