"""`tonopah conform`: cases of specifications as worlds with checks (docs/conform.md)."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
import tomli

import tonopah as tp
from tonopah.cli.main import main
from tonopah.conform.api import conform
from tonopah.conform.report import Report, lines
from tonopah.conform.specs import SPECS
from tonopah.conform.words import DEVIATES, HOLDS, NOT_OBSERVABLE
from tonopah.errors import InputError
from tonopah.export import qlog
from tonopah_dev.pages import bbr_logs

ALGORITHMS = Path(__file__).parent / "data" / "conforming.py"
PLUS_PLUS = '{ name = "cubic", profile = "hystart++" }'
RFC = '{ name = "cubic", profile = "rfc" }'
MUTANTS: list[tuple[str, str, str]] = [
    ("bbr-draft", '{ name = "bbr3", startup_gain = 2.0 }', "o1"),
    ("bbr-draft", '{ name = "bbr3", drain_gain = 0.8 }', "03"),
    ("bbr-draft", '{ name = "bbr3", up_gain = 1.1 }', "05"),
    ("bbr-draft", '{ name = "bbr3", down_gain = 0.97 }', "08"),
    ("bbr-draft", '{ name = "bbr3", cwnd_gain = 1.3 }', "04"),
    ("bbr-draft", '{ name = "bbr3", up_cwnd_gain = 1.5 }', "05"),
    ("bbr-draft", '{ name = "bbr3", probe_rtt_gain = 0.8 }', "10"),
    ("bbr-draft", '{ name = "bbr3", loss_threshold = 0.15 }', "02"),
    ("bbr-draft", '{ name = "bbr3", beta = 0.5 }', "16"),
    ("bbr-draft", '{ name = "bbr3", headroom = 0.5 }', "17"),
    ("bbr-draft", '{ name = "bbr3", min_cwnd = 2 }', "14"),
    ("bbr-draft", '{ name = "bbr3", pacing_margin = 20 }', "05"),
    ("bbr-draft", '{ name = "bbr3", startup_losses = 30 }', "02"),
    ("bbr-draft", '{ name = "bbr3", probe_wait = 6 }', "16"),
    ("bbr-draft", '{ name = "bbr3", probe_rounds = 5 }', "08"),
    ("bbr-draft", '{ name = "bbr3", probe_rtt_interval = 10 }', "10"),
    ("bbr-draft", '{ name = "bbr3", probe_rtt_time = 0.02 }', "10"),
    ("bbr-draft", '{ name = "bbr3", min_rtt_window = 1 }', "o2"),
    ("rfc9438", '{ name = "cubic", profile = "rfc", beta = 0.5 }', "c1"),
    ("rfc9438", '{ name = "cubic", profile = "rfc", c = 0.2 }', "c2"),
    ("rfc9438", '{ name = "cubic", profile = "rfc", fast_convergence = false }', "c5"),
    ("rfc9438", '{ name = "cubic", profile = "rfc", reno_friendly = false }', "c4"),
    ("rfc9406", '{ name = "cubic", profile = "hystart++", css_growth = 2 }', "h3"),
    ("rfc9406", '{ name = "cubic", profile = "hystart++", css_rounds = 2 }', "h3"),
    ("rfc9406", '{ name = "cubic", profile = "hystart++", hystart_rise = 0.25 }', "h3"),
    ("rfc9406", '{ name = "cubic", profile = "hystart++", hystart_least_rise = 2 }', "h4"),
    ("rfc9406", '{ name = "cubic", profile = "hystart++", hystart_most_rise = 32 }', "h5"),
]
"""Subjects with one constant wrong, and a case that catches each. `make test` tries each fourth, `make conform` all."""


def verdicts(report: Report) -> dict[str, str]:
    """Return the verdicts by case."""
    return {one.case.id: one.verdict for one in report.outcomes}


@pytest.mark.parametrize("seed", range(1, 8) if os.environ.get("TONOPAH_CONFORM") else [1])
def test_bbr3_holds_in_every_case_of_the_draft(seed: int) -> None:
    report = conform("bbr3", "bbr-draft", seed=seed)
    assert verdicts(report) == dict.fromkeys((case.id for case in SPECS["bbr-draft"].cases), HOLDS)
    assert len(report.outcomes) == 25
    if seed > 1:
        return
    measured = {measure.name: measure.value for one in report.outcomes for measure in one.measures if one.case.id == "06"}
    assert measured["seconds_without_loss"] == pytest.approx(2.192, abs=1e-3)
    assert measured["ms_in_up"] == pytest.approx(81.4, abs=0.1)


@pytest.mark.parametrize(
    ("subject", "spec", "deviating"),
    [
        (RFC, "rfc9438", set()),
        ("cubic", "rfc9438", {"c4", "c6", "c7", "c9"}),
        (PLUS_PLUS, "rfc9406", set()),
        ('{ name = "reno", profile = "rfc" }', "tcp", {"r6"}),
        ("reno", "tcp", {"r6", "r8"}),
    ],
)
def test_what_deviates_is_what_the_page_names(subject: str, spec: str, deviating: set[str]) -> None:
    report = conform(subject, spec)
    assert {one for one, verdict in verdicts(report).items() if verdict != HOLDS} == deviating
    assert {one for one, verdict in verdicts(report).items() if verdict == DEVIATES} == deviating
    page = (Path(__file__).parents[2] / "docs" / "conform.md").read_text(encoding="utf-8")
    assert all(f"| {one} |" in page for one in deviating)


@pytest.mark.parametrize(("spec", "subject", "case"), MUTANTS if os.environ.get("TONOPAH_CONFORM") else MUTANTS[::4])
def test_a_wrong_constant_is_caught(spec: str, subject: str, case: str) -> None:
    assert verdicts(conform(subject, spec, case=[case])) == {case: DEVIATES}


def test_an_algorithm_that_shows_nothing_is_judged_from_outside_where_that_can_be() -> None:
    (one, other) = conform("reno", "bbr-draft", case=["01", "04"]).outcomes
    assert (one.form, one.verdict) == ("outside", DEVIATES)
    assert other.verdict == NOT_OBSERVABLE
    assert conform("reno", "bbr-draft", case=["04"]).status(strict=False) == 0
    assert conform("reno", "bbr-draft", case=["04"]).status(strict=True) == 1
    # Thirteen of them, and our BBR holds in these too where it is a question of what is sent.
    assert sum(case.outside is not None for case in SPECS["bbr-draft"].cases) == 13


def test_a_class_in_python_deviates_at_its_first_loss() -> None:
    subject = f"{ALGORITHMS}:Cubic"
    report = conform(subject, "rfc9438", case=["c1", "c2"])
    assert verdicts(report) == {"c1": HOLDS, "c2": HOLDS}
    wrong = conform(f'{{ python = "{subject}", beta = 0.5 }}', "rfc9438", case=["c1"]).outcomes[0]
    assert wrong.verdict == DEVIATES
    assert wrong.moment_s == pytest.approx(0.8095, abs=1e-3)
    assert len(wrong.packets) == 11
    assert any("cwnd" in packet["text"] for packet in wrong.packets)


@pytest.mark.parametrize(
    ("wrong", "case"),
    [("beta", "r2"), ("growth", "r1"), ("slow", "r1"), ("idle", "r9"), ("twice", "r2"), ("unused", "r10")],
)
def test_a_reno_in_python_is_caught_by_what_is_wrong(wrong: str, case: str) -> None:
    subject = f"{ALGORITHMS}:Reno"
    assert verdicts(conform(subject, "tcp", case=[case])) == {case: HOLDS}
    assert verdicts(conform(f'{{ python = "{subject}", {wrong} = true }}', "tcp", case=[case])) == {case: DEVIATES}


def test_what_is_written_is_a_report_json_and_worlds_that_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made" / "here"
    code = main(["conform", "cubic", "--spec", "rfc9438", "--case", "c1,c9", "--out", str(out), "--json"])
    printed = capsys.readouterr().out
    assert code == 1
    assert (out / "conform.json").read_text(encoding="utf-8") == printed
    found = json.loads(printed)
    assert {*found} == {"schema", "subject", "spec", "text_of", "engine", "seed", "cases"}
    held, deviating = found["cases"]
    assert (held["verdict"], held["moment_s"], held["packets"]) == (HOLDS, None, [])
    assert deviating["verdict"] == DEVIATES
    assert deviating["bounds"]["least_cwnd"] == [None, 1]
    assert deviating["measured"]["least_cwnd"] == 2
    assert deviating["packets"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    # The world is an ordinary scenario, in which the same is seen.
    world = tomli.loads((out / "worlds" / "c9.toml").read_text(encoding="utf-8"))
    assert world["tcp"]["cc"] == {"name": "cubic", "profile": "linux"}
    assert tp.run(out / "worlds" / "c9.toml").series("cwnd")["value"].min() == 2 * 1448


def test_the_world_of_a_class_finds_it_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_bytes(ALGORITHMS.read_bytes())
    monkeypatch.chdir(tmp_path)
    conform("mine.py:Reno", "tcp", case=["r2"], out="out", qlogs="logs")
    assert tp.run("out/worlds/r2.toml").summary["flows"][0]["cc"].endswith("Reno")
    assert (tmp_path / "logs" / "r2.sqlog").stat().st_size > 0


def test_lines_fit_a_terminal() -> None:
    report = conform("cubic", "rfc9438", case=["c9", "c11"])
    assert all(len(line) <= 80 for line in lines(report, 80))
    text = "\n".join(lines(report, 80))
    assert "c9   marks down to one segment       deviates" in text
    assert "least cwnd 2 (≤ 1)" in text
    assert "2 cases: 1 holds, 1 deviates" in text
    assert "no proof" in text


def test_changes_names_and_seeds_reach_every_world() -> None:
    held = conform("bbr3", "bbr-draft", case=["03"], set={"tcp.cc": "bbr3"}, map=["full_bw_reached=full_pipe"], seed=7)
    assert verdicts(held) == {"03": HOLDS}
    lost = conform("bbr3", "bbr-draft", case=["04"], map=["state=none_such"])
    assert verdicts(lost) == {"04": NOT_OBSERVABLE}
    assert "`none_such`" in lost.outcomes[0].note
    assert conform("cubic", "rfc9438", case=["c1"], set={"tcp.profile": "rfc"}).outcomes[0].worlds[0]["tcp"]["profile"] == "rfc"


@pytest.mark.parametrize(
    ("keys", "path", "words"),
    [
        ({"subject": "bbr9"}, "ALGORITHM", "bbr"),
        ({"spec": ""}, "--spec", "bbr-draft"),
        ({"spec": "rfc1"}, "--spec", "rfc9438"),
        ({"case": ["1"]}, "--case", "01"),
        ({"map": ["state"]}, "--map", "NAME=NAME"),
        ({"map": ["stat=x"]}, "--map", "state"),
    ],
)
def test_what_is_unknown_is_an_error_with_what_is_known(keys: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        conform(**{"subject": "bbr3", "spec": "bbr-draft", **keys})
    assert caught.value.path == path
    assert words in str(caught.value)


def test_the_command_lists_cases_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 73
    assert main(["conform", "--list", "--spec", "rfc9406"]) == 0
    assert "h10" in capsys.readouterr().out
    for given in ([], ["bbr3"], ["bbr3", "--spec", "rfc1"], ["bbr3", "--spec", "tcp", "--set", "tcp.none=1", "--case", "r1"]):
        assert main(["conform", *given]) == 2
        assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("case", bbr_logs.CASES if os.environ.get("TONOPAH_CONFORM") else ["01"])
def test_the_logs_of_bbr3_are_what_it_does(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(__file__).parents[2] / "docs" / "reference" / "bbr" / f"{case}.sqlog.gz"
    assert file.stat().st_size < 300_000
    kept = gzip.decompress(file.read_bytes()).decode().split(qlog.RECORD_SEPARATOR)
    ((_, text),) = bbr_logs.logs([case])
    made = text.split(qlog.RECORD_SEPARATOR)
    # The head has the version, which made none of it.
    assert kept[2:] == made[2:] and len(made) > 5000
    metrics = [(event["time"], event["data"]) for event in map(json.loads, kept[2:]) if event["name"].endswith("metrics_updated")]
    rates = [data["cc_max_bw_bps"] for at, data in metrics if at <= 2000 and "cc_max_bw_bps" in data]
    assert case not in ("01", "05", "10") or rates[-1] == pytest.approx(19.307e6, abs=1e3)
    assert main(["compare-trace", str(file), str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: one["largest"] for name, one in found["metrics"].items()} == {"cwnd": 0, "in_flight": 0, "srtt": 0}
    assert found["lacking"][file.name] == ["delivered"]
