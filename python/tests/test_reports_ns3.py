"""The networks of the TCP-FR and ASRAN reports, and what ns-3's FlowMonitor counts."""

import json

import pytest
from conftest import numbers_at

from tonopah.reports.counters import ns3
from tonopah.reports.counters.packets import Packet, run_seen
from tonopah.reports.networks import network
from tonopah.reports.worlds import ns3 as worlds


def packet(time_s, event, flow=0, **fields):
    values = {"to_sink": True, "size_bytes": 1040, "seq": 1, "payload_bytes": 1000, "syn": False, "fin": False, "ack": 1}
    return Packet(time_s, event, flow, **values | fields)


def test_jain_over_data_and_ack_flows():
    # The ratios are given to five digits, and the index changes by as much as they do.
    x, r = 9e6, 0.01685
    assert ns3.jain_with_acks([x, x], [r * x, r * x]) == pytest.approx(0.516844, abs=5e-6)
    r = 0.01768
    assert ns3.jain_with_acks([x, 0], [r * x, 0]) == pytest.approx(0.258838, abs=5e-6)


def test_who_sends_to_whom_in_the_dumbbell():
    assert worlds.fr_pairs(20, 8) == [*((i, i) for i in range(8)), (0, 1), (0, 2)]
    assert worlds.fr_pairs(6, 8) == [(0, 0), (1, 1), (2, 2)]


def over_6lowpan(events):
    """Return what FlowMonitor counts of SYNs of one flow: (sent at, ended at, event, reason)."""
    lines = []
    for sent_s, end_s, event, reason in events:
        syn = Packet(sent_s, "sent", 0, True, 60, 0, 0, True, False, None, sent_s)
        lines += [syn, syn._replace(time_s=end_s, event=event, reason=reason)]
    lines.sort(key=lambda line: line.time_s)
    seen = ns3.over_6lowpan(lines, [("n1", "n0")], 20.0)
    return ns3.pool(ns3.directions(seen), 20.0)


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
    places = worlds.asran_pan(20, 20, 500, 5.0)["network"]["placement"]["positions"]
    assert [places[k] for k in range(0, 21, 4)] == [[0, 0, 0], [5, 10, 0], [10, 20, 0], [0, 25, 0], [5, 25, 0], [10, 25, 0]]


def test_a_full_wire_hides_the_rate_of_the_applications():
    """ns-3.37: 300, 400 and 500 packets/s are the same run within 1e-5, signals that reach 3, 4 and 5 m in every digit."""
    throughput = [numbers_at("tcp-fr-wifi", packets_per_s=rate)["throughput"] for rate in (300, 400, 500)]
    assert throughput == pytest.approx([throughput[0]] * 3, rel=1e-3)
    ranges = [numbers_at("tcp-fr-wifi", range_m=reach) for reach in (2.0, 3.0, 4.0, 5.0)]
    assert ranges[0]["throughput"] < ranges[1]["throughput"]
    assert ranges[1] == ranges[2] == ranges[3]


@pytest.mark.parametrize(("count", "delay_s"), [(60, 0.566197), (80, 0.604687), (100, 0.675679)])
def test_codel_on_a_wire_asks_what_waits_in_the_flow_s_own_queue(count, delay_s):
    """The stored delays of ns-3.37, by its CUBIC. If it asked what waits in all queues, as Linux does, they would be 0.47 s."""
    assert numbers_at("tcp-fr-wifi", algorithm="cubic", nodes_and_flows=count)["delay"] == pytest.approx(delay_s, rel=0.15)


@pytest.mark.parametrize("name", ["tcp-fr-pan", "asran-pan"])
def test_a_flood_hides_the_rate_of_the_applications(name):
    """ns-3.37: runs with 100 and 500 packets/s are the same in every number. Without the flood far more arrives."""
    flood = [numbers_at(name, packets_per_s=rate) for rate in (100, 500)]
    assert flood[0] == flood[1]
    paths = numbers_at(name, flooding=False)
    assert paths["received"] > 20 * flood[0]["received"]
    scenario = network(name).scenario({"flooding": False})
    assert "lrwpan" not in scenario["network"]["radio"]


def test_each_slip_of_fr_can_be_taken_away():
    """Two hosts, ten seeds in kb/s: without bits for bytes FR stands still, without ns-3's smoothed RTT it gains."""

    def mean(**slips):
        seeds = range(1, 11)
        return sum(numbers_at("tcp-fr-hosts", seed, **slips)["throughput_sum_of_data_and_ack_flow"] for seed in seeds) / 10

    newreno, fr = mean(), mean(algorithm="fr")
    assert fr < 0.8 * newreno
    without = {
        name: mean(algorithm="fr", **{name: value})
        for name, value in (
            ("bits_as_bytes", False), ("one_segment_per_ack", False), ("no_linear_growth", False), ("clock_from_zero", False),
            ("floor", 2), ("smoothed_rtt", False),
        )
    }  # fmt: skip
    assert set(without) == set(network("tcp-fr-hosts").parameters) - {"algorithm", "packets_per_s"}
    assert without["bits_as_bytes"] < 0.5 * fr
    assert min(value for name, value in without.items() if name != "bits_as_bytes") > fr
    assert min(without["smoothed_rtt"], without["no_linear_growth"]) > newreno


