"""What the networks of several reports have in common: numbers that scripts of one simulator print, and parameters."""

from tonopah.reports.networks.model import KIBI, Parameter

KILO, PERCENT = 1e3, 0.01
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


def whole(default: int, most: int = 200, least: int = 1, step: int = 1) -> Parameter:
    """Return a parameter that is a whole number."""
    return Parameter(default, least=least, most=most, step=step)


def algorithm(default: str, *further: str) -> Parameter:
    """Return the parameter that says which congestion control: one that the script has, or any other that there is."""
    return Parameter(default, (default, *further), is_algorithm=True)


PPS = {"nodes": "nodes", "flows": "flows", "packets_per_second": "packets_per_s"}
FLOODING = Parameter(True, text="Every frame is repeated by all that hear it; without, shortest paths")
