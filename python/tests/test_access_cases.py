"""Queues and access lines that operators reported, each with its right value (others are in `tonopah_dev.published.access`)."""

import itertools
import json

import numpy as np
import pytest

import tonopah as tp
from tonopah._core import trace
from tonopah.scenario.worlds import Graph


def udp(rate, size, **more):
    return {"kind": "cbr", "rate": rate, "size": size, "transport": "udp"} | more


def pairs(duration, bottleneck, *flows, access="1ms", **more):
    """Pairs of hosts around a link, flow i from left i to right i."""
    own = [{"from": f"left{i}", "to": f"right{i}"} | flow for i, flow in enumerate(flows)]
    ends = {"rate": "10Gbps", "delay": access, "queue": "unlimited"}
    network = {"kind": "dumbbell", "pairs": len(flows), "access": ends, "bottleneck": bottleneck}
    return {"duration": duration, "network": network, "tcp": {"profile": "linux"}, "flow": own} | more


def preset_on_a_listed_link():
    graph = Graph("a", "b")
    graph.connect("a", "b", preset="starlink")
    graph.add_flow("a", "b")
    return graph.scenario("10s", {})


def short_connections_past_a_step():
    """Ten DCTCP flows hold a RED step at K = 20; 20 connections of 20 kB follow one another."""
    step = {"min_threshold": 20.0, "max_threshold": 20.5, "weight": 1.0, "max_p": 1.0, "mark_p": 1.0, "ecn": True, "wait": False}
    queue = {"kind": "red", "limit": "400p", "gentle": False, "hard_drop": False, **step}
    short = [{"start": f"{1000 + 50 * i}ms", "app": {"kind": "bulk", "bytes": "20kB"}} for i in range(20)]
    world = pairs("2.1s", {"rate": "1Gbps", "delay": "20us", "queue": queue}, *[{}] * 10, *short, access="10us")
    return world | {"tcp": {"profile": "linux", "cc": "dctcp", "ecn": "dctcp"}}


def overload_of_low_latency():
    flows = (udp("60Mbps", "1000B", ecn="l4s"), udp("83pps", "1472B"), udp("59pps", "172B"))
    line = {"rate": "50Mbps", "delay": "10ms", "queue": {"kind": "dualpi2", "profile": "rfc"}}
    return pairs("12s", line, *({"app": app} for app in flows), warmup="4s")


def flood_of_small_packets():
    graph = Graph("pc", "router", "modem", "isp")
    fast = {"delay": "1us", "queue": "unlimited"}
    shaper = {"kind": "cake", "rate": "2400kbps", "overhead": "docsis", "tins": "besteffort"}
    graph.connect("pc", "router", rate="1Gbps", **fast)
    graph.connect("router", "modem", rate="100Mbps", delay="1us", queue=shaper, reverse={"queue": "unlimited"})
    graph.connect("modem", "isp", rate="2500kbps", delay="1ms", queue="unlimited", framing="docsis")
    graph.add_flow("pc", "isp", app=udp("4Mbps", "16B"))
    return graph.scenario("10s", {})


def two_kinds_of_marks(**selector):
    line = {"rate": "50Mbps", "delay": "19ms", "queue": {"kind": "fq_codel", "ce_threshold": "1ms", **selector}}
    flows = ({"cc": "cubic", "tcp": {"ecn": "classic"}}, {"cc": "prague", "tcp": {"ecn": "l4s"}})
    return pairs("20s", line, *flows, warmup="8s")


def upload_over_cable(**change):
    """Beside an upload, small packets every 20 ms."""
    up = {"from": "right0", "to": "left0", "cc": "cubic"}
    voice = {"from": "right1", "to": "left1", "app": udp("50pps", "100B")}
    return pairs("30s", {"preset": "cable"} | change, up, voice, warmup="10s")


def lost(result):
    return (result.flows["dropped_packets"] / result.flows["sent_packets"]).tolist()


def mbps(result):
    return (result.flows["goodput_bps"] / 1e6).tolist()