def test_links_of_the_wired_pairs_may_be_those_of_the_reports_table():
    script, table_ = (network("asran-wired").scenario({"exchanged": exchanged}) for exchanged in (True, False))
    assert [(link["rate"], link["delay"]) for link in script["link"][:2]] == [("10Mbps", "45ms"), ("2Mbps", "0.01ms")]
    assert [(link["rate"], link["delay"]) for link in table_["link"][:2]] == [("2Mbps", "0.01ms"), ("10Mbps", "45ms")]
    assert all(("loss" in link) == link["from"].startswith("gw") for link in [*script["link"], *table_["link"]])


def path(*ends):
    """Return data and ACKs of one flow: each (time, event, fields); ACKs go the other way."""
    return [packet(time_s, event, **fields) for time_s, event, fields in ends]


def test_when_a_connection_begins_breaks_and_comes_back():
    back = {"to_sink": False, "payload_bytes": 0}
    # A probe gets through at 10.1 s, but its ACK does not come back.
    ends = [(2.01, "delivered", {}), (2.02, "delivered", back), (5.0, "delivered", back), (9.1, "delivered", back),
            (10.1, "delivered", {}), (16.1, "delivered", back), (17.0, "delivered", back)]  # fmt: skip
    found = ns3.times(path(*ends))
    assert (found.begin_s, found.break_s, found.back_s, found.is_cut) == (2.01, 9.1, 16.1, True)
    assert not ns3.times(path(*ends[:3])).is_cut
    late = ns3.times(path(*((time_s + 13, event, fields) for time_s, event, fields in ends)))
    assert late.back_s == pytest.approx(29.1) and not late.is_cut


def test_fluctuation_leaves_the_pause_out():
    at = ns3.Times(2.0, 9.1, 16.1)
    samples = [(5.0, 90), (7.0, 2), (8.0, 4), (12.0, 50), (16.1, 50), (17.0, 2), (18.0, 4)]
    assert ns3.variation(*zip(*samples, strict=True), at) == pytest.approx(1 / 3)
    arrived = path((6.05, "delivered", {}), (6.2, "delivered", {}), (6.25, "sent", {}))
    assert ns3.throughput_per_bin(arrived, [6.1, 6.2, 6.3]) == [1000, 1000, 0]


def test_which_losses_asran_takes_for_an_unstable_link():
    """Flights of 4, 1 and 3 segments at three fast retransmits; what a time-out sends again is none."""

    def sent(time_s, first, last):
        return [(time_s, "sent", {"seq": 1000 * k, "payload_bytes": 1000}) for k in range(first, last)]

    def ack(time_s, segments):
        return (time_s, "delivered", {"to_sink": False, "payload_bytes": 0, "ack": 1000 * segments})

    lines = path(
        *sent(0, 0, 4), ack(1, 0), *sent(1, 0, 1), ack(2, 4), *sent(2, 4, 5), ack(3, 4), *sent(3, 4, 5), ack(4, 5),
        *sent(4, 5, 7), *sent(7, 5, 6), ack(8, 6), *sent(8, 6, 7), ack(9, 7), *sent(9, 7, 10), ack(10, 7), *sent(10, 7, 8),
    )  # fmt: skip
    # 0 of 4, 4 of 1, 1 of 3: only the second finds more than half.
    assert ns3.remembered_ratio(lines) == pytest.approx(1 / 3)
    # In a run it counts the recoveries of the engine, and ssthresh stays where the loss before was.
    seen = run_seen(json.dumps(network("asran-uav").scenario({"algorithm": "asran"})), 1)
    episodes = 20
    assert seen.summary["flows"][0]["recovery_count"] == episodes
    assert ns3.remembered_ratio(seen.lines) == pytest.approx(18 / episodes)


def test_the_run_of_the_report_is_one_in_five():
    """Seed 1 has a route at 2 s, which breaks and comes back at 16.1 s; 2 begins at 15 s; 16 does not break."""
    found = {seed: numbers_at("asran-uav", seed) for seed in (1, 2, 16)}
    assert found[1]["back"] == found[1]["cut_back"] == pytest.approx(16.09, abs=0.01)
    assert found[1]["cut_delay"] == found[1]["delay"]
    assert found[2]["begin"] == pytest.approx(15.03, abs=0.01)
    assert all(str(found[seed][name]) == "nan" for seed in (2, 16) for name in ("cut_back", "cut_sent", "back"))
