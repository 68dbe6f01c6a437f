"""ns-3 as an engine of `cross`: what it refuses, the lines that its program reads, what it gives; where it is there, its runs."""

import json

import pytest
from cross_worlds import FIXED, refusal, world, written

from tonopah.cli.main import main
from tonopah.cross.worlds import worlds_of
from tonopah.errors import InputError, RunFailedError
from tonopah.peers import compiled, ns3
from tonopah.peers.outcome import grid_of, result_of

peer = pytest.mark.skipif(ns3.lacking() is not None, reason=compiled.MISSING)
RECORD = {"series": ["cwnd", "queue", "drops"], "every": "10ms"}
CBR = {"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp"}


def changed(queue=None, loss=None, tcp=None, **more):
    """Return the world with another bottleneck, or other settings of TCP."""
    document = world(record=RECORD, **more)
    document["network"]["bottleneck"] |= ({"queue": queue} if queue else {}) | ({"loss": loss} if loss else {})
    document["tcp"] |= tcp or {}
    return document


def lines(document, seed=1):
    return list(ns3.lines_of(ns3.planned(document, None, seed), seed))


def test_without_the_peer_the_message_says_how_to_install_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "apt-get install libns3-dev libgsl-dev" in refusal(capsys, written(tmp_path, world()), "--on", "tonopah,ns3")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (changed({"kind": "pie"}), "link[0].queue.kind: 'pie' is not carried by ns-3 here"),
        (changed({"kind": "red", "limit": "50kB"}), "link[0].queue.limit: of red is a number of packets on ns-3"),
        (changed({"kind": "red", "limit": "50p", "ecn": True}), "link[0].queue.ecn: is not carried by ns-3 here"),
        (changed({"kind": "red", "limit": "50p", "byte_mode": True}), "link[0].queue.byte_mode: is not carried by ns-3 here"),
        (changed({"kind": "fq_codel", "mtu": "1000B"}), "link[0].queue.mtu: is 1500B on ns-3"),
        (changed({"kind": "fq_codel", "memory_limit": "1MB"}), "link[0].queue.memory_limit: is 33554432B on ns-3"),
        (changed(loss={"kind": "nth", "data_packets": [3]}), "link[0].loss: only losses of single packets"),
        (changed(tcp={"cc": "compound"}), "tcp.cc: ns-3 has no 'compound' (it has reno, newreno, cubic"),
        (changed(tcp={"ecn": "accecn"}), "tcp.ecn: is off or classic or dctcp on ns-3"),
        (changed(tcp={"ecn": "dctcp"}), "tcp.ecn: is dctcp with the algorithm dctcp, and with no other, on ns-3"),
    ],
)
def test_what_a_peer_cannot_do_is_named_before_it_starts(document, said):
    [one] = worlds_of(document, {})[1]
    with pytest.raises(InputError) as caught:
        ns3.planned(one.scenario, None, 1)
    assert said in str(caught.value) and "wires, drop_tail, red, codel or fq_codel, loss of packets" in str(caught.value)


def test_the_lines_say_what_the_scenario_does():
    document = changed({"kind": "drop_tail", "limit": "20p"}, {"kind": "packet", "p": 0.01}, {"ack_every": 1, "rto_min": "300ms"})
    first, forward, back, *_, flow = lines(document, 3)
    assert first == "world 4.0 1.0 0.01 400 3 4"
    assert forward == "link 0 1 5000000 10000000 0.01 20p - 0" and back == "link 1 0 5000000 10000000 0.0 20p - 0"
    kind, source, sink, _, stop, segment, algorithm, *pairs = flow.split()
    assert (kind, source, sink, stop, segment, algorithm) == ("tcp", "2", "3", "4.0", "1448", "ns3::TcpCubic")
    given = dict(pair.split("=") for pair in pairs)
    assert given["InitialCwnd"] == "10" and given["DelAckCount"] == "1" and given["MinRto"] == "300000000ns"
    assert int(given["RcvBufSize"]) > 1_000_000 < int(given["SndBufSize"]) and given["Sack"] == given["Timestamp"] == "true"
    assert "InitialSlowStartThreshold" not in given
    assert "InitialSlowStartThreshold=14480 " in lines(changed(tcp={"initial_ssthresh": "14480B"}))[-1] + " "


