"""The metrics of the TCP-FR and ASRAN reports, whose scripts read ns-3's FlowMonitor.

Data and ACKs of a connection are two flows. None is the canonical metric of its name. kb/s are 1024 bit/s.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tonopah.reports.counters.packets import Numbers, Packet

KIBI = 1024
RESOLUTION_S = 4.0
"""After this time ns-3 gives an address up that nobody answers for: four solicitations, a second apart."""
IPV6_OVER_IPV4_BYTES = 20
LOST_AFTER_S = 10.0
"""FlowMonitor takes a packet for lost that has not been seen for so long; a loss on the air is not reported to it."""
QUOTING_BYTES = 48
"""Headers of IPv6 and of the ICMPv6 error that quotes a packet."""
PAUSE_S = 2.0
"""A shorter time without an ACK is no break of the path (ASRAN, UAV)."""
CUT_BEGIN_S, CUT_BREAK_S = (2.0, 3.0), (9.0, 9.5)
"""When runs like the printed one begin, and when they break: the relay leaves at 9.1 s."""
WINDOW_FROM_S = 6.0
"""From when the script of the moving relay records the window."""


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


def pool(flows: Sequence[Direction], length_s: float) -> Numbers:
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
    """Return the sum of the rates of data and ACK flows, each cut to a whole number of kb/s (TCP-FR, two hosts)."""
    return float(sum(int(rate_kibi(flow)) for flow in flows))


def mean_of_rates(flows: Sequence[Direction]) -> float:
    """Return the mean of the rates of data and ACK flows (ASRAN, UAV): about half of what the data flow has."""
    return float(np.mean([rate_kibi(flow) for flow in flows]))


def jain_with_acks(data_rates: Sequence[float], ack_rates: Sequence[float]) -> float:
    """Return Jain's index over data and ACK flows (ASRAN, fairness): 0.52 where two data rates are equal, 0.26 where one is 0."""
    rates = [*data_rates, *ack_rates]
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


@dataclass(frozen=True)
class Times:
    """When the data flow of a run begins, when its sender ceases to hear ACKs for 2 s or more, and when it hears one again."""

    begin_s: float
    break_s: float
    back_s: float
    """The longest such pause counts; NaN without one."""

    @property
    def is_cut(self) -> bool:
        """Whether the run is of the kind that the report shows: a route at 2 s, which breaks when the relay leaves."""
        return all(low <= at <= high for at, (low, high) in ((self.begin_s, CUT_BEGIN_S), (self.break_s, CUT_BREAK_S)))


def times(lines: Sequence[Packet]) -> Times:
    """Return when the one connection of a run begins, breaks and comes back."""
    arrived = [line for line in lines if line.event == "delivered"]
    begin_s = next((line.time_s for line in arrived if line.to_sink and line.payload_bytes), math.nan)
    heard = [line.time_s for line in arrived if not line.to_sink and line.time_s >= begin_s]
    pauses = [(before, after) for before, after in pairwise(heard) if after - before >= PAUSE_S]
    return Times(begin_s, *max(pauses, key=lambda pause: pause[1] - pause[0], default=(math.nan, math.nan)))


def variation(t_s: Sequence[float], values: Sequence[float], at: Times) -> float:
    """Return the standard deviation of samples over their mean, from 6 s and the first data on, but for the pause."""
    t, value = np.asarray(t_s), np.asarray(values)
    value = value[(t > WINDOW_FROM_S) & (t > at.begin_s) & ~((t > at.break_s) & (t <= at.back_s))]
    return float(np.std(value) / np.mean(value)) if len(value) else math.nan


def throughput_per_bin(lines: Sequence[Packet], ends_s: Sequence[float]) -> list[float]:
    """Return the payload of data that arrives until each instant, since the one before."""
    arrived = [(line.time_s, line.payload_bytes) for line in lines if line.event == "delivered" and line.to_sink]
    t, size = np.array(arrived).T if arrived else np.zeros((2, 0))
    until = np.searchsorted(t, ends_s, side="right")
    return np.diff(np.concatenate([[0], np.cumsum(size)])[until], prepend=0).tolist()


def remembered_ratio(lines: Sequence[Packet]) -> float:
    """Return the share of fast retransmits at which more than half was in flight at the one before.

    So ASRAN tells an unstable link from a full queue: `last_max_cwnd` is above half of the window. Of one connection. What is
    sent again the moment an ACK arrives, with all of an earlier loss acknowledged, is a fast retransmit; anything else that is
    sent again is a time-out.
    """
    acked = sent = recovered = before = 0
    heard_s = -1.0
    flights: list[int] = []
    above = 0
    for line in lines:
        if line.event == "delivered" and not line.to_sink and line.ack is not None:
            heard_s, acked = line.time_s, max(acked, line.ack)
        elif line.event == "sent" and line.to_sink and line.payload_bytes:
            if (end := line.seq + line.payload_bytes) > sent:
                sent = end
            elif line.time_s > heard_s:
                recovered = sent
            elif acked >= recovered:
                flights.append(sent - acked)
                above += before > flights[-1] / 2
                before, recovered = flights[-1], sent
    return above / len(flights) if flights else math.nan


def asran_uav(lines: Sequence[Packet], goodput_bits: float, t_s: Sequence[float], cwnd: Sequence[float]) -> Numbers:
    """Return what the script of the moving relay prints: the mean over the data flow and the ACK flow.

    `throughput_data_flow` is the data flow alone, `goodput_over_30_s` its payload in Mbit/s, `cut_...` what is printed of runs
    that begin and break when the printed one does. The window is sampled at `t_s`, every 100 ms.
    """
    flows, at = directions(lines), times(lines)
    data, acks = flows
    pooled = pool(flows, 1.0)
    printed = {
        "throughput_mean_of_data_and_ack_flow": mean_of_rates(flows), "sent": pooled["sent"], "received": pooled["received"],
        "delivery_ratio": pooled["delivery_ratio"], "delay": pooled["delay"],
    }  # fmt: skip
    return printed | {f"cut_{name}": value if at.is_cut else math.nan for name, value in printed.items()} | {
        "throughput_data_flow": rate_kibi(data), "throughput_ack_flow": rate_kibi(acks),
        "goodput_over_30_s": goodput_bits / 30 / 1e6, "begin": at.begin_s, "break": at.break_s, "back": at.back_s,
        "cut_back": at.back_s if at.is_cut else math.nan, "cwnd_variation_ratio": variation(t_s, cwnd, at),
        "throughput_variation_ratio": variation(t_s, throughput_per_bin(lines, t_s), at),
        "remembered_ratio": remembered_ratio(lines),
    }  # fmt: skip


def asran_fairness(flows: Sequence[Direction]) -> Numbers:
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
