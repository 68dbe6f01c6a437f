"""What ns-2.35 measured with the Tcl scripts of the page from-ns2, beside the scenarios there: within 2 %.

The values are those of ns-2.35 itself, run once; ns-2 need not be installed.
"""

import re
import tomllib
from pathlib import Path

import pytest

import tonopah as tp

PAGE = Path(__file__).parents[2] / "docs" / "from-ns2.md"


@pytest.mark.parametrize(("size", "mbps"), [(200, 0.158), (552, 0.435), (1000, 0.788), (1448, 1.137)])
def test_the_window_is_twenty_packets_of_any_size(size, mbps):
    """One NewReno flow, 10 Mb/s, RTT 200 ms, `window_` and `packetSize_` as `Agent/TCP/Newreno` has them; payload."""
    bottleneck = {"rate": "10Mbps", "delay": "98ms", "queue": "50p"}
    found = tp.run({
        "duration": "60s",
        "network": {
            "kind": "dumbbell", "pairs": 1, "flows": 1, "access": {"rate": "1Gbps", "delay": "1ms"}, "bottleneck": bottleneck,
        },
        "tcp": {"profile": "ns2", "mss": f"{size}B", "cc": {"name": "newreno", "profile": "ns2"}},
    })  # fmt: skip
    assert found.summary["flows"][0]["goodput_bps"] == pytest.approx(mbps * 1e6, rel=0.02)


@pytest.mark.parametrize(("size", "waiting"), [(210, 48), (500, 20), (1000, 10)])
def test_reds_limit_is_of_packets_of_mean_size(size, waiting):
    """`limit_` 20 with `queue_in_bytes_` is 10,000 bytes: what finds as many is dropped. UDP at twice the link's rate."""
    queue = {"kind": "red", "profile": "ns2", "min_threshold": 1000, "max_threshold": 3000, "limit": "20p"}
    app = {"kind": "cbr", "rate": "2Mbps", "size": f"{size - 28}B", "transport": "udp"}
    found = tp.run({
        "duration": "10s", "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"from": "a", "to": "b", "rate": "1Mbps", "delay": "10ms", "queue": queue}],
        "flow": [{"from": "a", "to": "b", "app": app}],
    })  # fmt: skip
    assert found.summary["links"][0]["queue_max_packets"] == waiting


def test_the_first_example_of_the_page_gives_what_its_tcl_gives():
    """ns-2.35: 4.78 and 4.76 Mb/s of payload, 100 and 98 retransmissions."""
    text = next(text for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if "33p" in text)
    flows = tp.run(tomllib.loads(text)).summary["flows"]
    assert [flow["goodput_bps"] for flow in flows] == pytest.approx([4.78e6, 4.76e6], rel=0.02)
    assert all(80 < flow["retransmitted_packets"] < 120 for flow in flows)


def test_a_link_is_never_used_more_than_whole(tmp_path):
    """A packet under way counts whole, however little of it a rate of 11 bit/s has carried."""
    (tmp_path / "mbps.csv").write_text("t_s,rate_bps\n0,10\n1,20\n2,5\n", encoding="utf-8")
    bottleneck = {"delay": "20ms", "queue": "100p", "service": {"kind": "rate_trace", "file": str(tmp_path / "mbps.csv")}}
    network = {"kind": "dumbbell", "access": {"rate": "10Gbps", "delay": "0s"}, "bottleneck": bottleneck}
    with pytest.warns(tp.ScenarioWarning, match="the mean rate is 11bps"):
        found = tp.run({"duration": "20s", "network": network, "flow": [{"from": "left0", "to": "right0", "cc": "cubic"}]})
    assert max(link["utilisation"] for link in found.summary["links"]) == 1.0
