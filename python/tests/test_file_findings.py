"""Files that mutations found: each was an internal error, and is refused with a sentence."""

import json
import sqlite3
from contextlib import closing

import file_kinds
import pytest

import tonopah as tp
from tonopah.breaking.folder import STATE
from tonopah.errors import InputError, RunFailedError
from tonopah.importing.topology import import_topology
from tonopah.report import verdicts
from tonopah.store.database import checksum
from tonopah.store.store import COLUMNS

FAR = "9" * 400
DIGITS, DEEP = "9" * 5000, "[" * 5000
TRIP = '{"lost": "false", "timestamps": {"client": {"send": {"wall": %s}}}, "delay": {"rtt": %s}}'
FILES = [
    ("sabre", f'[{{"duration_ms": {DIGITS}}}]', "is not JSON"),
    ("sabre", DEEP, "is nested too deeply"),
    ("sabre", f'[{{"duration_ms": 1000, "bandwidth_kbps": {FAR}}}]', "should be a number from 0 on"),
    ("lessons", f"+++\ntask = {DEEP}\n[guess]\n+++\n", "is nested too deeply"),
    ("lessons", f"+++\ntask = {DIGITS}\n[guess]\n+++\n", "is not valid TOML"),
    ("irtt", f'{{"round_trips": [{TRIP % ("1e999", "1")}]}}', r"round_trips\[0\]: has no timestamps"),
    ("irtt", f'{{"round_trips": [{TRIP % ("1", "-1e999")}]}}', r"round_trips\[0\]: has no timestamps"),
    ("ping", f"[{DIGITS}.5] 64 bytes from x: time=60 ms\n", "line 1: .* should be a number"),
    ("ping", f"[1.5] 64 bytes from x: time={DIGITS} ms\n", "line 1: .* should be a number"),
    ("pensieve", "0 1e308\n", "a rate .* that no link has"),
    ("hsdpa", "1 2 3 4 1e308 1e-9\n", "a rate .* that no link has"),
    ("leocc", "", "has no row of a measurement"),
    ("leocc", "1e300\n", "a delay .* that no link has"),
    ("lumos5g", "Throughput,seq_num,run_num\n5,\n", "line 2: '5,' is no row"),
    ("traces", f"+ 0 0 2 tcp {DIGITS} ------- 1 0.0 3.0 0 1\n", "line 1: .* is no number of a packet"),
    ("flows", "from,to,app.kind,app.rate,app.size\nn0,n1,cbr,51e308,9B\n", "app.rate"),
    ("spaces", '[axis.mine]\nsets = "a"\nchoice = [{ value = "18184467440737095516ms..5ms" }]', "is no range"),
    ("spaces", '[axis.mine]\nsets = "a"\nchoice = [{ value = "1.2.3..5" }]', "is no range"),
    ("searches", DEEP * 20, "is damaged"),
    ("edges", "from to delay\na b 1e304s\n", "the edge between a and b has 1e[+]304 s .at most 1000 s"),
    ("edges", "from to rate\na b 1e300G\n", "rate of the edge between a and b is '1e300G'"),
    ("edges", "from to rate\na b 1e30G\n", "the edge between a and b has 1e[+]39 bit/s .at most 1e[+]15 bit/s"),
    ("spaces", f"only = {DEEP}", "is nested too deeply"),
    ("spaces", f"only = {DIGITS}", "is not valid TOML"),
    ("statements", f"ecn = {DEEP}", "is nested too deeply"),
    ("statements", f"ecn = {DIGITS}", "is not valid TOML"),
]


def read(name, data, folder):
    kind = file_kinds.KINDS[name]
    for beside, content in {**kind.beside(), kind.name: data}.items():
        (folder / beside).write_bytes(content)
    kind.read(folder / kind.name)


def test_a_place_beyond_all_numbers_is_none(tmp_path):
    pytest.importorskip("networkx")
    text = f"graph [ node [ id 0 Latitude 1 Longitude {FAR} ] node [ id 1 ] edge [ source 0 target 1 ] ]"
    (tmp_path / "far.gml").write_text(text)
    told = import_topology("gml", [str(tmp_path / "far.gml")], tmp_path / "out.toml").told
    assert any("neither delay nor places" in line for line in told)


@pytest.mark.parametrize(("name", "text", "words"), FILES, ids=[f"{number}" for number in range(len(FILES))])
def test_what_was_found_is_refused(name, text, words, tmp_path):
    with pytest.raises(tp.ScenarioError, match=words):
        read(name, text.encode(), tmp_path)


def test_one_node_of_gml_may_be_written_in_two_ways(tmp_path):
    pytest.importorskip("networkx")
    (tmp_path / "zero.gml").write_text("graph [ node [ id 0 ] node [ id 1 ] edge [ source 1 target -0.0 ] ]")
    made = import_topology("gml", [str(tmp_path / "zero.gml")], tmp_path / "out.toml")
    assert made.told[0] == "2 nodes, 1 links"


def test_a_search_without_its_time_is_damaged(tmp_path):
    state = json.loads(file_kinds.searched()[STATE])
    del state["elapsed_s"]
    with pytest.raises(InputError, match="is damaged: 'elapsed_s'"):
        read("searches", json.dumps(state).encode(), tmp_path)


def test_verdicts_without_their_size_are_of_another_tool():
    facts = json.loads(file_kinds.finished()["verdicts.json"])
    assert verdicts.parse(json.dumps(facts).encode())
    del facts["quick"]
    assert verdicts.parse(json.dumps(facts).encode()) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "a" * 400}, None),
        ({"summary": "{"}, "is damaged"),
        ({"summary": "[]"}, "is damaged"),
        ({"summary": DEEP * 20}, "is damaged"),
        ({"summary": '{"flows": [], "network": {}, "links": [{}]}'}, "is none of this version .KeyError: 'utilisation'"),
        ({"summary": '{"flows": [{}], "network": {}}'}, "is none of this version .KeyError: 'lifetime_s'"),
    ],
)
def test_a_row_that_somebody_wrote_with_its_digest_is_damaged_or_not_there(change, words, tmp_path):
    (tmp_path / "runs.sqlite").write_bytes(file_kinds.finished()["runs.sqlite"])
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database, database:
        row = dict(
            zip(COLUMNS.split(", "), database.execute(f"SELECT {COLUMNS} FROM runs WHERE series = 0").fetchone(), strict=True)
        )
        row |= {**change, "digest": ""}
        row["digest"] = checksum(*list(row.values())[:-1])
        assert list(row)[-1] == "digest"
        database.execute(f"INSERT OR REPLACE INTO runs ({COLUMNS}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    study = tp.Study.open(tmp_path)
    if words is None:
        assert len(study.table()) == study.plan.measured
    else:
        with pytest.raises(RunFailedError, match=words):
            study.table()
