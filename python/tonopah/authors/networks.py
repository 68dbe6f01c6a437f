"""Every network of a report whose author published a script: where it stands, its parameters, what is built and what is counted.

A parameter that is a switch takes a slip of the script away; its default is the script's. Tolerances were fixed before the first
run: deterministic networks to a percent, chaotic ones by intervals.
"""

from typing import Any

from tonopah.authors import counted, worlds_000, worlds_002, worlds_ns3
from tonopah.authors.network import Contrast, Direction, Goal, Network, Parameter, Sign, Spread
from tonopah.errors import InputError

KILO, KIBI, PERCENT = 1e3, 1024.0, 0.01
COMMON = {"sent": ("sent_packets", 1.0), "received": ("received_packets", 1.0), "delay": ("delay_s", 1.0)}
NS2 = COMMON | {
    "dropped": ("dropped_packets", 1.0), "throughput": ("throughput_bps", KILO), "delivery_ratio": ("delivery_ratio", 1.0),
    "drop_ratio": ("drop_ratio", 1.0),
}  # fmt: skip
ALL_FLOWS = {
    "all_sent": ("all_sent_packets", 1.0), "all_received": ("all_received_packets", 1.0),
    "all_dropped": ("all_dropped_packets", 1.0), "all_goodput": ("all_goodput_bps", KILO), "all_delay": ("all_delay_s", 1.0),
}  # fmt: skip
NS3 = COMMON | {
    "throughput": ("throughput_bps", KIBI), "delivery_ratio": ("delivery_ratio", PERCENT), "drop_ratio": ("drop_ratio", PERCENT),
}  # fmt: skip


def whole(default: int, most: int = 200, least: int = 1) -> Parameter:
    """Return a parameter that is a whole number."""
    return Parameter(default, least=least, most=most)


TCP_000 = Parameter("vegas", ("vegas", "tahoe", "ewphcc"))
REPOSITORY_000 = "hishamcse/EWPHCC-Congestion-Control-NS2-Project @ 4ba9713"
REPOSITORY_001 = "Ayan-Antik/CSE-322-NS3-Project @ 4e7962a"
REPOSITORY_002 = "Patchwork53/BUET_CSE_3_2 @ 6d299fa, CSE322_Network/Term_Project/1805053"
REPOSITORY_004 = "Mashiatmm/Implementation-of-ASRAN-algorithm-in-NS3 @ 5e9c710"
COMPARED_002 = ("throughput", "delay", "delivery_ratio", "drop_ratio")
EXACT = {"throughput": Goal(relative=0.01), "delay": Goal(relative=0.01), "delivery_ratio": Goal(absolute=0.005)}
PPS = {"nodes": "nodes", "flows": "flows", "packets_per_second": "packets_per_s"}
GROWING = PPS | {"nodes": "nodes_and_flows"}
SLIPS_001 = {
    "bits_as_bytes": Parameter(True, text="fr: the code takes bits for bytes"),
    "one_segment_per_ack": Parameter(True, text="fr: an ACK counts one segment, whatever it covers"),
    "no_linear_growth": Parameter(True, text="fr: cwnd does not grow in congestion avoidance"),
    "clock_from_zero": Parameter(True, text="fr: the first sample spreads over all time since the run began"),
    "floor": Parameter(1, least=1, most=16, text="fr: least ssthresh in segments; 1 stands for none"),
    "smoothed_rtt": Parameter(True, text="ns-3 hands its smoothed RTT to an algorithm, not that of a data segment"),
}
"""What the author's class does besides the report's text, and what ns-3 does with it."""
FLOODING = Parameter(True, text="Every frame is repeated by all that hear it; without, shortest paths")
PRINTED_004 = COMMON | {
    "throughput_mean_of_data_and_ack_flow": ("throughput_bps", KIBI), "delivery_ratio": ("delivery_ratio", PERCENT),
}  # fmt: skip
"""Table 6."""
BOTH = Parameter(0, least=0, most=200, text="Nodes and flows together; 0: each as it says")

