"""The authors' networks and metrics: draws, metrics by hand, vectors of what the mechanisms do."""

import csv
import json
import pickle
from importlib.resources import files
from pathlib import Path

import pytest

from tonopah._core import ScenarioError, check, run, trace
from tonopah.authors import draws, metrics_ns2, metrics_ns3, numbers, ticks, worlds_000, worlds_ns3
from tonopah.authors.networks import NETWORKS, network
from tonopah.authors.observe import columns, observe
from tonopah.authors.packets import Packet, as_in_ns2, duplicate_frames, packets
from tonopah.errors import InputError
from tonopah.validate import authors, authors_page
from tonopah.validate.authors_cases import all_cases


def packet(time_s, event, flow=0, **fields):
    values = {"to_sink": True, "size_bytes": 1040, "seq": 1, "payload_bytes": 1000, "syn": False, "fin": False, "ack": 1}
    return Packet(time_s, event, flow, **values | fields)


def lines_of(scenario):
    return packets(trace(json.dumps(scenario), 1, json=True))


def test_tcls_random_numbers():
    numbers = draws.uniform(19)
    assert [round(next(numbers), 9) for _ in range(4)] == [0.499217975, 0.356501122, 0.714352507, 0.122577511]


def test_flows_are_those_of_the_authors_trace():
    table = (files("tonopah") / "data/authors/flows.csv").read_text()
    known = {}
    for row in csv.DictReader(table.splitlines()):
        if row["network"] == "wired":
            known.setdefault((int(row["nodes"]), int(row["flows"])), []).append((int(row["source"]), int(row["sink"])))
    assert len(known) == 5
    for (nodes, flows), pairs in known.items():
        assert worlds_000.wired_pairs(nodes, flows) == pairs
    distinct = {flows: len(metrics_ns2.first_flows(worlds_000.wired_pairs(40, flows))) for flows in (10, 20, 30, 40, 50)}
    assert distinct == {10: 7, 20: 11, 30: 13, 40: 17, 50: 18}


def test_delay_without_packet_id_shrinks_when_others_send():
    own = [packet(1.0, "sent"), packet(1.5, "delivered")]
    other = [packet(1.4, "sent", 1, size_bytes=1000)]
    alone = metrics_ns2.author_000_wired(own, {0, 1})
    crowded = metrics_ns2.author_000_wired(sorted(own + other, key=lambda line: line.time_s), {0, 1})
    assert alone["delay"] == pytest.approx(0.5)
    assert crowded["delay"] == pytest.approx(0.1)
    assert alone["throughput"] == pytest.approx(8 * 1020 / 1000 / 0.5)


def test_only_first_flows_count_but_for_drops():
    lines = [packet(1.0, "sent"), packet(1.0, "sent", 1), packet(1.0, "dropped", 1), packet(2.0, "delivered")]
    assert metrics_ns2.first_flows([(3, 13), (3, 13)]) == {0}
    numbers = metrics_ns2.author_000_wired(lines, {0})
    assert (numbers["sent"], numbers["delivery_ratio"], numbers["drop_ratio"]) == (1, 1.0, 1.0)


def test_jain_over_data_and_ack_flows():
    # The ratios are given to five digits, and the index changes by as much as they do.
    x, r = 9e6, 0.01685
    assert metrics_ns3.jain_with_acks([x, x], [r * x, r * x]) == pytest.approx(0.516844, abs=5e-6)
    r = 0.01768
    assert metrics_ns3.jain_with_acks([x, 0], [r * x, 0]) == pytest.approx(0.258838, abs=5e-6)


def test_pairs_that_are_not_full_differ_by_the_header_alone():
    """The point of 10 flows: 7 pairs of 204.13 kb/s with Tahoe, of 196.12 with Vegas."""
    counted = metrics_ns2.first_flows(worlds_000.wired_pairs(40, 10))
    for algorithm, rate, sent in (("tahoe", 1428.89, 3248), ("vegas", 1372.87, 3241)):
        lines = as_in_ns2(lines_of(worlds_000.wired_000(algorithm, 40, 10, 200)))
        numbers = metrics_ns2.author_000_wired(lines, counted)
        assert numbers["throughput"] == pytest.approx(rate, rel=1e-4)
        assert (numbers["sent"], numbers["received"]) == (sent, sent)


