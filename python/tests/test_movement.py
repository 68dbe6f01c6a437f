"""Movement files of ns-2."""

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.scenario.setdest import read_movement

FILE = """
# nodes: 3, max time: 20.00
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 200.0
$node_(1) set Y_ 0.0
$node_(2) set X_ 400.0
$node_(2) set Y_ 0.0
$node_(2) set Z_ 2.5
$god_ set-dist 0 2 2
$ns_ at 15.0 "$node_(1) setdest 200.0 10.0 1.5"
$ns_ at 10.000000000000 "$node_(1) setdest 200.000000000000 900.0 300.0"
$ns_ at 10.5 "$god_ set-dist 0 2 16777215"
"""

SCENARIO = """
duration = "20s"
[network]
kind = "adhoc"
flows = 0
area = { x = "1000m", y = "1000m", z = "10m" }
radio = { profile = "ns2" }
mobility = { kind = "setdest", file = "away.tcl" }
[[flow]]
from = "n0"
to = "n2"
app = { kind = "cbr", rate = "50kbps", size = "500B", transport = "udp" }
"""


def test_places_and_orders_are_read(tmp_path):
    (tmp_path / "away.tcl").write_text(FILE)
    places, orders = read_movement(tmp_path / "away.tcl")
    assert places == [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0, 2.5]]
    assert orders[0] == orders[2] == []
    assert orders[1] == [
        {"at": "10000000000ns", "x": 200.0, "y": 900.0, "speed": "300.0m/s"},
        {"at": "15000000000ns", "x": 200.0, "y": 10.0, "speed": "1.5m/s"},
    ]


def test_a_scenario_moves_as_its_file_says(tmp_path):
    (tmp_path / "away.tcl").write_text(FILE)
    (tmp_path / "away.toml").write_text(SCENARIO)
    flow = tp.run(tmp_path / "away.toml", seed=1).summary["flows"][0]
    assert flow["hops"] == 2
    # The relay is 150 m away, out of reach of both, after half a second: a path at 0 to 10 of 0 to 20 s.
    assert flow["path_share"] == pytest.approx(11 / 21)


PLACES = "node,x,y,at,speed\nn0,0,0,,\n1,200,0,,\nn2,400,0,,\nn1,200,900,10,300\n"
FLOWS = "from,to,start,app.kind,app.rate,app.size,app.transport\nn0,n2,0s,cbr,50kbps,500B,udp\nn1,n0,1s,,,,\n"


def test_flows_and_movement_come_from_tables(tmp_path):
    (tmp_path / "away.csv").write_text(PLACES)
    (tmp_path / "flows.csv").write_text(FLOWS)
    head = SCENARIO[: SCENARIO.index("[[flow]]")].replace("away.tcl", "away.csv")
    (tmp_path / "away.toml").write_text(head.replace("[network]", 'flow = { file = "flows.csv" }\n[network]'))
    first, second = tp.run(tmp_path / "away.toml", seed=1).summary["flows"]
    assert (first["from"], first["to"], first["path_share"]) == ("n0", "n2", pytest.approx(11 / 21))
    assert (second["from"], second["start_s"]) == ("n1", 1.0)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("away.csv", PLACES.replace("speed", "spead"), "line 1: 'spead' is unknown"),
        ("away.csv", PLACES.replace("1,200", "x1,200"), "line 3: 'x1' is not a node"),
        ("away.csv", PLACES.replace("10,300", "10,fast"), "line 5: 'fast' is not a number"),
        ("away.csv", PLACES.replace("n2,400,0,,\n", ""), "flow[0].to"),
        ("away.csv", "node,x\n", "has no rows"),
        ("away.csv", PLACES.replace("10,300", "1e300,300"), "the time"),
        ("flows.csv", FLOWS.splitlines()[0] + ("\n" + FLOWS.splitlines()[1]) * 100_001, "line 100002: is one row too many"),
        ("flows.csv", FLOWS.replace("50kbps", "50kbps,more"), "line 2: has 8 cells"),
        ("flows.csv", FLOWS.replace("app.kind", "app.."), "line 2: app..: is not a path"),
        ("flows.csv", FLOWS.replace("n0,n2", "n0,n9"), "flow[0].to"),
    ],
)
def test_mistakes_in_tables_are_named(tmp_path, name, text, words):
    (tmp_path / "away.csv").write_text(PLACES)
    (tmp_path / "flows.csv").write_text(FLOWS)
    (tmp_path / name).write_text(text)
    head = SCENARIO[: SCENARIO.index("[[flow]]")].replace("away.tcl", "away.csv")
    (tmp_path / "away.toml").write_text(head.replace("[network]", 'flow = { file = "flows.csv" }\n[network]'))
    with pytest.raises(InputError) as refused:
        tp.check(tmp_path / "away.toml")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        FILE + '$ns_ initial_node_pos $node_(0) 20\nset opt(x) 500;\n$ns_ at 0.0 "$node_(0) label Source"\n',
        FILE.replace("node_", "n").replace("ns_", "ns") + '$ns at 0.0 "$n(0) color red"\nset val(nn) 3\n',
    ],
)
def test_other_names_are_taken_and_what_moves_nothing_is_left_out_with_a_warning(tmp_path, capsys, text):
    (tmp_path / "plain.tcl").write_text(FILE)
    (tmp_path / "away.tcl").write_text(text)
    with pytest.warns(tp.ScenarioWarning, match=r"away\.tcl: line 15: .*moves nothing and is left out, as \d more"):
        assert read_movement(tmp_path / "away.tcl") == read_movement(tmp_path / "plain.tcl")
    (tmp_path / "away.toml").write_text(SCENARIO)
    assert main(["check", str(tmp_path / "away.toml")]) == 0
    shown = capsys.readouterr().err
    assert shown.startswith("warning: ") and shown.count("moves nothing and is left out") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("$node_(4) set X_ 1.0", "gives no initial position of node 3"),
        ("$node_(1) set X_ east", "line 15: 'east' is not a number"),
        ('$ns_ at -1.0 "$node_(1) setdest 1.0 1.0 1.0"', "line 15: the time -1 is wrong"),
        ('$ns_ at 1e308 "$node_(1) setdest 1.0 1.0 1.0"', "line 15: the time 1e+308 is wrong"),
        ('$ns_ at 1.0 "$node_(1) setdest 1.0 1.0 -1.0"', "line 15: the speed -1 is below 0"),
        ("proc finish {} {", "line 15: 'proc finish {} {' is not a line of a movement file"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, line, words):
    (tmp_path / "away.tcl").write_text(FILE + line + "\n")
    (tmp_path / "away.toml").write_text(SCENARIO)
    with pytest.raises(tp.ScenarioError) as caught:
        tp.check(tmp_path / "away.toml")
    assert words in str(caught.value) and "away.tcl" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"network.nodes": 4}, "the movement file has 3 stations"),
        ({"network.placement": {"kind": "grow"}}, "network.placement: the movement file gives the positions of stations"),
        ({"network.mobility.orders": []}, "network.mobility: a movement file stands alone"),
        ({"network.mobility.file": "none.tcl"}, "none.tcl cannot be read: no such file"),
        ({"network.area.x": "300m"}, "network.placement.positions: station 2"),
    ],
)
def test_what_contradicts_the_file_is_refused(tmp_path, change, words):
    (tmp_path / "away.tcl").write_text(FILE)
    (tmp_path / "away.toml").write_text(SCENARIO)
    with pytest.raises(tp.ScenarioError) as caught:
        tp.check(tmp_path / "away.toml", set=change)
    assert words in str(caught.value)
