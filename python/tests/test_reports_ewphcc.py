"""The networks of the EWPHCC report, and what all networks have: draws, metrics by hand, vectors of what the mechanisms do."""

import csv
import json
import re
from pathlib import Path

import pytest
from conftest import run_network

from tonopah._core import check, trace
from tonopah.errors import InputError
from tonopah.reports import numbers
from tonopah.reports.counters import ns2
from tonopah.reports.counters.packets import Packet, as_in_ns2, packets
from tonopah.reports.networks import NETWORKS, network
from tonopah.reports.validate.cases import all_cases
from tonopah.reports.worlds import draws, ticks
from tonopah.reports.worlds import ewphcc as worlds
from tonopah.spec.source import loaded

VECTORS = Path(__file__).parent / "vectors"


def packet(time_s, event, flow=0, **fields):
    values = {"to_sink": True, "size_bytes": 1040, "seq": 1, "payload_bytes": 1000, "syn": False, "fin": False, "ack": 1}
    return Packet(time_s, event, flow, **values | fields)


def lines_of(scenario):
    return packets(trace(json.dumps(scenario), 1, json=True))


def test_tcls_random_numbers():
    numbers = draws.uniform(19)
    assert [round(next(numbers), 9) for _ in range(4)] == [0.499217975, 0.356501122, 0.714352507, 0.122577511]


def test_flows_are_those_of_the_authors_trace():
    known = {}
    for row in table("flows.csv"):
        if row["network"] == "wired":
            known.setdefault((int(row["nodes"]), int(row["flows"])), []).append((int(row["source"]), int(row["sink"])))
    assert len(known) == 5
    for (nodes, flows), pairs in known.items():
        assert worlds.wired_pairs(nodes, flows) == pairs
    distinct = {flows: len(ns2.first_flows(worlds.wired_pairs(40, flows))) for flows in (10, 20, 30, 40, 50)}
    assert distinct == {10: 7, 20: 11, 30: 13, 40: 17, 50: 18}


def test_delay_without_packet_id_shrinks_when_others_send():
    own = [packet(1.0, "sent"), packet(1.5, "delivered")]
    other = [packet(1.4, "sent", 1, size_bytes=1000)]
    alone = ns2.ewphcc_wired(own, {0, 1})
    crowded = ns2.ewphcc_wired(sorted(own + other, key=lambda line: line.time_s), {0, 1})
    assert alone["delay"] == pytest.approx(0.5)
    assert crowded["delay"] == pytest.approx(0.1)
    assert alone["throughput"] == pytest.approx(8 * 1020 / 1000 / 0.5)


def test_only_first_flows_count_but_for_drops():
    lines = [packet(1.0, "sent"), packet(1.0, "sent", 1), packet(1.0, "dropped", 1), packet(2.0, "delivered")]
    assert ns2.first_flows([(3, 13), (3, 13)]) == {0}
    numbers = ns2.ewphcc_wired(lines, {0})
    assert (numbers["sent"], numbers["delivery_ratio"], numbers["drop_ratio"]) == (1, 1.0, 1.0)


def test_pairs_that_are_not_full_differ_by_the_header_alone():
    """The point of 10 flows: 7 pairs of 204.13 kb/s with Tahoe, of 196.12 with Vegas."""
    counted = ns2.first_flows(worlds.wired_pairs(40, 10))
    for algorithm, rate, sent in (("tahoe", 1428.89, 3248), ("vegas", 1372.87, 3241)):
        lines = as_in_ns2(lines_of(worlds.ewphcc_wired(algorithm, 40, 10, 200)))
        numbers = ns2.ewphcc_wired(lines, counted)
        assert numbers["throughput"] == pytest.approx(rate, rel=1e-4)
        assert (numbers["sent"], numbers["received"]) == (sent, sent)


