"""The studies of the five reports ask what the reports ask: every claim, every network, every axis."""

import pytest
from conftest import is_script

import tonopah as tp
from tonopah.reports.mechanisms.model import read

CLAIMS = {"ewphcc": ("E", 11), "hystart": ("H", 5), "tcp-fr": ("F", 8), "netsim": ("N", 4), "asran": ("A", 6)}
"""Letter and number of the claims."""
PARTS = {
    "ewphcc": {"adhoc": (5, 17), "wired": (4, 13), "mixed": (5, 17), "space": (3, 9)},
    "hystart": {"wifi": (5, 17), "lrwpan": (5, 17), "point": (1, 1), "window": (1, 1), "connected": (1, 1), "wide": (1, 1),
                "mixed": (1, 1), "space": (1, 1)},
    "tcp-fr": {"wifi": (5, 17), "lrwpan": (5, 17), "wifi-grows": (1, 1), "lrwpan-grows": (1, 1), "gfr": (2, 5), "regain": (1, 1)},
    "netsim": {"six30": (2, 5), "six60": (1, 1), "twelve30": (1, 1), "errors30": (1, 1)},
    "asran": {"star": (4, 13), "overflow": (1, 1), "pan": (5, 17), "uav": (1, 1), "fair": (1, 1)},
}  # fmt: skip
"""Of each part the number of sweeps with the default point, and of distinct points."""
SCRIPTS = {
    "ewphcc": {
        "adhoc-author",
        "adhoc-author-nodes",
        "adhoc-sinks",
        "wired-author",
        "wired-header",
        "mixed-author",
        "space-author",
        "space-answers",
    },
    "hystart": {"wifi-author", "point-author", "point-clean", "lrwpan-author", "lrwpan-clean"},
    "tcp-fr": {
        "wifi-author",
        "wifi-metre",
        "lrwpan-author",
        "lrwpan-paths",
        "gfr-author",
        "hosts-author",
        "hosts-slips",
        "hosts-once",
    },
    "netsim": set(),
    "asran": {
        "star-author",
        "star-table",
        "star-pair",
        "pan-author",
        "pan-paths",
        "uav-author",
        "uav-single",
        "fair-author",
    },
}
"""Parts with the network of the author's script."""


@pytest.mark.parametrize("name", CLAIMS)
def test_the_study_asks_what_the_report_asks(name):
    study = tp.Study.load(name)
    letter, last = CLAIMS[name]
    assert [claim.id for claim in study.spec.claims] == [f"{letter}{i}" for i in range(1, last + 1)]
    assert all(claim.tests for claim in study.spec.claims)
    scripts = {part.id for part in study.spec.parts if is_script(part.scenario)}
    assert scripts == SCRIPTS[name]
    assert {part.id for part in study.spec.parts} == set(PARTS[name]) | scripts
    # The report says of every network whose it is.
    assert all("script" in part.title for part in study.spec.parts if part.id in scripts)
    assert bool(scripts) == bool(read(name, study.spec))
    for part in (part for part in study.spec.parts if part.id not in scripts):
        plan = study.plan.parts[part.id]
        sweeps, points = PARTS[name][part.id]
        assert len(part.sweeps) == sweeps - 1
        assert len(plan.runs) == points * len(part.variants) * part.replicates
        assert part.replicates >= 10
        # The window over time of a typical run of each algorithm.
        assert set(plan.representative) == set(part.labels)
        assert "cwnd" in next(figure for figure in part.figures if figure.kind == "series").y


def test_what_the_report_says_overall_is_tested_over_every_axis():
    """E11 sums up all networks: each ratio along each of their axes; energy at one point at least of a sweep."""
    study = tp.Study.load("ewphcc").spec
    overall = next(claim for claim in study.claims if claim.id == "E11")
    axes = {
        (part.id, axis) for part in study.parts if not is_script(part.scenario) for sweep in part.sweeps for axis in sweep.vary
    }
    for metric in ("delay_s", "delivery_ratio", "loss_ratio", "goodput_bps"):
        assert {(test.part, test.over) for test in overall.tests if metric in test.metrics} == axes
    energy = [test for test in overall.tests if "energy_per_packet_j" in test.metrics]
    assert energy and all((test.bound, test.percent, test.points) == ("below", 0, "any") for test in energy)


@pytest.mark.parametrize("name", ["tcp-fr", "asran"])
def test_a_flood_is_compared_with_the_same_network(name):
    """But for the flood: a mechanism shows what one slip does."""
    spec = tp.Study.load(name).spec
    flood = next(one for one in read(name, spec) if one.id == "Flooding")
    tables = [spec.part(part).scenario["script"] for part in (flood.part, flood.without.part)]
    assert tables[1] == {**tables[0], "flooding": False}
    assert tables[0]["flooding"]


def test_the_script_of_asran_is_swept_as_its_author_did():
    part = tp.Study.load("asran").spec.part("star-author")
    assert [len(values) for sweep in part.sweeps for values in sweep.vary.values()] == [5, 5, 5]
    printed = {table.id: table for table in tp.Study.load("asran").spec.published}
    assert printed["fairness"].part == "fair-author"
    assert all(column.metric.startswith("asran_uav.cut_") for column in printed["table6"].columns[1:])
