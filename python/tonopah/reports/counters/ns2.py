"""The metrics of the EWPHCC and HyStart reports, whose scripts read traces of ns-2.

They are computed from the packets of a run as the scripts do. None is the canonical metric of its name. kb/s are 1000 bit/s.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tonopah.reports.counters.packets import Numbers, Packet, Sending

HEADER_BYTES = 20
"""What the EWPHCC report takes off every packet, whatever headers it has."""


def first_flows(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the flows whose agents have port 0: the first from each node."""
    seen: dict[int, int] = {}
    for number, (source, _) in enumerate(pairs):
        seen.setdefault(source, number)
    return set(seen.values())


def ewphcc_wired(lines: Sequence[Packet], counted: set[int]) -> Numbers:
    """Return what the script prints: of the `counted` flows, but for drops, which are of all.

    Its packet id is never set, so that a delay is the time since the newest sending of any counted packet.
    """
    sent, received, dropped = 0, 0, 0
    size_bytes = 0
    newest_s, delays = 0.0, 0.0
    for line in lines:
        if not line.is_data:
            continue
        if line.event == "dropped":
            dropped += 1
        elif line.flow not in counted:
            continue
        elif line.event == "sent":
            sent += 1
            newest_s = line.time_s
        else:
            received += 1
            size_bytes += line.size_bytes - HEADER_BYTES
            delays += line.time_s - newest_s
    length_s = lines[-1].time_s - lines[0].time_s
    return {
        "sent": sent, "received": received, "dropped": dropped, "throughput": 8 * size_bytes / 1000 / length_s,
        "delay": delays / received, "delivery_ratio": received / sent, "drop_ratio": dropped / sent,
    }  # fmt: skip


def all_flows(lines: Sequence[Packet], traffic_s: float) -> Numbers:
    """Return the same without the slips: every flow, delay from the sending of the packet itself, payload over the traffic.

    Where nothing arrives the delay is no number. Of two copies of a segment the older arrives; a full queue refuses the newer.
    """
    waiting: dict[tuple[int, int, bool], list[float]] = {}
    sent, received, dropped, payload = 0, 0, 0, 0
    delays: list[float] = []
    for line in lines:
        if not line.is_data:
            continue
        key = (line.flow, line.seq, line.syn)
        if line.event == "sent":
            sent += 1
            waiting.setdefault(key, []).append(line.time_s)
        elif line.event == "dropped":
            dropped += 1
            waiting[key].pop()
        else:
            received += 1
            payload += line.payload_bytes
            delays.append(line.time_s - waiting[key].pop(0))
    return {
        "all_sent": sent, "all_received": received, "all_dropped": dropped, "all_goodput": 8 * payload / 1000 / traffic_s,
        "all_delay": float(np.mean(delays)) if delays else math.nan,
        "all_delivery_ratio": received / sent if sent else math.nan, "all_drop_ratio": dropped / sent if sent else math.nan,
    }  # fmt: skip


def ewphcc_satellite(lines: Sequence[Packet]) -> Numbers:
    """Return what the script prints of the satellite network: all flows, delay by packet."""
    plain = all_flows(lines, 1.0)
    size_bytes = sum(line.size_bytes - HEADER_BYTES for line in lines if line.is_data and line.event == "delivered")
    length_s = lines[-1].time_s - lines[0].time_s
    sent, received, dropped = plain["all_sent"], plain["all_received"], plain["all_dropped"]
    return {
        "sent": sent, "received": received, "dropped": dropped, "throughput": 8 * size_bytes / 1000 / length_s,
        "delay": plain["all_delay"], "delivery_ratio": received / sent, "drop_ratio": dropped / sent,
    }  # fmt: skip


def ewphcc_wireless(lines: Sequence[Packet], length_s: float, sink_energy_j: Callable[[float], float]) -> Numbers:
    """Return what the script prints of the wireless network: all flows, delay by packet, from 0 to the end.

    At the end the nodes are reset, which drops what waits; one packet is in a MAC, whose loss is no line of the trace.
    Its energy per packet is the mean, over receptions, of all that the receiving node has consumed until then: about the mean
    reception time, in seconds, times 1 W. `dead_packets` and `dead_packets_most` are how many packets a flow other than the last
    sends, on average and at most.
    """
    plain = all_flows(lines, 1.0)
    received = [line for line in lines if line.is_data and line.event == "delivered"]
    size_bytes = sum(line.size_bytes - HEADER_BYTES for line in received)
    energy_j = sum(sink_energy_j(line.time_s) for line in received)
    per_flow: dict[int, int] = {}
    for line in lines:
        if line.is_data and line.event == "sent":
            per_flow[line.flow] = per_flow.get(line.flow, 0) + 1
    live = max(per_flow)
    dead = [count for flow, count in per_flow.items() if flow != live]
    sent, lost = plain["all_sent"], plain["all_dropped"]
    dropped = lost + max(0, sent - plain["all_received"] - lost - 1)
    return {
        "sent": sent, "received": plain["all_received"], "dropped": dropped,
        "throughput": 8 * size_bytes / 1000 / length_s, "delay": plain["all_delay"],
        "delivery_ratio": plain["all_received"] / sent, "drop_ratio": dropped / sent,
        "energy_per_packet": energy_j / len(received), "energy_per_byte": energy_j / size_bytes,
        "live_throughput": 8 * sum(line.size_bytes - HEADER_BYTES for line in received if line.flow == live) / 1000 / length_s,
        "dead_packets": float(np.mean(dead)) if dead else 0.0, "dead_packets_most": max(dead, default=0),
        "all_goodput": 8 * sum(line.payload_bytes for line in received) / 1000 / length_s,
    }  # fmt: skip


