"""Wired-cum-wireless networks, roaming and the keys of sweeps, from Python."""

import xml.etree.ElementTree as ET

import pytest

import tonopah as tp
from tonopah import metrics, units
from tonopah.cli import main
from tonopah.plot import wireless
from tonopah.plot.network import describe, draw
from tonopah.scenario.document import to_toml
from tonopah.scenario.paths import put

CORE = {
    "duration": "3s",
    "network": {
        "kind": "wired_cum_wireless", "nodes": 12, "flows": 6, "routers": 2, "base_stations": 2,
        "radio": {"profile": "ns2", "data_rate": "2Mbps"}, "routing": {"kind": "access_points", "beacons": "airtime"},
    },
    "record": {"series": ["route_hops"], "every": "1s"},
}  # fmt: skip
CELLS = {"duration": "3s", "network": {"kind": "infrastructure", "stations_per_cell": 3, "flows": 2}}
ADHOC = {
    "duration": "3s",
    "network": {
        "kind": "adhoc", "nodes": 4, "flows": 0,
        "placement": {"kind": "list", "positions": [[0, 0], [50, 0], [400, 400], [490, 490]]},
        "mobility": {"kind": "random_waypoint", "speed": "5m/s"},
    },
    "flow": [{"from": "n0", "to": "n1"}, {"from": "n0", "to": "n3"}],
}  # fmt: skip
SWEEPS = {
    "nodes of A1, A2": (ADHOC, "network.nodes", 6),
    "flows of A1, A2": (ADHOC, "network.flows", 3),
    "range of A1": (ADHOC, "network.radio.range_multiplier", 3),
    "speed of A2": (ADHOC, "network.mobility.speed", "25m/s"),
    "nodes of I1": (CELLS, "network.nodes", 20),
    "flows of I1": (CELLS, "network.flows", 5),
    "coverage of I1": (CELLS, "network.coverage", 3),
    "nodes of C1": (CORE, "network.nodes", 20),
    "flows of C1": (CORE, "network.flows", 10),
    "speed of C1": (CORE, "network.mobility", {"kind": "random_waypoint", "speed": "10m/s"}),
}


def changed(scenario, key, value):
    """Return the scenario with one value changed; a placement for another number of stations is left out."""
    import copy

    scenario = copy.deepcopy(scenario)
    put(scenario, key, value)
    if key == "network.nodes":
        scenario["network"].pop("placement", None)
    return scenario


@pytest.mark.parametrize("name", SWEEPS)
def test_each_axis_of_the_reports_is_one_key(name):
    scenario, key, value = SWEEPS[name]
    before, after = tp.check(scenario)["graph"], tp.check(changed(scenario, key, value))["graph"]
    assert before != after


def test_the_packet_rate_is_one_key():
    for scenario in (ADHOC, CELLS, CORE):
        app = {"kind": "cbr", "rate": "100pps", "size": "512B"}
        faster = changed({**scenario, "traffic": {"app": app}}, "traffic.app.rate", "500pps")
        faster["network"]["flows"] = 2
        flows = tp.check(faster)["graph"]["flow"]
        assert flows[-1]["app"]["rate"] == "500pps"


def test_distances_and_speeds_are_numbers_on_an_axis():
    assert units.numbers(["5m/s", "25m/s"]) == ([5.0, 25.0], "m/s")
    assert units.numbers(["500m", "1.5km"]) == ([500.0, 1500.0], "m")
    assert units.si("1.5km") == 1500
    with pytest.raises(ValueError, match="far"):
        units.si("far")


def test_a_wired_core_has_a_picture_with_a_field():
    graph = tp.check(CORE)["graph"]
    text = draw(graph)
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for word in ("base station", "router", "wired node", "field"):
        assert word in text
    assert {node.get("role") for node in graph["node"]} <= {"host", "station", *wireless.ROLE_KINDS}
    assert "12 nodes" not in describe(graph)


def test_messages_reassociations_and_route_lengths_have_definitions():
    result = tp.run(CORE)
    network = result.summary["network"]
    channels = result.summary["channels"]
    assert network["message_count"] == sum(channel["message_count"] for channel in channels) > 50
    assert network["message_bytes"] == sum(channel["message_bytes"] for channel in channels)
    assert network["reassociations"] == 0
    assert network["drops"]["reassociation"] == 0
    for name in ("message_count", "message_bytes", "reassociations", "drops.reassociation", "route_hops"):
        assert metrics.metric(name).definition
    hops = result.series("route_hops")
    # Host, router, perhaps the other router, base station, station.
    assert set(hops["value"].dropna()) <= {3.0, 4.0}
    assert "reassociations" not in {
        key for key, value in tp.run({**CELLS, "network": {"kind": "star"}}).summary["network"].items() if value is not None
    }


MISTAKES = {
    "a node outside the field": (ADHOC, "network.placement.positions.0", [0, 501], "outside the field"),
    "speed below 0": (
        ADHOC,
        "network.mobility.speed",
        "-5m/s",
        'network.mobility.speed: "-5m/s" is not a speed: it must not be below zero',
    ),
    "zero range": (ADHOC, "network.radio.max_range", "0m", "network.radio.max_range: 0m"),
    "zero disc": (
        ADHOC,
        "network.radio.propagation",
        {"kind": "range", "distance": "0m"},
        "network.radio.propagation.distance: 0m",
    ),
    "zero multiple": (ADHOC, "network.radio.range_multiplier", 0, "network.radio.range_multiplier: 0 is not"),
    "an access point without stations": (CELLS, "network.stations_per_cell", 0, "network.stations_per_cell: 0 is not"),
    "nodes for access points alone": (CELLS, "network.nodes", 2, "network.nodes: 2 nodes leave an access point without"),
    "an unknown rate": (ADHOC, "network.radio.data_rate", "3Mbps", "network.radio.data_rate: 3Mbps is not a rate"),
    "an unknown base station rate": (CORE, "network.radio.basic_rate", "11Mbps", "network.radio.basic_rate: 11Mbps is not"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_radio_gives_one_message_and_exit_code_2(capsys, tmp_path, mistake):
    scenario, key, value, words = MISTAKES[mistake]
    path = tmp_path / "world.toml"
    path.write_text(to_toml(changed(scenario, key, value)))
    assert main.main(["run", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {path}: network.")
    assert words in printed.err


def test_a_flow_without_a_path_is_reported(capsys, tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(to_toml(ADHOC))
    assert main.main(["run", str(path)]) == 0
    assert "without a path" in capsys.readouterr().out.lower()
    summary = tp.run(ADHOC).summary
    assert summary["network"]["flows_without_path"] == 1
    assert summary["flows"][1]["path_share"] == 0
