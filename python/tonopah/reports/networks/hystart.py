"""The networks of the HyStart report (ns-2.35): where each stands, its parameters, what is built and what is counted."""

from tonopah.reports.counters import scripts
from tonopah.reports.networks.common import NS2, algorithm, whole
from tonopah.reports.networks.model import Contrast, Network, Parameter
from tonopah.reports.worlds import hystart as worlds

REPOSITORY = "Patchwork53/BUET_CSE_3_2 @ 6d299fa, CSE322_Network/Term_Project/1805053"
COMPARED = ("throughput", "delay", "delivery_ratio", "drop_ratio")
EXITS = {
    "exits": ("exits", 1.0), "hystart_exits_by_train": ("exits_by_train", 1.0), "hystart_exits_by_delay": ("exits_by_delay", 1.0),
    "any_exit": ("any_exit_ratio", 1.0),
}  # fmt: skip
"""Counted of the report's HyStart alone; no other algorithm says when it leaves slow start."""

WIFI = Network(
    "hystart", "wifi", "802.11 at rest, errors before the MAC", f"{REPOSITORY}, static802_11.tcl", "hystart_script",
    {
        "algorithm": algorithm("cubic", "hystart", "hystart 2 ms", "not found"),
        "nodes": whole(40, least=2), "flows": whole(20),
        "packets_per_s": Parameter(100, inert="FTP has no such parameter", most=10_000),
        "range_multiplier": whole(1, 10), "frame_error": Parameter(0.1, least=0, most=1),
    },
    lambda algorithm, nodes, flows, packets_per_s, range_multiplier, frame_error: (
        worlds.hystart_wifi(algorithm, nodes, flows, range_multiplier, frame_error)
    ),
    scripts.hystart_wifi,
    NS2 | EXITS | {
        "throughput": ("throughput_bps", 1.0), "energy_per_second": ("energy_power_w", 1.0),
        "mac_duplicates": ("mac_duplicate_packets", 1.0), "queue_drops": ("queue_dropped_packets", 1.0),
        "in_queue_at_end": ("left_packets", 1.0),
    }, "802.11",
    {"nodes": "nodes", "flows": "flows", "tx_multiplier": "range_multiplier"},
    {"cubic_hystart (author module, 4000 us)": "hystart", "cubic_hystart": "hystart"},
    others={"802.11 no errors": {"frame_error": 0.0}, "802.11 fifty runs": {"range_multiplier": 3}},
    judged=("802.11 no errors", "802.11 fifty runs"), overlap=(*COMPARED, *EXITS),
    contrasts={
        "802.11 fifty runs": Contrast({"algorithm": "hystart"}, {"algorithm": "cubic"}, COMPARED, 0.98, 1.02, "of base")
    },
    runs=10,
)  # fmt: skip

LRWPAN = Network(
    "hystart", "lrwpan", "802.15.4 until the batteries are empty", f"{REPOSITORY}, mobile802_15.tcl", "hystart_script",
    {
        "algorithm": algorithm("cubic", "hystart", "hystart 2 ms", "not found"),
        "nodes": whole(40, least=2), "flows": whole(20),
        "packets_per_s": Parameter(100, inert="FTP has no such parameter", most=10_000),
        "speed": Parameter(5.0, inert="the script moves stations at 1 to 5 m/s", least=1, most=100),
        "frame_error": Parameter(0.1, least=0, most=1),
    },
    lambda algorithm, nodes, flows, packets_per_s, speed, frame_error: (
        worlds.hystart_lrwpan(algorithm, nodes, flows, frame_error)
    ),
    scripts.hystart_lrwpan,
    NS2 | EXITS | {
        "throughput": ("throughput_bps", 1.0), "energy_per_second": ("energy_power_w", 1.0),
        "traffic_end": ("traffic_end_s", 1.0),
    },
    "802.15.4", {"nodes": "nodes", "flows": "flows"}, {"cubic_hystart": "hystart"},
    overlap=(*COMPARED, "energy_per_second", "traffic_end"), runs=20,
)  # fmt: skip
