"""The figure, the table and the page of a trace beside its simulation."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah._core import engine_version
from tonopah.plot import style
from tonopah.scenario.document import to_toml
from tonopah.template import render
from tonopah.validate.trace.connection import Observed
from tonopah.writing import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEMPLATE = Path(__file__).with_name("page.html.j2")
# The recorded line is broad and light, the simulated one narrow and dark on top of it: where they agree both are seen.
TRACE: dict[str, Any] = {"color": style.COLOURS[6], "linewidth": 2.4, "label": "recorded"}
SIMULATED: dict[str, Any] = {"color": style.COLOURS[4], "linewidth": 0.9, "label": "simulated"}
MARKS = (1.08, 1.03)
"""Height of the marks of retransmissions above the panel, in parts of its height."""
MOST_POINTS = 1500
ROWS = {
    "duration_s": ("Time compared", "s"),
    "goodput_bps": ("Goodput", "bit/s"),
    "data_segments": ("Data segments, retransmissions included", ""),
    "retransmitted_segments": ("Retransmitted segments", ""),
    "rtt_samples": ("RTT samples", ""),
    "rtt_min_s": ("RTT, least", "s"),
    "rtt_median_s": ("RTT, median", "s"),
    "rtt_p95_s": ("RTT, 95th percentile", "s"),
    "in_flight_mean_bytes": ("In flight, mean over time", "B"),
    "in_flight_max_bytes": ("In flight, most", "B"),
}
"""Numbers of the table with their names and units."""


def rows(compared: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the rows of the table: name, recorded, simulated."""
    return [
        (name, shown(compared["trace"][key], unit), shown(compared["simulation"][key], unit))
        for key, (name, unit) in ROWS.items()
    ]


def shown(value: float | None, unit: str) -> str:
    """Return a number with its unit as a person reads it."""
    if value is None:
        return "–"
    if not unit:
        return f"{value:,}"
    prefixes = PREFIXES if unit == "s" else tuple(one for one in PREFIXES if one[0] >= 0)
    scale, prefix = next(((10.0**power, name) for power, name in prefixes if abs(value) >= 10.0**power), (1.0, ""))
    return f"{value / scale:.4g} {prefix}{unit}"


PREFIXES = ((9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"), (-6, "µ"))
"""Those below one are of times: thousandths of a byte do not exist."""


def link_text(compared: Mapping[str, Any]) -> str:
    """Return in a sentence what link was simulated, and what of it was estimated."""
    link = compared["link"]
    rate, delay = shown(link["rate_bps"], "bit/s"), shown(link["delay_s"], "s")
    estimated = ", ".join(link["estimated"])
    said = f"estimated from the trace: {estimated}" if estimated else "all of it given"
    return f"{rate}, {delay} each way, a queue of {link['queue_packets']:,} packets of {link['packet_bytes']:,} B ({said})"


def draw(compared: Mapping[str, Any]) -> str:
    """Return the figure as SVG: bytes in flight with marks of retransmissions, and RTT samples."""
    with style.settings() as plt:
        figure, (flight, rtt) = plt.subplots(2, 1, figsize=(8.2, 5.2), sharex=True)
        try:
            for seen, look, height in zip(compared["curves"], (TRACE, SIMULATED), MARKS, strict=True):
                curve(flight, seen.flight, 1e-3, look)
                curve(rtt, seen.rtt, 1e3, look)
                mark(flight, seen, height, look)
            flight.set_ylabel("In flight (kB)")
            rtt.set_ylabel("RTT (ms)")
            rtt.set_xlabel("Time since the first packet (s)")
            flight.set_title("Marks above: retransmitted segments", loc="right", pad=14, fontsize="small")
            for axes in (flight, rtt):
                axes.set_ylim(bottom=0)
            handles, labels = flight.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=2)
            return style.svg(figure)
        finally:
            plt.close(figure)


def curve(axes: "Axes", points: np.ndarray, scale: float, look: Mapping[str, Any]) -> None:
    """Draw a curve; of very many points the largest of each part of the time."""
    points = thinned(points)
    axes.plot(points[:, 0], points[:, 1] * scale, drawstyle="steps-post", **look)


def thinned(points: np.ndarray) -> np.ndarray:
    """Return a curve with not too many points: the largest of each part of the time."""
    if len(points) <= MOST_POINTS:
        return points
    return np.array([part[np.argmax(part[:, 1])] for part in np.array_split(points, MOST_POINTS)])


def mark(axes: "Axes", seen: Observed, height: float, look: Mapping[str, Any]) -> None:
    """Mark the retransmissions above a panel; those closer than a thousandth of the time are one mark."""
    if not len(seen.retransmissions_s):
        # A line without points outside of its panel leaves no room for the panel.
        return
    places = np.unique(np.round(seen.retransmissions_s / max(seen.duration_s, 1e-9), 3)) * seen.duration_s
    axes.plot(
        places, [height] * len(places), linestyle="", marker="|", markersize=6, color=look["color"], clip_on=False,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip


def write(compared: Mapping[str, Any], path: Path) -> None:
    """Write the figure (.svg), or the page with figure, table and scenario."""
    figure = draw(compared)
    if path.suffix == ".svg":
        replace_file(path, figure)
        return
    page = render(
        TEMPLATE, title=escape(f"{compared['file']}: {compared['connection']}"), link=escape(link_text(compared)),
        rows=rows(compared), notes=compared["notes"], figure=figure[figure.index("<svg") :],
        scenario=escape(to_toml(compared["scenario"])), version=engine_version(),
    )  # fmt: skip
    replace_file(path, page)
