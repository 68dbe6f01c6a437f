"""Figures of a case: our window on the kernel's, a panel for each flow, and when the episodes of loss began."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.plot import style
from tonopah.validate.linux.flow_track import Episode, FlowTrack
from tonopah.validate.linux.measures import FlowResult, LinuxResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The kernel's line is broad and light, ours narrow and dark on top of it: where they agree both are seen.
KERNEL: dict[str, Any] = {"color": style.COLOURS[6], "linewidth": 2.8}
OURS: dict[str, Any] = {"color": style.COLOURS[4], "linewidth": 1.0}
MARKS = {"kernel": 1.10, "ours": 1.04}
"""Height of the marks of episodes above the panel, in parts of its height."""
BESIDE = 0.14
"""Distance of the two sides from the middle of a case in the figure of shares."""
AFTER_S = 1.0
"""Time shown after the end of the last episode of a scripted loss."""


def draw(result: LinuxResult, path: Path) -> None:
    """Write the figure of a compared case as PNG."""
    count, limits = len(result.flows), time_range(result)
    with style.settings() as plt:
        figure, panels = plt.subplots(count, 1, figsize=(7.2, 0.7 + 2.3 * count), sharex=True, squeeze=False)
        try:
            for index, (axes, flow) in enumerate(zip(panels[:, 0], result.flows, strict=True)):
                panel(axes, flow, limits)
                axes.set_title(title(result, index), loc="left", pad=20)
            panels[-1, 0].set_xlabel("Time since the first flow began to connect (s)")
            panels[-1, 0].set_xlim(limits)
            handles, labels = panels[0, 0].get_legend_handles_labels()
            labels = [label.format(kernel=f"Linux {result.case.kernel}") for label in labels]
            figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=2.4)
            style.write_png(figure, path)
        finally:
            plt.close(figure)


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
            style.write_png(figure, path)
        finally:
            plt.close(figure)


def title(result: LinuxResult, index: int) -> str:
    """Return what a panel shows."""
    several = f", flow {index}: {result.flows[index].algorithm}" if len(result.flows) > 1 else ""
    return f"{result.case.name}, Linux {result.case.kernel}{several}"


def panel(axes: "Axes", flow: FlowResult, limits: tuple[float, float]) -> None:
    """Draw the windows and the beginnings of the episodes of one flow."""
    for track, label, look in ((flow.kernel, "{kernel}", KERNEL), (flow.ours, "Tonopah", OURS)):
        axes.plot(*changes(track), drawstyle="steps-post", label=label, **look)
    mark(axes, flow.kernel_episodes, MARKS["kernel"], "{kernel}: loss episode", KERNEL["color"])
    mark(axes, flow.episodes, MARKS["ours"], "Tonopah: loss episode", OURS["color"])
    axes.set_ylabel("Window (segments)")
    seen = flow.kernel.t_s <= limits[1]
    axes.set_ylim(0, 1.05 * max(flow.kernel.window[seen].max(), flow.ours.window[seen].max()))


def changes(track: FlowTrack) -> tuple[np.ndarray, np.ndarray]:
    """Return the instants at which the window changes, with the last one."""
    keep = np.append(np.diff(track.window, prepend=np.nan) != 0, True)[: len(track.window)]
    keep[-1] = True
    return track.t_s[keep], track.window[keep]


def mark(axes: "Axes", found: list[Episode], height: float, label: str, colour: object) -> None:
    """Mark the beginning of each episode above the panel."""
    axes.plot(
        [e.start_s for e in found], [height] * len(found), linestyle="", marker="v", markersize=4.5,
        color=colour, label=label, transform=axes.get_xaxis_transform(), clip_on=False,
    )  # fmt: skip


def time_range(result: LinuxResult) -> tuple[float, float]:
    """Return the part of the time that is drawn: all of it, or with scripted losses until they are repaired."""
    end = max(float(flow.kernel.t_s[-1]) for flow in result.flows)
    if result.case.kind != "scripted":
        return 0.0, end
    over = [e.end_s for flow in result.flows for e in (*flow.episodes, *flow.kernel_episodes) if e.end_s is not None]
    return 0.0, min(end, max(over, default=end) + AFTER_S)
