"""The page of a report: a row a case, and for what deviates curves around the moment, packets and the world."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import engine_version
from tonopah.conform.case import Outcome
from tonopah.conform.observed import Observed
from tonopah.conform.report import Report, packet_line, said
from tonopah.conform.words import DEVIATES
from tonopah.plot import style
from tonopah.scenario.document import to_toml
from tonopah.template import render
from tonopah.writing import replace_file

TEMPLATE = Path(__file__).with_name("page.html.j2")
WIDE_S = 1.0
"""What the curves show before and after the moment."""
CURVES = (("cwnd", "Window (kB)", 1e-3), ("pipe", "In flight (kB)", 1e-3), ("pacing_rate", "Pacing (Mb/s)", 1e-6))


def write_page(report: Report, path: Path) -> None:
    """Write the page."""
    rows = [
        {
            "id": escape(one.case.id), "title": escape(one.case.title), "source": escape(one.case.source), "verdict": one.verdict,
            "form": one.form, "measures": [(escape(said(measure)), measure.holds) for measure in one.measures],
            "notes": [escape(text) for text in (one.note, one.case.note) if text],
            "figure": figure(one), "packets": [escape(packet_line(packet, 200)) for packet in one.packets],
            "world": escape(to_toml(one.run.scenario)) if one.run else "",
        }
        for one in report.outcomes
    ]  # fmt: skip
    title = escape(f"{report.subject}: {report.spec.title}")
    head = [escape(text) for text in report.head]
    page = render(TEMPLATE, title=title, head=head, counts=report.counts, rows=rows, version=engine_version())
    replace_file(path, page)


def figure(one: Outcome) -> str:
    """Return the curves of a deviation as SVG; nothing without a moment."""
    if one.verdict != DEVIATES or one.moment_s is None or one.run is None:
        return ""
    with style.settings() as plt:
        drawn, places = plt.subplots(len(CURVES), 1, figsize=(9, 4.6), sharex=True, layout="constrained")
        try:
            for axes, (name, label, factor) in zip(places, CURVES, strict=True):
                draw(axes, one.run, name, factor, one.moment_s)
                axes.set_ylabel(label)
                axes.axvline(one.moment_s, color=style.COLOURS[5], linewidth=1)
            places[-1].set_xlabel("Time (s)")
            text = style.svg(drawn)
            return text[text.index("<svg") :]
        finally:
            plt.close(drawn)


def draw(axes: Any, run: Observed, name: str, factor: float, moment: float) -> None:
    """Draw a series around a moment, over bands of the states."""
    start, end = max(moment - WIDE_S, 0), moment + WIDE_S
    if not run.shows(name):
        axes.text(0.5, 0.5, "not shown by the transport", transform=axes.transAxes, ha="center", va="center")
        return
    times, values = run.changes(name, start, end)
    times, values = np.concatenate([[start], times, [end]]), np.concatenate([[run.at(name, start)], values, [run.at(name, end)]])
    axes.plot(times, values * factor, drawstyle="steps-post", linewidth=0.9)
    axes.set_xlim(start, end)
    for place, stay in enumerate(run.shown_stays):
        if stay.begin < end and stay.end > start:
            axes.axvspan(max(stay.begin, start), min(stay.end, end), alpha=0.08 + 0.08 * (place % 2), linewidth=0, color="0.5")
