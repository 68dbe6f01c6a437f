"""Radio in Python: pictures, tables, energy, series of nodes, animations."""

import xml.etree.ElementTree as ET
from collections import Counter

import pytest

import tonopah as tp
from tonopah import _core, metrics
from tonopah.cli import main
from tonopah.plot import layout
from tonopah.plot.network import describe, draw, legend
from tonopah.runs.simulation import OWNERS, SERIES
from tonopah.scenario import document

SVG = "{http://www.w3.org/2000/svg}svg"
ADHOC = {
    "duration": "3s",
    "network": {"kind": "adhoc", "nodes": 12, "flows": 4, "radio": {"profile": "ns2", "energy": {"idle": "35mW"}}},
}
GATEWAY = {
    "duration": "2s",
    "network": {"kind": "graph"},
    "node": [
        {"name": "a", "x": 0, "y": 0},
        {"name": "b", "x": 200, "y": 0},
        {"name": "far", "x": 900, "y": 100},
        {"name": "gw", "x": 300, "y": 100},
        {"name": "server"},
    ],
    "channel": [{"stations": ["a", "b", "far", "gw"], "radio": {"profile": "ns2"}, "gateway": "gw"}],
    "link": [{"from": "gw", "to": "server", "rate": "5Mbps", "delay": "2ms"}],
    "flow": [{"from": "a", "to": "server"}, {"from": "far", "to": "a"}],
}


@pytest.mark.parametrize("scenario", [ADHOC, GATEWAY, {"duration": "1s", "network": {"kind": "infrastructure"}}])
def test_every_wireless_network_has_a_picture(scenario):
    graph = tp.check(scenario)["graph"]
    assert ET.fromstring(draw(graph)).tag == SVG
    assert "with radio" in describe(graph)
    assert draw(graph) == draw(graph)


def test_names_do_not_cover_each_other_and_ends_of_flows_keep_theirs():
    near = [{"name": name, "x": x, "y": 0} for name, x in (("left", 0), ("hidden", 99.9), ("end", 100))]
    world = {**GATEWAY, "node": near, "channel": [{"stations": ["left", "hidden", "end"]}], "link": [], "flow": []}
    graph = tp.check({**world, "flow": [{"from": "end", "to": "left"}]})["graph"]
    text = draw(graph)
    assert all(f">{name}</text>" in text for name in ("left", "end"))
    assert ">hidden</text>" not in text


def test_a_picture_shows_where_waypoints_lead():
    point = {"at": "1500ms", "x": 50, "y": 40, "jump": True}
    network = {"kind": "adhoc", "nodes": 2, "flows": 1, "own_mobility": {"n1": {"kind": "waypoints", "points": [point]}}}
    graph = tp.check({"duration": "2s", "network": network})["graph"]
    text = draw(graph)
    assert ">n1 from 1.5 s</text>" in text
    assert ">place after a move</text>" in text
    assert "Labels give" not in legend(graph)


def test_reach_knows_neighbours_and_paths():
    import json

    reach = json.loads(_core.reach(json.dumps(GATEWAY)))
    assert reach == {"links": [[0, 1], [1, 3]], "paths": [[0, 1, 3, 4], []]}


def test_nodes_without_a_place_get_one():
    place = layout.node_positions(tp.check(GATEWAY)["graph"])
    assert place["far"] == (900.0, 100.0)
    assert place["server"][1] > 100


def test_energy_is_in_the_summary_and_has_definitions():
    result = tp.run({**ADHOC, "record": {"series": ["energy", "position_x"], "every": "500ms"}})
    network, nodes = result.summary["network"], result.summary["nodes"]
    assert network["energy_j"] == pytest.approx(sum(node["energy_j"] for node in nodes))
    assert network["energy_per_packet_j"] == pytest.approx(network["energy_j"] / network["received_packets"])
    assert list(result.series("energy").columns) == ["t_s", "node", "value"]
    assert len(result.series("position_x")) == 12
    wanted = [name for name in network if name.startswith(("energy", "mac_", "nodes_", "airtime"))]
    wanted += [f"drops.{reason}" for reason in network["drops"]]
    assert all(metrics.metric(name).definition for name in wanted)
    assert all(metrics.metric(name).definition for name in SERIES)
    assert set(OWNERS) <= set(SERIES)


def write(folder, scenario):
    path = folder / "world.toml"
    path.write_text(document.to_toml(scenario))
    return str(path)


def test_the_command_line_shows_radio_and_energy(tmp_path, capsys):
    assert main.main(["run", write(tmp_path, ADHOC)]) == 0
    shown = capsys.readouterr().out
    assert "unanswered" in shown
    assert "per packet" in shown
    assert "Busiest links" not in shown


def test_an_animation_has_nodes_packets_and_energy(tmp_path):
    target = tmp_path / "world.xml"
    assert main.main(["run", write(tmp_path, ADHOC), "--netanim", str(target)]) == 0
    root = ET.parse(target).getroot()
    assert (root.tag, root.get("ver")) == ("anim", "netanim-3.109")
    tags = Counter(element.tag for element in root)
    assert tags["node"] == 12
    sent, heard = ({element.get("uId") for element in root.iter(tag)} for tag in ("pr", "wpr"))
    assert heard <= sent
    # Requests for addresses go to all in reach.
    assert tags["wpr"] > tags["pr"] == len(sent) > 100
    last = {element.get("i"): float(element.get("v")) for element in root.iter("nc")}
    assert len(last) == 12
    assert all(value > 0.035 * 2.9 for value in last.values())


def test_an_animation_shows_wires(tmp_path):
    target = tmp_path / "world.xml"
    assert main.main(["run", write(tmp_path, GATEWAY), "--netanim", str(target)]) == 0
    root = ET.parse(target).getroot()
    assert [link.get("ld") for link in root.iter("link")] == ["5 Mb/s, 2 ms"]
    packet = next(root.iter("p"))
    sent, arrives = float(packet.get("fbTx")), float(packet.get("fbRx"))
    assert arrives - sent == pytest.approx(0.002)
    assert {packet.get("fId"), packet.get("tId")} == {"3", "4"}


def test_a_link_that_ends_with_its_rate_is_what_dsdv_waits_for():
    # The only flow with a path of golden_networks.txt, adhoc_dsdv: its stations pass 99 m, where 11 Mb/s ends, after 8 s.
    network = {
        "kind": "adhoc",
        "nodes": 16,
        "flows": 3,
        "area": {"x": "500m", "y": "500m"},
        "mobility": {"kind": "random_waypoint"},
    }
    record = {"series": ["route_hops"], "every": "1s"}
    world = {"duration": "40s", "network": network | {"routing": {"kind": "dsdv"}}, "tcp": {"cc": "newreno"}, "record": record}

    def hops(**changes):
        rows = tp.run(world, set=changes).series("route_hops").dropna()
        return dict(zip(rows["t_s"].astype(int), rows["value"], strict=True))

    own = hops()
    assert own[8] == 1 and not set(own) & {10, 20, 25} and own[28] == 4
    assert hops(**{"network.radio.sensitivity": "-82dBm"})[39] == 1
    assert hops(**{"network.routing.update_interval": "5s"})[20] == 4
