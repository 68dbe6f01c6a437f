"""Flows are shown by their names, and may be asked for by them."""

import pytest

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.scenario.document import to_toml
from tonopah.spec.reader import parse_spec

SCENARIO = {
    "duration": "2s",
    "network": {"kind": "dumbbell", "pairs": 2},
    "flow": [
        {
            "from": "left0",
            "to": "right0",
            "name": "game up",
            "app": {"kind": "rtc", "rate": "500kbps"},
        },
        {"from": "left1", "to": "right1"},
    ],
    "record": {"series": ["throughput"]},
}
STUDY = {
    "question": "Whose delay?",
    "scenario": SCENARIO,
    "compare": {"cc": ["newreno", "cubic"]},
    "derived": [
        {"kind": "average", "name": "game_delay", "metric": "delay_s", "flows": ["game up"]},
        {"kind": "ratio", "name": "share", "flows": [1], "to": ["game up"]},
    ],
    "figure": [
        {"kind": "series", "y": ["throughput"], "flow": "game up"},
        {"kind": "series", "y": ["throughput"], "flow": "all"},
    ],
}


def test_tables_of_a_run_show_the_names(tmp_path, monkeypatch, capsys):
    path = tmp_path / "house.toml"
    path.write_text(to_toml(SCENARIO))
    monkeypatch.setenv("COLUMNS", "160")
    assert main.main(["run", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Once in the table of flows, once in that of its application; a flow without a name has its number alone.
    assert sum(line.startswith(" 0 game up ") for line in lines) == 2
    assert any(line.split()[:2] == ["1", "left1"] for line in lines)


def test_a_study_takes_names_where_it_takes_numbers_of_flows():
    part = parse_spec(STUDY).parts[0]
    assert [one.read for one in part.derived] == [(0,), (1, 0)]
    assert [figure.flow for figure in part.figures if figure.kind == "series"] == [0, ()]


def test_a_part_with_flows_of_its_own_names_these():
    own = {**SCENARIO, "flow": [SCENARIO["flow"][1], {**SCENARIO["flow"][0], "name": "other"}]}
    derived = [{**STUDY["derived"][0], "flows": ["other"]}]
    parts = [{"id": "a", "scenario": own, "derived": derived, "figure": []}]
    assert parse_spec({**STUDY, "part": parts, "derived": [], "figure": []}).parts[0].derived[0].read == (1,)


@pytest.mark.parametrize(
    ("flows", "words"),
    [(SCENARIO["flow"], ["derived[0].flows[0]", "did you mean game up"]), ([SCENARIO["flow"][1]], ["scenario.flow.N.name"])],
)
def test_a_name_of_no_flow_is_refused(flows, words):
    wrong = {**STUDY["derived"][0], "flows": ["gmae up"]}
    with pytest.raises(InputError) as refused:
        parse_spec({**STUDY, "scenario": {**SCENARIO, "flow": flows}, "derived": [wrong]})
    assert all(word in str(refused.value) for word in words)