def test_eight_flows_of_ewphcc_on_a_pair_have_the_packets_of_ns2():
    """20 nodes: a segment is sent before it is written, and a window closes; each is one event, and changes all that follow."""
    scenario = worlds_000.wired_000("ewphcc", 20, 40, 200)
    lines = as_in_ns2(lines_of(scenario))
    numbers = metrics_ns2.author_000_wired(lines, metrics_ns2.first_flows(worlds_000.wired_pairs(20, 40)))
    assert (numbers["sent"], numbers["received"], numbers["dropped"]) == (4657, 4631, 1342)
    everyone = metrics_ns2.all_flows(lines, 19.0)
    assert (everyone["all_sent"], everyone["all_received"], everyone["all_dropped"]) == (15989, 14641, 1342)


def test_a_sender_that_hears_nothing():
    """Vector of the satellite network: SYNs of Tahoe; two segments of Vegas once the second write has come."""
    times = {}
    for algorithm in ("tahoe", "vegas", "ewphcc"):
        scenario = worlds_000.geo_000(algorithm) | {"duration": "300s"}
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
            "app": worlds_000.writes(300 / 8, 19),
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
        "tcp": worlds_000.AGENTS[algorithm].tcp(), "flow": flows,
    }  # fmt: skip
    lines = lines_of(scenario)
    counts = [sum(line.is_data and line.event == "sent" and line.flow == flow for line in lines) for flow in range(senders)]
    assert counts[:-1] == [dead] * (senders - 1)
    assert counts[-1] > 700
    assert {line.flow for line in lines if not line.to_sink} == {senders - 1}


def table(name):
    return list(csv.DictReader((files("tonopah") / "data/authors" / name).read_text().splitlines()))


def test_places_and_senders_of_the_wireless_network_are_those_of_the_authors_trace():
    for nodes, speed, kind in ((20, 5, "below 15 m/s"), (40, 20, "15 m/s and more"), (60, 5, "below 15 m/s")):
        rows = [row for row in table("places.csv") if row["nodes"] == str(nodes) and row["speed_class"] == kind]
        known = [[float(row[key]) for key in ("x_m", "y_m", "dest_x_m", "dest_y_m")] for row in rows]
        drawn = worlds_000.placed(nodes, 50, speed)
        assert known
        assert [a + b for a, b in zip(drawn.places, drawn.destinations, strict=True)] == known
    for nodes in (20, 40, 60, 80, 100):
        rows = [row for row in table("flows.csv") if row["network"] == "wireless" and row["nodes"] == str(nodes)]
        drawn = worlds_000.placed(nodes, len(rows), 5)
        ends = [(row["source"], row["sink"]) for row in rows]
        assert ends == [(str(source), str(drawn.sink)) for source in drawn.sources]


def test_who_sends_to_whom_in_the_dumbbell():
    assert worlds_ns3.pairs_001(20, 8) == [*((i, i) for i in range(8)), (0, 1), (0, 2)]
    assert worlds_ns3.pairs_001(6, 8) == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize("one", NETWORKS, ids=lambda one: one.name)
def test_every_network_can_be_built_and_has_stored_numbers(one):
    for scenario in one.scenarios({}):
        check(json.dumps(scenario), 1)
    assert any(case.network is one for case in all_cases())
    assert set(one.goals) | set(one.overlap) <= set(one.columns)


@pytest.mark.parametrize(
    ("given", "path", "allowed"),
    [
        ({"flow": 3}, "author.flow", "nodes"),
        ({"flows": 0}, "author.flows", "1 to 200"),
        ({"flows": "many"}, "author.flows", "1 to 200"),
        ({"header": 1}, "author.header", "true or false"),
        ({"algorithm": "reno"}, "author.algorithm", "ewphcc"),
    ],
)
def test_wrong_parameters_are_refused(given, path, allowed):
    with pytest.raises(InputError) as refused:
        network("000-wired").complete(given, "author")
    assert refused.value.path == path
    assert allowed in refused.value.hint


