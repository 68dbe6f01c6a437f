"""The networks of the TCP-FR report (ns-3): where each stands, its parameters, what is built and what is counted."""

from tonopah.reports.counters import scripts
from tonopah.reports.networks.common import COMMON, FLOODING, NS3, PPS, algorithm, whole
from tonopah.reports.networks.model import KIBI, Direction, Goal, Network, Parameter
from tonopah.reports.worlds import ns3 as worlds

REPOSITORY = "Ayan-Antik/CSE-322-NS3-Project @ 4e7962a"
GROWING = PPS | {"nodes": "nodes_and_flows"}
SLIPS = {
    "bits_as_bytes": Parameter(True, text="fr: the code takes bits for bytes"),
    "one_segment_per_ack": Parameter(True, text="fr: an ACK counts one segment, whatever it covers"),
    "no_linear_growth": Parameter(True, text="fr: cwnd does not grow in congestion avoidance"),
    "clock_from_zero": Parameter(True, text="fr: the first sample spreads over all time since the run began"),
    "floor": Parameter(1, least=1, most=16, text="fr: least ssthresh in segments; 1 stands for none"),
    "smoothed_rtt": Parameter(True, text="ns-3 hands its smoothed RTT to an algorithm, not that of a data segment"),
}
"""What the author's class does besides the report's text, and what ns-3 does with it."""
BOTH = Parameter(0, least=0, most=200, text="Nodes and flows together; 0: each as it says")

WIFI = Network(
    "tcp-fr", "wifi", "802.11a dumbbell", f"{REPOSITORY}, taskA.cc", "ns3_pooled",
    {
        "algorithm": algorithm("newreno", "cubic"),
        "nodes": whole(18, least=4, step=2), "flows": whole(20, least=2, step=2), "nodes_and_flows": BOTH,
        "packets_per_s": whole(500, 10_000),
        "range_m": Parameter(50.0, least=0.5, most=500),
    },
    worlds.fr_wifi, scripts.flowmonitor, NS3, "wifi", GROWING | {"range_m": "range_m"},
    # The script names no algorithm: in the author's ns-3.35 it is NewReno, in ns-3.37, whose numbers are stored, CUBIC.
    {"newreno": "cubic"},
    goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.15), "drop_ratio": Goal(absolute=2.0)},
)  # fmt: skip

PAN = Network(
    "tcp-fr", "pan", "802.15.4 that floods", f"{REPOSITORY}, taskA2.cc", "ns3_pooled",
    {
        "algorithm": algorithm("newreno"), "nodes": whole(20, least=2), "flows": whole(10, least=2, step=2),
        "nodes_and_flows": BOTH, "packets_per_s": whole(500, 10_000, least=4, step=4),
        "speed": Parameter(5.0, least=0.1, most=100), "flooding": FLOODING,
    },
    worlds.fr_pan, scripts.flooded, NS3, "pan", GROWING,
    goals={"throughput": Goal(factor=1.5)}, direction=Direction(("nodes", "flows"), ("throughput",)), runs=3,
)  # fmt: skip

COMPARISON = Network(
    "tcp-fr", "comparison", "802.11a dumbbell, four flows", f"{REPOSITORY}, CompNetwork.cc", "ns3_pooled",
    {"algorithm": algorithm("newreno", "fr"), "packets_per_s": whole(500, 10_000), **SLIPS},
    worlds.fr_comparison, scripts.flowmonitor, NS3, "comparison", PPS,
    {"fr (author class)": "fr"},
    goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.15), "drop_ratio": Goal(absolute=2.0)}, runs=10,
)  # fmt: skip

HOSTS = Network(
    "tcp-fr", "hosts", "Two hosts, errors per byte", f"{REPOSITORY}, ThroughputCalc.cc", "tcp_fr_hosts",
    {"algorithm": algorithm("newreno", "fr"), "packets_per_s": whole(100, 10_000), **SLIPS},
    worlds.fr_hosts, scripts.fr_hosts,
    COMMON | {"throughput_sum_of_data_and_ack_flow": ("throughput_bps", KIBI)}, "two hosts", PPS,
    {"fr (author class)": "fr"}, overlap=("throughput_sum_of_data_and_ack_flow",), runs=20,
)  # fmt: skip
