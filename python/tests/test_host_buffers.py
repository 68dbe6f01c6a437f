"""Buffers of Linux hosts as they come, and defaults that what is given beside them puts out of reach."""

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError


def lfn(rtt_ms, **tcp):
    network = {
        "kind": "dumbbell", "access": {"rate": "40Gbps", "delay": "0.5ms", "queue": "100000p"},
        "bottleneck": {"rate": "20Gbps", "delay": f"{rtt_ms / 2 - 1}ms", "queue": "100000p"},
    }  # fmt: skip
    tcp = {"profile": "linux", "cc": "cubic", **tcp}
    return {"duration": "12s", "warmup": "6s", "network": network, "tcp": tcp, "flow": [{"from": "left0", "to": "right0"}]}


@pytest.mark.parametrize(("rtt_ms", "mbps"), [(12, 2042), (20, 1219), (52, 436)])
def test_a_host_as_it_comes_has_a_window_of_three_megabytes(rtt_ms, mbps):
    """Measured with netperf between hosts that nobody had tuned (libdatachannel, issue 409); 478 over 52 ms are 3 MiB."""
    with pytest.warns(tp.ScenarioWarning, match="nobody has tuned"):
        found = tp.run(lfn(rtt_ms)).summary["flows"][0]["goodput_bps"]
    assert found == pytest.approx(mbps * 1e6, rel=0.12)


def test_buffers_are_those_of_linux_and_may_be_given_one_by_one():
    with pytest.raises(ScenarioError, match=r"tcp\.buffers: are those of Linux hosts"):
        tp.check(lfn(20) | {"tcp": {"buffers": "stock"}})
    given = tp.run(lfn(20, buffers="stock", recv_buffer="1MiB")).summary["flows"][0]["goodput_bps"]
    assert given == pytest.approx(8 * 2**20 / 0.02, rel=0.05)
    assert tp.check(lfn(20, buffers="stock"))["resolved"]["tcp"] == tp.check(lfn(20))["resolved"]["tcp"]
    tuned = [tp.check(lfn(20, recv_buffer="16MiB", **more))["resolved"]["tcp"] for more in ({}, {"buffers": "tuned"})]
    assert tuned[0] == tuned[1]


def test_a_path_that_only_a_tuned_host_fills_is_warned_of():
    (warning,) = tp.check(lfn(20))["warnings"]
    assert warning["path"] == "tcp.buffers" and "50.0 MB" in warning["message"] and "1258 Mb/s" in warning["message"]
    for said in ({"buffers": "tuned"}, {"buffers": "stock"}, {"recv_buffer": "8MiB"}, {"profile": "rfc"}):
        assert tp.check(lfn(20, **said))["warnings"] == []


@pytest.mark.parametrize(
    "queue", [{"kind": "red", "limit": "100p"}, {"kind": "pie", "limit": "100p"}, {"kind": "codel", "limit": "100p"}]
)
def test_automatic_values_above_a_limit_are_named_with_it(queue):
    network = {"kind": "dumbbell", "bottleneck": {"rate": "1Gbps", "delay": "1ms", "queue": queue}}
    (warning,) = tp.check({"duration": "1s", "network": network | {"flows": 1}})["warnings"]
    assert warning["path"] == "network.bottleneck.queue.limit" and "100p" in warning["message"]