@pytest.mark.parametrize(("algorithm", "dead"), [("tahoe", 3), ("ewphcc", 5)])
def test_one_flow_lives_in_the_wireless_network(algorithm, dead):
    """The table of 200 packets/s and 20 nodes: published 195.064 and 235.984 kb/s."""
    one = network("000-wireless")
    point = {"algorithm": algorithm, "nodes": 20, "packets_per_s": 200}
    found = columns(one.name, [observe(json.dumps(scenario), 1) for scenario in one.scenarios(point)])
    assert found["author_000_wireless.dead_packets"] == found["author_000_wireless.dead_most_packets"] == dead
    assert found["author_000_wireless.throughput_bps"] == pytest.approx({3: 195.064e3, 5: 235.984e3}[dead], rel=0.05)
    assert found["author_000_wireless.energy_per_packet_j"] == pytest.approx(10.4, rel=0.05)


def test_an_error_comes_whole_out_of_another_process():
    with pytest.raises(ScenarioError) as unknown:
        run('{"nonsense": 1}', 1)
    for error in (unknown.value, InputError("network.flows", "is wrong", "1 to 9", "world.toml")):
        found = pickle.loads(pickle.dumps(error))
        assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))


def test_tcl_lists_an_array_by_its_hash_table():
    """As printed by ns-2's Tcl."""
    assert ticks.array_names(10) == [8, 4, 0, 9, 5, 1, 6, 2, 7, 3]
    assert ticks.array_names(20) == [17, 0, 18, 1, 19, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]


def test_first_numbers_of_ns2s_generator():
    """As printed by ns-2's `$defaultRNG uniform 0 1`, which gives them to 31 bits."""
    generator = ticks.mrg32k3a()
    printed = (0.0003395769746692744, 0.55588071586372367, 0.014204660437165137)
    assert [next(generator) for _ in printed] == pytest.approx(printed, abs=2**-31)


