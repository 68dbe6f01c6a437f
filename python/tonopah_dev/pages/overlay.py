"""Figures of all cases of a kernel: our windows on the kernel's, and when the episodes of loss began; the shares of two flows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah.plot import style
from tonopah.plot.multiples import SheetLine, SheetPanel, sheet
from tonopah.validate.linux.measures import LinuxResult

# The kernel's line is broad and light, ours narrow and dark on top of it: where they agree both are seen.
KERNEL: dict[str, Any] = {"color": style.COLOURS[6], "linewidth": 2.8}
OURS: dict[str, Any] = {"color": style.COLOURS[4], "linewidth": 1.0}
FLOWS = 2
"""Flows that a panel shows, in a colour each."""
BESIDE = 0.14
"""Distance of the two sides from the middle of a case in the figure of shares."""
AFTER_S = 1.0
"""Time shown after the end of the last episode of a scripted loss."""


def draw(results: Sequence[LinuxResult], path: Path) -> None:
    """Write the windows of compared cases as one sheet (SVG), a panel for each case; one that misses a goal is stressed."""
    path.write_text(sheet([panel(result) for result in results]), encoding="utf-8")


def panel(result: LinuxResult) -> SheetPanel:
    """Return the windows of a case, the kernel's first, and when the episodes of loss began."""
    lines = []
    for index, flow in enumerate(result.flows[:FLOWS]):
        for side, track, episodes in (("kernel", flow.kernel, flow.kernel_episodes), ("ours", flow.ours, flow.episodes)):
            starts = [episode.start_s for episode in episodes]
            lines.append(SheetLine(f"{side}{index}", track.t_s, track.window, starts))
    return SheetPanel(result.case.name, lines, end_s(result), "segments", stressed=not result.met)


def draw_shares(results: Sequence[LinuxResult], path: Path) -> None:
    """Write the shares of flow 0 in every run of the cases that were recorded several times, the two sides side by side."""
    with style.settings() as plt:
        figure, axes = plt.subplots(figsize=(7.2, 3.2))
        try:
            for place, result in enumerate(results):
                found = result.beside
                assert found is not None
                sides = ((found.kernel, -BESIDE, "Linux", KERNEL, 5.5), (found.ours, BESIDE, "Tonopah", OURS, 2.5))
                for side, shift, label, look, size in sides:
                    shares = [100 * share for block in side.shares for share in block]
                    axes.plot(
                        [place + shift] * len(shares), shares, linestyle="", marker="o", markersize=size,
                        color=look["color"], alpha=0.6, label=label if place == 0 else None,
                    )  # fmt: skip
            axes.set_xticks(range(len(results)), [result.case.algorithm(0) for result in results])
            axes.set_xlim(-0.5, len(results) - 0.5)
            axes.set_ylim(bottom=0)
            axes.set_ylabel("Share of flow 0 (%)")
            figure.legend(loc="outside lower center", ncols=2)
            path.write_text(style.svg(figure), encoding="utf-8")
        finally:
            plt.close(figure)


def end_s(result: LinuxResult) -> float:
    """Return until when a case is drawn: to its end, or with scripted losses until they are repaired."""
    end = max(float(flow.kernel.t_s[-1]) for flow in result.flows)
    if result.case.kind != "scripted":
        return end
    over = [e.end_s for flow in result.flows for e in (*flow.episodes, *flow.kernel_episodes) if e.end_s is not None]
    return min(end, max(over, default=end) + AFTER_S)
