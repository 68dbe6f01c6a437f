"""`python -m tonopah_dev.bench` beside ns-2 and ns-3 where they are installed: the same worlds, the same work."""

import pytest

from tonopah_dev.bench import measure
from tonopah_dev.bench.scenarios import web
from tonopah_dev.bench.worlds import WORLDS
from tonopah_dev.peers import ns2, ns3

BY_NAME = {world.name: world for world in WORLDS}
needs_ns2 = pytest.mark.skipif(not ns2.is_installed(), reason="ns-2 is not installed")
needs_ns3 = pytest.mark.skipif(not ns3.is_installed(), reason="ns-3 is not installed")


@needs_ns2
@pytest.mark.parametrize("name", ["wired10", "wifi40", "leo10"])
def test_ns2_runs_the_same_world(name):
    world = BY_NAME[name]
    scenario = world.build(5)
    theirs, mine = ns2.run(scenario, 1, **world.settings), measure.ours(scenario, 1448 if name == "wired10" else 1000)
    # The start differs more than a whole run would: ns-2's TCP has no handshake, and DSDV takes seconds to spread.
    assert 0.6 < mine.packets / theirs.packets < 1.6
    assert theirs.events > theirs.packets and theirs.memory_mib > 5


@needs_ns2
def test_flows_come_and_go_in_ns2_too():
    scenario = web(200, 3)
    theirs, mine = ns2.run(scenario, 1, **BY_NAME["web100k"].settings), measure.ours(scenario, 1448)
    # 600 flows of seven segments, less those under way at the end; both draw their arrivals.
    for one in (theirs, mine):
        assert one.packets == pytest.approx(4200, rel=0.15)
    assert theirs.packets == pytest.approx(mine.packets, rel=0.15)


@needs_ns2
def test_lean_ns2_does_the_same_work():
    world = BY_NAME["wired10"]
    installed, lean = (ns2.run(world.build(2), 1, **world.settings, **extra) for extra in ({}, {"lean": 1}))
    assert (lean.packets, lean.events) == (installed.packets, installed.events)
    assert 0 < lean.setup_cpu_s < lean.cpu_s


@needs_ns2
def test_ns2_counts_frames_when_asked():
    world = BY_NAME["wifi40"]
    timed, counted = (ns2.run(world.build(3), 1, **world.settings, **extra) for extra in ({}, {"frames": 1}))
    assert timed.frames is None
    assert counted.frames > counted.packets == timed.packets


@needs_ns3
@pytest.mark.parametrize(("name", "seconds"), [("wired10", 1), ("wifi40", 2), ("wifin10", 2)])
def test_ns3_runs_the_same_world(name, seconds, tmp_path):
    world = BY_NAME[name]
    theirs = ns3.Programs(tmp_path).run(world.build(seconds), 1, **world.settings)
    assert 0 < theirs.packets < theirs.events
    assert (theirs.frames is not None) == world.radio
    if name == "wifin10":
        mine = measure.ours(world.build(seconds), 1472)
        # One second of flows; over 100 s the two deliver the same within a few per cent.
        assert theirs.packets == pytest.approx(mine.packets, rel=0.25)
        assert theirs.frames / theirs.packets == pytest.approx(mine.frames / mine.packets, rel=0.3)