@pytest.mark.parametrize("algorithm", ["tahoe", "vegas"])
def test_a_crowded_pair_has_the_packets_of_ns2(algorithm):
    """Six flows on one link of the wired network, 40 nodes and flows: sendings and losses of stock ns-2.35 at their times.

    There are time-outs, fast retransmits, ACKs past the end of Vegas' ring, segments sent twice, and events on one instant.
    """
    text = (Path(__file__).parent / "vectors" / "ns2_agents.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["algorithm"] == algorithm]
    scenario = worlds_000.wired_000(algorithm, 40, 40, 200) | {"duration": f"{float(rows[-1]['time_s']) + 0.001}s"}
    first = 1 if algorithm == "tahoe" else 0  # the SYN is a segment
    found = {}
    for line in lines_of(scenario):
        if line.is_data and line.event != "delivered" and scenario["flow"][line.flow]["from"] == "n8":
            segment = 0 if line.syn else line.seq // 1000 + first
            lost = "-" if line.event == "dropped" else ""
            found.setdefault(f"{line.time_s:.6f}", []).append(f"{lost}{line.flow}:{segment}")
    expected = {row["time_s"]: row["packets"].split() for row in rows}
    assert {at: sorted(packets) for at, packets in found.items()} == {at: sorted(one) for at, one in expected.items()}


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (("metric", "metrik"), "line 1", "'metrik' is unknown"),
        (("3248.0", "many"), "line 2: number", "'many' is not a number"),
        (("stock,", "mine,"), "line 2: origin", "'mine' is unknown"),
        ((",a,b", ",a,b,c"), "line 2", "more than 11 columns"),
        ((",number", ""), "line 1", "'number' is missing"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(change, place, message):
    text = f"{','.join(numbers.COLUMNS)}\nstock,000,wired,tahoe,flows,10,sent,packets,3248.0,a,b\n"
    assert [row["number"] for row in numbers.checked(text)] == ["3248.0"]
    with pytest.raises(InputError) as refused:
        list(numbers.checked(text.replace(*change)))
    assert refused.value.path == place
    assert message in str(refused.value)


def test_flows_of_the_mixed_network_are_those_of_the_authors_trace():
    for nodes, flows in ((20, 40), (40, 52), (63, 40), (80, 40), (102, 40)):
        rows = [row for row in table("flows.csv") if row["network"] == "mixed" and row["nodes"] == str(nodes)]
        assert [(row["source"].lower(), row["sink"].lower()) for row in rows] == worlds_000.mixed_pairs(nodes, flows)


def test_the_mixed_network_counts_hops_and_takes_the_time_of_day_for_a_delay():
    """Flow 0 goes over two wires to a station; flow 1 leaves a station, which sets the packet id of the script."""
    wired, radio = {"link": 1, "sent_at_s": 2.0}, {"sent_at_s": 3.0, "flow": 1}
    lines = [
        packet(2.0, "sent", sent_at_s=2.0), packet(2.0, "transmitted", **wired), packet(2.02, "transmitted", **wired),
        packet(2.1, "delivered", sent_at_s=2.0), packet(3.0, "sent", **radio), packet(3.5, "transmitted", link=1, **radio),
        packet(4.0, "dropped", sent_at_s=4.0, reason="queue"),
    ]  # fmt: skip
    numbers = metrics_ns2.author_000_mixed(lines, [False, True], 20.0)
    # Hops at 2.01032 and 2.03032, the station at 2.1; the last hop since its enqueueing, 10.32 ms.
    assert (numbers["sent"], numbers["received"], numbers["dropped"]) == (4, 4, 1)
    assert numbers["delay"] == pytest.approx((2.01032 + 2.03032 + 2.1 + 0.01032) / 4)
    assert numbers["throughput"] == pytest.approx(8 * 4 * 1020 / 1000 / 18)


def test_a_second_acknowledgment_of_a_frame_is_that_of_a_duplicate():
    def frame(source, target, kind, sequence, size):
        numbers = f'"sequence":{sequence},"size_bytes":{size},"rate_bps":1'
        return f'{{"t_s":1,"event":"frame","channel":0,"from":{source},"to":{target},"kind":"{kind}",{numbers}}}\n'

    data, small = frame(0, 1, "data", 7, 1052), frame(0, 2, "data", 8, 52)
    acks = frame(1, 0, "ack", 0, 0), frame(2, 0, "ack", 0, 0)
    # The first copy is lost, the second's acknowledgment, the third is a duplicate; small frames do not count.
    assert duplicate_frames(data + data + acks[0] + data + acks[0] + small + acks[1] + small + acks[1], 1000) == 1


def test_what_is_stored_run_by_run_is_one_case_and_shares_the_runs_of_its_point():
    fifty, point = (
        next(case for case in all_cases() if case.name == name)
        for name in ("002/802.11 fifty runs/cubic/-/-", "002/802.11/cubic/tx_multiplier/3")
    )
    assert len(fifty.references["author"]["throughput"]) == 49
    assert authors.count_runs([fifty, point]) == authors.count_runs([point]) == 10
    assert len(authors.select("004/fairness/cubic*", full=False)[0].seeds) == 10


def numbers_of(name, **changed):
    case = next(case for case in all_cases() if case.name == name)
    return case, {metric: 1.0 for metric in case.network.columns} | changed


def test_a_number_may_be_held_against_another_of_ours():
    case, ours = numbers_of("002/802.11 fifty runs/cubic_hystart/-/-", throughput=1.021, delay=0.981)
    found = {row.metric: row for row in authors.judge(case, [ours], [numbers_of(case.name)[1]])}
    assert (found["throughput"].agrees, found["delay"].agrees, found["sent"].agrees) == (False, True, None)
    case, without = numbers_of("004/uav, no A-MPDU/newreno/-/-", throughput_data_flow=4.0)
    found = [list(authors.judge(case, [without], [dict(without, throughput_data_flow=other)])) for other in (9.0, 13.0)]
    assert [rows[0].agrees for rows in found] == [True, False]


def test_the_sign_of_a_difference_counts_where_the_author_has_one():
    """At 10 flows of the mixed network EWPHCC carries 14 % more than Vegas; at 20 nodes the difference is 6 %."""
    case, ours = numbers_of("000/mixed/ewphcc/flows/10", throughput=1.1, delay=0.5)
    rows = list(authors.judge(case, [ours], [numbers_of(case.name)[1]]))
    assert {row.metric: row.agrees for row in rows if "less" in row.metric} == {
        "throughput less that of vegas": True,
        "delay less that of vegas": True,
    }
    case, ours = numbers_of("000/mixed/ewphcc/nodes/20")
    rows = list(authors.judge(case, [ours], [ours]))
    assert [(row.metric, row.agrees) for row in rows if "less" in row.metric] == [("delay less that of vegas", False)]


def test_a_median_is_held_beside_a_median_and_has_no_goal():
    case, ours = numbers_of("002/802.11/cubic/nodes/60")
    rows = authors.judge(case, [dict(ours, delay=delay) for delay in (0.1, 0.2, 0.9)])
    shown = {row.metric: (row.value, row.agrees) for row in rows}
    assert shown["delay_median10"] == (0.2, None)


def test_the_page_says_what_it_leaves_out():
    assert [row for row in authors_page.left_out() if not row[1]] == [("002, 802.15.4", "", 100)]


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


def over_6lowpan(events):
    """Return what FlowMonitor counts of SYNs of one flow: (sent at, ended at, event, reason)."""
    lines = []
    for sent_s, end_s, event, reason in events:
        syn = Packet(sent_s, "sent", 0, True, 60, 0, 0, True, False, None, sent_s)
        lines += [syn, syn._replace(time_s=end_s, event=event, reason=reason)]
    lines.sort(key=lambda line: line.time_s)
    seen = metrics_ns3.over_6lowpan(lines, [("n1", "n0")], 20.0)
    return metrics_ns3.author_ns3(metrics_ns3.directions(seen), 20.0)


def test_flowmonitor_takes_an_error_for_a_reception():
    """ns-3.37, two hosts out of reach: SYNs at 1, 4 and 10 s; addresses are given up at 5 and 14 s, with one error each."""
    count = over_6lowpan([(1, 5, "dropped", "arp"), (4, 5, "dropped", "arp"), (10, 14, "dropped", "arp")])
    assert (count["sent"], count["received"], count["lost"]) == (3, 2, 1)
    assert count["delay"] == 4.0
    # The errors have 40 + 8 B and the SYN over IPv6.
    assert count["throughput"] == 2 * (60 + 20 + 48) * 8 / 1024 / 20


def test_flowmonitor_takes_ten_seconds_to_miss_a_packet():
    """A loss on the air is counted when the packet has not been seen for 10 s, and a probe that fails makes no error."""
    count = over_6lowpan([(1, 1.1, "dropped", "loss"), (6, 6.5, "delivered", ""), (15, 15.1, "dropped", "loss")])
    assert (count["sent"], count["received"], count["lost"]) == (3, 1, 1)
    assert over_6lowpan([(1, 4.2, "dropped", "arp")])["received"] == 0


def test_stations_start_inside_the_cube_of_their_movement():
    """Positions that ns-3.37 prints at 0 s for stations 0, 4, 8, 12, 16 and 20 of a grid of 5 x 10 m."""
    places = worlds_ns3.pan_004(20, 20, 500, 5.0)["network"]["placement"]["positions"]
    assert [places[k] for k in range(0, 21, 4)] == [[0, 0, 0], [5, 10, 0], [10, 20, 0], [0, 25, 0], [5, 25, 0], [10, 25, 0]]
