"""`tonopah study sensitivity`: alternatives of what is assumed, the runs that they need, and the verdicts that hang on them."""

import copy
import json

import pytest
from conftest import toml
from test_claims import world

from tonopah.analysis import claims
from tonopah.analysis.moved import moved_worlds
from tonopah.analysis.sensitivity import check_alternatives, choose_claims, find_worlds, plan_worlds, together
from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.scenario.paths import put_all
from tonopah.spec.library import shipped
from tonopah.spec.reader import parse_spec, read_spec

SHORT = {"value": "5 packets", "set": {"network.bottleneck.queue": "5p"}, "reason": "Short."}
QUEUE = {"parameter": "queue", "value": "200 packets", "reason": "Not stated.", "alternatives": [SHORT]}
BOTTLENECK = {"rate": "4Mbps", "delay": "8ms", "queue": "200p"}
STUDY = {
    "question": "Does the queue matter?", "baseline": "newreno", "replicates": 4, "assumed": [QUEUE],
    "vary": {"delays": 0.0, "buffers": 0, "background": 0.0, "points": False},
    "scenario": {
        "duration": "2s",
        "network": {"kind": "dumbbell", "pairs": 2, "access": {"rate": "100Mbps", "delay": "1ms"}, "bottleneck": BOTTLENECK},
        "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1"}],
    },
    "compare": {"cc": ["newreno", "cubic", "vegas"]},
    "sweep": [{"vary": {"network.bottleneck.rate": ["4Mbps", "8Mbps"]}}],
    "figure": [{"kind": "bar", "y": ["goodput_bps"]}],
    "claim": [
        {"id": "Q1", "text": "The delay is long.",
         "test": {"metric": "delay_s", "above": 0.1, "at": {"network.bottleneck.rate": "4Mbps"}}},
        {"id": "Q2", "text": "CUBIC carries as much.",
         "test": {"metric": "goodput_bps", "difference": {"of": "cubic"}, "within_percent": 50}},
        {"id": "Q3", "text": "A matter of taste."},
    ],
    "quick": {"replicates": 2, "duration": "1s"},
}  # fmt: skip


@pytest.fixture
def study():
    return copy.deepcopy(STUDY)


