"""Scenarios around one bottleneck: what the builders make is what a file would say."""

import pytest

import tonopah as tp
from tonopah.scenario.worlds import Graph, bdp_packets, bulk, drop_tail, dumbbell, link


def test_a_dumbbell_is_that_of_a_file():
    path = link("10Mbps", "20ms", drop_tail(33, mark_threshold=11))
    made = dumbbell("5s", path, {"cc": "reno"}, pairs=2, flows=2, access=link("1Gbps", "1ms", "1000p"), warmup="1s")
    assert made == {
        "duration": "5s",
        "warmup": "1s",
        "network": {
            "kind": "dumbbell",
            "pairs": 2,
            "flows": 2,
            "access": {"rate": "1Gbps", "delay": "1ms", "queue": "1000p"},
            "bottleneck": {
                "rate": "10Mbps",
                "delay": "20ms",
                "queue": {"kind": "drop_tail", "limit": "33p", "mark_threshold": 11},
            },
        },
        "tcp": {"cc": "reno"},
    }
    assert len(tp.check(made)["graph"]["flow"]) == 2


def test_a_graph_collects_hosts_with_paths_of_their_own():
    network = Graph("r", "d")
    network.connect("r", "d", **link("10Mbps", "10ms", drop_tail(33)))
    for number, delay in enumerate(("0ms", "20ms")):
        network.add_host(f"s{number}", "r", **link("1Gbps", delay, "1000p"))
        network.add_flow(f"s{number}", "d", app=bulk(1_000_000), start=f"{number}s")
    graph = tp.check(network.scenario("5s", {"profile": "linux"}))["graph"]
    assert [node["name"] for node in graph["node"]] == ["r", "d", "s0", "s1"]
    assert [flow["from"] for flow in graph["flow"]] == ["s0", "s1"]


def test_the_bandwidth_delay_product():
    assert bdp_packets(20e6, 0.04) == pytest.approx(66.67, abs=0.01)