def test_queue_disciplines_are_objects_of_the_peer_before_a_device_of_one_packet():
    def queue(**more):
        return lines(changed(more))[1].split()[6:]

    assert queue(kind="drop_tail", limit="15kB") == ["15000B", "-", "0"]
    assert queue(kind="codel", limit="100p", target="3ms", ecn=True) == [
        "1p",
        "ns3::CoDelQueueDisc[MaxSize=100p|Target=3000000ns|Interval=100000000ns|UseEcn=true|MinBytes=1500]",
        "0",
    ]
    size, text, quantum = queue(kind="fq_codel", quantum="300B", queues=8)
    assert size == "1p" and quantum == "300" and "Flows=8" in text and "MaxSize=10240p" in text
    # Automatic thresholds: 5 ms of 625 packets a second are fewer than 5.
    automatic, given = (queue(kind="red", limit="50p", **more)[1] for more in ({}, {"min_threshold": 4.0, "weight": 0.01}))
    assert "MinTh=5.0|MaxTh=15.0|QW=-1|LInterm=10.0" in automatic and "LinkBandwidth=5000000bps" in automatic
    assert "MinTh=4.0|MaxTh=12.0|QW=0.01" in given


def test_datagrams_have_the_size_and_the_interval_of_their_rate():
    document = changed(flow=[{"from": "left0", "to": "right0", "app": CBR, "start": "1s", "stop": "3s"}])
    del document["network"]["flows"]
    assert lines(document)[-1] == "udp 2 3 1.0 3.0 500 0.004"


RESULT = """\
flow 0 100 90 8 7 144800
delays 0 0.1 0.2 0.3
cwnd 0 nan 14480 28960
queue 0 0 1500 3000
drops 0 0 0 8
queue 1 0 0 0
drops 1 0 0 0
"""


def test_a_result_of_the_peer_is_read_and_what_is_not_told_is_absent():
    planned = ns3.planned(changed(duration="30ms", warmup="10ms", traffic=FIXED), None, 1)
    assert len(grid_of(planned)) == 3
    result = result_of(planned, *ns3.read(RESULT.splitlines()), "ns-3")
    [flow] = result.summary["flows"]
    assert (flow["sent_packets"], flow["received_packets"], flow["dropped_packets"], flow["retransmitted_packets"]) == (
        100,
        90,
        8,
        7,
    )
    assert flow["goodput_bps"] == pytest.approx(8 * 144800 / 0.02) and flow["delay_s"] == pytest.approx(0.2)
    assert flow["cwnd_mean_bytes"] == pytest.approx((14480 + 28960) / 2)
    assert result.series("drops")["value"].max() == 8 and result.series("queue")["value"].max() == 3000
    silent = [line for line in RESULT.splitlines() if not line.startswith("cwnd")]
    silent[1] = "delays 0"
    [flow] = result_of(planned, *ns3.read(silent), "ns-3").summary["flows"]
    assert flow["delay_s"] is None and flow["delay_p95_s"] is None and flow["cwnd_mean_bytes"] is None


def test_what_does_not_compile_is_an_error_with_the_words_of_the_compiler(tmp_path, monkeypatch):
    source = tmp_path / "broken.cc"
    source.write_text("int main() { return nothing; }\n", encoding="ascii")
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\necho \"broken.cc:1:21: error: 'nothing' was not declared\" >&2\nexit 1\n", encoding="ascii")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(compiled, "asked", lambda *_: compiled.subprocess.CompletedProcess([], 0, "-I/usr\\; -lns3-core", ""))
    with pytest.raises(RunFailedError, match=r"broken\.cc does not compile .*'nothing' was not declared"):
        compiled.compile_program(source, tmp_path / "program", ["core"])


def test_a_program_is_compiled_once_for_each_source_and_version(tmp_path, monkeypatch):
    source, made = tmp_path / "world.cc", []

    def compile_program(_, program, modules):
        made.append(modules)
        program.touch()

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "compile_program", compile_program)
    monkeypatch.setattr(compiled, "compiler", lambda: "g++")
    found = []
    for text, version in (("a", "3.37"), ("a", "3.37"), ("b", "3.37"), ("b", "3.44")):
        source.write_text(text, encoding="ascii")
        monkeypatch.setattr(compiled, "version", lambda version=version: version)
        found.append(compiled.kept_program(source, ["core"]))
    assert found[0] == found[1] and len(set(found)) == len(made) == 3
    assert all(program.parent == tmp_path / "cache" / "tonopah" / "ns3" and program.exists() for program in found)


