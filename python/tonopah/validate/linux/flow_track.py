"""What one flow did over time, ours and the kernel's on the same grid, and what can be read off it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tonopah.validate.linux.recordings import UNSET
from tonopah.validate.linux.worlds import MSS_BYTES

if TYPE_CHECKING:
    import pandas as pd

GRID_S = 0.01
"""Distance of the grid on which windows are compared: the sampling of the recordings in virtual time."""
REDUCED, LOSS = 2, 4
"""ca_state: from CWR on the window is reduced; Loss begins with a timeout."""


@dataclass(frozen=True)
class FlowTrack:
    """Parallel columns of one flow; a value holds until the next time."""

    t_s: NDArray[np.float64]
    window: NDArray[np.float64]
    """What the sender may have outstanding, in segments: Linux's snd_cwnd, our send_window."""
    ssthresh: NDArray[np.float64]
    """Segments; not a number while not set."""
    state: NDArray[np.float64]
    retransmits: NDArray[np.float64]
    """Segments retransmitted so far."""
    acked: NDArray[np.float64]
    """Payload bytes acknowledged so far."""

    def at(self, times: NDArray[np.float64]) -> "FlowTrack":
        """Return the values in force at these times, which must not be before the first."""
        index = np.maximum(np.searchsorted(self.t_s, times, side="right") - 1, 0)
        columns = (self.window, self.ssthresh, self.state, self.retransmits, self.acked)
        return FlowTrack(times, *(column[index] for column in columns))

    @property
    def goodput_bps(self) -> float:
        """Payload acknowledged between first and last time, per second."""
        length = self.t_s[-1] - self.t_s[0]
        return float(8 * (self.acked[-1] - self.acked[0]) / length) if length > 0 else float("nan")


@dataclass(frozen=True)
class Episode:
    """A time of reduced window: from the entry into CWR, Recovery or Loss until Open or Disorder, or into Loss."""

    start_s: float
    end_s: float | None
    """None if it lasts to the end."""
    state: int
    """State entered."""
    window: float
    """Window after it, in segments."""
    ssthresh: float
    """ssthresh after it, in segments."""


def kernel_track(samples: "pd.DataFrame", flow: int) -> FlowTrack:
    """Return the recorded track of one flow."""
    mine = samples[samples["flow"] == flow]
    ssthresh = mine["ssthresh_pkts"].to_numpy(float)
    return FlowTrack(
        mine["t_us"].to_numpy(float) / 1e6,
        mine["cwnd_pkts"].to_numpy(float),
        np.where(ssthresh >= UNSET, np.nan, ssthresh),
        mine["ca_state"].to_numpy(float),
        mine["total_retrans"].to_numpy(float),
        # Linux counts the SYN.
        mine["bytes_acked"].to_numpy(float) - 1,
    )


def our_track(series: Mapping[str, Mapping[str, Any]], flow: int) -> FlowTrack:
    """Return the track of one flow from the engine's series, which hold a row at each change."""
    columns = {name: of_flow(series[name], flow) for name in ("send_window", "ssthresh", "state", "retransmits", "acked")}
    times = np.unique(np.concatenate([t for t, _ in columns.values()]))
    values = {name: value[np.maximum(np.searchsorted(t, times, side="right") - 1, 0)] for name, (t, value) in columns.items()}
    return FlowTrack(
        times, values["send_window"] / MSS_BYTES, values["ssthresh"] / MSS_BYTES,
        values["state"], values["retransmits"], values["acked"],
    )  # fmt: skip


def of_flow(columns: Mapping[str, Any], flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values of one flow; of several values at one instant the last holds."""
    mine = columns["id"] == flow
    times, values = columns["t_s"][mine], columns["value"][mine]
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.zeros(0, bool)
    return times[last], values[last]


def moved(tracks: Sequence[FlowTrack]) -> tuple[list[float], float]:
    """Return the payload bytes of each flow acknowledged while all of them were there, and how many seconds that was."""
    start, end = max(t.t_s[0] for t in tracks), min(t.t_s[-1] for t in tracks)
    return [float(np.diff(t.at(np.array([start, end])).acked)[0]) for t in tracks], float(end - start)


def grid(kernel: FlowTrack) -> NDArray[np.float64]:
    """Return the times at which the windows are compared: from the kernel's first sample to its last."""
    return np.arange(kernel.t_s[0], kernel.t_s[-1] + GRID_S / 2, GRID_S).clip(max=kernel.t_s[-1])


def episodes(track: FlowTrack) -> list[Episode]:
    """Return the episodes of reduced window. A timeout within a recovery begins another one."""
    found, state = [], track.state
    before = np.concatenate([[0.0], state[:-1]])
    begins = np.flatnonzero((state >= REDUCED) & ((before < REDUCED) | ((state == LOSS) & (before != LOSS))))
    for number, start in enumerate(begins):
        later = np.flatnonzero(state[start:] < REDUCED)
        limit = begins[number + 1] if number + 1 < len(begins) else len(state)
        end = start + int(later[0]) if len(later) else len(state)
        end = min(end, limit)
        over = end < len(state)
        at = end if over else len(state) - 1
        ends = float(track.t_s[end]) if over else None
        window, ssthresh = float(track.window[at]), float(track.ssthresh[at])
        found.append(Episode(float(track.t_s[start]), ends, int(state[start]), window, ssthresh))
    return found
