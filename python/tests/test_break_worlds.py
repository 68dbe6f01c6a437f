"""`tonopah break`: the space of worlds, the classes of failure, and what is measured of a run."""

import json
import math
import tomllib
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pytest
from test_break import TWIN, trials_of

import tonopah as tp
from tonopah.breaking import classes, observed, page, told
from tonopah.breaking.holes import Listed, Range, hole_in
from tonopah.breaking.observed import Observed
from tonopah.breaking.runs import Wanted
from tonopah.breaking.space import World, read_space
from tonopah.stats.estimate import Estimate


def test_a_world_is_a_function_of_seed_and_number():
    first, second = read_space(), read_space()
    assert [first.world(1, k) for k in range(50)] == [second.world(1, k) for k in range(50)]
    assert first.world(1, 0) != first.world(2, 0)
    counts = [len(first.world(3, k).axes) for k in range(1000)]
    assert min(counts) == 1 and max(counts) <= 10
    drawn = {axis for k in range(1000) for axis in first.world(1, k).axes}
    assert drawn == set(first.axes)
    for k in range(300):
        world = first.world(1, k)
        assert World.of(world.id) == world
        for one, other in first.clash:
            assert not {one, other} <= set(world.axes)
        assert all(first.has_company(axis, set(world.axes)) for axis in world.axes)


def test_the_engine_takes_nearly_all_worlds():
    trials = trials_of("reno", "cubic")
    worlds = [trials.runs.space.world(1, k) for k in range(200)]
    refused = [w for w in worlds if not (setup := trials.runs.setup(w, trials.subject)) or not accepted(setup.scenario)]
    assert len(refused) <= 20


def accepted(scenario):
    try:
        tp.check(dict(scenario))
    except tp.InputError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "value", "milder"),
    [
        ("10Mbps..1Mbps", 1.3e6, [10e6, 3.6e6, 2e6]),
        ("18ms..150ms", 0.06, [0.018, 0.033, 0.05]),
        ("2..64", 30.0, [2.0, 8.0, 20.0]),
        ("20..5", 5.0, [20.0, 10.0]),
        ("0.0001..0.05", 0.0001, []),
    ],
)
def test_what_is_milder_than_a_number(text, value, milder):
    hole = hole_in(text, "")
    assert isinstance(hole, Range)
    assert list(hole.milder(value)) == pytest.approx(milder)


def test_holes_show_units_and_lists():
    rate, words = hole_in("5Mbps..500kbps", ""), hole_in("false|true", "")
    assert isinstance(rate, Range) and isinstance(words, Listed)
    assert [rate.shown(v) for v in (5e6, 5e5)] == ["5Mbps", "500kbps"]
    assert [words.shown(v) for v in words.options] == [False, True] and list(words.milder("true")) == ["false"]
    assert hole_in("100p..500p", "").shown(120.0) == "120p" and hole_in("bulk", "") is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("axis = 1", "axis"),
        ("x = 1", "x"),
        ('only = ["nothing"]', "only"),
        ("drop = 1", "drop"),
        ('only = ["rivals"]', "only"),
        ("[axis.mine]\nweight = 1", "axis.mine.sets"),
        ('[axis.mine]\nsets = "tcp.mss"', "axis.mine.choice"),
        ('[axis.mine]\nsets = "tcp.mss"\nchoice = [{ value = "1ms..2Mbps" }]', "axis.mine.choice.0.value"),
        ('[axis.mine]\nsets = "tcp.mss"\nchoice = [{ value = "..5" }]', "axis.mine.choice.0.value"),
        ('[axis.mine]\nsets = "tcp.mss"\nweight = -1\nchoice = [{ value = 1 }]', "axis.mine.weight"),
        ('[axis.mine]\nsets = "tcp.mss"\nchoice = [{ weight = 0, value = 1 }]', "axis.mine.choice"),
        ('[axis.mine]\nsets = "tcp.mss"\nwhat = 1\nchoice = [{ value = 1 }]', "axis.mine.what"),
        ("[base]\nloss = 1", "base.loss"),
        ("[world]\nmean_axes = 0", "world.mean_axes"),
        ("x", ""),
    ],
)
def test_a_mistake_in_a_space_has_its_place(tmp_path, text, path):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(tp.InputError) as error:
        read_space(file)
    assert error.value.path == path


def test_marks_are_offered_to_an_algorithm_in_a_file_wherever_that_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials = trials_of(TWIN, "cubic")
    space = trials.runs.space
    world = next(world for k in range(1000) if "ecn" in (world := space.world(1, k)).axes)
    assert trials.runs.setup(world, trials.subject).scenario["tcp"]["ecn"] == "classic"


