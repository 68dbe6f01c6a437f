"""The 802.11 network of author 002 (ns-2.35, `Patchwork53/BUET_CSE_3_2` at 6d299fa) as a scenario."""

from typing import Any

from tonopah.authors.packets import Scenario

POWER_W = 0.28183815
"""Transmission power of ns-2, 250 m with two-ray ground."""
ENERGY = {"profile": "ns2", "initial": "1000J", "rx": "0.925W", "tx": "1.425W", "idle": "0.9W"}
CC: dict[str, dict[str, Any]] = {
    "cubic": {"name": "cubic", "profile": "linux26"},
    "hystart": {"name": "cubic", "profile": "seed", "curr_rtt_bug": True, "unit_mix": True},
    "hystart 2 ms": {"name": "cubic", "profile": "seed", "curr_rtt_bug": True, "unit_mix": True, "hystart_ack_delta": 2},
}
"""`hystart` is the module as committed, with both slips; the other has Linux's distance of ACKs in a train."""


def wifi_002(algorithm: str, nodes: int, flows: int, range_multiplier: float, frame_error: float) -> Scenario:
    """Return stations at rest at random places, one of which sends to random others.

    The square of the range multiplier multiplies the power, so that its root multiplies the range. The script draws
    whole metres.
    """
    radio = {
        "profile": "ns2", "energy": ENERGY, "power": f"{POWER_W * range_multiplier**2:.8g}W", "frame_error": frame_error,
    }  # fmt: skip
    network = {
        "kind": "adhoc", "nodes": nodes, "flows": flows, "pattern": "one_source_random", "area": {"x": "500m", "y": "500m"},
        "radio": radio, "routing": {"kind": "dsdv", "profile": "ns2"},
    }  # fmt: skip
    # TCP-Linux, whose window of 20 packets is its first ssthresh and bounds cwnd alone. It sends its SYN and its first segment at
    # once, so that address resolution loses the SYN, and only a time-out of 3 s repeats it. Here that is the first of two
    # segments without a handshake.
    tcp = {
        "profile": "ns2", "cc": CC[algorithm], "handshake": False, "recovery": "sack", "timestamps": True, "one_way_agent": True,
        "initial_ssthresh": "20000B", "cwnd_clamp": "20000B", "recv_buffer": "1000000B", "rto_max": "120s",
    }  # fmt: skip
    return {
        "duration": "20s", "network": network, "tcp": tcp,
        "traffic": {"app": {"kind": "bulk"}, "start": "0.2s", "start_jitter": "0s"},
    }  # fmt: skip