@pytest.fixture
def folder(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(toml(study), encoding="utf-8")
    return tmp_path


def parts(study):
    """Return the study as one of two parts, of which the second assumes nothing."""
    both = {key: study.pop(key) for key in ("assumed", "claim")}
    one, two = ({"id": name} | ({"assumed": both["assumed"]} if name == "one" else {}) for name in ("one", "two"))
    split = [claim | {"id": claim["id"] + name, "part": name} for name in ("one", "two") for claim in both["claim"][:2]]
    return study | {"part": [one, two], "claim": split}


def sizes(document, *wanted):
    spec = parse_spec(document)
    worlds = find_worlds(spec)
    chosen = choose_claims(spec, wanted, worlds)
    default, plans = plan_worlds(chosen, worlds, ".")
    return chosen, default, plans, together([default, *plans])


def test_only_runs_that_claims_need_are_planned(study):
    chosen, default, _, plan = sizes(study)
    assert [claim.id for claim in chosen.claims] == ["Q1", "Q2"], "Q3 reads nothing"
    assert {run.algorithm for run in plan.runs.values()} == {"newreno", "cubic"}, "no claim reads vegas"
    # Two rates, the nominal point being one of them, two algorithms, four replicates; nothing for time series.
    assert len(default.runs) == 16 and len(plan.runs) == 32
    # Q2 alone reads the nominal point only.
    assert len(sizes(study, "Q2")[3].runs) == 16


def test_a_part_that_a_world_does_not_change_is_run_once(study):
    document = parts(study)
    document["part"][1]["scenario"] = {"duration": "3s"}
    document["claim"].append({"id": "B", "text": "?", "test": {"parts": ["one", "two"], "metric": "delay_s", "above_percent": 0}})
    chosen, default, plans, plan = sizes(document)
    assert [claim.id for claim in chosen.claims] == ["Q1one", "Q2one", "B"], "no alternative changes what the others read"
    assert plans[0].parts["two"] is default.parts["two"]
    # Part one: 16 runs in both worlds; part two: newreno at the nominal point.
    assert len(default.runs) == 20 and len(plan.runs) == 36


def test_parts_that_assume_the_same_change_together(study):
    document = parts(study)
    document["part"][1]["assumed"] = document["part"][0]["assumed"]
    worlds = find_worlds(parse_spec(document))
    assert [world.parts for world in worlds] == [{"one", "two"}]
    document["part"][1]["assumed"] = [QUEUE | {"value": "300 packets"}]
    assert len(find_worlds(parse_spec(document))) == 2


def test_a_verdict_that_hangs_on_an_assumption_is_shown(study, folder, capsys):
    # Where values agree an exact test decides, which needs six replicates.
    (folder / "s.toml").write_text(toml(study | {"replicates": 6}), encoding="utf-8")
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed"]) == 0
    printed, said = capsys.readouterr()
    assert "s: claims Q1, Q2; 48 runs: 24 as assumed, 24 with 1 alternative" in said
    assert "Q1: supported\n  * queue = 5 packets: contradicted\n" in printed
    assert "Q2: supported\n    queue = 5 packets: supported\n" in printed
    content = json.loads((folder / "results" / "s-sensitivity" / "sensitivity.json").read_text())
    assert content["hang"] == [
        {"claim": "Q1", "parameter": "queue", "assumed": "200 packets", "value": "5 packets", "before": "supported",
         "after": "contradicted"}
    ]  # fmt: skip
    reading = content["claims"][0]["worlds"][0]["readings"][0]
    assert reading["before"]["value"] > 100 > reading["after"]["value"] > 0 and reading["before"]["n"] == 6
    assert content["assumptions"][0]["alternatives"][0]["set"] == {"": SHORT["set"]}
    page = (folder / "results" / "s-sensitivity" / "sensitivity.html").read_text()
    assert "hangs on it" in page and "Short." in page and "<script" not in page


def test_it_continues_and_takes_over_what_the_study_has(folder, capsys):
    assert main.main(["study", "run", "s.toml"]) == 0
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed", "--json"]) == 0
    printed, said = capsys.readouterr()
    facts = json.loads(printed.splitlines()[-1])
    assert "16 runs are those of results/s" in said and facts["runs"] == 32 and facts["run_now"] == 16
    assert facts["command"] == "tonopah study sensitivity s.toml --only assumed"
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run_now"] == 0
    # The study's own report shows the table from now on, until its criteria are others.
    assert main.main(["study", "report", "results/s"]) == 0
    report = (folder / "results" / "s" / "report.html").read_text()
    assert "What the verdicts hang on" in report and "200 packets<small>or 5 packets</small>" in report
    (folder / "s.toml").write_text((folder / "s.toml").read_text().replace("above = 0.1", "above = 0.2"))
    assert main.main(["study", "run", "s.toml"]) == 0
    assert "What the verdicts hang on" not in (folder / "results" / "s" / "report.html").read_text()


def test_an_interrupted_command_says_how_to_continue(folder, capsys):
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed", "--jobs", "1", "--max-hours", "0.0000001"]) == 1
    said = capsys.readouterr().err
    assert "of 32 runs are stored in results/s-sensitivity, " in said and "are missing; run the same command to continue" in said
    assert not (folder / "results" / "s-sensitivity" / "sensitivity.json").exists()
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed"]) == 0


def test_quick_shows_effects_and_no_verdicts(folder, capsys):
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed", "--quick", "--claims", "Q1"]) == 0
    printed = capsys.readouterr().out
    assert "Q1\n    queue = 5 packets\n" in printed and "Q2" not in printed and "supported" not in printed
    content = json.loads((folder / "results" / "s-quick-sensitivity" / "sensitivity.json").read_text())
    assert content["quick"] and content["hang"] == [] and content["claims"][0]["verdict"] == "not judged"
    page = (folder / "results" / "s-quick-sensitivity" / "sensitivity.html").read_text()
    assert "not judged" not in page and "p values" not in page and "→" in page


def test_fewer_claims_are_judged_as_strictly(folder):
    """p values stay adjusted for the claims of the study: a choice of claims must not make them look surer."""
    claimed = {"metric": "goodput_bps", "above": 9.7e6}
    alone = claims.judge(*world({"reno": [10, 20, 30, 40, 50]}, claimed))[0].p_for
    assert 0 < alone < 0.05
    assert claims.judge(*world({"reno": [10, 20, 30, 40, 50]}, claimed), left_out=3)[0].p_for == pytest.approx(4 * alone)
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed", "--claims", "Q1", "--out", "one"]) == 0
    content = json.loads((folder / "one" / "sensitivity.json").read_text())
    assert content["claims_of_study"] == 2, "Q3 has no test"
    assert [claim["id"] for claim in content["claims"]] == ["Q1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--claims", "Q7"], "--claims: 'Q7' is unknown (claims: Q1, Q2, Q3"),
        (["--claims", "Q3"], "--claims: reads no part that an alternative changes"),
        (["--claims", "Q1,"], "is not a list of claims, like N3,N4"),
    ],
)
def test_wrong_claims_are_errors(folder, capsys, arguments, message):
    try:
        code = main.main(["study", "sensitivity", "s.toml", "--only", "assumed", *arguments])
    except SystemExit as error:
        code = error.code
    assert code == 2 and message in capsys.readouterr().err
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "", "set": {"network.pairs": 3}}, r"assumed\[0\].alternatives\[0\].value: is missing"),
        ({"value": "x"}, r"assumed\[0\].alternatives\[0\].set: is missing"),
        ({"value": "x", "set": {}}, r"assumed\[0\].alternatives\[0\].set: changes nothing"),
        ({"value": "x", "set": {"network..pairs": 3}}, r"assumed\[0\].alternatives\[0\].set.network..pairs: .*is not a path"),
        ({"value": "x", "set": {"flow.*x.start": 3}}, "is not a path"),
        ({"value": "x", "sett": {}}, r"alternatives\[0\].sett: unknown key .*did you mean set"),
    ],
)
def test_a_wrong_alternative_is_an_error_with_its_place(study, change, message):
    study["assumed"] = [QUEUE | {"alternatives": [change]}]
    with pytest.raises(InputError, match=message):
        parse_spec(study)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"network.bottleneck.queue": "five"},
            r"^assumed\[0\].alternatives\[0\].set.network.bottleneck.queue: \"five\" is not a size",
        ),
        ({"network.bottleneck.qeue": "5p"}, r"^assumed\[0\].alternatives\[0\].set.network.bottleneck.qeue: unknown key"),
        ({"network.bottleneck.queue": "200p"}, r"^assumed\[0\].alternatives\[0\].set: has no effect"),
        ({"link.*.queue": "5p"}, r"^assumed\[0\].alternatives\[0\].set.link: has no entries"),
        ({"flow.7.start": "1s"}, r"^assumed\[0\].alternatives\[0\].set.flow: has no entry 7"),
    ],
)
def test_check_refuses_an_alternative_that_the_engine_refuses_or_that_changes_nothing(study, folder, capsys, changes, message):
    study["assumed"] = [QUEUE | {"alternatives": [{"value": "x", "set": changes}]}]
    with pytest.raises(InputError, match=message):
        check_alternatives(parse_spec(study), ".")
    (folder / "s.toml").write_text(toml(study), encoding="utf-8")
    assert main.main(["check", "s.toml"]) == 2
    assert "s.toml: assumed[0].alternatives[0].set" in capsys.readouterr().err


