"""The page of an identification: the answer, the trace over the nearest simulations, the ranking, and what told them apart."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.identification.api import NONE, Identification, Shown, sentence
from tonopah.identification.features import FEWEST_EPISODES, Episodes, episodes
from tonopah.identification.link import UNKNOWN_QUEUE
from tonopah.plot import style
from tonopah.template import render
from tonopah.validate.trace.page import shown, thinned

TEMPLATE = Path(__file__).with_name("page.html.j2")
START_RTTS = 40
TRACE: dict[str, Any] = {"color": style.COLOURS[5], "linewidth": 2.8, "label": "recorded"}

OTHERS = {
    "none": "Whether short flows shared the link.",
    "cubic": "Whether more than one CUBIC flow shared the link.",
    "short": "Whether those who shared the link were short flows: they are taken for such.",
}
"""What is not known of who shared it."""


def write(one: Identification, path: Path) -> None:
    """Write the page, or with `.svg` its figure alone."""
    figure = draw(one.shown) if one.shown else ""
    if path.suffix == ".svg":
        path.write_text(figure, encoding="utf-8")
        return
    link = one.link
    bound = one.shown.judged.bound if one.shown else None
    widest = max([row.distance for row in one.ranking] + [bound or 0.0], default=1.0)
    drawn = [(escape(f"{row.candidate} {row.profile}"), row.distance, 100 * row.distance / widest) for row in one.ranking]
    page = render(
        TEMPLATE, title=escape(f"{one.file}: which congestion control?"), connection=escape(one.connection), one=one,
        sentence=escape(sentence(one)), link=link_text(link), estimated=", ".join(link["estimated"]), rows=drawn, bound=bound,
        notes=[escape(note) for note in one.notes], figure=figure[figure.index("<svg") :] if figure else "",
        told=told(one.shown) if one.shown else [], untold=untold(one),
        wall=100 * bound / widest if bound is not None and np.isfinite(bound) else None,
    )  # fmt: skip
    path.write_text(page, encoding="utf-8")


def link_text(link: dict[str, Any]) -> str:
    """Return the link in words."""
    rate, delay = shown(link["rate_bps"], "bit/s"), shown(link["delay_s"], "s")
    return escape(f"{rate}, {delay} each way, a queue of {link['queue_packets']:,} packets")


def draw(one: Shown) -> str:
    """Return the figure as SVG: bytes outstanding, recorded and simulated, whole and at the start."""
    sending, path = one.sending, one.path
    with style.settings() as plt:
        figure, (whole, start) = plt.subplots(1, 2, figsize=(9.4, 3.4), width_ratios=(3, 2), layout="constrained")
        try:
            lines = [(sending, TRACE)]
            for number, (candidate, sent) in enumerate(zip(one.judged.order, one.nearest, strict=False)):
                found = one.judge.candidates[candidate]
                look = {"color": style.COLOURS[number], "linewidth": 0.9, "label": f"{found.label} {found.profile}"}
                lines.append((sent, look))
            for axes, end_s in ((whole, sending.seconds), (start, min(sending.seconds, START_RTTS * path.rtt_s))):
                for sent, look in lines:
                    points = thinned(sent.outstanding[sent.outstanding[:, 0] <= end_s])
                    axes.plot(points[:, 0], points[:, 1] / 1e3, drawstyle="steps-post", **look)
                axes.set_xlabel("Time since the first data (s)")
                axes.set_ylim(bottom=0)
            whole.set_ylabel("Outstanding (kB)")
            start.set_title("The start", loc="left", fontsize="small")
            handles, labels = whole.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=4)
            return style.svg(figure)
        finally:
            plt.close(figure)


def told(one: Shown) -> list[str]:
    """Return what tells the first two candidates apart, in sentences with numbers."""
    path, first = one.path, one.nearest[:2]
    mine, names = episodes(one.sending, path), [one.judge.candidates[i].label for i in one.judged.order[:2]]
    others = [episodes(sent, path) for sent in first]
    found = []
    if len(mine.drops) >= FEWEST_EPISODES:
        values = ", ".join(f"{name} {drop_of(other)}" for name, other in zip(names, others, strict=True))
        found.append(f"At a loss what is outstanding falls to {drop_of(mine)} of what it was ({values}).")
    if len(mine.starts_s) > 1:
        values = ", ".join(f"{name} {gap_of(other)}" for name, other in zip(names, others, strict=True))
        found.append(f"Losses are {gap_of(mine)} apart ({values}).")
    levels = [float(np.median(each.outstanding[:, 1])) / path.bdp_bytes for each in (one.sending, *first)]
    values = ", ".join(f"{name} {level:.2f}" for name, level in zip(names, levels[1:], strict=True))
    found.append(f"Half of the time more than {levels[0]:.2f} bandwidth-delay products are outstanding ({values}).")
    return [escape(text) for text in found]


def untold(one: Identification) -> list[str]:
    """Return what the trace does not say, in sentences."""
    found = []
    if one.answer == NONE:
        found.append("Which algorithm it is: none of the simulated ones sends like it.")
    elif one.also:
        found.append(f"Whether it is {one.answer} or {' or '.join(one.also)}: they send too much alike on this link.")
    if one.link["queue_packets"] == UNKNOWN_QUEUE and "queue" in one.link["estimated"]:
        found.append("How long the queue is: nothing was lost.")
    found.append(OTHERS[one.beside])
    return [escape(text) for text in found]


def drop_of(found: Episodes) -> str:
    """Return the mean drop."""
    return f"{found.drops.mean():.2f}" if len(found.drops) else "nothing"


def gap_of(found: Episodes) -> str:
    """Return the mean gap between episodes."""
    return f"{np.diff(found.starts_s).mean():.3g} s" if len(found.starts_s) > 1 else "not seen"
