"""The metrics of authors 001 and 004, who read ns-3's FlowMonitor: data and ACKs of a connection are two flows.

None is the canonical metric of its name. kb/s are 1024 bit/s.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tonopah.authors.packets import Numbers, Packet

KIBI = 1024
RESOLUTION_S = 4.0
"""After this time ns-3 gives an address up that nobody answers for: four solicitations, a second apart."""
IPV6_OVER_IPV4_BYTES = 20
LOST_AFTER_S = 10.0
"""FlowMonitor takes a packet for lost that has not been seen for so long; a loss on the air is not reported to it."""
QUOTING_BYTES = 48
"""Headers of IPv6 and of the ICMPv6 error that quotes a packet."""


@dataclass(frozen=True)
class Direction:
    """What ns-3's FlowMonitor counts of one direction of a connection, at IP, headers included."""

    sent: int
    received: int
    lost: int
    received_bytes: int
    delay_sum_s: float
    active_s: float
    """First sending to last reception."""


def directions(lines: Sequence[Packet]) -> list[Direction]:
    """Return every direction of every connection: data and ACKs are flows of their own."""
    grouped: dict[tuple[int, bool], list[Packet]] = {}
    for line in lines:
        grouped.setdefault((line.flow, line.to_sink), []).append(line)
    return [one_direction(group) for _, group in sorted(grouped.items(), key=lambda item: (item[0][0], not item[0][1]))]


def over_6lowpan(lines: Sequence[Packet], ends: Sequence[tuple[str, str]], length_s: float) -> list[Packet]:
    """Return what FlowMonitor sees of packets over IPv6 in a run of this length; `ends` are the nodes of each flow.

    When ns-3 gives an address up, it sends an ICMPv6 error about the first packet that waits, to its own node. The error carries
    the tag of the packet that it quotes, and FlowMonitor counts it as the reception of that packet: after exactly 4 s, if that
    packet began the resolution. Measured with ns-3.37. A packet of the last seconds that is lost is
    `missed`: neither received nor yet lost.
    """

    def way_at(line: Packet, after_s: float = 0.0) -> tuple[str, str, float]:
        source, sink = ends[line.flow]
        return (*((source, sink) if line.to_sink else (sink, source)), round(line.time_s + after_s, 9))

    given_up = {way_at(line, RESOLUTION_S) for line in lines if line.event == "sent"}
    seen = []
    for line in lines:
        event, size_bytes = line.event, line.size_bytes + IPV6_OVER_IPV4_BYTES
        if event == "dropped" and line.reason == "arp" and way_at(line) in given_up:
            # One error for all that wait.
            given_up.remove(way_at(line))
            event, size_bytes = "delivered", size_bytes + QUOTING_BYTES
        elif event == "dropped" and length_s - line.sent_at_s < LOST_AFTER_S:
            event = "missed"
        seen.append(line._replace(event=event, size_bytes=size_bytes))
    return seen


def one_direction(lines: Sequence[Packet]) -> Direction:
    """Return the counts of one direction; of two equal packets the one sent first arrives first."""
    waiting: dict[tuple[int, int, int | None], list[float]] = {}
    sent = received = lost = size_bytes = 0
    delay_s = last_s = 0.0
    for line in lines:
        key = (line.seq, line.payload_bytes, line.ack)
        if line.event == "sent":
            sent += 1
            waiting.setdefault(key, []).append(line.time_s)
            continue
        sent_s = waiting[key].pop(0)
        if line.event == "dropped":
            lost += 1
        elif line.event == "delivered":
            received += 1
            size_bytes += line.size_bytes
            delay_s += line.time_s - sent_s
            last_s = line.time_s
    return Direction(sent, received, lost, size_bytes, delay_s, max(0.0, last_s - lines[0].time_s))


def author_ns3(flows: Sequence[Direction], length_s: float) -> Numbers:
    """Return the pooled metrics of the ns-3 scripts: data and ACK flows alike, over the length of the run."""
    sent, received, lost = (sum(getattr(flow, name) for flow in flows) for name in ("sent", "received", "lost"))
    return {
        "sent": sent, "received": received, "lost": lost,
        "throughput": sum(flow.received_bytes for flow in flows) * 8 / KIBI / length_s,
        "delay": sum(flow.delay_sum_s for flow in flows) / received if received else math.nan,
        "delivery_ratio": 100 * received / sent, "drop_ratio": 100 * lost / sent, "loss_ratio": 100 * lost / sent,
    }  # fmt: skip


def rate_kibi(flow: Direction) -> float:
    """Return the rate of one flow in kb/s of 1024 bit, over its own life."""
    return flow.received_bytes * 8 / flow.active_s / KIBI if flow.active_s else 0.0


def sum_of_integer_rates(flows: Sequence[Direction]) -> float:
    """Return the sum of the rates of data and ACK flows, each cut to a whole number of kb/s (001, two hosts)."""
    return float(sum(int(rate_kibi(flow)) for flow in flows))


def mean_of_rates(flows: Sequence[Direction]) -> float:
    """Return the mean of the rates of data and ACK flows (004, UAV): about half of what the data flow has."""
    return float(np.mean([rate_kibi(flow) for flow in flows]))


def jain_with_acks(data_rates: Sequence[float], ack_rates: Sequence[float]) -> float:
    """Return Jain's index over data and ACK flows (004, fairness): 0.52 where two data rates are equal, 0.26 where one is 0."""
    rates = [*data_rates, *ack_rates]
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def author_004_uav(flows: Sequence[Direction], goodput_bits: float) -> Numbers:
    """Return what the script of the moving relay prints: the mean over the data flow and the ACK flow.

    `throughput_data_flow` is the data flow alone, `goodput_over_30_s` its payload in Mbit/s.
    """
    data, acks = flows
    pooled = author_ns3(flows, 1.0)
    return {
        "throughput_mean_of_data_and_ack_flow": mean_of_rates(flows), "throughput_data_flow": rate_kibi(data),
        "throughput_ack_flow": rate_kibi(acks), "sent": pooled["sent"], "received": pooled["received"],
        "delivery_ratio": pooled["delivery_ratio"], "delay": pooled["delay"], "goodput_over_30_s": goodput_bits / 30 / 1e6,
    }  # fmt: skip


def author_004_fairness(flows: Sequence[Direction]) -> Numbers:
    """Return Jain's indices of the two groups over data and ACK flows, and over data flows alone.

    `flows` are data and ACKs of the first flow, then of the second, and so on.
    """
    data, acks = [rate_kibi(flow) for flow in flows[::2]], [rate_kibi(flow) for flow in flows[1::2]]
    made = {}
    for name, first in (("0_2", 0), ("1_3", 2)):
        made[f"jain_group_{name}"] = jain_with_acks(data[first : first + 2], acks[first : first + 2])
        made[f"jain_data_{name}"] = jain_with_acks(data[first : first + 2], [])
    rates = dict(zip(("0to5", "2to5", "1to4", "3to4"), data, strict=True))
    return made | {f"throughput_{name}": rate for name, rate in rates.items()}
