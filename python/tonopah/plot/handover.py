"""A sampled variable around handovers: a panel for each change of satellite, with time counted from it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tonopah.metrics import metric
from tonopah.plot import style
from tonopah.plot.figures import RenderedFigure, render

if TYPE_CHECKING:
    import pandas as pd

MAX_PANELS = 4
"""More panels side by side could not be read."""
BEFORE_S = 10.0
AFTER_S = 20.0
MARGIN_S = 1.0
"""Beyond the edges of a panel, so that lines reach them."""


def plot_around(frames: Mapping[str, "pd.DataFrame"], name: str, which: str, handovers: Sequence[float]) -> list[RenderedFigure]:
    """Draw a series of one representative run of each algorithm around the first handovers; nothing if there were none.

    `frames` hold t_s and value by algorithm, `handovers` times in seconds.
    """
    import pandas as pd

    if not handovers:
        return []
    shown, rows = metric(name), []
    # Throughput is that of the time since the sample before; any other value holds until the next.
    step = "steps-pre" if name == "throughput" else "steps-post"
    with style.canvas(7.2, 2.9) as (figure, unused):
        unused.remove()
        panels = figure.subplots(1, min(MAX_PANELS, len(handovers)), sharey=True, squeeze=False)[0]
        for axes, time in zip(panels, handovers, strict=False):
            for i, (algorithm, frame) in enumerate(frames.items()):
                near = frame[frame["t_s"].between(time - BEFORE_S - MARGIN_S, time + AFTER_S + MARGIN_S)]
                since, value = near["t_s"] - time, near["value"] * shown.factor
                line_style = {key: setting for key, setting in style.line_style(i).items() if key in ("color", "linestyle")}
                axes.plot(since, value, drawstyle=step, linewidth=1.3, label=algorithm, **line_style)
                rows.append(pd.DataFrame({"algorithm": algorithm, "handover_s": time, "since_s": since, "value": value}))
            axes.axvline(0.0, color="#555555", linewidth=0.8, linestyle=":", label="handover", zorder=1)
            axes.set(xlim=(-BEFORE_S, AFTER_S), title=f"{time:.1f} s", xlabel="Since handover (s)")
        panels[0].set_ylabel(shown.axis)
        panels[0].set_ylim(bottom=0)
        style.legend_below(figure, panels[0])
        pictures = style.svg(figure), style.pdf(figure)
    title = f"{shown.label} around handovers"
    count = len(handovers)
    number = f"the first {MAX_PANELS}" if count > MAX_PANELS else f"all {count}" if count > 1 else "the only one"
    caption = f"{shown.label} of {which} around handovers of its ends, {number}: the same run of each algorithm."
    made = render(("handover", name), title, caption, pictures, pd.concat(rows, ignore_index=True))
    return [replace(made, wide=True)]