WIRE_BPS, WIRE_S = 1e6, 0.002
"""Rate and delay of every wire of the mixed network."""


class Line(NamedTuple):
    """A line of ns-2's trace of the mixed network: ns-2 writes receptions before what follows from them."""

    time_s: float
    kind: str
    """On the radio `s`, `r` and `D`; on wires `arrival`, `enqueue` and `d`."""
    packet: Packet


def lines_of_mixed(lines: Sequence[Packet], from_station: Sequence[bool], length_s: float) -> list[Line]:
    """Return what ns-2 writes: agents of stations, losses on the radio, and every hop on a wire."""
    made: list[Line] = []
    arrived: dict[Sending, float] = {}
    for line in lines:
        key = line.sending
        if line.event == "sent":
            if from_station[line.flow] == line.to_sink:
                made.append(Line(line.time_s, "s", line))
            else:
                arrived[key] = line.time_s
        elif line.event == "delivered" and from_station[line.flow] != line.to_sink:
            made.append(Line(line.time_s, "r", line))
        elif line.event == "dropped" and line.link is None:
            made.append(Line(line.time_s, "D", line))
        elif line.link is not None:
            # What comes from the radio does not wait for the wire, which is faster.
            made.append(Line(arrived.get(key, line.time_s), "enqueue", line))
            if line.event == "dropped":
                made.append(Line(line.time_s, "d", line))
            elif (arrival_s := line.time_s + 8 * line.size_bytes / WIRE_BPS + WIRE_S) <= length_s:
                arrived[key] = arrival_s
                made.append(Line(arrival_s, "arrival", line))
    return sorted(made, key=lambda line: (line.time_s, line.kind != "arrival"))


def ewphcc_mixed(lines: Sequence[Packet], from_station: Sequence[bool], length_s: float) -> Numbers:
    """Return what the script prints of the mixed network: agents of stations and every hop on a wire count alike.

    Only lines about the radio set its packet id, those about ACKs too. A hop is timed from the newest enqueueing since the last
    such line; where there was none, and for what reaches a station, the "delay" is the time of day. Time runs from the first line
    to the last, which is what still waits in a radio at the end.
    """
    sent, received, dropped, size_bytes, delays = 0, 0, 0, 0, 0.0
    started: dict[Sending, float] = {}
    last: Sending | None = None
    written = lines_of_mixed(lines, from_station, length_s)
    for line in written:
        packet = line.packet
        if line.kind in "srD":
            last = packet.sending
            dropped += line.kind == "D"
        if not packet.is_data:
            continue
        dropped += line.kind == "d"
        if line.kind in ("s", "enqueue"):
            sent += 1
            if last is not None:
                started[last] = line.time_s
        elif line.kind in ("r", "arrival"):
            received += 1
            size_bytes += packet.size_bytes - HEADER_BYTES
            delays += line.time_s - (started.get(last, 0.0) if last is not None else 0.0)
    return {
        "sent": sent, "received": received, "dropped": dropped,
        "throughput": 8 * size_bytes / 1000 / (length_s - written[0].time_s), "delay": delays / received,
        "delivery_ratio": received / sent, "drop_ratio": dropped / sent,
    }  # fmt: skip


HYSTART_BYTES, HYSTART_SYN_BYTES = 1050, 40
"""What the HyStart report counts of a data packet: 1000 B, 40 B, 10 B of timestamps and 20 B of IP, less 20; and of a SYN."""
HYSTART_LRWPAN_BYTES = 26
"""The same of a data packet over ns-2's 802.15.4, which keeps eight bits of its 1070 B."""


def hystart_script(
    lines: Sequence[Packet], mac_drops: int, length_s: float, energy_j: float, nodes: int, data_bytes: int = HYSTART_BYTES
) -> Numbers:
    """Return what the script of the HyStart report prints: data and SYNs; its drops are losses and `mac_drops`.

    What waits at the end is no drop.
    """
    lines = [line for line in lines if line.is_data]
    plain = all_flows(lines, 1.0)
    sent, received, lost = plain["all_sent"], plain["all_received"], plain["all_dropped"]
    size_bytes = sum(HYSTART_SYN_BYTES if line.syn else data_bytes for line in lines if line.event == "delivered")
    return {
        "sent": sent, "received": received, "dropped": lost + mac_drops, "throughput": 8 * size_bytes / length_s,
        "delay": plain["all_delay"], "delivery_ratio": received / sent, "drop_ratio": (lost + mac_drops) / sent,
        "energy_per_second": energy_j / nodes / length_s, "mac_duplicates": mac_drops,
        "queue_drops": sum(line.reason == "queue" for line in lines), "in_queue_at_end": sent - received - lost,
    }  # fmt: skip
