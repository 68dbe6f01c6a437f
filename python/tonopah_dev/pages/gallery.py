"""Every algorithm's window over the same link: `python -m tonopah_dev.pages.gallery FILE.png`, part of `make docs`."""

import sys
from pathlib import Path
from typing import Any

from tonopah.plot import style
from tonopah.runs.simulation import algorithms
from tonopah.scenario.worlds import drop_tail, dumbbell, link
from tonopah.study.run import run

MSS_BYTES = 1448
SECONDS = 30
BDP_PACKETS = 67
"""20 Mb/s and 40 ms in packets of 1500 bytes; the queue holds as many, so that a window above twice this loses."""
COLUMNS = 5


def scenario(name: str, profile: str) -> dict[str, Any]:
    """Return the world of the figure: one flow, one link of 20 Mb/s and 40 ms with a queue of one BDP."""
    queue = drop_tail(BDP_PACKETS)
    requirements = next(entry["requirements"] for entry in algorithms() if entry["name"] == name)
    if requirements["ecn"]:
        # Marks from a third of the queue on: K of DCTCP (RFC 8257) is above a seventh of the BDP.
        queue["mark_threshold"] = BDP_PACKETS // 3
    tcp = {"mss": f"{MSS_BYTES}B", "cc": {"name": name, "profile": profile}}
    wide = link("10Gbps", "0ms", drop_tail("unlimited"))
    keys = {"flow": [{"from": "left0", "to": "right0"}], "record": {"series": ["cwnd"], "every": "20ms"}}
    return dumbbell(f"{SECONDS}s", link("20Mbps", "20ms", queue), tcp, access=wide, **keys)


def draw(path: Path) -> None:
    """Write the figure as PNG: one panel for each algorithm in its first profile."""
    entries = algorithms()
    rows = -(-len(entries) // COLUMNS)
    with style.settings() as plt:
        figure, panels = plt.subplots(rows, COLUMNS, figsize=(11, 1.55 * rows + 0.8), sharex=True, sharey=True)
        try:
            for axes, entry in zip(panels.flat, entries, strict=False):
                profile = entry["profiles"][0]["name"]
                series = run(scenario(entry["name"], profile)).series("cwnd")
                axes.plot(series["t_s"], series["value"] / MSS_BYTES, color=style.COLOURS[0], linewidth=1.1)
                for times in (1, 2):
                    axes.axhline(times * BDP_PACKETS, color="#999999", linewidth=0.8, linestyle=style.LINES[times])
                axes.set_title(f"{entry['name']} ({profile})", loc="left")
            for axes in list(panels.flat)[len(entries) :]:
                axes.set_axis_off()
            panels.flat[0].set_ylim(0, 4 * BDP_PACKETS)
            panels.flat[0].set_xlim(0, SECONDS)
            figure.supxlabel("Time (s)", fontsize=9)
            figure.supylabel("cwnd (segments); dashed: one BDP, dash-dotted: BDP and full queue", fontsize=9)
            style.write_png(figure, path)
        finally:
            plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
