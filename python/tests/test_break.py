"""`tonopah break`: what is found, shrunk, stored and replayed."""

import json
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tonopah as tp
from tonopah.breaking import runs as runs_module
from tonopah.breaking.runs import Runs, Wanted
from tonopah.breaking.search import Clock, Search, State
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


def test_a_subject_that_does_not_run_is_not_mended(found, capsys):
    """Every run of it was refused, so that it failed with no seed."""
    search, space = found
    wrong = '{ name = "cubic", tcp = { ecn_option = true } }'
    assert main.main(["break", "--replay", str(search.folder), wrong, "--space", str(space)]) == 2
    assert "mended" not in capsys.readouterr().out


def test_a_subject_may_have_settings_of_its_own(tmp_path, capsys):
    """`tcp` in the table of an algorithm is that of the flow."""
    subject = '{ name = "tahoe", tcp = { ack_every = 3 } }'
    assert main.main(["break", subject, "--worlds", "20", "--out", str(tmp_path), "--json", "--jobs", "1"]) == 0
    facts = json.loads(capsys.readouterr().out)
    first = facts["findings"][0]
    scenario = tmp_path / first["file"]
    head = scenario.read_text().splitlines()
    assert tomllib.loads(scenario.read_text())["flow"][0]["tcp"] == {"ack_every": 3}
    beside = shlex.split(next(line for line in head if "Beside it" in line).partition("tonopah ")[2])
    seed = first["fails"][0]
    assert tp.run(scenario, seed=seed).summary["flows"][0]["cc"] == "tahoe"
    assert main.main([*beside, "--json"]) == 0
    other = json.loads(capsys.readouterr().out)
    plain = tomllib.loads(scenario.read_text())
    del plain["flow"][0]["tcp"]
    cc = tomllib.loads(next(one for one in beside if one.startswith("tcp.cc=")).replace("tcp.cc=", "cc = ", 1))["cc"]
    assert other["flows"] == tp.run(plain | {"tcp": plain["tcp"] | {"cc": cc}}, seed=seed).summary["flows"]


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


BURNS = """
import time
from tonopah import CongestionControl
class Burns(CongestionControl):
    def __init__(self, setup):
        while time.process_time() < 0.5:
            pass
        self.cwnd_bytes = self.ssthresh_bytes = 30_000
    def on_ack(self, ack, view):
        pass
    def on_congestion(self, event, view):
        pass
"""


def test_cpu_time_is_that_of_the_processes_of_python_too(tmp_path):
    (tmp_path / "burns.py").write_text(BURNS)
    trials = trials_of(f"{tmp_path / 'burns.py'}:Burns", "cubic")
    wanted = [Wanted(World(), trials.subject, seed) for seed in (1, 2)]
    clock = Clock(None, trials.runs, cpu=True)
    with trials.runs.working():
        assert all(trials.runs.all(wanted))
        used_s = clock.elapsed_s
        assert used_s >= 2 * 0.4 and trials.runs.workers.cpu_s >= 2 * 0.4
    # Nothing is counted twice once the processes have ended.
    assert clock.elapsed_s >= used_s and trials.runs.workers.cpu_s == 0
