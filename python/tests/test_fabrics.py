"""Fabrics of data centres: links that differ, permutation traffic, what the core carried."""

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError


def fabric(kind, **network):
    size = {"leaves": 2, "spines": 2, "hosts": 4} if kind == "leaf_spine" else {"k": 4}
    return {
        "duration": "20ms", "network": {"kind": kind, **size, **network}, "tcp": {"profile": "linux", "cc": "dctcp"},
        "host_noise": "0s",
    }  # fmt: skip


def links_of(scenario):
    return {(link["from"], link["to"]): link for link in tp.run(scenario).summary["links"]}


@pytest.mark.parametrize(("kind", "one", "same"), [
    ("leaf_spine", ("leaf0", "spine1"), ("leaf0", "spine0")), ("fat_tree", ("agg0_0", "core1"), ("agg0_0", "core0")),
])  # fmt: skip
def test_a_link_of_a_fabric_may_be_slow_or_broken(kind, one, same):
    slow = dict(zip(("from", "to"), one, strict=True)) | {"rate": "1Gbps"}
    links = links_of(fabric(kind, flows=8, links=[slow]))
    assert links[one]["rate_bps"] == 1e9 < links[same]["rate_bps"]
    broken = slow | {"changes": [{"at": "0s", "up": False}]}
    links = links_of(fabric(kind, flows=16, links=[broken]))
    assert links[one]["sent_packets"] == 0 < links[same]["sent_packets"]
    with pytest.raises(ScenarioError, match=r"network.links\[0\].*forward direction"):
        tp.check(fabric(kind, flows=8, links=[slow | {"from": one[1], "to": one[0]}]))


@pytest.mark.parametrize(("kind", "hosts"), [("leaf_spine", 8), ("fat_tree", 16)])
def test_permutation_traffic_reaches_each_host_once(kind, hosts):
    scenario = fabric(kind, flows=hosts, ends="permutation")
    found = [[(flow["from"], flow["to"]) for flow in tp.run(scenario, seed=seed).summary["flows"]] for seed in (1, 2)]
    assert found[0] != found[1]
    for pairs in found:
        assert len({source for source, _ in pairs}) == len({sink for _, sink in pairs}) == hosts
        assert all(source != sink for source, sink in pairs)


@pytest.mark.parametrize("kind", ["leaf_spine", "fat_tree"])
def test_what_the_core_carries_of_what_it_could(kind):
    run = tp.run(fabric(kind, flows=8))
    network, links = run.summary["network"], run.summary["links"]
    top = "spine" if kind == "leaf_spine" else "core"
    core = [link["utilisation"] for link in links if top in link["from"] + link["to"]]
    assert network["core_utilisation"] == pytest.approx(sum(core) / len(core))
    hosts = 8 if kind == "leaf_spine" else 16
    assert network["bisection_share"] == pytest.approx(network["goodput_bps"] / (hosts * 10e9))
    assert 0 < network["bisection_share"] < 1
