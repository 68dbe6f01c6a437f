"""`tonopah import`: measured links and topologies that others wrote become scenarios, or an error that says what was expected."""

import gzip
import json
import tomllib

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.errors import ScenarioWarning

IRTT = {
    "round_trips": [
        {"lost": "false", "timestamps": {"client": {"send": {"wall": 10**18 + i * 10**9}}}, "delay": {"rtt": (20 + i) * 10**6}}
        for i in range(3)
    ]
    + [{"lost": "true"}]
}
FILES = {
    "hsdpa.log": "1289406399 549 59.85 10.78 250000 1000\n\n1289406400 1549 59.8 10.7 9 0\n"
                 "1289406401 2549 59.8 10.7 125000 2000\n",
    "sabre.json": json.dumps([{"duration_ms": 1000, "bandwidth_kbps": 2000, "latency_ms": 40},
                              {"duration_ms": 2000, "bandwidth_kbps": 500, "latency_ms": 80}]),
    "lumos.csv": "run_num,seq_num,latitude,Throughput\n7,1,44,100\n7,2,44,200\n8,1,44,5\n",
    "irish.csv": "Timestamp,Longitude,DL_bitrate,UL_bitrate,PINGAVG\n2019.12.14_10.16.30,-8,1000,5,-\n"
                 "2019.12.14_10.16.31,-8,2000,5,40\n2019.12.14_10.16.31,-8,2500,5,40\n2019.12.14_10.16.33,-8,0,5,60\n",
    "fcc.csv": "1,2014-01-01,t,a,5000000,1,250000\n1,2014-01-01,t,a,5000000,1,500000\n2,2014-01-01,t,a,5000000,1,1\n",
    "pensieve.txt": "0.5 1.5\n1.5 3\n",
    "ping.txt": "PING x\n[1700182800.4] 64 bytes from x: icmp_seq=2 ttl=63 time=60 ms\n[1700182800.5] 64 bytes: time=62.0 ms\n",
    "lens.csv": "timestamp,rtt,uplink,downlink\n1705744800616897349,0,0,-1\n1705744800626565141,120,72,48\n"
                "1705744800636565141,110,62,48\n",
    "irtt.json": json.dumps(IRTT),
    "bw_1.txt": "1\n2\n3\n4\n",
    "delay_1.txt": "20\n20\n30.5\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RATES = {
    "hsdpa hsdpa.log": [(0, 2e6), (1, 500e3)],
    "ghent hsdpa.log": [(0, 2e6), (1, 500e3)],
    "hsdpa sabre.json": [(0, 2e6), (1, 500e3)],
    "lumos5g lumos.csv": [(0, 100e6), (1, 200e6)],
    "irish5g irish.csv": [(0, 1e6), (1, 2e6), (3, 0)],
    "fcc fcc.csv": [(0, 2e6), (5, 4e6)],
    "pensieve pensieve.txt": [(0, 1.5e6), (1, 3e6)],
}


@pytest.mark.parametrize("command", RATES)
def test_rates_of_public_data_sets(folder, capsys, command):
    assert main(["import", *command.split(), "--out", "made.toml"]) == 0
    said = capsys.readouterr().out
    assert "rate" in said and said.endswith("written: made.toml, made-rates.csv\n")
    rows = [line.split(",") for line in (folder / "made-rates.csv").read_text().splitlines()[1:]]
    assert [(float(at), float(bps)) for at, bps in rows] == RATES[command]
    assert tp.run(folder / "made.toml").flows["goodput_bps"][0] > 0


DELAYS = {
    "hsdpa sabre.json": ["20000us", ("1000000us", "40000us")],
    "irish5g irish.csv": ["20000us", ("3000000us", "30000us")],
    "lens ping.txt --rate 9Mbps": ["30000us", ("100000us", "31000us")],
    "lens lens.csv --rate 9Mbps": ["60000us", ("10000us", "55000us")],
    "lens irtt.json --rate 9Mbps": ["10000us", ("1000000us", "10500us"), ("2000000us", "11000us")],
    "leocc bw_1.txt delay_1.txt": ["20000us", ("20000us", "30500us")],
}


@pytest.mark.parametrize("command", DELAYS)
def test_delays_of_public_data_sets_are_one_way(folder, capsys, command):
    assert main(["import", *command.split(), "--out", "made.toml"]) == 0
    link = tomllib.loads((folder / "made.toml").read_text())["network"]["bottleneck"]
    assert [link["delay"], *((change["at"], change["delay"]) for change in link["changes"])] == DELAYS[command]
    tp.run(folder / "made.toml")