def test_eight_flows_of_ewphcc_on_a_pair_have_the_packets_of_ns2():
    """20 nodes: a segment is sent before it is written, and a window closes; each is one event, and changes all that follow."""
    scenario = worlds.ewphcc_wired("ewphcc", 20, 40, 200)
    lines = as_in_ns2(lines_of(scenario))
    numbers = ns2.ewphcc_wired(lines, ns2.first_flows(worlds.wired_pairs(20, 40)))
    assert (numbers["sent"], numbers["received"], numbers["dropped"]) == (4657, 4631, 1342)
    everyone = ns2.all_flows(lines, 19.0)
    assert (everyone["all_sent"], everyone["all_received"], everyone["all_dropped"]) == (15989, 14641, 1342)


def test_a_sender_that_hears_nothing():
    """Vector of the satellite network: SYNs of Tahoe; two segments of Vegas once the second write has come."""
    times = {}
    for algorithm in ("tahoe", "vegas", "ewphcc"):
        scenario = worlds.ewphcc_geo(worlds.ewphcc_plane(algorithm, 40, 780.0)) | {"duration": "300s"}
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
        {
            "from": name,
            "to": "d",
            "app": worlds.writes(300 / 8, 19),
            "start": "1s",
            "start_jitter": "0s",
            "sink_agent": "sink",
        }
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


def table(name):
    return list(csv.DictReader((VECTORS / f"ewphcc_{name}").read_text(encoding="utf-8").splitlines()))


def test_places_and_senders_of_the_wireless_network_are_those_of_the_authors_trace():
    for nodes, speed, kind in ((20, 5, "below 15 m/s"), (40, 20, "15 m/s and more"), (60, 5, "below 15 m/s")):
        rows = [row for row in table("places.csv") if row["nodes"] == str(nodes) and row["speed_class"] == kind]
        known = [[float(row[key]) for key in ("x_m", "y_m", "dest_x_m", "dest_y_m")] for row in rows]
        drawn = worlds.placed(nodes, 50, speed)
        assert known
        assert [a + b for a, b in zip(drawn.places, drawn.destinations, strict=True)] == known
    for nodes in (20, 40, 60, 80, 100):
        rows = [row for row in table("flows.csv") if row["network"] == "wireless" and row["nodes"] == str(nodes)]
        drawn = worlds.placed(nodes, len(rows), 5)
        ends = [(row["source"], row["sink"]) for row in rows]
        assert ends == [(str(source), str(drawn.sink)) for source in drawn.sources]


@pytest.mark.parametrize("one", NETWORKS, ids=lambda one: one.name)
def test_every_network_can_be_built_and_has_stored_numbers(one):
    scenario = one.scenario({})
    for made in [scenario, *([one.beside(scenario)] if one.beside else [])]:
        check(json.dumps(made), 1)
    assert loaded(one.place("observe")) == one.observe
    assert any(case.network is one for case in all_cases())
    # A reader finds the script: repository, commit, file.
    assert re.match(r"[\w-]+/[\w-]+ @ [0-9a-f]{7}, .*\w\.(tcl|cc)\b", one.source)
    directed = one.direction.metrics if one.direction else ()
    assert {*one.goals, *one.overlap, *one.spreads, *directed} <= set(one.columns)


@pytest.mark.parametrize(
    ("given", "path", "allowed"),
    [
        ({"flow": 3}, "script.flow", "nodes"),
        ({"flows": 0}, "script.flows", "1 to 200"),
        ({"flows": "many"}, "script.flows", "1 to 200"),
        ({"header": 1}, "script.header", "true or false"),
        ({"algorithm": "no such one"}, "script.algorithm", "ewphcc"),
    ],
)
def test_wrong_parameters_are_refused(given, path, allowed):
    with pytest.raises(InputError) as refused:
        network("ewphcc-wired").complete(given, "script")
    assert refused.value.path == path
    assert allowed in refused.value.hint


