"""`tonopah break`: the space of worlds, the classes of failure, what is found, shrunk, stored and replayed."""

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tonopah as tp
from tonopah.breaking import classes, observed, page, told
from tonopah.breaking import runs as runs_module
from tonopah.breaking.holes import Listed, Range, hole_in
from tonopah.breaking.observed import Observed
from tonopah.breaking.runs import Runs, Wanted
from tonopah.breaking.search import Search, State
from tonopah.breaking.space import World, read_space
from tonopah.breaking.told import weaknesses
from tonopah.breaking.trial import Trials
from tonopah.cli import main
from tonopah.judge.subjects import read_algorithm

PLANTED = Path(__file__).parent / "planted"
FEW_ACKS = str(PLANTED / "few_acks.py:FewAcks")
TWIN = str(PLANTED / "twin.py:Twin")
ACKS = 'only = ["acks", "ack_every"]\n'
"""A space in which a sender that distrusts ACKs of many segments fails at once."""


@pytest.fixture
def acks(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(ACKS)
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A search that finds something."""
    folder = tmp_path_factory.mktemp("break")
    (folder / "space.toml").write_text(ACKS)
    search = tp.counterexamples(
        FEW_ACKS, worlds=6, jobs=2, out=folder / "out", space=folder / "space.toml", only=["underuse"], command="tonopah break"
    )
    return search, folder / "space.toml"


def trials_of(cc, *against, space=None, jobs=1):
    runs = Runs(read_space(space), jobs)
    label = runs.add(read_algorithm(cc, "SUBJECT"))
    return Trials(runs, label, [runs.add(read_algorithm(one, "R")) for one in against])


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
        ("x", "--space"),
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


def test_a_planted_fault_is_found_where_it_is(found):
    search, _ = found
    assert search.complete and len(search.findings) >= 1
    first = search.findings[0]
    assert first.finding.name == "underuse" and first.finding.kind == "alone" and len(first.finding.fails) >= 9
    assert set(first.finding.where.axes) <= {"acks", "ack_every"} and first.confirmed
    # Goodput is compared as the judge does: a ratio, here of less than half.
    assert first.effect[2] < -50 and first.effect_unit == "%" and "FewAcks" in first.sentence
    assert search.table()["class"].tolist().count("underuse") == len(search.findings)
    assert "FewAcks" in search._repr_html_()


def test_a_finding_is_an_ordinary_scenario(found):
    """`tonopah run` of its file gives the bits of the search."""
    search, space = found
    first = search.findings[0]
    trials = trials_of(FEW_ACKS, "cubic", space=space)
    with trials.runs.working():
        for seed in first.finding.fails[:2]:
            run = trials.runs.all([Wanted(first.finding.where, trials.subject, seed)])[0]
            result = tp.run(search.folder / first.file, seed=seed)
            assert without_cc(result.summary["flows"]) == without_cc(run.flows)
            assert np.array_equal(result.series("goodput")["value"], bins_in_order(run.bins, result.series("goodput")))
    text = (search.folder / first.file).read_text()
    assert text.startswith("# alone underuse:") and f"--seed {first.finding.fails[0]}" in text
    assert search.scenario(0)["tcp"]["cc"].endswith("few_acks.py:FewAcks")


def without_cc(flows):
    """The name of an algorithm in a file depends on the folder that names it."""
    return [{key: value for key, value in flow.items() if key != "cc"} for flow in flows]


def bins_in_order(bins, table):
    return [bins[flow, round(at / 0.1) - 1] for at, flow in zip(table["t_s"], table["flow"], strict=True)]


def test_nothing_can_be_taken_from_a_finding(found):
    search, space = found
    trials = trials_of(FEW_ACKS, "cubic", "reno", "bbr", space=space)
    with trials.runs.working():
        for one in search.findings:
            finding = one.finding
            assert trials.still(finding.where, finding.name, finding.kind, finding.how)
            simpler = list(trials.runs.space.simpler(finding.where))
            assert simpler
            assert not any(trials.still(world, finding.name, finding.kind, finding.how) for world in simpler)


def test_jobs_and_kills_change_nothing(found, tmp_path):
    search, space = found
    command = [
        sys.executable, "-m", "tonopah", "break", FEW_ACKS, "--worlds", "6", "--only", "underuse", "--space", str(space),
        "--out", str(tmp_path / "out"), "--jobs", "1", "--json",
    ]  # fmt: skip
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 300
        while process.poll() is None and not (tmp_path / "out" / "state.json").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, capture_output=True, check=True)
    ours, theirs = json.loads(done.stdout), json.loads((search.folder / "findings.json").read_text())
    # The ways to files and the label of the subject depend on the folder.
    for facts in (ours, theirs):
        facts.pop("cc")
    assert ours == theirs


def test_a_search_is_resumed_as_it_was_begun(found, tmp_path, monkeypatch, capsys):
    """From another working directory: subject and space are files that are named from the folder, one as deep as that."""
    search, _ = found
    shutil.copytree(search.folder.parent, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    assert main.main(["break", "--resume", "out", "--worlds", "7", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["worlds"] == 8 and len(facts["findings"]) >= len(search.findings)
    assert facts["question"] == json.loads((search.folder / "findings.json").read_text())["question"]


def test_replay_says_what_still_fails(found, capsys):
    search, space = found
    folder = str(search.folder)
    assert main.main(["break", "--replay", folder, "--space", str(space), "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert {one["word"] for one in facts["findings"]} == {"fails"} and facts["changed"] == []
    assert main.main(["break", "--replay", folder, TWIN, "--space", str(space), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {one["word"] for one in facts["findings"]} == {"mended"} and len(facts["changed"]) == 1


def test_an_accepted_finding_does_not_fail_ci(found, tmp_path, capsys):
    search, space = found
    facts = json.loads((search.folder / "findings.json").read_text())
    for one in facts["findings"]:
        one["accepted"] = "known"
    copy = tmp_path / "break"
    copy.mkdir()
    facts["cc"] = FEW_ACKS
    (copy / "findings.json").write_text(json.dumps(facts))
    assert main.main(["break", "--replay", str(copy), "--space", str(space)]) == 0
    assert "(accepted)" in capsys.readouterr().out


def test_the_page_tells_of_every_finding(found):
    search, _ = found
    page = (search.folder / "index.html").read_text()
    for one in search.findings:
        assert f'id="finding{one.number}"' in page
    assert "Where FewAcks fails" in page and "What was searched" in page


def test_another_question_needs_another_folder(found, capsys):
    search, space = found
    arguments = ["break", FEW_ACKS, "--worlds", "6", "--space", str(space), "--out", str(search.folder), "--seed", "2"]
    assert main.main([*arguments, "--only", "underuse"]) == 2
    assert "holds another search: --seed changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "SUBJECT"),
        (["nothing"], "unknown"),
        (["bbr", "--against", "bbr"], "nothing left but the subject"),
        (["bbr", "--only", "harmm"], "did you mean harm?"),
        (["bbr", "--budget", "5 parsecs"], "is no time"),
        (["bbr", "--margin", "0"], "is no factor"),
        (["bbr", "--space", "/nowhere.toml"], "cannot be read"),
        (["--replay", "/nowhere"], "findings.json"),
        (["--replay", "x", "--worlds", "3"], "has no effect with --replay"),
        (["--resume", "x", "--margin", "3"], "--margin: has no effect with --resume"),
        (["--resume", "x"], "holds no search"),
        ([], "--resume DIR"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main.main(["break", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def only_errors(name, space, out):
    return tp.counterexamples(str(PLANTED / f"broken.py:{name}"), worlds=1, jobs=2, out=out, space=space, only=["error"])


def test_a_subject_that_raises_is_a_finding(acks, tmp_path):
    found = tp.counterexamples(
        str(PLANTED / "broken.py:Raises"), worlds=1, jobs=2, out=tmp_path / "out", space=acks, only=["error"]
    )
    assert [one.finding.name for one in found.findings] == ["error"]
    assert found.findings[0].finding.where == World() and "KeyError" in found.findings[0].sentence


def test_a_window_that_is_no_number_and_a_sender_that_is_mute(acks, tmp_path):
    found = tp.counterexamples(
        str(PLANTED / "broken.py:NotANumber"), worlds=1, jobs=2, out=tmp_path / "a", space=acks, only=["error"]
    )
    assert [one.finding.name for one in found.findings] == ["error"]
    found = tp.counterexamples(str(PLANTED / "broken.py:Mute"), worlds=1, jobs=2, out=tmp_path / "b", space=acks)
    assert {"underuse", "stall"} <= {one.finding.name for one in found.findings}


def test_an_algorithm_that_never_answers_is_a_finding(acks, monkeypatch, tmp_path):
    monkeypatch.setattr(runs_module, "PATIENCE_S", 3.0)
    trials = trials_of(str(PLANTED / "broken.py:Hangs"), "cubic", space=acks)
    with trials.runs.working():
        screened = trials.screen([World()])
    failures, _ = screened[0]
    assert [one.name for one in failures] == ["error"]


def test_an_algorithm_that_throws_dice_is_refused(acks, tmp_path):
    with pytest.raises(tp.InputError, match="not repeatable"):
        for attempt in range(5):
            tp.counterexamples(str(PLANTED / "broken.py:Dice"), worlds=1, jobs=1, out=tmp_path / f"{attempt}", space=acks)


def test_a_standard_never_harms():
    trials = trials_of("cubic", "reno", jobs=2)
    rival = next(world for k in range(1000) if "rival" in (world := trials.runs.space.world(1, k)).axes)
    assert trials.references_of("harm", rival) == ()


def test_many_findings_under_one_axis_each_are_told_once(found):
    search, _ = found
    first = search.findings[0]
    told = weaknesses([replace(first, number=number) for number in range(1, 6)], 27)
    assert [said for said, _ in told] == ["alone underuse under 5 of 27 axes, each alone"]
    assert [said for said, _ in weaknesses(search.findings[:1], 27)] == [""]


def test_an_interruption_keeps_what_was_found(tmp_path, acks):
    command = [sys.executable, "-m", "tonopah", "break", FEW_ACKS, "--space", str(acks), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*command, "--budget", "10min"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while process.poll() is None and not stored_findings(tmp_path / "out") and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130 and "what was found is kept" in said
    assert json.loads((tmp_path / "out" / "findings.json").read_text())["findings"]


def stored_findings(folder):
    try:
        return json.loads((folder / "state.json").read_text())["state"]["findings"]
    except (OSError, ValueError):
        return []


def test_a_budget_ends_the_search(tmp_path, acks):
    trials = trials_of("reno", "cubic", space=acks)
    search = Search(trials, 1, 12, (), State())
    assert not search.run(None, lambda: search.state.worlds >= 3, lambda state, new: None)
    assert search.state.worlds == 3
