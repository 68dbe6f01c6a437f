"""No result hangs on the order of `[[node]]`, `[[link]]` and `[[flow]]`: shares over seeds do not move."""

import pytest

import tonopah as tp

SEEDS = (1, 2, 3, 4)
LAN = {"rate": "1Gbps", "delay": "20us", "queue": "1000p"}
MARKING = {"rate": "1Gbps", "delay": "20us", "queue": {"kind": "drop_tail", "limit": "466p", "mark_threshold": 20}}
LINUX = {"profile": "linux", "cc": "cubic"}
DCTCP = {"profile": "linux", "cc": "dctcp", "rto_min": "10ms"}


def pairs(number, source="left", sink="right", **more):
    return [{"from": f"{source}{i}", "to": f"{sink}{i}", "start_jitter": "50ms", **more} for i in range(number)]


SLOW = {"rate": "20Mbps", "delay": "5ms", "queue": "50p"}
WORLDS = {
    "star": (3, {"kind": "star", "nodes": 6, "flows": 0, "source": LAN, "sink": MARKING}, DCTCP,
             [{"from": f"src{i}", "to": "sink0", "start_jitter": "1ms"} for i in range(2)]),
    "dumbbell": (20, {"kind": "dumbbell", "pairs": 3, "bottleneck": SLOW}, LINUX, pairs(3)),
    "fair queues": (5, {"kind": "dumbbell", "pairs": 3, "bottleneck": SLOW | {"queue": {"kind": "fq_codel"}}}, LINUX, pairs(3)),
    "parking_lot": (20, {"kind": "parking_lot", "link": SLOW}, LINUX, []),
    "leaf_spine": (0.04, {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 4, "flows": 8}, DCTCP, []),
    "requests": (20, {"kind": "dumbbell", "pairs": 3, "bottleneck": SLOW}, LINUX,
                 pairs(3, app={"kind": "request_response", "requests": 9999, "think": {"kind": "exponential", "mean": "20ms"}})),
    "adhoc": (20, {"kind": "adhoc", "nodes": 4, "flows": 0, "placement": {"kind": "grid", "columns": 2, "spacing": "50m"}}, LINUX,
              [{"from": "n0", "to": "n1", "start_jitter": "50ms"}, {"from": "n3", "to": "n2", "start_jitter": "50ms"}]),
}  # fmt: skip


def shares(world, seed):
    """The part of each flow, by its ends, of what all flows get."""
    flows = tp.run(world, seed=seed).summary["flows"]
    got = {}
    for flow in flows:
        got[flow["from"], flow["to"]] = got.get((flow["from"], flow["to"]), 0.0) + flow["goodput_bps"]
    return {ends: value / sum(got.values()) for ends, value in got.items()}


@pytest.mark.parametrize("name", WORLDS)
def test_shares_over_seeds_do_not_move(name):
    """Within a fifth of an equal share of each; with locked bursts two flows of DCTCP change places, 0.69 for 0.31."""
    seconds, network, tcp, flows = WORLDS[name]
    world = {"duration": f"{seconds}s", "warmup": f"{seconds / 4}s", "network": network, "tcp": tcp}
    graph = tp.check(world | ({"flow": flows} if flows else {}), seed=1)["graph"]
    turned = graph | {key: graph[key][::-1] for key in ("node", "link", "flow") if key in graph}
    found = [[shares(scenario, seed) for seed in SEEDS] for scenario in (graph, turned)]
    assert found[0][0].keys() == found[1][0].keys() and len(found[0][0]) > 1
    for ends in found[0][0]:
        before, after = (sum(share[ends] for share in each) / len(SEEDS) for each in found)
        assert before == pytest.approx(after, abs=0.2 / len(found[0][0])), ends
