"""The networks of the HyStart report (ns-2.35, `Patchwork53/BUET_CSE_3_2` at 6d299fa) as scenarios."""

from typing import Any

from tonopah.cc.references import name_in
from tonopah.reports.worlds import Scenario, own_or

POWER_W = 0.28183815
"""Transmission power of ns-2, 250 m with two-ray ground."""
ENERGY = {"profile": "ns2", "initial": "1000J", "rx": "0.925W", "tx": "1.425W", "idle": "0.9W"}
CC: dict[str, dict[str, Any]] = {
    "cubic": {"name": "cubic", "profile": "linux26"},
    "hystart": {"name": "hystart_report", "curr_rtt_bug": True, "unit_mix": True},
    "not found": {"name": "newreno"},
    "hystart 2 ms": {"name": "hystart_report", "curr_rtt_bug": True, "unit_mix": True, "hystart_ack_delta": 2},
}
"""`hystart` is the module as committed, with both slips; `hystart 2 ms` has Linux's distance of ACKs in a train. `not found` is
the rule of its own that TCP-Linux keeps to where it does not find the algorithm that a script names: it says so and goes on."""

EXITS = {"internals": ["exits_by_train", "exits_by_delay"], "every": "change"}
"""What is recorded of the report's HyStart: how often it ended slow start, and by which of its two rules."""

BATTERY_J, IDLE_W = 300.0, 40.0
"""Of a station of the 802.15.4 network: the watts of milliwatts, so that all is over within six seconds."""
LRWPAN_ENERGY = {"profile": "ns2", "initial": f"{BATTERY_J:g}J", "rx": "75W", "tx": "75W", "idle": f"{IDLE_W:g}W"}
LRWPAN_LENGTH_S = 1000.0
# TCP-Linux, whose window of 20 packets is its first ssthresh and bounds cwnd alone. It sends its SYN and its first segment at
# once, so that address resolution loses the SYN, and only a time-out of 3 s repeats it. Here that is the first of two segments
# without a handshake.
TCP = {
    "profile": "ns2", "agent": {"kind": "ns2_linux", "headers": "ns2"}, "handshake": False, "recovery": "sack",
    "timestamps": True, "initial_ssthresh": "20000B", "cwnd_clamp": "20000B", "recv_buffer": "1000000B", "rto_max": "120s",
}  # fmt: skip


def from_one_station(algorithm: Any, nodes: int, flows: int, length_s: float, radio: dict[str, Any]) -> Scenario:
    """Return stations at random places, one of which sends to random others by FTP. The script draws whole metres."""
    network = {
        "kind": "adhoc", "nodes": nodes, "flows": flows, "pattern": "one_source_random", "area": {"x": "500m", "y": "500m"},
        "radio": {"profile": "ns2", **radio}, "routing": {"kind": "dsdv", "profile": "ns2"},
    }  # fmt: skip
    cc = own_or(CC, algorithm)
    return {
        "duration": f"{length_s:g}s", "network": network, "tcp": {**TCP, "cc": cc},
        "traffic": {"app": {"kind": "bulk"}, "start": "0.2s", "start_jitter": "0s"},
        **({"record": EXITS} if name_in(cc)[1] == "hystart_report" else {}),
    }  # fmt: skip


def hystart_wifi(algorithm: Any, nodes: int, flows: int, range_multiplier: float, frame_error: float) -> Scenario:
    """Return stations of 802.11 at rest.

    The square of the range multiplier multiplies the power, so that its root multiplies the range.
    """
    power = f"{POWER_W * range_multiplier**2:.8g}W"
    return from_one_station(algorithm, nodes, flows, 20.0, {"energy": ENERGY, "power": power, "frame_error": frame_error})


def hystart_lrwpan(algorithm: Any, nodes: int, flows: int, frame_error: float) -> Scenario:
    """Return stations of 802.15.4 that move to a random place each, with the thresholds of ns-2's 802.11: 250 m and 550 m."""
    lrwpan = {"mac": "ns2", "sensitivity": "3.652e-10W", "cca_threshold": "1.559e-11W"}
    radio = {"standard": "802.15.4", "energy": LRWPAN_ENERGY, "frame_error": frame_error, "lrwpan": lrwpan}
    made = from_one_station(algorithm, nodes, flows, LRWPAN_LENGTH_S, radio)
    made["network"]["mobility"] = {"kind": "random_waypoint", "speed_min": "1m/s", "speed_max": "5m/s"}
    return made
