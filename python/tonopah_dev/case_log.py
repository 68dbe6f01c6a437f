"""One recorded case in detail: windows and packets of both sides in two columns, and the first difference.

`python -m tonopah_dev.case_log CASE DIR`.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tonopah._core import run
from tonopah.errors import InputError
from tonopah.scenario.document import to_json
from tonopah.validate.frame import select
from tonopah.validate.linux import comparison as linux
from tonopah.validate.linux import packets, worlds
from tonopah.validate.linux.flow_track import FlowTrack, our_track
from tonopah.validate.linux.recordings import LinuxCase, LinuxLibrary, shipped
from tonopah_dev.command import run_command

STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
SEGMENTS = 1.0
"""A window that differs by more is a divergence."""


def write(library: LinuxLibrary, case: LinuxCase, folder: Path) -> list[str]:
    """Write the logs of a case into a folder; return what was written and the first differences, as lines."""
    if lacking := worlds.missing(case):
        raise InputError("--case", f"{case.id}: {lacking}")
    folder.mkdir(parents=True, exist_ok=True)
    report = [case.id]
    for recorded, tracks in zip(case.recorded, linux.recorded_tracks(library, case), strict=True):
        _, series = run(to_json(worlds.scenario(worlds.as_recorded(recorded))), 1)
        for index, kernel in enumerate(tracks):
            ours = our_track(series, index).at(kernel.t_s)
            found = [f"flow {index}: {first_difference(kernel, ours)}"]
            report += save(folder / f"{case.kernel}-{recorded.name}.flow{index}.txt", found, windows(kernel, ours))
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


def windows(kernel: FlowTrack, ours: FlowTrack) -> Iterator[str]:
    """Yield window, ssthresh, state and retransmissions of both sides at the samples where one of them changes."""
    yield f"  {'s':>10}  {'kernel: cwnd, ssthresh, state, retransmits':<44} ours"
    last = ("", "")
    for i, t in enumerate(kernel.t_s):
        now = (values(kernel, i), values(ours, i))
        if now != last:
            yield f"{'#' if differs(kernel, ours, i) else ' '} {t:10.6f}  {now[0]:<44} {now[1]}".rstrip()
            last = now


def values(track: FlowTrack, i: int) -> str:
    """Return what a track says at one sample."""
    ssthresh = "–" if math.isnan(track.ssthresh[i]) else f"{track.ssthresh[i]:.1f}"
    return f"{track.window[i]:8.1f} {ssthresh:>8}  {STATES[int(track.state[i])]:<9} {int(track.retransmits[i]):>5}"


def differs(kernel: FlowTrack, ours: FlowTrack, i: int) -> bool:
    """Tell whether the two sides disagree at a sample."""
    apart = abs(kernel.window[i] - ours.window[i]) > SEGMENTS
    return bool(apart or kernel.state[i] != ours.state[i] or kernel.retransmits[i] != ours.retransmits[i])


def first_difference(kernel: FlowTrack, ours: FlowTrack) -> str:
    """Return the first sample at which the sides disagree and still do at the next: sampling may be late by one."""
    for i in range(len(kernel.t_s) - 1):
        if differs(kernel, ours, i) and differs(kernel, ours, i + 1):
            what = f"kernel {values(kernel, i)} | ours {values(ours, i)}"
            return f"first difference of windows at {kernel.t_s[i]:.6f} s: {' '.join(what.split())}"
    return "no difference of windows"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("case", metavar="CASE", help="recordings of Linux whose name, or kernel/name, matches this glob pattern")
    command.add_argument("folder", metavar="DIR", help="where windows and packets of both sides are written")


def write_logs(arguments: argparse.Namespace) -> int:
    """Write the logs of the cases that match."""
    library = shipped()
    for case in select(linux.AgainstLinux(library), arguments.case):
        print("\n  ".join(write(library, case, Path(arguments.folder))))
    return 0


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""
    about = "Write windows and packets of recorded cases and of our runs side by side, and the first difference."
    return run_command(
        "case_log", about, add_arguments, write_logs, "python -m tonopah_dev.case_log 6.1/reno-drop-one logs", given=given
    )


if __name__ == "__main__":
    sys.exit(main())