@pytest.mark.parametrize(("script", "said"), [("echo 'msg=nothing' >&2; exit 134", "msg=nothing"), ("exit 0", "exit code 0")])
def test_a_program_that_fails_or_tells_nothing_is_an_error(script, said, tmp_path, monkeypatch):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setattr(compiled, "kept_program", lambda *_: program)
    with pytest.raises(RunFailedError, match=f"ns-3 failed: {said}"):
        ns3.run(changed(), None, 1)


@peer
def test_the_peer_carries_a_world_and_its_program_is_kept(tmp_path, capsys):
    keep = tmp_path / "keep"
    arguments = [written(tmp_path, world()), "--on", "tonopah,ns3", "--replicates", "4", "--json", "--keep", str(keep)]
    assert main(["cross", *arguments]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in keep.iterdir()) == [*(f"seed-{seed}.world" for seed in range(1, 5)), "world.cc"]
    assert facts["engines"]["ns3"].startswith("ns-3 3.")
    known = {one["metric"]: one["engines"]["ns3"]["mean"] for one in facts["worlds"][0]["metrics"]}
    assert 4 < known["goodput_bps.0"] <= 5 and known["cwnd_mean_bytes"] > 10 and known["queueing_s"] > 1


@peer
@pytest.mark.parametrize("queue", [{"kind": "red", "limit": "50p"}, {"kind": "codel"}, {"kind": "fq_codel", "ecn": False}])
def test_active_queues_of_the_peer_hold_the_delay_down(queue):
    [short], [long] = (
        ns3.run(changed(one, duration="10s"), None, 1).summary["flows"] for one in (queue, {"kind": "drop_tail", "limit": "200p"})
    )
    assert short["dropped_packets"] > 0 and short["delay_s"] < 0.5 * long["delay_s"]


@peer
def test_marks_of_the_peer_replace_drops():
    marking = changed({"kind": "codel", "ecn": True}, tcp={"ecn": "classic"}, duration="10s")
    [flow] = ns3.run(marking, None, 1).summary["flows"]
    assert flow["dropped_packets"] == 0 and flow["goodput_bps"] > 4e6


@peer
@pytest.mark.parametrize("cc", ns3.CONTROLS)
def test_every_algorithm_of_the_peer_has_the_name_that_it_knows(cc):
    document = changed({"kind": "drop_tail", "limit": "200p"}, tcp={"cc": cc}, duration="3s")
    assert ns3.run(document, None, 1).summary["flows"][0]["received_packets"] > 100


@peer
def test_losses_and_datagrams_on_the_peer():
    document = changed(loss={"kind": "packet", "p": 0.1}, flow=[{"from": "left0", "to": "right0", "app": CBR}], duration="20s")
    del document["network"]["flows"]
    one, again, other = (ns3.run(document, None, seed).summary["flows"][0] for seed in (3, 3, 4))
    assert one["goodput_bps"] == pytest.approx(0.9e6, rel=0.05) and one["retransmitted_packets"] == 0
    assert one["dropped_packets"] / one["sent_packets"] == pytest.approx(0.1, rel=0.2) and one["cwnd_mean_bytes"] is None
    assert one == again and one["dropped_packets"] != other["dropped_packets"]


@peer
def test_an_empty_path_of_the_peer_takes_what_ours_does_and_directions_have_their_own_delays():
    document = {
        "duration": "2s", "record": RECORD, "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"from": "a", "to": "b", "rate": "8Mbps", "delay": "10ms", "reverse": {"delay": "40ms"}}],
        "flow": [{"from": source, "to": sink, "app": CBR} for source, sink in ("ab", "ba")],
    }  # fmt: skip
    there, back = ns3.run(document, None, 1).summary["flows"]
    # 528 bytes at 8 Mb/s.
    assert there["delay_s"] == pytest.approx(0.010528, abs=1e-6) and back["delay_s"] == pytest.approx(0.040528, abs=1e-6)