CASES = {
    # Accepted, as network.bottleneck = { preset = … } is.
    "preset": (preset_on_a_listed_link(), lambda r: r.flows["goodput_bps"][0] > 1e6),
    # Linux sends SYN, SYN-ACK and pure ACKs of DCTCP as ECT, which a step marks and does not drop: 1.1 ms each, no time-out.
    "dctcp": (
        short_connections_past_a_step(),
        lambda r: r.flows["completion_s"].tail(20).max() < 0.002 and r.summary["links"][0]["dropped_packets"] == 0,
    ),
    # RFC 9332, Appendix A.1: at the limit it is tested whether an MTU fits, so that size does not decide who is dropped. What is
    # left is the phase of two sources.
    "dualpi2": (
        overload_of_low_latency(),
        lambda r: abs(lost(r)[1] / lost(r)[2] - 1) < 0.25 and lost(r)[0] == pytest.approx(0.197, abs=0.01),
    ),
    # Linux counts an skb and its buffer, 768 B at least: 5461 packets in 4 MiB.
    "memory": (flood_of_small_packets(), lambda r: r.summary["links"][2]["queue_max_packets"] == 4 * 2**20 // 768),
    # ECT(0) keeps CoDel's law and half of the line, if the threshold is for ECT(1) alone (tc: ce_threshold_selector 0x1/0x3).
    "selector": (two_kinds_of_marks(ce_threshold_selector="ect1"), lambda r: mbps(r) == pytest.approx([23.5, 23.5], rel=0.1)),
    "no selector": (two_kinds_of_marks(), lambda r: mbps(r)[0] < 5 and mbps(r)[1] > 40),
    # RFC 8034 at 10 ms: 15 to 30 ms over maps of 2 ms; 250 ms in a buffer of that length.
    "cable": (upload_over_cable(), lambda r: 0.015 < r.flows["delay_p95_s"][1] < 0.03 and mbps(r)[0] > 18.5),
    "cable, no AQM": (upload_over_cable(reverse={"queue": "625kB"}), lambda r: 0.2 < r.flows["delay_p95_s"][1] < 0.28),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_operators_reported_comes_out_as_they_have_it(name):
    world, right = CASES[name]
    result = tp.run(world)
    assert right(result), (result.flows, result.summary["links"][0])


def pings(seed):
    """Round trips, in ms, of 60 s of pings over `starlink`, ten a second: there, and back a moment later. None is one lost."""
    ping = {"app": udp("10pps", "56B")}
    graph = Graph("a", "b")
    graph.connect("a", "b", preset="starlink")
    for ends in ("ab", "ba"):
        graph.add_flow(*ends, start="0s", **ping)
    world = graph.scenario("61s", {}, warmup="0s") | {"traffic": {"start_jitter": "0s"}}
    came = {(0, k): None for k in range(600)} | {(1, k): None for k in range(600)}
    for event in map(json.loads, trace(json.dumps(world), seed, json=True).splitlines()):
        place = (event["flow"], round(10 * event["sent_at_s"]))
        if event["event"] == "delivered" and place in came:
            came[place] = event["t_s"] - event["sent_at_s"]
    return [None if None in (came[0, k], came[1, k]) else 1e3 * (came[0, k] + came[1, k]) for k in range(600)]


def test_pings_over_starlink_find_what_was_published():
    # Huston (APNIC blog, 2024-05-17): 6.7 ms between successive round trips, 1 to 2 % lost; slots at 12, 27, 42 and 57 s.
    runs = [pings(seed) for seed in range(1, 201)]
    known = [rtt for run in runs for rtt in run if rtt is not None]
    steps = [abs(b - a) for run in runs for a, b in itertools.pairwise(run) if None not in (a, b)]
    lost = 1 - len(known) / sum(map(len, runs))
    assert 25 <= np.median(known) <= 45
    assert 6.0 <= np.mean(steps) <= 7.4
    assert 0.008 <= lost <= 0.012
    # In a slot the least round trip is the sum of both delays, and the next slot has others.
    slots = [(0, 119), (122, 269), (272, 419), (422, 569), (572, 600)]
    least = np.array([[min(rtt for rtt in run[begin:end] if rtt is not None) for begin, end in slots] for run in runs])
    moves = np.abs(np.diff(least, axis=1))
    assert np.all(moves.mean(axis=0) > 3.0) and np.all(moves.mean(axis=0) < 6.0)