@pytest.mark.parametrize(("algorithm", "dead"), [("tahoe", 3), ("ewphcc", 5)])
def test_one_flow_lives_in_the_wireless_network(algorithm, dead):
    """The table of 200 packets/s and 20 nodes: published 195.064 and 235.984 kb/s."""
    found, _ = columns_of("ewphcc-wireless", algorithm=algorithm, nodes=20, packets_per_s=200)
    assert found["ewphcc_wireless.dead_packets"] == found["ewphcc_wireless.dead_most_packets"] == dead
    assert found["ewphcc_wireless.throughput_bps"] == pytest.approx({3: 195.064e3, 5: 235.984e3}[dead], rel=0.05)
    assert found["ewphcc_wireless.energy_per_packet_j"] == pytest.approx(10.4, rel=0.05)


def test_tcl_lists_an_array_by_its_hash_table():
    """As printed by ns-2's Tcl."""
    assert ticks.array_names(10) == [8, 4, 0, 9, 5, 1, 6, 2, 7, 3]
    assert ticks.array_names(20) == [17, 0, 18, 1, 19, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]


def test_first_numbers_of_ns2s_generator():
    """As printed by ns-2's `$defaultRNG uniform 0 1`, which gives them to 31 bits."""
    generator = ticks.mrg32k3a()
    printed = (0.0003395769746692744, 0.55588071586372367, 0.014204660437165137)
    assert [next(generator) for _ in printed] == pytest.approx(printed, abs=2**-31)


def test_what_waits_at_the_end_of_the_wireless_network_is_dropped_but_for_one_packet():
    sent = [packet(1.0, "sent", seq=seq) for seq in range(5)]
    ends = [packet(2.0, "delivered", seq=0), packet(3.0, "dropped", seq=1)]
    numbers = ns2.ewphcc_wireless(sent + ends, 20.0, lambda at_s: at_s)
    assert (numbers["sent"], numbers["received"], numbers["dropped"]) == (5, 1, 3)
    assert numbers["drop_ratio"] == pytest.approx(0.6)
    numbers = ns2.ewphcc_wireless(sent[:2] + ends, 20.0, lambda at_s: at_s)
    assert numbers["dropped"] == 1


