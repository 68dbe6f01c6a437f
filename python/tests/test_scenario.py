"""Reading, changing and writing scenarios."""

import datetime

import pytest

import tonopah as tp
from tonopah.scenario import document, paths


def refused(function, *arguments, **named) -> str:
    with pytest.raises(tp.ScenarioError) as caught:
        function(*arguments, **named)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"# nothing\n", "holds only comments"),
        (b"\x7fELF\x00\x01", "is a binary file"),
        (b'name = "\xff"\n', "is not UTF-8 text: byte 8 is 0xff"),
        (b"a = 1\nb = \n", "at line 2, column 5"),
        (b"[a]\nx = nan\n", "a.x: nan is not a finite number"),
        (b"[[flow]]\nx = -inf\n", "flow[0].x: -inf is not a finite number"),
        (b"start = 2024-01-01\n", "start: 2024-01-01 is a date"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, content, words):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    message = refused(tp.load, path)
    assert words in message
    assert message.startswith(str(path))


def test_missing_files_and_folders_are_refused(tmp_path):
    assert "no such file" in refused(tp.load, tmp_path / "none.toml")
    assert "is a folder, not a scenario" in refused(tp.load, tmp_path)


def test_paths_with_dots_and_brackets_reach_the_same_value(dumbbell):
    paths.put(dumbbell, "flow.0.cc", "reno")
    paths.put(dumbbell, "flow[1].cc", "cubic")
    paths.put(dumbbell, "tcp.profile", "rfc")
    assert [flow["cc"] for flow in dumbbell["flow"]] == ["reno", "cubic"]
    assert paths.fetch(dumbbell, "tcp.profile") == "rfc"
    assert paths.fetch(dumbbell, "flow.7.cc") is None


def test_a_wrong_step_is_named(dumbbell):
    assert "flow: has no entry 5 (it has 2" in refused(paths.put, dumbbell, "flow.5.cc", "reno")
    del dumbbell["flow"]
    assert "flow: is not listed: it has no entries (network.flows makes" in refused(paths.put, dumbbell, "flow.0.cc", "reno")
    assert "flow" not in dumbbell
    assert "network.kind: the value 'dumbbell' has no entry 'x'" in refused(paths.put, dumbbell, "network.kind.x", 1)
    assert "is not a path" in refused(paths.put, dumbbell, "flow..cc", 1)
    assert "netwrk" in refused(tp.check, dumbbell, set={"netwrk.pairs": 3})


@pytest.mark.parametrize(
    ("text", "value"),
    [("20", 20), ("2.5", 2.5), ("true", True), ('"20"', "20"), ("10Mbps", "10Mbps"), ("cubic", "cubic"), ("[1, 2]", [1, 2]),
     ('{ name = "cubic" }', {"name": "cubic"}), ("1\nb = 2", "1\nb = 2"), ("", "")],
)  # fmt: skip
def test_assignments_are_toml_where_they_can_be(text, value):
    assert paths.parse_assignment(f"a.b={text}") == ("a.b", value)


def test_an_assignment_needs_path_and_value():
    assert "PATH=VALUE" in refused(paths.parse_assignment, "network.flows")


def test_values_without_meaning_are_refused_in_dictionaries_too(dumbbell):
    assert "is a date" in refused(tp.check, dumbbell, set={"duration": datetime.date(2024, 1, 1)})
    assert "type object has no meaning" in refused(tp.check, {"duration": object()})
    assert "is not a seed" in refused(tp.check, dumbbell, seed=-1)


def test_toml_is_read_back_as_it_was_written(dumbbell):
    assert document.parse(document.to_toml(dumbbell)) == dumbbell
    odd = {"text": 'a "b"\n\\', "list": [1.5, 1e-7], "table": {"odd key": [True], "empty": {}}, "none": []}
    assert document.parse(document.to_toml(odd)) == odd
    assert document.parse(document.to_toml(odd | {"absent": None, "deep": {"absent": None}})) == odd | {"deep": {}}


def test_the_graph_of_a_scenario_is_the_same_world(dumbbell):
    graph = tp.check(dumbbell)["graph"]
    assert graph["network"]["kind"] == "graph"
    ours, theirs = tp.run(dumbbell).summary, tp.run(graph).summary
    assert ours["network"] == theirs["network"]


def test_check_fills_in_defaults_and_leaves_its_argument_alone(dumbbell):
    before = document.to_json(dumbbell)
    resolved = tp.check(dumbbell, set={"tcp.cc": "cubic"})["resolved"]
    assert document.to_json(dumbbell) == before
    assert resolved["tcp"]["cc"]["name"] == "cubic"
    assert resolved["tcp"]["rto_min"] == "1s"
