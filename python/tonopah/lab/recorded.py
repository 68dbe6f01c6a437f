"""Recordings of Linux behind the plots of the bench: their worlds, and the windows that the kernel had."""

from functools import cache
from typing import Any

import numpy as np

from tonopah.lab.tracks import ShownTrack, reduce
from tonopah.report.embed import changes
from tonopah.validate.linux import table, worlds
from tonopah.validate.linux.recordings import LinuxCase, shipped

INTERVALS = 200
"""Of each the smallest and the largest window is shown: as many as a plot has room for."""


@cache
def cases() -> list[LinuxCase]:
    """Return the recordings whose algorithms the engine has; of an experiment recorded several times no run is the one."""
    return [case for case in shipped().cases if not case.starts_ms and not worlds.missing(case)]


@cache
def listed() -> list[dict[str, Any]]:
    """Return name, title and scenario of each recording; losses that were drawn are those of the recording."""
    return [{"name": case.id, "title": title(case), "document": document(case)} for case in cases()]


def title(case: LinuxCase) -> str:
    """Return what a recording is of."""
    return f"{' beside '.join(case.cc)}, Linux {case.kernel}: {table.about(case)}"


def document(case: LinuxCase) -> dict[str, Any]:
    """Return the world of a recording without what is recorded of it: the bench shows more."""
    made = worlds.scenario(worlds.as_recorded(case))
    return {key: value for key, value in made.items() if key != "record"}


@cache
def windows() -> dict[str, list[dict[str, Any]]]:
    """Return the windows of all flows of all recordings, by name: times in seconds, `snd_cwnd` in bytes."""
    return {case.id: [window(flow, frame) for flow, frame in shipped().samples(case).groupby("flow")] for case in cases()}


def window(flow: Any, frame: Any) -> dict[str, Any]:
    """Return the window of a flow, where it changes and in no more detail than a plot can show."""
    time_s, packets = frame["t_us"].to_numpy() / 1e6, frame["cwnd_pkts"].to_numpy(np.float32)
    kept = changes(packets)
    time_s, packets = reduce(time_s[kept], packets[kept], ShownTrack(time_s[0], time_s[-1], INTERVALS))
    return {"flow": int(flow), "t_s": time_s.round(4).tolist(), "cwnd_bytes": (packets.astype(int) * worlds.MSS_BYTES).tolist()}
