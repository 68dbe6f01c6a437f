"""The authors' networks and metrics: draws, metrics by hand, vectors of what the mechanisms do."""

import csv
import json
from importlib.resources import files

import pytest

from tonopah._core import trace
from tonopah.validate import authors_metrics as metrics
from tonopah.validate import authors_worlds as worlds
from tonopah.validate.authors_metrics import Packet


def packet(time_s, event, flow=0, **fields):
    values = {"to_sink": True, "size_bytes": 1040, "seq": 1, "payload_bytes": 1000, "syn": False, "fin": False, "ack": 1}
    return Packet(time_s, event, flow, **values | fields)


def lines_of(scenario):
    return metrics.packets(trace(json.dumps(scenario), 1, json=True))


def test_tcls_random_numbers():
    draws = worlds.uniform(19)
    assert [round(next(draws), 9) for _ in range(4)] == [0.499217975, 0.356501122, 0.714352507, 0.122577511]


def test_flows_are_those_of_the_authors_trace():
    table = (files("tonopah") / "data/authors/flows.csv").read_text()
    known = {}
    for row in csv.DictReader(table.splitlines()):
        if row["network"] == "wired":
            known.setdefault((int(row["nodes"]), int(row["flows"])), []).append((int(row["source"]), int(row["sink"])))
    assert len(known) == 5
    for (nodes, flows), pairs in known.items():
        assert worlds.wired_pairs(nodes, flows) == pairs
    distinct = {flows: len(metrics.first_flows(worlds.wired_pairs(40, flows))) for flows in (10, 20, 30, 40, 50)}
    assert distinct == {10: 7, 20: 11, 30: 13, 40: 17, 50: 18}


def test_delay_without_packet_id_shrinks_when_others_send():
    own = [packet(1.0, "sent"), packet(1.5, "delivered")]
    other = [packet(1.4, "sent", 1, size_bytes=1000)]
    alone = metrics.author_000_wired(own, {0, 1})
    crowded = metrics.author_000_wired(sorted(own + other, key=lambda line: line.time_s), {0, 1})
    assert alone["delay"] == pytest.approx(0.5)
    assert crowded["delay"] == pytest.approx(0.1)
    assert alone["throughput"] == pytest.approx(8 * 1020 / 1000 / 0.5)


def test_only_first_flows_count_but_for_drops():
    lines = [packet(1.0, "sent"), packet(1.0, "sent", 1), packet(1.0, "dropped", 1), packet(2.0, "delivered")]
    assert metrics.first_flows([(3, 13), (3, 13)]) == {0}
    numbers = metrics.author_000_wired(lines, {0})
    assert (numbers["sent"], numbers["delivery_ratio"], numbers["drop_ratio"]) == (1, 1.0, 1.0)


def test_jain_over_data_and_ack_flows():
    # The ratios are given to five digits, and the index changes by as much as they do.
    x, r = 9e6, 0.01685
    assert metrics.jain_with_acks([x, x], [r * x, r * x]) == pytest.approx(0.516844, abs=5e-6)
    r = 0.01768
    assert metrics.jain_with_acks([x, 0], [r * x, 0]) == pytest.approx(0.258838, abs=5e-6)


def test_pairs_that_are_not_full_differ_by_the_header_alone():
    """The point of 10 flows: 7 pairs of 204.13 kb/s with Tahoe, of 196.12 with Vegas."""
    counted = metrics.first_flows(worlds.wired_pairs(40, 10))
    for algorithm, rate, sent in (("tahoe", 1428.89, 3248), ("vegas", 1372.87, 3241)):
        lines = metrics.as_in_ns2(lines_of(worlds.wired_000(algorithm, 40, 10, 200)))
        numbers = metrics.author_000_wired(lines, counted)
        assert numbers["throughput"] == pytest.approx(rate, rel=1e-4)
        assert (numbers["sent"], numbers["received"]) == (sent, sent)


def test_a_sender_that_hears_nothing():
    """Vector of the satellite network: SYNs of Tahoe; two segments of Vegas once the second write has come."""
    times = {}
    for algorithm in ("tahoe", "vegas", "ewphcc"):
        scenario = worlds.geo_000(algorithm) | {"duration": "300s"}
        sent = [line for line in lines_of(scenario) if line.event == "sent" and line.flow == 0]
        times[algorithm] = [round(line.time_s, 2) for line in sent]
        assert {line.size_bytes for line in sent} == ({40} if algorithm == "tahoe" else {1000})
    assert times["tahoe"] == [1, 4, 10, 22, 46, 94, 154, 214, 274]
    assert times["vegas"] == [1, 4, 10, 22, 46, 61.01, 94, 94, 154, 154, 214, 214, 274, 274]
    assert times["ewphcc"] == times["vegas"]


@pytest.mark.parametrize(("algorithm", "dead"), [("tahoe", 3), ("vegas", 5), ("ewphcc", 5)])
def test_one_sink_agent_serves_the_sender_connected_last(algorithm, dead):
    """A wired stand-in of the radio network: every sender but the last sends its first packet and its time-outs, until 20 s."""
    senders = 5
    names = [f"s{i}" for i in range(senders)]
    flows = [
        {"from": name, "to": "d", "app": worlds.writes(300 / 8, 19), "start": "1s", "start_jitter": "0s", "sink_agent": "sink"}
        for name in names
    ]
    links = [{"from": name, "to": "r", "rate": "10Mbps", "delay": "2ms", "queue": "50p"} for name in names]
    scenario = {
        "duration": "20s", "network": {"kind": "graph"}, "node": [{"name": name} for name in [*names, "r", "d"]],
        "link": [*links, {"from": "r", "to": "d", "rate": "10Mbps", "delay": "2ms", "queue": "50p"}],
        "tcp": worlds.AGENTS[algorithm].tcp(), "flow": flows,
    }  # fmt: skip
    lines = lines_of(scenario)
    counts = [sum(line.is_data and line.event == "sent" and line.flow == flow for line in lines) for flow in range(senders)]
    assert counts[:-1] == [dead] * (senders - 1)
    assert counts[-1] > 700
    assert {line.flow for line in lines if not line.to_sink} == {senders - 1}