NETWORKS = (
    Network(
        "000-wired", "Private links, 1 Mb/s", f"{REPOSITORY_000}, Wired/codes/1805004_main.tcl", "author_000_wired",
        {
            "algorithm": TCP_000, "nodes": whole(40), "flows": whole(40), "packets_per_s": whole(200, 10_000),
            "header": Parameter(False, text="Packets of Vegas and EWPHCC have a header of 40 B too"),
            "queue_packets": Parameter(10, least=2, most=10_000, text="Limit of the queues towards the sinks"),
            "srand": whole(19, 1_000_000),
        },
        lambda algorithm, nodes, flows, packets_per_s, header, queue_packets, srand: [
            worlds_000.wired_000(algorithm, nodes, flows, packets_per_s, header, srand, queue_packets)
        ],
        counted.wired_000, NS2 | ALL_FLOWS, "wired", PPS | {"srand": "srand"},
        others={"wired, queue 50 both ways": {"queue_packets": 50}},
        goals=EXACT | {"drop_ratio": Goal(absolute=0.005), "all_goodput": Goal(relative=0.01), "all_delay": Goal(relative=0.03)},
    ),
    Network(
        "000-mixed", "A ring of wires and stations behind base stations",
        f"{REPOSITORY_000}, bonus_Wired_cum_Wireless/codes/1805004_main.tcl", "author_000_mixed",
        {"algorithm": TCP_000, "nodes": whole(40, least=13), "flows": whole(40), "packets_per_s": whole(301, 10_000)},
        lambda **point: [worlds_000.mixed_000(**point)], counted.mixed_000, NS2 | ALL_FLOWS, "mixed", PPS,
        goals={"throughput": Goal(relative=0.1), "delay": Goal(relative=0.2)},
        sign=Sign("ewphcc", "vegas", ("throughput", "delay"), 0.1), runs=10, quick_runs=3,
    ),
    Network(
        "000-satellite", "One plane of polar satellites and a geostationary one",
        f"{REPOSITORY_000}, bonus_satellite/codes/1805004-sat-wired.tcl", "author_000_satellite",
        {
            "algorithm": TCP_000, "satellites": whole(40), "altitude_km": Parameter(780.0, least=200, most=20_000),
            "answers": Parameter(False, text="Sinks answer"),
        },
        lambda algorithm, satellites, altitude_km, answers: [
            worlds_000.geo_000(algorithm, answers), worlds_000.plane_000(algorithm, satellites, altitude_km, answers)
        ],
        counted.satellite_000, NS2, "satellite", {"nodes": "satellites", "altitude_km": "altitude_km"},
        goals={"throughput": Goal(relative=0.01), "delay": Goal(relative=0.02), "sent": Goal(absolute=1)},
        constants={"tahoe": {"sent": 457.0}, "vegas": {"sent": 898.0}, "ewphcc": {"sent": 898.0}},
    ),
    Network(
        "000-wireless", "Moving stations, one sink agent", f"{REPOSITORY_000}, Wireless/codes/1805004_main.tcl",
        "author_000_wireless",
        {
            "algorithm": TCP_000, "nodes": whole(40), "flows": whole(20), "packets_per_s": whole(300, 10_000),
            "speed": whole(5, 100), "own_sinks": Parameter(False, text="A sink agent for each flow"),
            "routing": Parameter("dsr", ("dsr", "dsdv", "aodv")), "srand": whole(19, 1_000_000),
        },
        lambda algorithm, nodes, flows, packets_per_s, speed, own_sinks, routing, srand: [
            worlds_000.wireless_000(algorithm, nodes, flows, packets_per_s, speed, own_sinks, routing, srand)
        ],
        counted.wireless_000,
        NS2 | {
            "energy_per_packet": ("energy_per_packet_j", 1.0), "energy_per_byte": ("energy_per_byte_j", 1.0),
            "live_throughput": ("live_throughput_bps", KILO), "dead_packets": ("dead_packets", 1.0),
            "dead_packets_most": ("dead_most_packets", 1.0), "all_goodput": ("all_goodput_bps", KILO),
        },
        "wireless", PPS | {"speed": "speed", "srand": "srand"}, sweep_defaults={"nodes": {"packets_per_s": 200}},
        others={
            "wireless, DSDV": {"routing": "dsdv"}, "wireless, AODV": {"routing": "aodv"},
            "wireless, a sink for each flow": {"own_sinks": True},
            "wireless, a sink for each flow, DSDV": {"own_sinks": True, "routing": "dsdv"},
        },
        goals={
            "throughput": Goal(relative=0.05), "delivery_ratio": Goal(absolute=0.02), "energy_per_packet": Goal(relative=0.05)
        },
    ),
    Network(
        "001-wifi", "802.11a dumbbell", f"{REPOSITORY_001}, taskA.cc", "author_ns3",
        {
            "algorithm": Parameter("newreno", ("newreno", "cubic")),
            "nodes": whole(18, least=4), "flows": whole(20), "nodes_and_flows": BOTH, "packets_per_s": whole(500, 10_000),
            "range_m": Parameter(50.0, least=0.5, most=500),
        },
        lambda **point: [worlds_ns3.wifi_001(**point)], counted.flowmonitor, NS3, "wifi", GROWING | {"range_m": "range_m"},
        # The script names no algorithm: in the author's ns-3.35 it is NewReno, in ns-3.37, whose numbers are stored, CUBIC.
        {"newreno": "cubic"},
        goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.15), "drop_ratio": Goal(absolute=2.0)},
    ),
    Network(
        "001-pan", "802.15.4 that floods", f"{REPOSITORY_001}, taskA2.cc", "author_ns3",
        {
            "nodes": whole(20, least=2), "flows": whole(10), "nodes_and_flows": BOTH, "packets_per_s": whole(500, 10_000),
            "speed": Parameter(5.0, least=0.1, most=100), "flooding": FLOODING,
        },
        lambda **point: [worlds_ns3.pan_001(**point)], counted.flooded, NS3, "pan", GROWING,
        goals={"throughput": Goal(factor=1.5)}, direction=Direction(("nodes", "flows"), ("throughput",)), runs=3,
    ),
    Network(
        "001-comparison", "802.11a dumbbell, four flows", f"{REPOSITORY_001}, CompNetwork.cc", "author_ns3",
        {"algorithm": Parameter("newreno", ("newreno", "fr")), "packets_per_s": whole(500, 10_000), **SLIPS_001},
        lambda **point: [worlds_ns3.comparison_001(**point)], counted.flowmonitor, NS3, "comparison", PPS,
        {"fr (author class)": "fr"},
        goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.15), "drop_ratio": Goal(absolute=2.0)}, runs=10,
    ),
    Network(
        "001-hosts", "Two hosts, errors per byte", f"{REPOSITORY_001}, ThroughputCalc.cc", "author_001_hosts",
        {"algorithm": Parameter("newreno", ("newreno", "fr")), "packets_per_s": whole(100, 10_000), **SLIPS_001},
        lambda **point: [worlds_ns3.hosts_001(**point)], counted.hosts_001,
        COMMON | {"throughput_sum_of_data_and_ack_flow": ("throughput_bps", KIBI)}, "two hosts", PPS,
        {"fr (author class)": "fr"}, overlap=("throughput_sum_of_data_and_ack_flow",), runs=20,
    ),
    Network(
        "002-wifi", "802.11 at rest, errors before the MAC", f"{REPOSITORY_002}, static802_11.tcl", "author_002",
        {
            "algorithm": Parameter("cubic", ("cubic", "hystart", "hystart 2 ms")),
            "nodes": whole(40, least=2), "flows": whole(20),
            "packets_per_s": Parameter(100, text="Has no effect: FTP has no such parameter", most=10_000),
            "range_multiplier": whole(1, 10), "frame_error": Parameter(0.1, least=0, most=1),
        },
        lambda algorithm, nodes, flows, packets_per_s, range_multiplier, frame_error: [
            worlds_002.wifi_002(algorithm, nodes, flows, range_multiplier, frame_error)
        ],
        counted.wifi_002,
        NS2 | {
            "throughput": ("throughput_bps", 1.0), "energy_per_second": ("energy_power_w", 1.0),
            "mac_duplicates": ("mac_duplicate_packets", 1.0), "queue_drops": ("queue_dropped_packets", 1.0),
            "in_queue_at_end": ("left_packets", 1.0),
        }, "802.11",
        {"nodes": "nodes", "flows": "flows", "tx_multiplier": "range_multiplier"},
        {"cubic_hystart (author module, 4000 us)": "hystart", "cubic_hystart": "hystart"},
        others={"802.11 no errors": {"frame_error": 0.0}, "802.11 fifty runs": {"range_multiplier": 3}},
        judged=("802.11 no errors", "802.11 fifty runs"), overlap=COMPARED_002,
        contrasts={
            "802.11 fifty runs": Contrast({"algorithm": "hystart"}, {"algorithm": "cubic"}, COMPARED_002, 0.98, 1.02, "of base")
        },
        runs=10,
    ),
    Network(
        "002-lrwpan", "802.15.4 until the batteries are empty", f"{REPOSITORY_002}, mobile802_15.tcl", "author_002",
        {
            "algorithm": Parameter("cubic", ("cubic", "hystart", "hystart 2 ms")),
            "nodes": whole(40, least=2), "flows": whole(20),
            "packets_per_s": Parameter(100, text="Has no effect: FTP has no such parameter", most=10_000),
            "speed": Parameter(5.0, text="Has no effect: the script moves stations at 1 to 5 m/s", least=1, most=100),
            "frame_error": Parameter(0.1, least=0, most=1),
        },
        lambda algorithm, nodes, flows, packets_per_s, speed, frame_error: [
            worlds_002.lrwpan_002(algorithm, nodes, flows, frame_error)
        ],
        counted.lrwpan_002,
        NS2 | {
            "throughput": ("throughput_bps", 1.0), "energy_per_second": ("energy_power_w", 1.0),
            "traffic_end": ("traffic_end_s", 1.0),
        },
        "802.15.4", {"nodes": "nodes", "flows": "flows"}, {"cubic_hystart": "hystart"},
        overlap=(*COMPARED_002, "energy_per_second", "traffic_end"), judges_medians=True, runs=20,
    ),
    Network(
        "004-wired", "Pairs behind one gateway", f"{REPOSITORY_004}, Task_A1.cc", "author_ns3",
        {
            "nodes": whole(20, least=2), "flows": whole(20), "rate_kbps": whole(1000, 1_000_000),
            "exchanged": Parameter(True, text="Links to the gateway are what the report's table says of those from it"),
        },
        lambda nodes, flows, rate_kbps, exchanged: [worlds_ns3.wired_004(nodes, flows, 1000 * rate_kbps, exchanged)],
        counted.flowmonitor,
        NS3 | {"loss_ratio": ("loss_ratio", PERCENT)}, "wired",
        goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.1), "delivery_ratio": Goal(absolute=0.5)},
    ),
    Network(
        "004-pan", "802.15.4 that floods, one sink", f"{REPOSITORY_004}, Task_A2.cc", "author_ns3",
        {
            "nodes": whole(20), "flows": whole(20), "packets_per_s": whole(500, 10_000),
            "speed": Parameter(5.0, least=0.1, most=100), "flooding": FLOODING,
        },
        lambda **point: [worlds_ns3.pan_004(**point)], counted.flooded, NS3 | {"loss_ratio": ("loss_ratio", PERCENT)}, "pan",
        {"nodes": "nodes", "flows": "flows"}, goals={"sent": Goal(factor=1.5), "received": Goal(factor=1.5)},
        direction=Direction(("nodes", "flows"), ("sent", "received")), runs=5,
    ),
    Network(
        "004-uav", "A relay leaves, 802.11n", f"{REPOSITORY_004}, simulation.cc", "author_004_uav",
        {
            "algorithm": Parameter("newreno", ("newreno", "cubic", "asran")),
            "aggregation": Parameter(True, text="A-MPDU and block ACK"),
        },
        lambda **point: [worlds_ns3.uav_004(**point)], counted.uav_004,
        PRINTED_004 | {f"cut_{name}": (f"cut_{column}", factor) for name, (column, factor) in PRINTED_004.items()} | {
            "throughput_data_flow": ("data_throughput_bps", KIBI), "throughput_ack_flow": ("ack_throughput_bps", KIBI),
            "goodput_over_30_s": ("goodput_bps", 1e6), "begin": ("begin_s", 1.0), "break": ("break_s", 1.0),
            "back": ("back_s", 1.0), "cut_back": ("cut_back_s", 1.0),
            "cwnd_variation_ratio": ("cwnd_variation_ratio", 1.0),
            "throughput_variation_ratio": ("throughput_variation_ratio", 1.0), "remembered_ratio": ("remembered_ratio", 1.0),
        },
        "uav",
        spreads={f"cut_{name}": Spread(name, holds=True) for name in PRINTED_004} | {"cut_back": Spread(low=15.0, high=17.0)},
        others={"uav, no A-MPDU": {"aggregation": False}},
        contrasts={
            "uav, no A-MPDU": Contrast(
                {"aggregation": False}, {"aggregation": True}, ("throughput_data_flow",), 1 / 3, 1 / 2, "with A-MPDU"
            )
        },
        # One run in five begins and breaks when the printed one does.
        runs=40, quick_runs=10,
    ),
    Network(
        "004-fairness", "Two groups share the air, 802.11n", f"{REPOSITORY_004}, fairness.cc", "author_004_fairness",
        {"first": Parameter("cubic", ("newreno", "cubic", "asran")), "second": Parameter("cubic", ("newreno", "cubic", "asran"))},
        lambda **point: [worlds_ns3.fair_004(**point)], counted.fair_004,
        {name: (name, 1.0) for name in ("jain_group_0_2", "jain_group_1_3", "jain_data_0_2", "jain_data_1_3")}
        | {f"throughput_{name}": (f"throughput_{name}_bps", KIBI) for name in ("0to5", "2to5", "1to4", "3to4")},
        "fairness",
        spreads={name: Spread(name, 0.25, 0.52, meets=True) for name in ("jain_group_0_2", "jain_group_1_3")},
        runs=20, quick_runs=10,
        others={"fairness, asran set": {"first": "asran"}}, judged=("fairness, asran set",),
        aliases={
            ("group labelled asran", "jain_over_data_and_ack_flows"): "jain_group_0_2",
            ("group labelled cubic", "jain_over_data_and_ack_flows"): "jain_group_1_3",
        },
    ),
)  # fmt: skip


def network(name: Any, path: str = "author") -> Network:
    """Return the network with this name. Raises InputError."""
    for one in NETWORKS:
        if one.name == name:
            return one
    raise InputError(path, f"{name!r} is unknown", f"allowed: {', '.join(one.name for one in NETWORKS)}")
