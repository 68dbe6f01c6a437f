"""Every text of a figure stands inside it, at the width of a column and less; ticks of logarithms are plain numbers."""

from dataclasses import replace
from itertools import pairwise

import pytest
from matplotlib.text import Text

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series
from tonopah.plot.chart import drawn
from tonopah.plot.look import Look

LONG = "Completion time, 99th percentile [objects below 30 kB] of all that began after the warm-up"
KINDS = ("line", "difference", "bar", "scatter", "ecdf", "series", "heatmap")


def figure(kind: str, values=(50.0, 53.0, 60.0), title: str = LONG, log: bool = False) -> FigureData:
    """Return a figure whose every title is long."""
    x, y = [1.0, 2.0, 3.0], list(values)
    low, high = [0.9 * v for v in y], [1.1 * v for v in y]
    series = [
        Series(f"cubic linux hystart=False beta={i}", i, x, y, low=low, high=high, n=[5] * 3, x_low=x, x_high=x, row=[0.0] * 3)
        for i in range(2)
    ]
    if kind in ("bar", "scatter"):
        series = [replace(one, x=[float(i)], y=y[:1], low=low[:1], high=high[:1], n=[5]) for i, one in enumerate(series)]
        series = [replace(one, x_low=one.x, x_high=one.x) for one in series]
    axis = FigureAxis(
        "network.bottleneck.reverse.queue.limit", "network.bottleneck.reverse.queue.limit over and over", "ms", x,
        ["1", "2", "3"], log and kind in ("line", "ecdf", "scatter"),
    )  # fmt: skip
    if kind == "bar":
        axis = replace(axis, values=[0.0, 1.0], ticks=[one.label for one in series])
    if kind == "heatmap":
        axis, rows = replace(axis), FigureAxis("network.bottleneck.queue", "network.bottleneck.queue", "packets", [0.0], ["33"])
        return FigureData("id", "", kind, "t", "d", axis, FigureScale("y", title, "Mb/s", min=1, max=99), series, rows=rows)
    return FigureData("id", "", kind, "t", "d", axis, FigureScale("y", title, "Mb/s", log=log), series)


def cut(picture) -> list[str]:
    """Return the texts that go beyond the edge of a figure; a tick outside the range of its axis is not drawn."""
    picture.draw_without_rendering()
    shown = [(text, text.get_window_extent()) for text in picture.findobj(Text) if text.get_visible() and text.get_text().strip()]
    beyond = {
        id(label)
        for axes in picture.axes
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        if not min(low, high) <= place <= max(low, high)
    }
    edge = picture.bbox
    return [
        text.get_text()
        for text, box in shown
        if id(text) not in beyond
        and (box.x0 < edge.x0 - 1 or box.x1 > edge.x1 + 1 or box.y0 < edge.y0 - 1 or box.y1 > edge.y1 + 1)
    ]


SIZES = [(kind, width) for kind in KINDS for width in ((3.0, 3.5, 7.0) if kind == "scatter" else (2.5, 3.5, 7.0))]


@pytest.mark.parametrize(("kind", "width"), SIZES)
def test_nothing_is_cut_at_the_edge(kind, width):
    with drawn(figure(kind), Look(width_in=width)) as picture:
        assert cut(picture) == []
        # Nothing of a title is left out either.
        written = " ".join(text.get_text() for text in picture.findobj(Text)).replace("\n", "").replace(" ", "")
        assert kind == "heatmap" or f"{LONG}(Mb/s)".replace(" ", "") in written


def test_a_short_title_stays_in_one_line_and_size():
    with drawn(figure("line", title="Goodput"), Look(width_in=3.5)) as picture:
        assert picture.axes[0].get_ylabel() == "Goodput (Mb/s)" and picture.axes[0].yaxis.label.get_fontsize() == 8


@pytest.mark.parametrize(
    ("values", "wanted"),
    [((50.0, 53.0, 60.0), "50"), ((150.0, 400.0, 1300.0), "200"), ((1e-3, 1.0, 1e5), "0.001"), ((2.0, 2.0, 2.0), "2")],
)
@pytest.mark.parametrize("width", [2.5, 3.5])
def test_ticks_of_a_logarithm_are_plain_numbers_that_do_not_touch(values, wanted, width):
    with drawn(figure("line", values, "Delay", log=True), Look(width_in=width)) as picture:
        picture.draw_without_rendering()
        axes = picture.axes[0]
        low, high = axes.get_ylim()
        labels = [label for at, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True) if low <= at <= high]
        texts = [label.get_text() for label in labels]
        assert wanted in texts and len(texts) >= 2 and not any("^" in text or "×" in text for text in texts)
        boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.y0)
        assert all(below.y1 <= above.y0 for below, above in pairwise(boxes))
