"""Memory that the ports of a switch share with dynamic thresholds: the law of who holds how much, and what it does to incast."""

import random

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError
from tonopah.validate.frame import compare
from tonopah_dev.published.apps import LINUX, memory, overloaded
from tonopah_dev.published.comparison import AgainstPublished

LAN = {"rate": "1Gbps", "delay": "20us"}
MEMORY = {"size": "1MB", "alpha": 1}
FABRIC = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 4, "flows": 8, "shared_buffer": MEMORY}


def test_ports_settle_where_the_law_says():
    """Choudhury and Hahne 1998: alpha / (1 + n alpha) of the memory for each of n busy ports; the rest stays free."""
    assert all(result.met for result in compare(AgainstPublished(), list(memory())))


def test_what_the_memory_refuses_is_counted_at_its_port():
    summary = tp.run(overloaded(1.0, 4).scenario(1)).summary
    switch = summary["nodes"][0]
    drops = [link["drops"]["queue"] for link in summary["links"] if link["from"] == "switch" and link["to"].startswith("d")]
    assert sum(drops) == switch["shared_buffer_drops"] and max(drops) - min(drops) < 10 < min(drops)
    assert switch["shared_buffer_max_bytes"] == pytest.approx(0.8e6, rel=0.01)
    assert "shared_buffer_drops" not in summary["nodes"][1]


def switch(cc, shared, long_flows):
    """Ten servers answer a client with 1 MB together; 16 other ports have long flows, two to each of eight, or nothing."""
    limit = "unlimited" if shared else f"{1_000_000 // 27}B"
    port = {"kind": "drop_tail", "limit": limit, **({"mark_threshold": 20} if cc == "dctcp" else {})}
    hosts = ["client", *(f"srv{i}" for i in range(10)), *(f"{side}{i}" for side in "ab" for i in range(8))]
    nodes = [{"name": "switch", **({"shared_buffer": MEMORY} if shared else {})}, *({"name": name} for name in hosts)]
    links = [{"from": "switch", "to": name, **LAN, "queue": port, "reverse": {"queue": "1000p"}} for name in hosts]
    app = {"kind": "incast", "total": "1MB", "rounds": 25}
    flows = [{"from": "srv*", "to": "client", "app": app, "start": "0.3s"}]
    if long_flows:
        flows += [{"from": f"a{(i + j) % 8}", "to": f"b{i}", "start_jitter": "10ms"} for i in range(8) for j in range(2)]
    scenario = {"network": {"kind": "graph"}, "node": nodes, "link": links, "flow": flows}
    return scenario | {"duration": "1s", "tcp": LINUX | {"cc": cc, "rto_min": "10ms", "tlp": False}}


def incast(cc, shared, long_flows):
    """The flow of the client, and the link to it."""
    summary = tp.run(switch(cc, shared, long_flows)).summary
    return next(flow for flow in summary["flows"] if flow["app"] == "incast"), summary["links"][0]


def test_incast_finds_the_memory_that_others_do_not_use():
    (static, _), (shared, _) = incast("newreno", False, False), incast("newreno", True, False)
    assert static["timeouts_per_round"] > 0.5
    assert shared["timeouts_per_round"] < 0.1
    assert shared["qct_p50_s"] < 0.7 * static["qct_p50_s"]


def test_long_flows_to_other_ports_take_memory_away_but_not_those_of_dctcp():
    """Buffer pressure (Alizadeh et al. 2010, section 4.2.3, table 2): answers of DCTCP take 9.2 ms in the 95th percentile alone
    and 9.1 beside long flows; TCP loses more."""
    (_, alone), (_, beside) = (incast("newreno", True, long_flows) for long_flows in (False, True))
    assert beside["queue_max_bytes"] < 0.5 * alone["queue_max_bytes"]
    assert beside["drops"]["queue"] > 2 * alone["drops"]["queue"]
    for long_flows, ms in ((False, 9.17), (True, 9.09)):
        answers, link = incast("dctcp", True, long_flows)
        assert answers["qct_p95_s"] == pytest.approx(ms / 1e3, rel=0.1)
        assert link["drops"]["queue"] == 0


