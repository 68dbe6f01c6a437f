"""ns-2 as an engine of `cross`: what it refuses, its program, and its trace counted as the engine counts."""

import json

import pytest
from cross_worlds import refusal, world, written

from tonopah.cli.main import main
from tonopah.cross.worlds import worlds_of
from tonopah.errors import InputError
from tonopah.peers import events, ns2, ns3, plan, program
from tonopah.peers.outcome import result_of

peer = pytest.mark.skipif(not ns2.is_installed(), reason=ns2.MISSING)


def test_without_the_peer_the_message_says_how_to_install_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "apt-get install ns2" in refusal(capsys, written(tmp_path, world()), "--on", "tonopah,ns2")


def test_what_a_peer_cannot_do_is_named_key_by_key():
    document = world(tcp={"profile": "linux", "cc": "bbr", "ecn": "classic"})
    document["network"]["bottleneck"] |= {"queue": {"kind": "codel"}, "loss": {"kind": "nth", "data_packets": [3]}}
    [one] = worlds_of(document, {})[1]
    with pytest.raises(InputError) as caught:
        ns2.planned(one.scenario, None, 1)
    said = str(caught.value)
    assert all(path in said for path in ("link[0].queue.kind", "link[0].loss", "tcp.cc", "tcp.ecn"))
    assert "stock ns-2.35 has no CoDel" in said and "wires, drop_tail or red, loss" in said
    app = {"kind": "on_off", "on": "1s", "off": "1s", "rate": "1Mbps", "size": "500B"}
    with pytest.raises(InputError, match=r"flow\[0\].app.kind"):
        ns2.planned(world(flow=[{"from": "left0", "to": "right0", "app": app}]), None, 1)


@pytest.mark.parametrize("engine", [ns2, ns3])
def test_a_setting_that_a_peer_does_not_follow_is_refused(engine):
    tcp = {"profile": "linux", "cc": {"name": "cubic", "beta": 0.5}, "tlp": False}
    with pytest.raises(InputError) as caught:
        engine.planned(world(tcp=tcp), None, 1)
    assert "tcp.tlp: false is not followed by" in str(caught.value) and "tcp.cc.beta: 0.5 is not followed" in str(caught.value)
    engine.planned(world(tcp={"profile": "linux", "cc": "cubic", "initial_window": "4p"}), None, 1)


TRACE = """\
+ 0.5 0 1 tcp 40 ------- 0 0.0 1.0 0 0
- 0.5 0 1 tcp 40 ------- 0 0.0 1.0 0 0
+ 1.1 0 1 tcp 1500 ------- 0 0.0 1.0 1 1
- 1.1 0 1 tcp 1500 ------- 0 0.0 1.0 1 1
+ 1.2 0 1 tcp 1500 ------- 0 0.0 1.0 2 2
d 1.2 0 1 tcp 1500 ------- 0 0.0 1.0 2 2
r 1.3 0 1 tcp 1500 ------- 0 0.0 1.0 1 1
+ 1.3 0 1 tcp 1500 ------- 0 0.0 1.0 3 3
- 1.4 0 1 tcp 1500 ------- 0 0.0 1.0 3 3
+ 1.4 1 0 ack 52 ------- 0 1.0 0.0 1 9
r 1.6 0 1 tcp 1500 ------- 0 0.0 1.0 3 3
+ 1.7 0 1 tcp 1500 ------- 0 0.0 1.0 2 4
- 1.7 0 1 tcp 1500 ------- 0 0.0 1.0 2 4
r 1.9 0 1 tcp 1500 ------- 0 0.0 1.0 2 4
"""


