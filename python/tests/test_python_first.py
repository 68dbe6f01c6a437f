"""Python first: studies and sweeps without files, pictures, and programs as users write them."""

import importlib.util
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.scenario.document import to_toml
from tonopah.spec.building import name_from

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
SCENARIO = {
    "duration": "1s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "flows": 2,
        "bottleneck": {"rate": "2Mbps", "delay": "8ms", "queue": "20p", "loss": {"kind": "packet", "p": 0.01}},
    },
}
DELAYS = ["5ms", "20ms"]
AXIS = "network.bottleneck.delay"


def make_study(**keys):
    return tp.Study("Does delay matter?", SCENARIO, ["newreno", "cubic"], sweep={AXIS: DELAYS}, replicates=4, **keys)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    made = make_study(baseline="newreno")
    made.run(out=tmp_path_factory.mktemp("study") / "s", quiet=True)
    return made


def test_a_study_in_python_is_that_of_its_file(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "does-delay-matter.toml"
    path.write_text(study.to_toml())
    again, third = tp.Study.load(path), tp.Study.load(study.document)
    assert study.name == again.name == third.name == "does-delay-matter"
    assert study.plan.runs.keys() == again.plan.runs.keys() == third.plan.runs.keys()
    assert len(study.table()) == 2 * 2 * 4
    # The scenario may be a file; its path starts at the working directory.
    (tmp_path / "world.toml").write_text(to_toml(SCENARIO))
    by_file = tp.Study("Does delay matter?", "world.toml", ["newreno", "cubic"], {AXIS: DELAYS}, 4, baseline="newreno")
    assert by_file.plan.runs.keys() == study.plan.runs.keys()


def test_what_is_given_is_not_changed_and_mistakes_have_a_path():
    before = str(SCENARIO)
    make_study()
    assert str(SCENARIO) == before
    with pytest.raises(tp.InputError, match=r"compare\.cc"):
        tp.Study("Q?", SCENARIO, [3])
    with pytest.raises(tp.InputError, match="baselin"):
        make_study(baselin="newreno")
    with pytest.raises(tp.InputError, match="scenario: 5 is no scenario"):
        tp.Study("Q?", 5, ["reno"])  # type: ignore[arg-type]
    with pytest.raises(tp.InputError, match="network"):
        tp.Study.load({"question": "Q?", "compare": {"cc": ["reno"]}, "scenario": {"duration": "1s"}}).plan  # noqa: B018


@pytest.mark.parametrize(("question", "name"), [("Is it?  So!", "is-it-so"), ("?", "study"), (None, "none"), ("a" * 90, "study")])
def test_a_question_gives_a_name(question, name):
    assert name_from(question) == name


def test_a_study_draws_a_metric_over_an_axis(study, tmp_path):
    text = study.plot("goodput_bps", x=AXIS)._repr_svg_()
    assert ET.fromstring(text).tag.endswith("svg") and "newreno" in text and "cubic" in text
    assert study.plot("delay_s", x=AXIS).save(tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(tp.InputError, match="no format"):
        study.plot("delay_s", x=AXIS).save(tmp_path / "d.xyz")
    with pytest.raises(tp.InputError, match=f"no run measured delay_s at the nominal point .over an axis: x='{AXIS}'"):
        study.plot("delay_s")
    with pytest.raises(tp.InputError):
        study.plot("goodputs_bps", x=AXIS)
    with pytest.raises(tp.InputError):
        study.plot("goodput_bps", x="network.bottleneck.rate")


def test_a_sweep_gives_means_with_the_intervals_of_the_study(study):
    table = tp.sweep(SCENARIO, {AXIS: DELAYS}, ["newreno", "cubic"], replicates=4)
    assert list(zip(table["algorithm"], table[AXIS], strict=True)) == [(a, d) for a in ("newreno", "cubic") for d in DELAYS]
    rows = study.table().query("algorithm == 'cubic'")
    expected = rows[rows[AXIS] == "20ms"]["goodput_bps"].mean()
    [found] = table[(table["algorithm"] == "cubic") & (table[AXIS] == "20ms")].to_dict("records")
    assert found["goodput_bps"] == pytest.approx(expected)
    assert found["replicates"] == 4 and found["goodput_bps_low"] < found["goodput_bps"] < found["goodput_bps_high"]
    few = tp.sweep(SCENARIO, {AXIS: DELAYS[:1]}, "reno", replicates=2)
    assert few["goodput_bps_low"].isna().all() and few["goodput_bps"].notna().all()
    with pytest.raises(tp.InputError, match="metrics: 'goodput' is no metric"):
        tp.sweep(SCENARIO, {AXIS: DELAYS[:1]}, "reno", replicates=2, metrics=["goodput"])


def test_results_and_studies_show_themselves(study):
    result = tp.run({**SCENARIO, "record": {"series": ["cwnd", "queue"]}})
    assert "goodput_bps" in result._repr_html_() and "left1" in result._repr_html_()
    assert ET.fromstring(result.plot()._repr_svg_()).tag.endswith("svg")
    with pytest.raises(tp.InputError, match="'rtt' was not recorded"):
        result.plot("rtt")
    with pytest.raises(tp.InputError, match="recorded no series"):
        tp.run(SCENARIO).plot()
    shown = make_study(name="x<y")._repr_html_()
    assert "x&lt;y" in shown and "4 replicates" in shown and ET.fromstring(shown).tag == "table"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run(program, tmp_path):
    done = subprocess.run([sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout and any(tmp_path.iterdir())


def test_programs_are_typed():
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *map(str, PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
