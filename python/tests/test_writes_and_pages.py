"""Answers in several writes, pages of several hosts, and what a player measures: as they were measured and reported."""

import json

import numpy as np
import pytest

import tonopah as tp
from tonopah._core import schema
from tonopah.errors import ScenarioError

LAN = {
    "kind": "dumbbell", "access": {"rate": "1Gbps", "delay": "0.05ms"},
    "bottleneck": {"rate": "1Gbps", "delay": "0.1ms", "queue": "100p"},
}  # fmt: skip


def asking(app, **tcp):
    app = {"kind": "request_response", "requests": 40, "response": "1kB", "think": "1ms", **app}
    flow = {"from": "left0", "to": "right0", "app": app}
    tcp = {"profile": "linux", "cc": "cubic", **tcp}
    return tp.run({"duration": "8s", "network": LAN, "tcp": tcp, "flow": [flow]}).summary["flows"][0]["request_p50_s"]


def test_the_second_of_two_writes_waits_for_a_delayed_ack():
    """The commonest report about Nagle's rule: 40 ms a request on Linux (seastar 968, async-h1 199, materialize 326)."""
    assert asking({"response_writes": ["200B"]}) == pytest.approx(0.0405, abs=0.001)
    assert asking({"request": "400B", "request_writes": ["200B"]}) == pytest.approx(0.0405, abs=0.001)
    assert asking({"response_writes": ["200B"]}, nagle=False) < 0.001
    assert asking({"response_writes": ["200B"]}, ack_interactive=False) < 0.0015
    assert asking({}) < 0.001
    # Who asks again later than 40 ms is not in interactive mode, and a PSH is answered at once.
    assert asking({"response_writes": ["200B"], "think": "100ms"}) < 0.0015


def test_writes_fit_into_what_is_written():
    with pytest.raises(ScenarioError, match="response_writes"):
        asking({"response_writes": ["2kB"]})
    with pytest.raises(ScenarioError, match="response_writes"):
        asking({"response_writes": ["2kB"], "response": "30kB", "responses": ["1kB", "4kB"]})


def page(mbps, rtt_ms=60, **app):
    """The mean page of 2010 (Ramachandran 2010, Web metrics: 44.6 resources on 7 hosts, 320 kB)."""
    network = {
        "kind": "dumbbell", "access": {"rate": "1Gbps", "delay": "0.5ms"},
        "bottleneck": {"rate": f"{mbps}Mbps", "delay": f"{rtt_ms / 2 - 1}ms", "queue": "200p"},
    }  # fmt: skip
    app = {
        "kind": "page",
        "preset": "web2010",
        "dns": f"{rtt_ms}ms",
        "server_time": "50ms",
        "depth": 4,
        "parse": "60ms",
        **app,
    }
    flow = {"from": "left0", "to": "right0", "app": app}
    scenario = {"duration": "60s", "network": network, "tcp": {"profile": "linux", "cc": "cubic"}, "flow": [flow]}
    return tp.run(scenario).summary["flows"][0]


def test_more_bandwidth_helps_a_page_little():
    """From 5 to 10 Mb/s 5 % faster, 16 % of 10 Mb/s used (Belshe 2010, More bandwidth doesn't matter much); a page of one host
    without look-ups gained 39 %, and used 62 %. 69 % of 1 Mb/s were used."""
    slow, fast = page(5), page(10)
    assert 0.02 < 1 - fast["page_load_s"] / slow["page_load_s"] < 0.12
    assert 0.1 < 8 * fast["page_bytes"] / fast["page_load_s"] / 10e6 < 0.25
    first = page(1)
    assert 8 * first["page_bytes"] / first["page_load_s"] / 1e6 == pytest.approx(0.69, abs=0.1)
    assert page(5, tls=2)["page_load_s"] - slow["page_load_s"] > 0.12
    assert slow["connections_opened"] > 7
    with pytest.raises(ScenarioError, match="hosts"):
        page(5, hosts=0)


def page_of(**app):
    flow = {"from": "left0", "to": "right0", "app": {"kind": "page", **app}}
    return tp.check({"duration": "9s", "network": {"kind": "dumbbell"}, "flow": [flow]}, seed=1)["graph"]["flow"][0]["app"]


def test_a_preset_stands_for_what_statistics_of_the_web_say():
    """Ramachandran 2010, Web metrics; HTTP Archive, Web Almanac 2024, Page Weight."""
    of_2010, of_2024 = page_of(preset="web2010"), page_of(preset="web2024")
    assert [of_2010[key] for key in ("objects", "size", "hosts", "tls", "protocol")] == [44, "320kB", 7, 0, "h1"]
    assert [of_2024[key] for key in ("objects", "size", "html", "tls", "protocol")] == [70, "2652kB", "18kB", 1, "h2"]
    own = page_of(preset="web2024", protocol="h1", hosts=3)
    assert (own["protocol"], own["hosts"], own["size"]) == ("h1", 3, "2652kB")
    assert page_of(**{key: value for key, value in own.items() if key != "kind"}) == own
    with pytest.raises(ScenarioError, match=r"flow\[0\].app.preset.*web2010.*web2024"):
        page_of(preset="web1999")
    known = json.loads(schema())["$defs"]["PagePreset"]["oneOf"]
    assert [preset["const"] for preset in known] == ["web2010", "web2024"]


def test_a_page_takes_as_many_more_round_trips_as_its_handshakes():
    """Linear in the round trip, as Belshe has it."""
    times = [page(5, rtt_ms)["page_load_s"] for rtt_ms in (60, 120, 240)]
    slopes = [(times[1] - times[0]) / 0.06, (times[2] - times[1]) / 0.12]
    assert slopes[0] == pytest.approx(slopes[1], rel=0.25)


def test_a_player_says_what_it_measured_of_each_chunk():
    network = {"kind": "dumbbell", "pairs": 1, "bottleneck": {"rate": "5Mbps", "delay": "38ms", "queue": "40p"}}
    flow = {"from": "left0", "to": "right0", "app": {"kind": "video", "chunks": 10, "rule": "throughput"}}
    record = {"series": ["chunk_rate", "chunk_level", "level"], "every": "1s"}
    run = tp.run({"duration": "60s", "network": network, "tcp": {"profile": "linux"}, "flow": [flow], "record": record})
    rate, level = run.series("chunk_rate"), run.series("chunk_level")
    assert len(rate) == len(level) == run.summary["flows"][0]["chunks"] == 10
    assert np.all(rate["value"] < 5e6) and level["value"].max() >= 3