def test_a_trace_of_the_peer_is_counted_as_the_engine_counts():
    queue = {"kind": "drop_tail", "limit": "10p"}
    links = [plan.Direction(0, 1, 1e6, 0.1, queue, 0.0), plan.Direction(1, 0, 1e6, 0.1, queue, 0.0)]
    flow = plan.Flow(0, 0, 1, 0.5, None, "cubic", 1448, 1500, 0.0, {})
    planned = plan.PeerPlan(["a", "b"], links, [flow], 2.0, 1.0, 0.01)
    trace = events.Trace(planned)
    trace.read(TRACE.splitlines())
    windows = events.windows_of(planned, "flow 0 0 0\n", ["0.5 0 0 1 0 cwnd_ 10.0", "1.5 0 0 1 0 cwnd_ 20.0"])
    result = result_of(planned, trace.flows, events.series_of(planned, trace, windows), "ns-2")
    [found], network = result.summary["flows"], result.summary["network"]
    assert (found["sent_packets"], found["received_packets"], found["dropped_packets"], found["retransmitted_packets"]) == (
        4,
        3,
        1,
        1,
    )
    assert found["goodput_bps"] == pytest.approx(3 * 8 * 1448 / 1.0)
    assert found["delay_s"] == pytest.approx((0.2 + 0.3 + 0.2) / 3) and network["loss_ratio"] == 0.25
    assert found["cwnd_mean_bytes"] == pytest.approx(15 * 1448, rel=0.01)
    queue = result.series("queue")
    at = queue[queue["link"] == 0].set_index("t_s")["value"]
    assert at.asof(1.35) == 1500 and at.asof(1.25) == 0 and at.asof(1.95) == 0
    drops = result.series("drops")
    assert drops[drops["link"] == 0]["value"].iloc[-1] == 1


def test_what_the_medium_loses_had_left_the_queue():
    links = [plan.Direction(0, 1, 1e6, 0.1, {"kind": "drop_tail", "limit": "10p"}, 0.1)]
    trace = events.Trace(
        plan.PeerPlan(["a", "b"], links, [plan.Flow(0, 0, 1, 0.0, None, "", 972, 1000, 1e5, {})], 2.0, 0.0, 0.01)
    )
    for event in "+-d":
        trace.read([f"{event} 1.0 0 1 cbr 1000 ------- 0 0.0 1.0 0 0"])
    assert trace.queues[0][1] == [0, 1000, 0, 0] and trace.flows[0].dropped == 1 and trace.drops[0] == [1.0]


def test_the_program_of_the_peer_says_what_the_scenario_does():
    document = world()
    document["network"]["bottleneck"] |= {"queue": {"kind": "red", "limit": "50p"}, "loss": {"kind": "packet", "p": 0.01}}
    text = program.program(ns2.planned(document, None, 1), 1)
    assert "$ns simplex-link $n0 $n1 5000000.0 0.01 RED" in text and "$ns queue-limit $n0 $n1 50" in text
    assert text.count("set rate_ 0.01") == 1 and "$ns link-lossmodel $errors $n0 $n1" in text and "$red set gentle_ true" in text
    assert "select_ca cubic" in text and "$a0 set packetSize_ 1500" in text
    assert text != program.program(ns2.planned(document, None, 1), 2)


@peer
def test_the_peer_carries_a_world_and_its_programs_are_kept(tmp_path, capsys):
    keep = tmp_path / "keep"
    file = written(tmp_path, world())
    assert main(["cross", file, "--on", "tonopah,ns2", "--replicates", "4", "--json", "--keep", str(keep)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in keep.iterdir()) == [f"seed-{seed}.tcl" for seed in range(1, 5)]
    assert facts["engines"]["ns2"].startswith("ns-2 2.")
    known = {one["metric"]: one["engines"]["ns2"]["mean"] for one in facts["worlds"][0]["metrics"]}
    assert 4 < known["goodput_bps.0"] <= 5 and known["cwnd_mean_bytes"] > 10 and known["queueing_s"] > 1


@peer
def test_losses_and_datagrams_on_the_peer():
    app = {"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp"}
    document = world(flow=[{"from": "left0", "to": "right0", "app": app}], duration="20s")
    del document["network"]["flows"]
    document["network"]["bottleneck"]["loss"] = {"kind": "packet", "p": 0.1}
    [flow] = ns2.run(document, None, 3).summary["flows"]
    assert flow["goodput_bps"] == pytest.approx(0.9e6, rel=0.05) and flow["retransmitted_packets"] == 0
    assert flow["dropped_packets"] / flow["sent_packets"] == pytest.approx(0.1, rel=0.2) and flow["cwnd_mean_bytes"] is None
