"""Two recordings of a sender against each other: `tonopah compare-trace A B`. qlogs, captures, or folders of our own series.

Both begin at their first packet with data, a log without packets where its metrics first have something in flight; a value holds
until the next; only the time that both have is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.errors import InputError
from tonopah.plot import style
from tonopah.qlog.trace import Trace as QlogTrace
from tonopah.qlog.trace import read
from tonopah.spec.validation import list_allowed
from tonopah.template import render
from tonopah.validate.trace.comparison import MAX_BYTES, MAX_SECONDS, read_connection
from tonopah.validate.trace.opening import parts
from tonopah.validate.trace.page import MOST_POINTS
from tonopah.validate.trace.qlog import is_qlog, observe_log
from tonopah.writing import replace_file

METRICS = {"cwnd": "Window (kB)", "in_flight": "In flight (kB)", "srtt": "Smoothed RTT (ms)", "delivered": "Delivered (kB)"}
SERIES = {"cwnd": "cwnd", "in_flight": "pipe", "srtt": "srtt", "delivered": "acked"}
"""Metrics, and the series of `tonopah run --series DIR` that have them."""
TEMPLATE = Path(__file__).with_name("against.html.j2")
MOST_EVENTS = 20
"""Losses and states that are told around a moment."""
DEFAULT_RTT_S = 0.1
RESOLUTION_S = 1e-6
"""Of the coarsest logs."""

Curve = np.ndarray


@dataclass
class Side:
    """A recording: its curves by metric, of time in seconds since the first data and value."""

    name: str
    curves: dict[str, Curve] = field(default_factory=dict)
    rtt_s: float = DEFAULT_RTT_S
    events: list[tuple[float, str]] = field(default_factory=list)
    """Losses and changes of state."""


def read_side(path: Path) -> Side:
    """Return a recording. Raises InputError."""
    if path.is_dir():
        return of_series(path)
    if is_qlog(next(parts(path, lambda _: None), b"")):
        return of_log(path, read(path, until_s=MAX_SECONDS))
    one = read_connection(path)
    if not one.seen.sender.segments:
        raise InputError("", "has no data", None, str(path))
    start = min((t_ns for t_ns, size in one.seen.sender.flight if size), default=0)
    shift = (start - one.seen.start_ns) / 1e9
    curves = {"in_flight": moved(one.seen.flight, shift), "delivered": moved(one.seen.delivered, shift)}
    rtts = one.seen.rtt[:, 1]
    again = [(float(at) - shift, "sent again") for at in one.seen.retransmissions_s]
    return Side(path.name, curves, float(np.median(rtts)) if len(rtts) else DEFAULT_RTT_S, again)


def of_log(path: Path, log: QlogTrace) -> Side:
    """Return what a qlog has, which may be metrics alone. Raises InputError."""
    in_flight = log.metrics.get("bytes_in_flight", [])
    begun = [t_s for t_s, value in in_flight if value > 0]
    if log.data or not begun:
        seen = observe_log(log, str(path), MAX_SECONDS, MAX_BYTES)
        start, flight, delivered = log.data[0].t_s, seen.flight, seen.delivered
    else:
        start, flight, delivered = begun[0], np.array(in_flight, float), np.empty((0, 2))
    curves = {"in_flight": moved(flight, start), "delivered": moved(delivered, start)}
    for metric, key in (("cwnd", "congestion_window"), ("srtt", "smoothed_rtt")):
        curves[metric] = moved(np.array(log.metrics.get(key, []), float).reshape(-1, 2), start)
    events = [(t_s - start, f"{count} lost") for t_s, _, count, _ in log.lost] + [(t_s - start, new) for t_s, new in log.states]
    rtt_s = float(np.median([rtt for _, rtt in log.rtt])) if log.rtt else DEFAULT_RTT_S
    return Side(path.name, curves, rtt_s, sorted(events))


def of_series(folder: Path) -> Side:
    """Return the first flow of recorded series. Raises InputError."""
    import pandas as pd

    curves = {}
    for metric, name in SERIES.items():
        file = folder / f"{name}.csv"
        if file.is_file():
            try:
                rows = pd.read_csv(file)
                curves[metric] = rows.loc[rows["flow"] == rows["flow"].min(), ["t_s", "value"]].to_numpy(float)
            except (ValueError, KeyError, UnicodeDecodeError) as error:
                raise InputError("", f"is no series: {str(error)[:100]}", "a file of tonopah run --series", str(file)) from None
    if not curves:
        wanted = ", ".join(f"{name}.csv" for name in SERIES.values())
        raise InputError("", "has no series of a sender", f"one of {wanted}, by tonopah run --series DIR", str(folder))
    srtt = curves.get("srtt", np.empty((0, 2)))
    sampled = srtt[np.isfinite(srtt[:, 1]), 0]
    # A whole transport has a window before its handshake, which ends with its first RTT; our TCP has none.
    start = float(sampled[0]) if len(sampled) else min(float(one[0, 0]) for one in curves.values() if len(one))
    rtt_s = float(np.nanmedian(srtt[:, 1])) if len(sampled) else DEFAULT_RTT_S
    return Side(folder.name, {metric: moved(one, start) for metric, one in curves.items()}, rtt_s)


def moved(points: Curve, start: float) -> Curve:
    """Return a curve from a time on, without values that are no numbers."""
    points = points[np.isfinite(points[:, 1])] if len(points) else points.reshape(-1, 2)
    return np.column_stack([points[:, 0] - start, points[:, 1]])


def held(points: Curve, times: Curve) -> Curve:
    """Return the values at some times, of which none is before the first."""
    return np.asarray(points[np.searchsorted(points[:, 0], times, "right") - 1, 1])


def compare(
    one: Side, other: Side, metrics: Sequence[str], tolerance: float, start: float = 0.0, end: float = np.inf
) -> dict[str, Any]:
    """Return how two recordings differ. Raises InputError where they have no time or no metric in common."""
    for name in metrics:
        if name not in METRICS:
            raise InputError("--metric", f"{name!r} is unknown", list_allowed(METRICS, value=name))
    wanted = list(metrics or METRICS)
    both = [name for name in wanted if all(len(side.curves.get(name, ())) for side in (one, other))]
    lacking = {side.name: [name for name in wanted if not len(side.curves.get(name, ()))] for side in (one, other)}
    if not both:
        raise InputError("", f"{one.name} and {other.name} have no metric in common", ", ".join(wanted))
    last = min(max(float(curve[-1, 0]) for curve in side.curves.values() if len(curve)) for side in (one, other))
    first, last = max(start, 0.0), min(end, last)
    if not last > first:
        raise InputError("", f"{one.name} and {other.name} have no time in common", "other times in --from and --to")
    found = {name: difference(one, other, name, tolerance, first, last) for name in both}
    return {"common_s": last - first, "metrics": found, "lacking": lacking}


def difference(one: Side, other: Side, name: str, tolerance: float, start: float, end: float) -> dict[str, Any]:
    """Return how a metric differs from `start` to `end`."""
    a, b = one.curves[name], other.curves[name]
    begin = max(start, float(a[0, 0]), float(b[0, 0]))
    times = np.union1d(a[:, 0], b[:, 0])
    times = np.concatenate([[begin], times[(times > begin) & (times < end)]])
    lengths = np.diff(times, append=max(end, begin))
    mine = held(a, times)
    # Both step at one moment, of which one log may have fewer digits.
    near = np.array([held(b, np.maximum(times + shift, b[0, 0])) for shift in (0.0, -RESOLUTION_S, RESOLUTION_S)])
    theirs = near[np.argmin(np.abs(near - mine), axis=0), np.arange(len(times))]
    most = np.maximum(np.abs(mine), np.abs(theirs))
    apart = np.divide(np.abs(theirs - mine), most, out=np.zeros_like(most), where=most > 0)
    lasting = np.where(lengths > 0, apart, 0.0)
    whole = lengths.sum() or 1.0
    known = (mine > 0) & (lengths > 0)
    ratio = float(np.average(theirs[known] / mine[known], weights=lengths[known])) if known.any() else None
    outside = first_outside(times, lengths, apart > tolerance, max(one.rtt_s, other.rtt_s))
    place = int(np.argmax(lasting))
    found = {
        "ratio_mean": ratio, "largest": float(lasting[place]), "largest_at_s": float(times[place]),
        "within": float(lengths[apart <= tolerance].sum() / whole) if lengths.sum() else 1.0, "first_outside_s": outside,
    }  # fmt: skip
    if outside is not None:
        found["events"] = {side.name: around(side, outside) for side in (one, other)}
    return found


def first_outside(times: Curve, lengths: Curve, is_outside: Curve, rtt_s: float) -> float | None:
    """Return the first moment from which it is outside for more than a round trip."""
    since: float | None = None
    for at, length, outside in zip(times, lengths, is_outside, strict=True):
        if not outside:
            since = None
            continue
        since = float(at) if since is None else since
        if at + length - since > rtt_s:
            return since
    return None


def around(side: Side, moment: float) -> list[str]:
    """Return losses and states within a round trip of a moment."""
    near = [f"{at:.6f} s {what}" for at, what in side.events if abs(at - moment) <= side.rtt_s]
    return near[:MOST_EVENTS]


def write(one: Side, other: Side, found: Mapping[str, Any], lines: Sequence[str], path: Path) -> None:
    """Write the figure (.svg), or the page with figure and numbers."""
    names = list(found["metrics"])
    with style.settings() as plt:
        figure, panels = plt.subplots(len(names), 1, figsize=(8.2, 1.2 + 2 * len(names)), sharex=True, squeeze=False)
        try:
            for axes, name in zip(panels[:, 0], names, strict=True):
                for number, side in enumerate((one, other)):
                    points, scale = side.curves[name], 1e3 if name == "srtt" else 1e-3
                    points = points[:: max(1, len(points) // MOST_POINTS)]
                    look = {"color": style.COLOURS[number], "linewidth": 2.2 - 1.3 * number, "label": side.name}
                    axes.plot(points[:, 0], points[:, 1] * scale, drawstyle="steps-post", **look)
                if found["metrics"][name]["first_outside_s"] is not None:
                    axes.axvline(found["metrics"][name]["first_outside_s"], color=style.COLOURS[5], linewidth=1)
                axes.set_ylabel(METRICS[name])
            panels[-1, 0].set_xlabel("Time since the first data (s)")
            panels[0, 0].legend(loc="best")
            drawn = style.svg(figure)
        finally:
            plt.close(figure)
    if path.suffix != ".svg":
        title = escape(f"{one.name} and {other.name}")
        drawn = render(TEMPLATE, title=title, figure=drawn[drawn.index("<svg") :], lines=[escape(line) for line in lines])
    replace_file(path, drawn)