def test_a_study_without_alternatives_has_nothing_to_show(study, folder, capsys):
    study["assumed"] = []
    (folder / "s.toml").write_text(toml(study), encoding="utf-8")
    assert main.main(["study", "sensitivity", "s.toml", "--only", "assumed"]) == 2
    assert "assumed: has no alternatives" in capsys.readouterr().err


def test_a_star_stands_for_every_entry():
    scenario = {"link": [{"queue": "8MB"}, {"queue": "8MB", "rate": "1Mbps"}]}
    put_all(scenario, "link.*.queue", {"limit": "5p"})
    assert scenario == {"link": [{"queue": {"limit": "5p"}}, {"queue": {"limit": "5p"}, "rate": "1Mbps"}]}
    assert scenario["link"][0]["queue"] is not scenario["link"][1]["queue"]


@pytest.mark.parametrize("name", ["netsim", "ewphcc", "asran", "tcp-fr", "hystart"])
def test_shipped_studies_have_alternatives_that_the_engine_accepts(name):
    assert check_alternatives(read_spec(shipped()[name])[0], shipped()[name].parent) >= 1


def test_every_number_of_the_world_is_moved_by_one_percent(study, folder, capsys):
    study["assumed"] = []
    study["claim"] = study["claim"][:1]
    (folder / "s.toml").write_text(toml(study), encoding="utf-8")
    assert main.main(["study", "sensitivity", "s.toml", "--json"]) == 0
    content = json.loads((folder / "results/s-sensitivity/sensitivity.json").read_text(encoding="utf-8"))
    moved = {entry["parameter"]: [one["value"] for one in entry["alternatives"]] for entry in content["assumptions"]}
    # The rate of the bottleneck is an axis.
    assert moved == {
        "duration": ["1.98s", "2.02s"],
        "network.access.rate": ["99Mbps", "101Mbps"],
        "network.access.delay": ["0.99ms", "1.01ms"],
        "network.bottleneck.delay": ["7.92ms", "8.08ms"],
        "network.bottleneck.queue": ["198p", "202p"],
    }
    capsys.readouterr()
    assert main.main(["study", "sensitivity", "s.toml"]) == 0
    assert "10 numbers moved by 1 %: none changes" in capsys.readouterr().out


def test_a_verdict_that_hangs_on_a_number_is_listed(study, folder, capsys):
    study["assumed"] = []
    # The delay is that of a full queue of 200 packets at 4 Mb/s, 0.6 s: 1 % is 6 ms.
    threshold = {"metric": "delay_p95_s", "above": 0.5, "at": {"network.bottleneck.rate": "4Mbps"}}
    study["claim"] = [{"id": "Q1", "text": "The delay is long.", "test": threshold}]
    study["compare"]["cc"] = ["newreno"]
    spec = parse_spec(study)
    worlds = moved_worlds(spec, ".")
    assert {world.assumption.parameter for world in worlds} >= {"network.bottleneck.queue", "duration"}
    assert all(world.moved and world.parts == {""} for world in worlds)
