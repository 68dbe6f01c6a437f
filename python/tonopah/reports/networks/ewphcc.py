"""The networks of the EWPHCC report (ns-2.35): where each stands, its parameters, what is built and what is counted."""

from tonopah.reports.counters import scripts
from tonopah.reports.networks.common import ALL_FLOWS, KILO, NS2, PPS, algorithm, whole
from tonopah.reports.networks.model import Goal, Network, Parameter, Sign
from tonopah.reports.worlds import ewphcc as worlds

TCP = algorithm("vegas", "tahoe", "ewphcc")
REPOSITORY = "hishamcse/EWPHCC-Congestion-Control-NS2-Project @ 4ba9713"
EXACT = {"throughput": Goal(relative=0.01), "delay": Goal(relative=0.01), "delivery_ratio": Goal(absolute=0.005)}

WIRED = Network(
    "ewphcc", "wired", "Private links, 1 Mb/s", f"{REPOSITORY}, Wired/codes/1805004_main.tcl", "ewphcc_wired",
    {
        "algorithm": TCP, "nodes": whole(40, least=2), "flows": whole(40), "packets_per_s": whole(200, 10_000),
        "header": Parameter(False, text="Packets of Vegas and EWPHCC have a header of 40 B too"),
        "queue_packets": Parameter(10, least=2, most=10_000, text="Limit of the queues towards the sinks"),
        "srand": whole(19, 1_000_000),
    },
    worlds.ewphcc_wired,
    scripts.ewphcc_wired, NS2 | ALL_FLOWS, "wired", PPS | {"srand": "srand"},
    others={"wired, queue 50 both ways": {"queue_packets": 50}},
    goals=EXACT | {"drop_ratio": Goal(absolute=0.005), "all_goodput": Goal(relative=0.01), "all_delay": Goal(relative=0.03)},
)  # fmt: skip

MIXED = Network(
    "ewphcc", "mixed", "A ring of wires and stations behind base stations",
    f"{REPOSITORY}, bonus_Wired_cum_Wireless/codes/1805004_main.tcl", "ewphcc_mixed",
    {"algorithm": TCP, "nodes": whole(40, least=13), "flows": whole(40), "packets_per_s": whole(301, 10_000)},
    worlds.ewphcc_mixed, scripts.ewphcc_mixed, NS2 | ALL_FLOWS, "mixed", PPS,
    goals={"throughput": Goal(relative=0.1), "delay": Goal(relative=0.2)},
    sign=Sign("ewphcc", "vegas", ("throughput", "delay"), 0.1), runs=10, quick_runs=3,
)  # fmt: skip

SATELLITE = Network(
    "ewphcc", "satellite", "One plane of polar satellites and a geostationary one",
    f"{REPOSITORY}, bonus_satellite/codes/1805004-sat-wired.tcl", "ewphcc_satellite",
    {
        "algorithm": TCP, "satellites": whole(40), "altitude_km": Parameter(780.0, least=200, most=20_000),
        "answers": Parameter(False, text="Sinks answer"),
    },
    worlds.ewphcc_plane,
    scripts.ewphcc_satellite, NS2, "satellite", {"nodes": "satellites", "altitude_km": "altitude_km"},
    beside=worlds.ewphcc_geo,
    goals={"throughput": Goal(relative=0.01), "delay": Goal(relative=0.02), "sent": Goal(absolute=1)},
    constants={"tahoe": {"sent": 457.0}, "vegas": {"sent": 898.0}, "ewphcc": {"sent": 898.0}},
)  # fmt: skip

WIRELESS = Network(
    "ewphcc", "wireless", "Moving stations, one sink agent", f"{REPOSITORY}, Wireless/codes/1805004_main.tcl",
    "ewphcc_wireless",
    {
        "algorithm": TCP, "nodes": whole(40, least=2), "flows": whole(20), "packets_per_s": whole(300, 10_000),
        "speed": whole(5, 100), "own_sinks": Parameter(False, text="A sink agent for each flow"),
        "routing": Parameter("dsr", ("dsr", "dsdv", "aodv")), "srand": whole(19, 1_000_000),
    },
    worlds.ewphcc_wireless,
    scripts.ewphcc_wireless,
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
)  # fmt: skip
