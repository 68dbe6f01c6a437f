"""What each start does to window and queue, for docs/starts.md: `python -m tonopah_dev.pages.starts docs/starts.png`."""

import sys
from pathlib import Path
from typing import Any

from tonopah.plot import style
from tonopah.scenario.worlds import drop_tail, dumbbell, link
from tonopah.study.run import run

STARTS = ("standard", "hystart", "hystart++", "search", "rapid")
SECONDS = 4
BDP_PACKETS = 167
"""20 Mb/s and 100 ms in packets of 1500 bytes; the queue holds four times as many."""
MSS_BYTES, PACKET_BYTES = 1448, 1500


def scenario(start: str) -> dict[str, Any]:
    """Return the world of the figure: one CUBIC flow through 20 Mb/s and 100 ms."""
    tcp = {"profile": "linux", "cc": "cubic", "start": start, "recv_buffer": "1GB", "initial_recv_window": "unlimited"}
    wide = link("10Gbps", "0ms", drop_tail("unlimited"))
    narrow = link("20Mbps", "50ms", drop_tail(4 * BDP_PACKETS))
    record = {"series": ["cwnd", "queue"], "every": "10ms"}
    return dumbbell(f"{SECONDS}s", narrow, tcp, access=wide, flow=[{"from": "left0", "to": "right0"}], record=record)


def draw(path: Path) -> None:
    """Write the figure as PNG: windows on the left, the queue on the right."""
    with style.settings() as plt:
        figure, (windows, queues) = plt.subplots(1, 2, figsize=(9, 3.0), sharex=True)
        try:
            for start, colour, dashes in zip(STARTS, style.COLOURS, style.LINES, strict=False):
                result = run(scenario(start))
                windows_of, waiting = result.series("cwnd"), result.series("queue")
                waiting = waiting[waiting["link"] == waiting.loc[waiting["value"].idxmax(), "link"]]
                for axes, series, unit in ((windows, windows_of, MSS_BYTES), (queues, waiting, PACKET_BYTES)):
                    axes.plot(series["t_s"], series["value"] / unit, color=colour, linestyle=dashes, linewidth=1.1, label=start)
            windows.set_ylabel("cwnd (segments)")
            queues.set_ylabel("Queue (packets)")
            windows.axhline(BDP_PACKETS, color="#999999", linewidth=0.8)
            windows.set_xlim(0, SECONDS)
            figure.supxlabel("Time (s)", fontsize=9)
            figure.legend(*windows.get_legend_handles_labels(), loc="outside upper center", ncols=len(STARTS))
            style.write_png(figure, path)
        finally:
            plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
