"""Noise of hosts: flows of DCTCP whose bursts would keep in step share as they were measured, whatever the order of tables."""

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError
from tonopah.stats import jain


def star(rate, mark, flows=2, seconds=9, **world):
    """Senders over one switch to one host, DCTCP of profile `linux`."""
    link = {"rate": rate, "delay": "20us"}
    queue = {"kind": "drop_tail", "limit": "466p", "mark_threshold": mark}
    source, sink = link | {"queue": "1000p"}, link | {"queue": queue}
    return {
        "duration": f"{seconds}s", "warmup": f"{seconds / 9}s",
        "network": {"kind": "star", "nodes": 12, "flows": 0, "source": source, "sink": sink},
        "tcp": {"profile": "linux", "cc": "dctcp", "rto_min": "10ms"},
        "flow": [{"from": f"src{i}", "to": "sink0", "start_jitter": "1ms"} for i in range(flows)], **world,
    }  # fmt: skip


def goodputs(world, seed=1):
    return [flow["goodput_bps"] for flow in tp.run(world, seed=seed).summary["flows"]]


@pytest.mark.parametrize(("rate", "mark", "seconds"), [("1Gbps", 20, 9), ("1Gbps", 65, 9), ("10Gbps", 65, 2)])
def test_two_flows_of_dctcp_share_equally(rate, mark, seconds):
    """Alizadeh et al. 2010, section 4.1; without noise 669 : 297 Mb/s with every seed."""
    first, second = goodputs(star(rate, mark, seconds=seconds))
    assert first == pytest.approx((first + second) / 2, rel=0.05)


@pytest.mark.parametrize("mark", [20, 65])
def test_five_flows_of_dctcp_share_equally(mark):
    world = star("1Gbps", mark, 5, duration="14s", warmup="4s")
    world["flow"] = [flow | {"start": f"{i / 2}s"} for i, flow in enumerate(world["flow"])]
    assert jain(goodputs(world)) >= 0.99


def test_noise_is_there_where_bursts_lock_and_nowhere_else():
    """Marks from a threshold on, DCTCP and bursts that wait: otherwise nothing is drawn that was not before."""
    assert tp.check(star("1Gbps", 20))["resolved"]["host_noise"] == "50us"
    first, second = goodputs(star("1Gbps", 20, seconds=2, host_noise="0s"))
    assert first > 2 * second
    quiet = (
        star("1Gbps", 20, 1),
        star("1Gbps", 20, tcp={"profile": "linux", "cc": "dctcp", "tso_defer": False}),
        star("1Gbps", 20, tcp={"profile": "linux", "cc": "cubic"}),
        star("1Gbps", 20, tcp={"cc": "dctcp"}),
    )
    for world in quiet:
        assert "host_noise" not in tp.check(world)["resolved"]


def test_noise_needs_a_wire_and_is_bounded():
    with pytest.raises(ScenarioError, match="host_noise"):
        tp.check(star("1Gbps", 20, host_noise="2s"))
    network, flow = {"kind": "adhoc", "nodes": 2}, [{"from": "n0", "to": "n1"}]
    with pytest.raises(ScenarioError, match="host_noise: no wire leads to a host"):
        tp.check({"duration": "1s", "host_noise": "50us", "network": network, "flow": flow})


def test_a_batch_goes_on_at_once_and_keeps_its_order():
    """Packets 1 us apart behind a wait of 1 ms arrive together, so that a run of one flow has the same packets."""
    jitter = {"kind": "constant", "length": "1ms", "per": "batch"}
    with pytest.raises(ScenarioError, match=r"jitter\.reorder"):
        tp.check(batches(jitter | {"reorder": True}))
    summary = tp.run(batches(jitter)).summary["flows"][0]
    assert summary["reordered_packets"] == 0 and summary["min_rtt_s"] == pytest.approx(0.0021, rel=0.1)


def batches(jitter):
    bottleneck = {"rate": "100Mbps", "delay": "0.5ms", "queue": "100p", "jitter": jitter}
    network = {"kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "1us"}, "bottleneck": bottleneck}
    return {"duration": "1s", "network": network, "flow": [{"from": "left0", "to": "right0"}]}
