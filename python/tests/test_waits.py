"""What is measured of single flows in single queues, of backlogs, and of latency under load."""

import pytest

import tonopah as tp

UDP = {"kind": "cbr", "rate": "20pps", "size": "100B", "transport": "udp"}


def world(queue, **more):
    return {
        "duration": "6s",
        "warmup": "2s",
        "network": {
            "kind": "dumbbell",
            "pairs": 2,
            "access": {"rate": "1Gbps", "delay": "1ms", "queue": "1000p"},
            "bottleneck": {"rate": "10Mbps", "delay": "10ms", "queue": queue},
        },
        "flow": [{"from": "left0", "to": "right0", "cc": "cubic"}, {"from": "left1", "to": "right1", "app": UDP}],
    } | more


def test_one_flow_waits_in_one_queue_for_so_long():
    summary = tp.run(world({"kind": "fq_codel"}, record={"waits": True})).summary
    link = summary["links"][0]
    bulk, voice = link["waits"]
    assert [bulk["flow"], voice["flow"]] == [0, 1] and voice["packets"] == pytest.approx(80, abs=1)
    assert voice["wait_p99_s"] < 0.0025 < bulk["wait_mean_s"]
    # All packets of the link are those of its flows.
    assert bulk["packets"] + voice["packets"] == link["sent_packets"]
    means = bulk["packets"] * bulk["wait_mean_s"] + voice["packets"] * voice["wait_mean_s"]
    assert means / link["sent_packets"] == pytest.approx(link["delay_queue_mean_s"], rel=1e-6)
    assert "waits" not in tp.run(world({"kind": "fq_codel"})).summary["links"][0]


def test_recording_waits_changes_no_result():
    flows = [tp.run(world("50p", record={"waits": waits})).summary["flows"] for waits in (True, False)]
    assert flows[0] == flows[1]


@pytest.mark.parametrize(("queue", "most"), [("50p", 50 * 1500), ("30kB", 30_000)])
def test_the_largest_backlog_is_in_bytes_too(queue, most):
    """By lookahead and event by event."""
    for record in ({}, {"waits": True}):
        link = tp.run(world(queue, record=record)).summary["links"][0]
        assert most - 1500 <= link["queue_max_bytes"] <= most


def test_latency_under_load_less_idle_is_told_of_each_flow():
    voice = tp.run(world("50p")).flows.iloc[1]
    assert voice["delay_added_p95_s"] == pytest.approx(voice["delay_p95_s"] - voice["delay_min_s"])
    assert 0.01 < voice["delay_added_p50_s"] < 0.06