@pytest.mark.parametrize("algorithm", ["tahoe", "vegas"])
def test_a_crowded_pair_has_the_packets_of_ns2(algorithm):
    """Six flows on one link of the wired network, 40 nodes and flows: sendings and losses of stock ns-2.35 at their times.

    There are time-outs, fast retransmits, ACKs past the end of Vegas' ring, segments sent twice, and events on one instant.
    """
    text = (VECTORS / "ns2_agents.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["algorithm"] == algorithm]
    scenario = worlds.ewphcc_wired(algorithm, 40, 40, 200) | {"duration": f"{float(rows[-1]['time_s']) + 0.001}s"}
    first = 1 if algorithm == "tahoe" else 0  # the SYN is a segment
    found = {}
    for line in lines_of(scenario):
        if line.is_data and line.event != "delivered" and scenario["flow"][line.flow]["from"] == "n8":
            segment = 0 if line.syn else line.seq // 1000 + first
            lost = "-" if line.event == "dropped" else ""
            found.setdefault(f"{line.time_s:.6f}", []).append(f"{lost}{line.flow}:{segment}")
    expected = {row["time_s"]: row["packets"].split() for row in rows}
    assert {at: sorted(packets) for at, packets in found.items()} == {at: sorted(one) for at, one in expected.items()}


def test_flows_of_the_mixed_network_are_those_of_the_authors_trace():
    for nodes, flows in ((20, 40), (40, 52), (63, 40), (80, 40), (102, 40)):
        rows = [row for row in table("flows.csv") if row["network"] == "mixed" and row["nodes"] == str(nodes)]
        assert [(row["source"].lower(), row["sink"].lower()) for row in rows] == worlds.mixed_pairs(nodes, flows)


def test_the_mixed_network_counts_hops_and_takes_the_time_of_day_for_a_delay():
    """Flow 0 goes over two wires to a station; flow 1 leaves a station, which sets the packet id of the script."""
    wired, radio = {"link": 1, "sent_at_s": 2.0}, {"sent_at_s": 3.0, "flow": 1}
    lines = [
        packet(2.0, "sent", sent_at_s=2.0), packet(2.0, "transmitted", **wired), packet(2.02, "transmitted", **wired),
        packet(2.1, "delivered", sent_at_s=2.0), packet(3.0, "sent", **radio), packet(3.5, "transmitted", link=1, **radio),
        packet(4.0, "dropped", sent_at_s=4.0, reason="queue"),
    ]  # fmt: skip
    numbers = ns2.ewphcc_mixed(lines, [False, True], 20.0)
    # Hops at 2.01032 and 2.03032, the station at 2.1; the last hop since its enqueueing, 10.32 ms.
    assert (numbers["sent"], numbers["received"], numbers["dropped"]) == (4, 4, 1)
    assert numbers["delay"] == pytest.approx((2.01032 + 2.03032 + 2.1 + 0.01032) / 4)
    assert numbers["throughput"] == pytest.approx(8 * 4 * 1020 / 1000 / 18)


def columns_of(name, **point):
    one, seen = run_network(name, **point)
    return one.observe(*seen).run, json.loads(seen[2])["network"]


def test_the_mixed_network_is_counted_from_end_to_end_too():
    """Vegas has neither SYN nor FIN there, so that the engine counts the same packets."""
    found, own = columns_of("ewphcc-mixed", algorithm="vegas", flows=10)
    for name in ("sent", "received", "dropped"):
        assert found[f"ewphcc_mixed.all_{name}_packets"] == own[f"{name}_packets"]
    assert found["ewphcc_mixed.all_delay_s"] == pytest.approx(own["delay_s"], rel=1e-9)
    # From the first write at 2 s to 20 s.
    assert found["ewphcc_mixed.all_goodput_bps"] == pytest.approx(8 * 1000 * own["received_packets"] / 18)
    # The hops of a ring, and times of day: what the script prints is several times either.
    assert found["ewphcc_mixed.throughput_bps"] > 5 * found["ewphcc_mixed.all_goodput_bps"]
    assert found["ewphcc_mixed.delay_s"] > 3 * found["ewphcc_mixed.all_delay_s"]


def test_without_an_ack_ewphcc_is_vegas_to_the_last_digit():
    """As at every point that the author stored: both decide on ACKs alone, and over the satellites none comes."""
    stored_points = [
        row for row in numbers.rows() if (row["origin"], row["seed"], row["network"]) == ("author", "000", "satellite")
    ]
    by_algorithm = {
        name: {(row["axis"], row["value"], row["metric"]): row["number"] for row in stored_points if row["algorithm"] == name}
        for name in ("ewphcc", "vegas", "tahoe")
    }
    assert by_algorithm["ewphcc"] == by_algorithm["vegas"] != by_algorithm["tahoe"]
    for point in ({}, {"satellites": 100}, {"altitude_km": 1020.0}):
        ours = {name: columns_of("ewphcc-satellite", algorithm=name, **point)[0] for name in ("ewphcc", "vegas", "tahoe")}
        assert ours["ewphcc"] == ours["vegas"] != ours["tahoe"]


@pytest.mark.parametrize(("frame_error", "expected"), [(0.0, 1913), (0.1, 1280)])
def test_a_lost_cts_costs_the_time_of_a_data_frame(frame_error, expected):
    """Datagrams of 1050 B that saturate one hop for 20 s: received by stock ns-2.35, mean of three seeds of its generator."""
    app = {"kind": "cbr", "rate": "200pps", "size": "1050B", "transport": "udp"}
    scenario = {
        "duration": "21s", "flow": [{"from": "n0", "to": "n1", "app": app, "start": "1s", "start_jitter": "0s"}],
        "network": {
            "kind": "adhoc", "nodes": 2, "flows": 0, "placement": {"kind": "list", "positions": [[10, 10], [20, 10]]},
            "radio": {"profile": "ns2", "frame_error": frame_error}, "routing": {"kind": "dsdv", "profile": "ns2"},
        },
    }  # fmt: skip
    received = [trace(json.dumps(scenario), seed, json=True).count('"event":"delivered"') for seed in (1, 2, 3)]
    assert sum(received) / 3 == pytest.approx(expected, rel=0.03)
