"""Maps of constellations."""

import json
import xml.etree.ElementTree as ET

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.plot import satellites
from tonopah.plot.network import describe, draw
from tonopah.scenario.document import to_toml

SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture
def iridium():
    return {
        "duration": "60s",
        "network": {"kind": "constellation", "preset": "iridium", "terminals": ["Berkeley", "Boston"]},
        "tcp": {"cc": "newreno"},
        "flow": [{"from": "Berkeley", "to": "Boston"}],
    }


def test_the_survey_has_tracks_paths_and_a_day(iridium):
    view = satellites.find_ground_tracks(iridium, 1, None, 600.0)
    assert len(view["satellites"]) == 66
    assert [terminal["name"] for terminal in view["terminals"]] == ["Berkeley", "Boston"]
    path = view["current"][0]
    assert path["nodes"][0] == "Berkeley"
    assert path["nodes"][-1] == "Boston"
    assert {track["satellite"] for track in view["tracks"]} == {path["nodes"][1], path["nodes"][-2]}
    delays = view["paths"][0]["delay_s"]
    assert len(delays) == 1440
    assert all(0.015 < delay < 0.14 for delay in delays)
    assert all(abs(lat) <= 86.5 and -180 <= lon <= 180 for _, lat, lon in view["satellites"])


def test_the_picture_is_the_same_svg_each_time(iridium):
    view = satellites.find_ground_tracks(iridium, 1, None, 0.0)
    text = satellites.draw(view)
    assert ET.fromstring(text).tag == SVG
    assert text == satellites.draw(view)


def test_lines_are_cut_at_the_edge_of_the_map():
    assert [part for part, _ in satellites.pieces([170, 179, -179, -170], [0, 1, 2, 3])] == [[170, 179], [-179, -170]]
    assert len(list(satellites.great_circle((170, 10), (-170, 10)))) == 2
    assert len(list(satellites.great_circle((10, 10), (20, 10)))) == 1


def test_the_command_writes_the_map(iridium, tmp_path, capsys):
    scenario, out = tmp_path / "leo.toml", tmp_path / "leo.svg"
    scenario.write_text(to_toml(iridium))
    assert main(["check", str(scenario), "--at", "10min", "--picture", str(out)]) == 0
    assert "66 satellites at 600 s" in capsys.readouterr().out
    assert ET.fromstring(out.read_text()).tag == SVG
    assert main(["check", str(scenario), "--picture", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tracks"]["at_s"] == 0


def test_the_map_of_a_network_on_the_ground_is_its_picture(dumbbell, tmp_path, capsys):
    scenario, out = tmp_path / "wired.toml", tmp_path / "wired.svg"
    scenario.write_text(to_toml(dumbbell))
    assert main(["check", str(scenario), "--picture", str(out)]) == 0
    assert "nodes" in capsys.readouterr().out
    assert ET.fromstring(out.read_text()).tag == SVG
    assert main(["check", str(scenario), "--at", "10min", "--picture", str(out)]) == 2
    assert "constellation" in capsys.readouterr().err


def test_reports_show_the_map_and_count_terminals(iridium):
    graph = tp.check(iridium)["graph"]
    assert ET.fromstring(draw(graph)).tag == SVG
    assert describe(graph) == "2 terminals, 66 satellites, 1 flows"


def test_a_run_lists_its_hand_overs_and_the_path_delay(iridium):
    result = tp.run(iridium, set={"duration": "600s", "record.series": ["path_delay"], "record.every": "10s"})
    terminals = result.summary["space"]["terminals"]
    assert sum(terminal["handovers"] for terminal in terminals) >= 1
    assert result.series("path_delay")["value"].between(0.015, 0.14).all()
    assert len(result.summary["links"]) < 30


def test_a_city_that_is_not_known_is_answered_with_near_names(iridium):
    with pytest.raises(tp.ScenarioError, match="Boston"):
        tp.check(iridium, set={"network.terminals": ["Berkeley", "Bostn"]})