def test_a_space_may_have_axes_of_its_own(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('only = ["mine"]\n[axis.mine]\nsets = "network.bottleneck.delay"\nchoice = [{ value = "18ms..30ms" }]\n')
    trials = trials_of("reno", "cubic", space=file)
    world = trials.runs.space.world(1, 0)
    assert world.axes == ("mine",)
    assert trials.runs.setup(world, trials.subject).scenario["network"]["bottleneck"]["delay"].endswith("ms")


def test_the_table_and_the_classes_have_the_same_names():
    table = tomllib.loads(resources.files("tonopah.breaking").joinpath("classes.toml").read_text())
    assert set(classes.CLASSES) == set(table) - {"threshold"}


def test_where_everybody_has_nothing_nobody_is_worse():
    assert classes.log2(0, 0) == classes.log2(0, 1) == -np.inf and classes.log2(1, 0) == np.inf and classes.log2(4, 1) == 2


def test_the_judge_compares_by_the_kind_of_a_class():
    few, many = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array([3.0, 3.1, 2.9, 3.2, 2.8, 3.0])
    ((loss, unit),) = told.judged(told.QUANTITIES["loss"], many, few, None)
    assert unit == "%" and loss.p_greater() < 0.05 and loss.value == pytest.approx(3.0), "no ratio to nothing: the difference"
    both = told.judged(told.QUANTITIES["loss"], many, many / 3 + 0.01 * few, None)
    assert len(both) == 2 and both[0][0].value == pytest.approx(200)
    ((goodput, unit),) = told.judged(told.QUANTITIES["underuse"], many / 3, many, None)
    assert unit == "%" and goodput.value == pytest.approx(-66.7, abs=0.1)
    # Transfers that had not ended are only known to be longer.
    unended = np.array([True] * 6), np.zeros(6, bool)
    ((slow, _),) = told.judged(told.QUANTITIES["unfinished"], many, many / 2 + 0.1 * np.arange(6), unended)
    assert slow.p_greater() < 0.05 and "ranks" in slow.test


def test_the_stretch_that_a_picture_shades():
    bins = np.full((1, 200), 1e6)
    bins[0, 60:110] = 0
    bins[0, 150:155] = 0
    seen = Observed(bins=bins, flows=[{"start_s": 0.0, "completion_s": 7.0}])

    def stretch(name, **setup):
        table = {"subjects": (0,), "rivals": (), "duration_s": 20.0, "last_change_s": 6.0, "app": "bulk", **setup}
        mark = page.stretch(SimpleNamespace(**table), SimpleNamespace(finding=SimpleNamespace(name=name)), seen, None)
        return mark.x, mark.until

    assert stretch("stall") == pytest.approx((6.0, 11.0))
    assert stretch("recovery") == pytest.approx((6.0, 11.1), abs=0.5)
    assert stretch("slow", app="transfer") == (0.0, 7.0) and stretch("slow") == (0.0, 20.0)
    assert stretch("underuse") == (4.0, 20.0)
    assert stretch("yields") == pytest.approx((5.8, 11.2), abs=0.3)


def test_stretches():
    bins = np.array([0.0, 0, 1, 1, 0, 0, 0, 1])
    assert observed.longest(bins <= 0) == 3 and observed.longest(bins > 5) == 0
    assert observed.windows(bins, 2).tolist() == [0, 0.5, 1, 0.5, 0, 0, 0.5] and len(observed.windows(bins, 9)) == 0


def test_a_world_that_needs_no_reference_shows_no_failure():
    """What is not possible without a reference fails beside none."""
    trials = trials_of("bbr", "cubic", "reno", jobs=2)
    runs = trials.runs
    worlds = [runs.space.world(2, k) for k in range(60)]
    mine = runs.all([Wanted(world, trials.subject, 1) for world in worlds])
    skipped = 0
    for world, run in zip(worlds, mine, strict=True):
        setup, can = runs.setup(world, trials.subject), trials.possible(world, run)
        if run is None:
            continue
        for name in set(classes.NAMES) - set(can):
            others = trials.references_of(name, world)
            beside = runs.all([Wanted(world, one, 1) for one in others])
            assert all(classes.margin(name, setup, run, other) < 0 for other in beside if other), (name, world)
        skipped += not can
    assert skipped > 10


def test_a_standard_never_harms():
    trials = trials_of("cubic", "reno", jobs=2)
    rival = next(world for k in range(1000) if "rival" in (world := trials.runs.space.world(1, k)).axes)
    assert trials.references_of("harm", rival) == ()


def test_an_interval_that_is_open_can_be_written():
    found = told.bounds(Estimate(2.0, 1.5, math.inf, 5))
    assert found == (2.0, 1.5, None) and json.loads(json.dumps(found, allow_nan=False)) == [2.0, 1.5, None]


def test_an_algorithm_that_reads_the_time_outs_of_its_own_recovery_keeps_it():
    trials = trials_of({"name": "ewphcc"}, "cubic")
    setup = trials.runs.setup(World(), trials.subject)
    assert setup.scenario["tcp"]["recovery"] == "rack"
    assert setup.scenario["flow"][0]["tcp"] == {"recovery": "vegas"} and "tcp" not in setup.scenario["flow"][1]
    assert "tcp" not in trials.runs.setup(World(), trials.references[0]).scenario["flow"][0]
    other = trials_of({"name": "ewphcc", "tcp": {"recovery": "sack"}}, "cubic")
    assert other.runs.setup(World(), other.subject).scenario["flow"][0]["tcp"] == {"recovery": "sack"}
    # EWPHCC leaves the phase in which its window doubles by its fine time-outs alone: its parameters have an effect.
    goodputs = [
        tp.run(setup.scenario, cc={"name": "ewphcc", "profile": profile}).flow(0).goodput_bps
        for profile in ("code", "code_fixed")
    ]
    assert goodputs[0] != goodputs[1]