def under_pressure(cc, long_flows):
    """The client's flow among 44 hosts: ten servers answer it, each of 33 others sends to two, drawn anew.

    The receivers have windows of 64 KiB, as Windows had them: 640 kB are what a port alone takes of 4 MB. An alpha of 0.21 gives
    it the 700 kB that the paper names.
    """
    draw = random.Random(1)
    port = {"kind": "drop_tail", "limit": "unlimited", **({"mark_threshold": 20} if cc == "dctcp" else {})}
    others = [f"h{i}" for i in range(33)]
    hosts = ["client", *(f"srv{i}" for i in range(10)), *others]
    nodes = [{"name": "switch", "shared_buffer": {"size": "4MB", "alpha": 0.21}}, *({"name": name} for name in hosts)]
    links = [{"from": "switch", "to": name, **LAN, "queue": port, "reverse": {"queue": "1000p"}} for name in hosts]
    flows = [{"from": "srv*", "to": "client", "app": {"kind": "incast", "total": "1MB", "rounds": 40}, "start": "0.2s"}]
    for source in others if long_flows else []:
        sinks = draw.sample([name for name in others if name != source], 2)
        flows += [{"from": source, "to": sink, "start_jitter": "10ms"} for sink in sinks]
    tcp = {"cc": cc, "rto_min": "10ms", "initial_window": "2p", "recv_buffer": "65535B"}
    scenario = {"network": {"kind": "graph"}, "node": nodes, "link": links, "flow": flows, "tcp": tcp, "duration": "1.2s"}
    return next(flow for flow in tp.run(scenario, seed=1).summary["flows"] if flow["app"] == "incast")


def test_windows_of_64_kib_fit_a_port_alone_and_not_beside_long_flows():
    """Table 2 again, with its hosts. TCP: 9.9 ms alone and 46.9 beside long flows there, 8.3 and 27 here; how time-outs follow
    each other on Windows is not known. DCTCP: 9.2 and 9.1 there, 8.6 here."""
    for cc, low, high in (("newreno", 2.5, 5.0), ("dctcp", 0.95, 1.05)):
        alone, beside = (under_pressure(cc, long_flows) for long_flows in (False, True))
        assert alone["timeouts_per_round"] == 0 and alone["qct_p95_s"] == pytest.approx(9.5e-3, rel=0.15)
        assert low < beside["qct_p95_s"] / alone["qct_p95_s"] < high
        assert (beside["timeouts_per_round"] > 1) == (cc == "newreno")


@pytest.mark.parametrize(
    "network",
    [
        FABRIC,
        {"kind": "fat_tree", "k": 2, "flows": 2, "shared_buffer": MEMORY},
        {"kind": "star", "nodes": 6, "flows": 3, "shared_buffer": MEMORY},
        {"kind": "dumbbell", "pairs": 2, "flows": 2, "shared_buffer": MEMORY},
    ],
    ids=lambda network: network["kind"],
)
def test_every_node_that_forwards_has_its_own(network):
    scenario = {"duration": "20ms", "network": network, "tcp": LINUX | {"cc": "cubic"}}
    checked = tp.check(scenario, seed=1)
    assert not checked["warnings"]
    assert all(("shared_buffer" in node) == (node.get("role", "host") != "host") for node in checked["graph"]["node"])
    summary = tp.run(scenario).summary
    again = tp.run(checked["graph"], seed=1).summary
    assert [flow["goodput_bps"] for flow in summary["flows"]] == [flow["goodput_bps"] for flow in again["flows"]]


def test_threads_change_nothing():
    network = FABRIC | {"shared_buffer": {"size": "60kB"}, "fabric": {"rate": "5Gbps"}}
    scenario = {"duration": "10ms", "network": network, "tcp": LINUX | {"cc": "cubic"}}
    one, two = (tp.run(scenario, threads=threads).summary for threads in (1, 2))
    assert one == two and sum(node.get("shared_buffer_drops", 0) for node in one["nodes"]) > 0


def test_what_contradicts_the_memory_is_said():
    def warned(**queue):
        network = FABRIC | {"fabric": {"queue": {"kind": "drop_tail", **queue}}}
        return tp.check({"duration": "10ms", "network": network, "tcp": LINUX}, seed=1)["warnings"]

    assert "limit of 100p, which binds before the memory" in str(warned(limit="100p"))
    assert "nothing is marked" in str(warned(limit="unlimited", mark_threshold=400))
    assert not warned(limit="unlimited", mark_threshold=65)
    for wrong, words in (({"size": "100B"}, "size"), ({"size": "1MB", "alpha": 0}, "alpha"), ({}, "size")):
        with pytest.raises(ScenarioError, match=words):
            tp.check({"duration": "10ms", "network": FABRIC | {"shared_buffer": wrong}})
    graph = switch("cubic", False, False)
    graph["node"].append({"name": "alone", "shared_buffer": MEMORY})
    with pytest.raises(ScenarioError, match=r"node\[28\].shared_buffer.*no link"):
        tp.check(graph)
