"""Pictures of docs/findings: each is of what its list names, and no curve is cut by the axis of another."""

import re
from pathlib import Path

import pandas as pd
import pytest
import tomli

from tonopah.plot import style
from tonopah.reports.mechanisms.model import read
from tonopah.reports.networks import network
from tonopah.reports.statements import known, panels
from tonopah.stats import Estimate
from tonopah.study.study import Study
from tonopah_dev.pages import pictures

LISTED = tomli.loads(pictures.LIST.read_text(encoding="utf-8"))["picture"]
FINDINGS = Path(__file__).parents[2] / "docs" / "findings"


@pytest.mark.parametrize("one", LISTED, ids=lambda one: one["file"])
def test_a_picture_is_on_its_page_and_of_parts_that_exist(one):
    assert f"({one['file']}.svg)" in (FINDINGS / f"{one['study']}.md").read_text(encoding="utf-8")
    assert f">{one['title']}</text>" in (FINDINGS / f"{one['file']}.svg").read_text(encoding="utf-8")
    spec = Study.load(one["study"]).spec
    part = spec.part(one["part"])
    assert set(one.get("names", {})) <= {*part.labels}
    if "series" in one:
        assert one["series"] in part.scenario["record"]["series"]
    else:
        assert any(one["at"] in values for sweep in part.sweeps for values in sweep.vary.values())
    assert "seed 1" in one["title"] or f"{part.replicates} runs" in one["title"]


def test_all_panels_have_the_range_of_the_largest():
    frames = {
        name: pd.DataFrame({"t_s": [0.0, 1.0], "value": [0.0, value]})
        for name, value in (("small", 1e3), ("large", 9e6), ("mid", 5e5))
    }
    with style.settings() as plt:
        figure = plt.figure()
        pictures.draw_panels(figure, {"series": "cwnd"}, frames)
        bounds = [axes.get_ylim() for axes in figure.axes]
        plt.close(figure)
    assert {low for low, _ in bounds} == {0.0} and all(high >= 9e3 for _, high in bounds)


def test_rows_are_in_the_order_of_the_first_metric():
    found = {name: [Estimate(value, value - 1, value + 1, 10)] * 2 for name, value in (("a", 3.0), ("b", 1.0), ("c", 2.0))}
    with style.settings() as plt:
        figure = plt.figure()
        pictures.draw_rows(figure, {"metrics": ["goodput_bps", "delay_s"]}, found)
        figure.canvas.draw()
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        plt.close(figure)
    assert names == ["b", "c", "a"]


def test_a_picture_of_a_slip_is_of_a_mechanism_and_on_its_page():
    found = sorted(FINDINGS.glob("*-slip-*.svg"))
    assert found
    for path in found:
        study, _, slug = path.stem.partition("-slip-")
        ids = {re.sub(r"\W+", "-", one.id.lower()).strip("-") for one in read(study, Study.load(study).spec)}
        assert slug in ids and f"({path.name})" in (FINDINGS / f"{study}.md").read_text(encoding="utf-8"), path.name
        assert ", n = " in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("one", panels.listed(), ids=lambda one: one["file"])
def test_the_panels_of_a_network_are_of_what_is_kept_and_on_its_page(one):
    held = known(FINDINGS.parent)
    report = network(one["network"]).report
    text = (FINDINGS / f"{one['file']}.svg").read_text(encoding="utf-8")
    assert f"({one['file']}.svg)" in (FINDINGS / f"{report}.md").read_text(encoding="utf-8")
    assert f">{panels.title(one, held)}</text>" in text and all(f">{axis['label']}</text>" in text for axis in one["axes"])
    for axis in one["axes"]:
        for metric in one["metrics"]:
            author, ours = panels.points(one, axis, metric, held)
            assert ours and set(one["names"]) >= {*ours, *author}, f"{axis['path']}/{metric}"
            values = next(iter(ours.values()))
            assert len(values) == 5 and (len({*values.values()}) == 1 or "at" not in axis)
