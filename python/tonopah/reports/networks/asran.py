"""The networks of the ASRAN report (ns-3): where each stands, its parameters, what is built and what is counted."""

from tonopah.reports.counters import scripts
from tonopah.reports.networks.common import COMMON, FLOODING, NS3, PERCENT, algorithm, whole
from tonopah.reports.networks.model import KIBI, Contrast, Direction, Goal, Network, Parameter, Spread
from tonopah.reports.worlds import ns3 as worlds

REPOSITORY = "Mashiatmm/Implementation-of-ASRAN-algorithm-in-NS3 @ 5e9c710"
PRINTED = COMMON | {
    "throughput_mean_of_data_and_ack_flow": ("throughput_bps", KIBI), "delivery_ratio": ("delivery_ratio", PERCENT),
}  # fmt: skip
"""Table 6."""

WIRED = Network(
    "asran", "wired", "Pairs behind one gateway", f"{REPOSITORY}, Task_A1.cc", "ns3_pooled",
    {
        "algorithm": algorithm("cubic"), "nodes": whole(20, least=2, step=2), "flows": whole(20),
        "rate_kbps": whole(1000, 1_000_000),
        "exchanged": Parameter(True, text="Links to the gateway are what the report's table says of those from it"),
    },
    lambda algorithm, nodes, flows, rate_kbps, exchanged: (
        worlds.asran_wired(nodes, flows, 1000 * rate_kbps, exchanged, algorithm)
    ),
    scripts.flowmonitor,
    NS3 | {"loss_ratio": ("loss_ratio", PERCENT)}, "wired",
    goals={"throughput": Goal(relative=0.02), "delay": Goal(relative=0.1), "delivery_ratio": Goal(absolute=0.5)},
)  # fmt: skip

PAN = Network(
    "asran", "pan", "802.15.4 that floods, one sink", f"{REPOSITORY}, Task_A2.cc", "ns3_pooled",
    {
        "algorithm": algorithm("newreno"), "nodes": whole(20), "flows": whole(20), "packets_per_s": whole(500, 10_000),
        "speed": Parameter(5.0, least=0.1, most=100), "flooding": FLOODING,
    },
    worlds.asran_pan, scripts.flooded, NS3 | {"loss_ratio": ("loss_ratio", PERCENT)}, "pan",
    {"nodes": "nodes", "flows": "flows"}, goals={"sent": Goal(factor=1.5), "received": Goal(factor=1.5)},
    direction=Direction(("nodes", "flows"), ("sent", "received")), runs=5,
)  # fmt: skip

UAV = Network(
    "asran", "uav", "A relay leaves, 802.11n", f"{REPOSITORY}, simulation.cc", "asran_uav",
    {
        "algorithm": algorithm("newreno", "cubic", "asran"),
        "aggregation": Parameter(True, text="A-MPDU and block ACK"),
    },
    worlds.asran_uav, scripts.asran_uav,
    PRINTED | {f"cut_{name}": (f"cut_{column}", factor) for name, (column, factor) in PRINTED.items()} | {
        "throughput_data_flow": ("data_throughput_bps", KIBI), "throughput_ack_flow": ("ack_throughput_bps", KIBI),
        "goodput_over_30_s": ("goodput_bps", 1e6), "begin": ("begin_s", 1.0), "break": ("break_s", 1.0),
        "back": ("back_s", 1.0), "cut_back": ("cut_back_s", 1.0),
        "cwnd_variation_ratio": ("cwnd_variation_ratio", 1.0),
        "throughput_variation_ratio": ("throughput_variation_ratio", 1.0), "remembered_ratio": ("remembered_ratio", 1.0),
    },
    "uav",
    spreads={f"cut_{name}": Spread(name, holds=True) for name in PRINTED} | {"cut_back": Spread(low=15.0, high=17.0)},
    others={"uav, no A-MPDU": {"aggregation": False}},
    contrasts={
        "uav, no A-MPDU": Contrast(
            {"aggregation": False}, {"aggregation": True}, ("throughput_data_flow",), 1 / 3, 1 / 2, "with A-MPDU"
        )
    },
    # One run in five begins and breaks when the printed one does.
    runs=40, quick_runs=10,
)  # fmt: skip

FAIRNESS = Network(
    "asran", "fairness", "Two groups share the air, 802.11n", f"{REPOSITORY}, fairness.cc", "asran_fairness",
    {"first": algorithm("cubic", "newreno", "asran"), "second": algorithm("cubic", "newreno", "asran")},
    worlds.asran_fair, scripts.asran_fair,
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
)  # fmt: skip