def test_a_trace_stays_where_it_is_and_compressed_files_are_read(folder, capsys):
    (folder / "sub").mkdir()
    assert main(["import", "mahimahi", "bw_1.txt", "--out", "sub/made.toml"]) == 0
    assert tomllib.loads((folder / "sub" / "made.toml").read_text())["network"]["bottleneck"]["service"]["file"] == "../bw_1.txt"
    assert "12 Mb/s in the mean" in capsys.readouterr().out
    (folder / "hsdpa.log.gz").write_bytes(gzip.compress(FILES["hsdpa.log"].encode()))
    assert main(["import", "hsdpa", "hsdpa.log.gz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == ["hsdpa.toml", "hsdpa-rates.csv"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("hsdpa pensieve.txt", "pensieve.txt: line 1: '0.5 1.5' is no row of this kind (6 columns"),
        ("fcc pensieve.txt", "pensieve.txt: line 2: '0.5 1.5' is no row"),
        ("lumos5g irish.csv", "irish.csv: line 1: has no column run_num, seq_num, Throughput (found: Timestamp"),
        ("irish5g lumos.csv", "line 1: has no column Timestamp, DL_bitrate"),
        ("lens hsdpa.log --rate 1Mbps", "line 1: is no round trip of ping -D"),
        ("lens ping.txt", "--rate: the file has delays and no rates"),
        ("fcc fcc.csv --rate 1Mbps", "--rate: the file has rates"),
        ("lens bad.json --rate 1Mbps", "bad.json: line 1: is not JSON"),
        ("hsdpa binary", "binary: byte 1: is not UTF-8 text"),
        ("mahimahi bw_1.txt --rate 5Mbps", "--rate: the file has rates"),
        ("leocc bw_1.txt", "leocc is read from bw_N.txt and delay_N.txt, 1 are given"),
        ("mahimahi delay_1.txt", "delay_1.txt: line 3: '30.5' is not a whole number of milliseconds"),
        ("edges empty", "empty: has no edges"),
        ("sndlib bad.json", "bad.json: line 1: is not XML"),
        ("edges bad.json --rate 1Mbps", "--rate: is for links"),
    ],
)
def test_a_wrong_file_is_named_with_what_was_expected_and_nothing_is_written(folder, capsys, command, words):
    (folder / "bad.json").write_text("{")
    (folder / "binary").write_bytes(b"1\xff\x00")
    (folder / "empty").write_text("# nothing\n")
    before = {path.name for path in folder.iterdir()}
    assert main(["import", *command.split()]) == 2
    assert words in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == before


GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="Latitude" attr.type="double" for="node" id="a"/><key attr.name="Longitude" attr.type="double" for="node" id="o"/>
<key attr.name="label" attr.type="string" for="node" id="l"/><key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="s"/>
<graph edgedefault="undirected">
<node id="0"><data key="a">40.71</data><data key="o">-74.00</data><data key="l">New York</data></node>
<node id="1"><data key="a">41.85</data><data key="o">-87.65</data><data key="l">Chicago</data></node>
<node id="2"><data key="l">Chicago</data></node><node id="3"><data key="l">alone</data></node>
<edge source="0" target="1"><data key="s">10000000000.0</data></edge><edge source="0" target="1"/><edge source="1" target="2"/>
</graph></graphml>"""
GML = """graph [ directed 0
 node [ id 0 label "A" Latitude 40.71 Longitude -74.0 ] node [ id 1 label "B" Latitude 41.85 Longitude -87.65 ]
 edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" ] edge [ source 0 target 1 ] ]"""
SNDLIB = """<?xml version="1.0"?><network xmlns="http://sndlib.zib.de/network"><networkStructure>
<nodes coordinatesType="geographical"><node id="A"><coordinates><x>-74.0</x><y>40.71</y></coordinates></node>
<node id="B"><coordinates><x>-87.65</x><y>41.85</y></coordinates></node></nodes>
<links><link id="L1"><source>A</source><target>B</target>
<additionalModules><addModule><capacity>10000.0</capacity><cost>1</cost></addModule></additionalModules></link></links>
</networkStructure></network>"""
# New York and Chicago are 1145 km apart: 5.73 ms in fibre.
ACROSS_S = 1145e3 / (299_792_458 * 2 / 3)
TEXTS = {
    "zoo.graphml": (GRAPHML, ["New York", "Chicago (1)", "Chicago (2)"]),
    "zoo.gml": (GML, ["A", "B"]),
    "net.xml": (SNDLIB, ["A", "B"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_topology_has_rates_and_delays_from_attributes_and_places(folder, capsys, name):
    if name != "net.xml":
        pytest.importorskip("networkx")
    text, nodes = TEXTS[name]
    (folder / name).write_text(text)
    kind = {"graphml": "graphml", "gml": "gml", "xml": "sndlib"}[name.rpartition(".")[2]]
    assert main(["import", kind, name, "--out", "made.toml"]) == 0
    assert "by the great circle" in capsys.readouterr().out
    made = tomllib.loads((folder / "made.toml").read_text())
    assert [node["name"] for node in made["node"]] == nodes
    assert made["link"][0]["rate"] == "10000000000bps"
    assert int(made["link"][0]["delay"].removesuffix("ns")) / 1e9 == pytest.approx(ACROSS_S, rel=0.005)
    tp.run(folder / "made.toml", set={"duration": "100ms"})
    # The same by the key of a scenario, which says what it assumes.
    scenario = {"duration": "100ms", "network": {"kind": "graph", "file": name, "queue": "50p"}, "flow": made["flow"]}
    with pytest.warns(ScenarioWarning, match="by the great circle"):
        links = tp.run(scenario).summary["resolved"]["link"]
    assert links[0]["delay"] == tp.check(folder / "made.toml")["resolved"]["link"][0]["delay"]
    assert links[0]["queue"]["limit"] == "50p"


def test_edges_with_and_without_columns(folder, capsys):
    (folder / "as-rel.txt").write_text("# source: CAIDA\n1|2|-1\n2|3|0|bgp\n3|2|0\n")
    scenario = {"duration": "1s", "network": {"kind": "graph", "file": "as-rel.txt", "rate": "1Gbps", "delay": "2ms"},
                "flow": [{"from": "1", "to": "3"}]}  # fmt: skip
    with pytest.warns(ScenarioWarning) as said:
        links = tp.check(scenario)["graph"]["link"]
    assert [(link["from"], link["to"], link["rate"], link["delay"]) for link in links] == [
        ("1", "2", "1Gbps", "2ms"), ("2", "3", "1Gbps", "2ms"),
    ]  # fmt: skip
    assert any("2 links have no rate in the file: 1Gbps" in str(one.message) for one in said)
    (folder / "own.csv").write_text("from,to,rate,delay,length\na,b,5,3,\nb,c,2Gbps,,100\n")
    scenario["network"], scenario["flow"] = {"kind": "graph", "file": "own.csv"}, [{"from": "a", "to": "c"}]
    with pytest.warns(ScenarioWarning, match="by their length"):
        links = tp.check(scenario)["graph"]["link"]
    assert [(link["rate"], link["delay"]) for link in links] == [("5Mbps", "3ms"), ("2Gbps", "500346ns")]


@pytest.mark.parametrize(
    ("network", "name", "text", "words"),
    [
        ({}, "x.gml", "graph [ node [ id 0 ", "x.gml is not GML: "),
        ({}, "x.graphml", "<graphml>", "x.graphml is not GraphML: "),
        ({}, "x.xml", "<network/>", "x.xml has no networkStructure"),
        ({}, "x.txt", "a\n", "x.txt: line 1: 'a' is no edge"),
        ({}, "x.csv", "from,to,rate\na,b,fast\n", "rate of the edge between a and b is 'fast'"),
        ({}, "x.net", "", "network.file: 'x.net' is no known topology"),
        ({}, "none.txt", None, "cannot be read"),
    ],
)
def test_a_wrong_topology_is_an_error(folder, network, name, text, words):
    if name.endswith(("gml", "graphml")):
        pytest.importorskip("networkx")
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(tp.InputError) as error:
        tp.check({"duration": "1s", "network": {"kind": "graph", "file": name}, "flow": [{"from": "a", "to": "b"}]})
    assert words in str(error.value)
    with pytest.raises(tp.InputError, match="gives nodes and links"):
        tp.check({"duration": "1s", "network": {"kind": "graph", "file": "x.txt"}, "node": [{"name": "a"}]})
