"""The authors' metrics, computed from the packets of a run as their scripts compute them from a trace.

Each has a name of its own, for none is the canonical metric of that word. kb/s of author 000 are 1000 bit/s, of ns-3's
scripts 1024 bit/s.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = dict[str, float]

HEADER_BYTES = 20
"""What author 000 takes off every packet, whatever headers it has."""
KIBI = 1024


@dataclass(frozen=True)
class Packet:
    """A line about a TCP packet."""

    time_s: float
    event: str
    """`sent`, `dropped` or `delivered`."""
    flow: int
    to_sink: bool
    size_bytes: int
    seq: int
    payload_bytes: int
    syn: bool
    fin: bool
    ack: int | None

    @property
    def is_data(self) -> bool:
        """It is what ns-2 calls a packet of type tcp: data, or a SYN. ns-2 has neither FIN nor bare ACK."""
        return self.to_sink and (self.payload_bytes > 0 or (self.syn and not self.fin))


def packets(trace: str) -> list[Packet]:
    """Return the packets of the engine's JSON trace, in the order of time, without transmissions on links."""
    made = []
    for line in trace.splitlines():
        if '"event":"transmitted"' in line or '"transport":"tcp"' not in line:
            continue
        record: dict[str, Any] = json.loads(line)
        flags = record["flags"]
        made.append(
            Packet(
                record["t_s"], record["event"], record["flow"], record["towards"] == "sink", record["size_bytes"], record["seq"],
                record["payload_bytes"], "syn" in flags, "fin" in flags, record["ack"],
            )
        )  # fmt: skip
    # Drops may be known before their time.
    return sorted(made, key=lambda packet: packet.time_s)


def as_in_ns2(lines: Iterable[Packet]) -> list[Packet]:
    """Return what ns-2's one-way agents would have sent: no FIN, none of its ACKs, no ACK towards the sink without data."""
    lines = list(lines)
    ends: dict[int, int] = {}
    for line in lines:
        if line.is_data:
            ends[line.flow] = max(ends.get(line.flow, 0), line.seq + line.payload_bytes + int(line.syn))
    return [
        line for line in lines
        if line.is_data or (not line.to_sink and not line.fin and (line.ack or 0) <= ends.get(line.flow, 0))
    ]  # fmt: skip


def first_flows(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the flows whose agents have port 0: the first from each node."""
    seen: dict[int, int] = {}
    for number, (source, _) in enumerate(pairs):
        seen.setdefault(source, number)
    return set(seen.values())


def author_000_wired(lines: Sequence[Packet], counted: set[int]) -> Numbers:
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

    Packets of a flow keep their order, so what arrives is the oldest that was sent and not dropped.
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
            # The copy that a full queue refuses is the newest.
            waiting[key].pop()
        else:
            received += 1
            payload += line.payload_bytes
            delays.append(line.time_s - waiting[key].pop(0))
    return {
        "all_sent": sent, "all_received": received, "all_dropped": dropped, "all_goodput": 8 * payload / 1000 / traffic_s,
        "all_delay": float(np.mean(delays)),
    }  # fmt: skip


def author_000_satellite(lines: Sequence[Packet]) -> Numbers:
    """Return what the script prints of the satellite network: all flows, delay by packet."""
    plain = all_flows(lines, 1.0)
    size_bytes = sum(line.size_bytes - HEADER_BYTES for line in lines if line.is_data and line.event == "delivered")
    length_s = lines[-1].time_s - lines[0].time_s
    sent, received, dropped = plain["all_sent"], plain["all_received"], plain["all_dropped"]
    return {
        "sent": sent, "received": received, "dropped": dropped, "throughput": 8 * size_bytes / 1000 / length_s,
        "delay": plain["all_delay"], "delivery_ratio": received / sent, "drop_ratio": dropped / sent,
    }  # fmt: skip


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
    return [one_direction(group) for _, group in sorted(grouped.items(), reverse=True)]


def one_direction(lines: Sequence[Packet]) -> Direction:
    """Return the counts of one direction; its packets arrive in order, so the first that was sent and not lost arrives."""
    waiting: list[float] = []
    sent = received = lost = size_bytes = 0
    delay_s = last_s = 0.0
    for line in lines:
        if line.event == "sent":
            sent += 1
            waiting.append(line.time_s)
        elif line.event == "dropped":
            lost += 1
            waiting.pop(0)
        else:
            received += 1
            size_bytes += line.size_bytes
            delay_s += line.time_s - waiting.pop(0)
            last_s = line.time_s
    return Direction(sent, received, lost, size_bytes, delay_s, last_s - lines[0].time_s)


def author_ns3(flows: Sequence[Direction], length_s: float) -> Numbers:
    """Return the pooled metrics of the ns-3 scripts: data and ACK flows alike, over the length of the run."""
    sent, received, lost = (sum(getattr(flow, name) for flow in flows) for name in ("sent", "received", "lost"))
    return {
        "sent": sent, "received": received, "lost": lost,
        "throughput": sum(flow.received_bytes for flow in flows) * 8 / KIBI / length_s,
        "delay": sum(flow.delay_sum_s for flow in flows) / received,
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
