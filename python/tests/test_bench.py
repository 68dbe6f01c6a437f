"""`python -m tonopah_dev.bench`: the worlds, the ratios, the tables, and the peers where they are installed."""

import json
import math
import re
import sys
from importlib.resources import files

import pytest

from tonopah import _core
from tonopah.errors import InputError, RunFailedError
from tonopah.runs.simulation import check
from tonopah.scenario.document import to_json
from tonopah.terminal.grid import console
from tonopah_dev.bench import batch, growth, measure, page, tables, threads
from tonopah_dev.bench.__main__ import main
from tonopah_dev.bench.worlds import WORLDS
from tonopah_dev.peers import ns2, ns3, process, world_file
from tonopah_dev.peers.outcome import PeerOutcome, PeerStopped, outcome_of

BY_NAME = {world.name: world for world in WORLDS}


@pytest.mark.parametrize("peer", [ns2, ns3])
def test_a_peer_that_is_not_there_is_known_to_be_absent(peer, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not peer.is_installed()


def call(capsys, *arguments):
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_world_is_run_and_counted(capsys):
    code, out, _ = call(capsys, "--only", "wired10", "--seconds", "1", "--runs", "2", "--json")
    told = json.loads(out)
    (world,), (side,) = told["worlds"], told["worlds"][0]["sides"]
    assert (code, world["world"], world["ratios"], side["side"]) == (0, "wired10", [], "tonopah")
    # 100 Mb/s for less than a second in packets of 1500 bytes; a bare Python and the run need more than 4 MiB.
    assert 1000 < side["packets"] < 8334
    assert len(side["cpu_s_runs"]) == 2 and side["cpu_s"] > 0
    assert 4 < side["memory_mib"] < 100
    assert side["events_per_packet"] == pytest.approx(side["events"] / side["packets"])
    assert side["frames"] is None
    assert told["machine"]["cores"] >= 1


def test_radios_count_frames(capsys):
    assert call(capsys, "--only", "wifi40", "--seconds", "3", "--runs", "1")[0] == 0
    side = json.loads(call(capsys, "--only", "wifi40", "--seconds", "3", "--runs", "1", "--json")[1])["worlds"][0]["sides"][0]
    assert side["frames"] > side["packets"] > 0


@pytest.mark.parametrize("name", [world.name for world in WORLDS if world.peers])
def test_every_world_is_valid_and_has_a_world_file(name):
    world = BY_NAME[name]
    lines = [line.split() for line in world_file.write(world.build(1), 1, **world.settings).splitlines()]
    settings = {line[1]: line[2] for line in lines if line[0] == "setting"}
    flows = [line for line in lines if line[0] == "flow"]
    assert float(settings["seconds"]) == 1
    if "arrivals_per_s" in settings:
        assert float(settings["arrivals_per_s"]) * world.seconds == measure.flow_count(world.build(world.seconds)) and not flows
    else:
        assert len(flows) == int(settings.get("pairs", 0)) or f"{len(flows)} flows" in world.title
    assert all(float(line[3]) < 1.2 for line in flows)


@pytest.mark.parametrize("world", [world for world in WORLDS if not world.peers], ids=lambda world: world.name)
def test_every_world_of_ours_alone_is_valid(world):
    # The largest is checked when it is measured: it takes seconds.
    if world.name != "flows100000":
        assert check(world.build(1))["graph"]
    flows = measure.flow_count(world.build(world.seconds))
    assert f"{flows:,} flows" in world.title
    assert round(world_file.number(world.build(1)["tcp"]["mss"])) > 0


def test_flows_grow_without_losses(capsys):
    code, out, _ = call(capsys, "--only", "flows10,flows100", "--seconds", "2", "--runs", "1", "--json")
    ten, hundred = json.loads(out)["worlds"]
    # 1 Mb/s for each flow in packets of 1500 bytes; nothing in the first 50 ms or so.
    for world in (ten, hundred):
        assert 150 < world["sides"][0]["packets"] / world["flows"] < 2e6 / 8 / 1500
    assert code == 0 and hundred["sides"][0]["memory_mib"] > ten["sides"][0]["memory_mib"]
    summary = json.loads(_core.run(to_json(BY_NAME["flows100"].build(2)), 1)[0].json())
    assert (summary["network"]["dropped_packets"], summary["network"]["flows_without_delivery"]) == (0, 0)
    assert summary["network"]["utilisation_max"] > 0.9


def test_the_parts_of_a_summary_that_the_engine_script_reads_are_those_of_its_text(tmp_path):
    summary = _core.run(to_json(BY_NAME["wired10"].build(1)), 1)[0]
    summary.write(str(tmp_path / "summary.json"))
    whole = json.loads((tmp_path / "summary.json").read_text())
    assert whole == json.loads(summary.json())
    assert (json.loads(summary.network()), summary.events) == (whole["network"], whole["events"])


def grown(name, flows, cpu_s, packets, mib):
    side = measure.side("tonopah", [PeerOutcome(packets, 0, cpu_s, 0.0, mib, 6000)], None)
    return {**result(), "world": name, "series": "flows", "size": flows, "sides": [side]}


def test_growth_is_told_by_the_packet_and_by_the_added_flow(tmp_path):
    worlds = [grown("flows10", 10, 1.0, 1_000_000, 14.0), result(), grown("flows1010", 1010, 4.5, 1_500_000, 24.0)]
    assert growth.rows(worlds, "hosts") == []
    assert growth.rows(worlds, "flows") == [
        ["flows10", "10", "1,000,000", "1,000", "1.0", "14", ""],
        # 10 MiB for 1,000 flows more.
        ["flows1010", "1,010", "1,500,000", "3,000", "3.0", "24", "10.2"],
    ]
    options = measure.Options((), runs=1)
    page.write(tmp_path / "speed.md", page.facts(options), worlds, options)
    text = (tmp_path / "speed.md").read_text()
    assert "| flows1010 | 1,010 |" in text and "![CPU time of a packet" in text and "](speed-growth.png)" in text
    assert (tmp_path / "speed-growth.png").stat().st_size > 5_000


def test_a_page_that_cannot_be_written_is_refused_before_the_measurement(capsys, tmp_path):
    code, out, err = call(capsys, "--page", str(tmp_path / "none" / "page.md"))
    assert (code, out) == (2, "") and "--page:" in err and "a file in a folder that exists" in err


def test_threads_are_measured(capsys):
    turns = []
    measured = threads.measure_threads(1, lambda: turns.append(1), seconds=0.01, threads=2)
    assert (len(turns), measured["threads"], set(measured["worlds"])) == (3, 2, {"parking16", "fattree8", "leo200"})
    assert all(world["one_s"]["min"] > 0 and world["ratio"]["min"] > 0 for world in measured["worlds"].values())
    options = measure.Options((), runs=1, threads=True)
    text = page.text(page.facts(options), [], options, threads=measured)
    assert "## One run on several threads" in text and "| 2 threads s |" in text
    for table in tables.terminal_tables([], 1, threads=measured):
        console().print(table)
    out = capsys.readouterr().out
    assert "fattree8" in out and max(map(len, out.splitlines())) <= 80


def test_a_study_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turns = []
    study = batch.measure_study(2, lambda: turns.append(1), small=1, large=1)
    # Four algorithms at five rates, and a typical run of each algorithm.
    assert (study["runs"], study["small_runs"], len(turns)) == (24, 24, 2)
    assert study["one_per_s"]["min"] > 0 and study["ratio"]["min"] > 0
    assert 0 < study["overhead_s"]["median"] < 1
    assert list(tmp_path.iterdir()) == []
    rows = tables.study_rows(study | {"threads": 2, "overhead_s": {"min": 0.001, "median": 0.001, "max": 0.001}})
    assert rows[1][0] == "runs per second, 2 threads"
    assert rows[3] == ["overhead of a run, ms", "1"]
    options = measure.Options((), runs=2, study=True)
    text = page.text(page.facts(options), [], options, study)
    assert "## Studies" in text and "| overhead of a run, CPU ms |" in text
    assert "## Growth" not in text


@pytest.mark.parametrize(
    ("names", "worlds", "study"),
    [(None, len(WORLDS), True), ("study", 0, True), ("leo10, study,leo10", 1, True), ("leo10", 1, False)],
)
def test_a_study_is_selected_like_a_world(names, worlds, study):
    assert (len(measure.select(names)), measure.selects(names, "study")) == (worlds, study)
    assert measure.selects(names, "threads") == (names is None)


def test_the_world_file_says_what_the_scenario_says():
    text = world_file.write(BY_NAME["wifi40"].build(30), 1, frames=1).splitlines()
    assert {"setting data_rate 11000000.0", "setting rts_above 3000", "setting window 20", "setting frames 1"} <= set(text)
    places = [line.split()[1:] for line in text if line.startswith("place ")]
    orders = [line.split()[1:] for line in text if line.startswith("order ")]
    assert len(places) == len({order[0] for order in orders}) == 40
    # Straight on from each place at the instant of arrival, at 10 m/s.
    way = [[float(value) for value in order[1:]] for order in orders if order[0] == "0"]
    at, here = 0.0, [float(value) for value in places[0]]
    for start, x, y, speed in way:
        assert (start, speed) == (pytest.approx(at, abs=1e-6), 10.0)
        at, here = at + math.hypot(x - here[0], y - here[1]) / 10, [x, y]
    assert at >= 30


def test_802_11n_is_told_by_the_number_of_its_rate_and_without_routing():
    world = BY_NAME["wifin10"]
    settings = {"setting mcs 7", "setting control_rate 24000000.0", "setting ack_every 2", "setting routed 0"}
    assert world.peers == ("ns3",) and settings <= set(world_file.write(world.build(1), 1).splitlines())
    slow = {"data_rate": "26Mbps", "profile": "ns3", "standard": "n"}
    learnt = world.build(1) | {"network": world.build(1)["network"] | {"radio": slow, "routing": {"kind": "dsdv"}}}
    assert {"setting mcs 3", "setting routed 1"} <= set(world_file.write(learnt, 1).splitlines())
    # Results of ns-2 are stored with a digest of this text.
    assert not any(line.split()[1] in ("mcs", "ack_every", "routed") for line in written("wifi40") if line.startswith("setting"))


def written(name):
    world = BY_NAME[name]
    return world_file.write(world.build(1), 1, **world.settings).splitlines()


@pytest.mark.parametrize("kind", ns3.MODULES)
def test_programs_of_ns3_read_settings_that_are_written(kind):
    source = files("tonopah_dev.peers").joinpath(f"{kind}.cc").read_text()
    used = set(re.findall(r'world\.Number\("(\w+)"[),]', source))
    given = [
        {line.split()[1] for line in written(w.name)}
        for w in WORLDS
        if "ns3" in w.peers and kind == w.build(1)["network"]["kind"]
    ]
    assert used <= set.union(*given)
    # What some worlds lack has a value of its own in the program.
    needed = set(re.findall(r'world\.Number\("(\w+)"\)', source))
    assert all(needed <= names for names in given)
    included = set(re.findall(r'#include "ns3/([a-z-]+)-module.h"', source))
    assert included == set(ns3.MODULES[kind])


@pytest.mark.parametrize(("text", "value"), [("11Mbps", 11e6), ("93259954ns", 0.093259954), ("0.66W", 0.66), ("50p", 50.0)])
def test_quantities_are_read(text, value):
    assert world_file.number(text) == pytest.approx(value, rel=1e-12)


def test_something_else_is_no_quantity():
    with pytest.raises(ValueError, match="unlimited"):
        world_file.number("unlimited")


def outcome(cpu_s, packets=1000, frames=None, setup_cpu_s=0.0):
    return PeerOutcome(packets, 0, cpu_s, setup_cpu_s, 20.0, 6000, frames)


def test_ratios_are_taken_turn_by_turn():
    mine = measure.side("tonopah", [outcome(1.0), outcome(2.0), outcome(1.0)], None)
    theirs = measure.side("ns2", [outcome(4.0, 500), outcome(6.0, 500), outcome(5.0, 500)], None)
    ratio = measure.ratio(mine, theirs, radio=False)
    assert ratio["cpu"] == {"min": 3.0, "median": 4.0, "max": 5.0}
    # Half the packets for that time: twice as dear.
    assert ratio["packet"] == {"min": 6.0, "median": 8.0, "max": 10.0}
    assert (ratio["goodput"], ratio["same_work"], ratio["frame"]) == (2.0, False, None)


def test_set_up_is_no_part_of_what_a_packet_costs():
    mine = measure.side("tonopah", [outcome(1.0, setup_cpu_s=0.5)], None)
    theirs = measure.side("ns2-lean", [outcome(6.0, setup_cpu_s=4.0)], None)
    assert (mine["setup_cpu_s"], mine["packets_per_cpu_s"]) == (0.5, 2000.0)
    found = measure.ratio(mine, theirs, radio=False)
    assert (found["cpu"]["median"], found["packet"]["median"]) == (6.0, 4.0)


def test_radios_are_compared_by_the_frame_and_not_called_unequal():
    mine, theirs = measure.side("tonopah", [outcome(1.0, frames=300)], None), measure.side("ns2", [outcome(4.0, 900)], 400)
    ratio = measure.ratio(mine, theirs, radio=True)
    assert ratio["frame"]["median"] == pytest.approx(3.0)
    assert ratio["same_work"] is None


@pytest.mark.parametrize(("packets", "same"), [(1029, True), (1031, False), (971, True), (968, False)])
def test_three_percent_count_as_the_same_work(packets, same):
    sides = [measure.side("tonopah", [outcome(1.0, packets)], None), measure.side("ns2", [outcome(1.0)], None)]
    assert measure.ratio(*sides, radio=False)["same_work"] is same


def test_a_ratio_of_several_runs_shows_its_spread():
    assert tables.span({"min": 1.0, "median": 2.5, "max": 30.0}) == "1 – 2.5 – 30"
    assert tables.span({"min": 2.0, "median": 2.0, "max": 2.0}) == "2"


@pytest.mark.parametrize(
    ("value", "shown"), [(950, "950"), (999.7, "1.00k"), (18_160, "18.2k"), (659_300, "659k"), (4.14e6, "4.14M"), (None, "")]
)
def test_counts_are_short_in_the_terminal(value, shown):
    assert tables.compact(value) == shown


def test_the_terminal_needs_80_columns(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    sides = [[outcome(123.45, 12_345_678, 999_999), outcome(234.5, 12_345_678, 999_999)] for _ in range(2)]
    world = result(measure.side("ns2", sides[1], None), radio=True)
    world["sides"][0] = measure.side("tonopah", sides[0], None)
    world["world"], world["ratios"] = "wired1000", [measure.ratio(*world["sides"], radio=True)]
    for table in tables.terminal_tables([world], 2):
        console().print(table)
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def result(*others, radio=False):
    sides = [measure.side("tonopah", [outcome(1.0)], None), *others]
    ratios = [measure.ratio(sides[0], other, radio) for other in others]
    return {
        "world": "wired10", "title": "a dumbbell", "hops": "3 links", "flows": 10, "seconds": 60.0, "radio": radio,
        "series": "", "size": 0,
        "sides": sides, "ratios": ratios,
    }  # fmt: skip


def test_a_peer_that_was_stopped_gives_a_lower_bound():
    stopped = result(measure.side("ns3", [PeerStopped(60.0)], None))
    assert [row[:5] for row in tables.side_rows([stopped])][1] == ["", "ns-3", "> 60", "", "stopped"]
    assert tables.ratio_rows([stopped])[0][4] == "> 60"
    assert "lower bound" in page.remarks([stopped])[0]


def test_a_peer_that_delivered_nothing_is_told():
    empty = result(measure.side("ns2", [outcome(1.0, 0)], None))
    assert empty["ratios"][0]["packet"] is None
    assert page.remarks([empty]) == ["wired10: ns-2 delivered nothing"]
    assert tables.ratio_rows([empty])[0][2] == ""


def test_the_page_names_versions_and_unequal_work(monkeypatch):
    monkeypatch.setattr(ns3, "version", lambda: "3.99")
    monkeypatch.setattr(ns3, "compiler", lambda: "g++ 99")
    options = measure.Options(measure.select("wired10,leo10"), against=("ns3",), runs=1)
    leo = {**result(), "world": "leo10"}
    text = page.text(page.facts(options), [result(measure.side("ns3", [outcome(9.0, 900)], None)), leo], options)
    assert "| ns-3 | 3.99 |" in text and "g++ 99" in text
    assert "wired10: ns-3 delivered 0.900 of our packets" in text
    assert "ns-3 has no model for leo10." in text
    assert "| wired10 | ns-3 | 1.111 | NO | 9 | 10 |" in text


def test_unknown_names_are_refused_with_the_known_ones(capsys):
    for arguments, known in ((["--only", "wired11"], "wired10"), (["--against", "ns4"], "ns2"), (["--only", ","], "wired10")):
        code, _, err = call(capsys, *arguments)
        assert code == 2
        assert known in err
    with pytest.raises(InputError):
        measure.select("nosuch")


@pytest.mark.parametrize(("peer", "words"), [(ns2, "apt-get install ns2"), (ns3, "apt-get install libns3-dev libgsl-dev")])
def test_a_missing_peer_is_told_with_the_package(capsys, monkeypatch, peer, words):
    monkeypatch.setattr("shutil.which", lambda name: None)
    code, out, err = call(capsys, "--against", peer.__name__.split(".")[-1])
    assert (code, out) == (1, "")
    assert words in err


def test_a_child_is_measured_and_stopped_at_its_limit():
    done = process.run([sys.executable, "-c", "print('x' * 3); import sys; sys.exit(sys.stdin.read() == 'go')"], "go")
    assert (done.output, done.code, done.stopped) == ("xxx\n", 1, False)
    big = process.run([sys.executable, "-I", "-S", "-c", "b = bytearray(64 << 20)"])
    small = process.run([sys.executable, "-I", "-S", "-c", ""])
    assert 60 < big.memory_mib - small.memory_mib < 68
    endless = process.run([sys.executable, "-I", "-S", "-c", "while True: pass"], cpu_limit_s=1)
    assert endless.stopped and endless.cpu_s > 0.5
    assert isinstance(outcome_of(endless, "x", "y"), PeerStopped)


def test_a_peer_that_fails_is_quoted():
    broken = process.run([sys.executable, "-c", "raise SystemExit('no such agent')"])
    with pytest.raises(RunFailedError, match="ns-2 failed on a test: no such agent"):
        outcome_of(broken, "ns-2", "a test")
    with pytest.raises(RunFailedError, match="nosuchprogram"):
        outcome_of(process.run(["nosuchprogram"]), "ns-2", "a test")
