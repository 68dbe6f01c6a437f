"""Data centres and applications as they were measured: what came out right stays so."""

import pytest

import tonopah as tp
from tonopah.stats import jain


def dumbbell(rtt_ms, **bottleneck):
    """A path of this base RTT, 2 ms of which are the hosts' links."""
    access = {"rate": "40Gbps", "delay": "0.5ms", "queue": "100000p"}
    return {"kind": "dumbbell", "access": access, "bottleneck": {"delay": f"{rtt_ms / 2 - 1}ms", **bottleneck}}


@pytest.mark.parametrize(("window", "requests", "ms"), [("5840B", 1, 264), ("14600B", 1, 208), ("5840B", "all", 96)])
def test_an_answer_takes_its_round_trips(window, requests, ms):
    """20 kB over 56 ms, 40 ms of server: a new connection with a window of 4, of 10, and an open one (High Performance Browser
    Networking, chapter 2)."""
    app = {
        "kind": "request_response", "requests": 10, "per_connection": requests, "response": "20kB", "server_time": "40ms",
        "think": "100ms",
    }  # fmt: skip
    tcp = {"profile": "linux", "cc": "newreno", "initial_window": window, "mss": "1460B", "timestamps": False}
    flow = {"from": "left0", "to": "right0", "app": app}
    network = dumbbell(56, rate="1Gbps", queue="1000p")
    found = tp.run({"duration": "10s", "network": network, "tcp": tcp, "flow": [flow]}).summary["flows"][0]
    assert found["request_p50_s"] == pytest.approx(ms / 1e3, rel=0.02)


@pytest.mark.parametrize(
    ("window", "rtt_ms", "mbps", "part"),
    [("65536B", 95, 5.5, 0.03), ("262144B", 95, 22, 0.03), ("3145728B", 20, 1219, 0.1), ("3145728B", 52, 436, 0.12)],
)
def test_a_window_a_round_trip(window, rtt_ms, mbps, part):
    """64 and 256 KiB over 95 ms (NUSspli, pull request 491); 3 MiB, the window of a Linux host that nobody has tuned, over 20
    and 52 ms (netperf; libdatachannel, issue 409)."""
    network = dumbbell(rtt_ms, rate="20Gbps", queue="100000p")
    tcp = {"profile": "linux", "cc": "cubic", "recv_buffer": window}
    scenario = {"duration": "9s", "warmup": "1s", "network": network, "tcp": tcp, "flow": [{"from": "left0", "to": "right0"}]}
    assert tp.run(scenario).summary["flows"][0]["goodput_bps"] == pytest.approx(mbps * 1e6, rel=part)


def star(mark, flows, **tcp):
    """Senders over one switch of 1 Gb/s to one host, DCTCP of profile `linux`."""
    return {
        "duration": "3s", "warmup": "1s",
        "network": {
            "kind": "star", "nodes": 12, "flows": 0, "source": {"rate": "1Gbps", "delay": "20us", "queue": "1000p"},
            "sink": {"rate": "1Gbps", "delay": "20us", "queue": {"kind": "drop_tail", "limit": "466p", "mark_threshold": mark}},
        },
        "tcp": {"profile": "linux", "cc": "dctcp", "rto_min": "10ms", **tcp},
        "flow": [{"from": f"src{i}", "to": "sink0", "start_jitter": "1ms"} for i in range(flows)],
    }  # fmt: skip


@pytest.mark.parametrize("mark", [20, 65])
def test_dctcp_holds_the_queue_at_its_threshold(mark):
    """Alizadeh et al. 2010, section 4.1; findings 18.8 and 58.9 packets in the mean."""
    links = tp.run(star(mark, 2)).summary["links"]
    assert max(link["queue_mean_packets"] for link in links) == pytest.approx(mark, rel=0.2)


@pytest.mark.parametrize("mark", [20, 65])
def test_flows_of_dctcp_share_equally_where_no_burst_waits(mark):
    """Jain's index of five flows (Alizadeh et al. 2010, section 4.1). With `tso_defer` bursts lock where hosts do not vary."""
    flows = tp.run(star(mark, 5, tso_defer=False)).summary["flows"]
    assert jain([flow["goodput_bps"] for flow in flows]) >= 0.99
