"""The networks of `python -m tonopah_dev.published`: senders before one bottleneck, and what is read from a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tonopah.scenario.worlds import PACKET_BYTES, Graph, bdp_packets, bulk, link
from tonopah.stats import jain

MSS_BYTES = 1448
ACCESS = "100Gbps"
BLOCK_BYTES = 1_000_000
"""What a client fetches at a time from all servers together."""

Summary = Mapping[str, Any]
Series = Mapping[str, Any]
"""What a run recorded, by series: arrays of times, ids and values."""


@dataclass(frozen=True)
class Group:
    """Flows alike."""

    cc: str | Mapping[str, Any]
    """Their algorithm; empty for UDP."""
    flows: int = 1
    rtt_ms: float | None = None
    """Base RTT; that of the world if absent."""
    app: Mapping[str, Any] | None = None
    """Its application; `bulk` if absent."""
    tcp: Mapping[str, Any] | None = None
    """Settings of its own."""
    start_s: float | None = None
    """When its flows start; by the rule of the world if absent."""


@dataclass(frozen=True)
class PublishedWorld:
    """Senders, a router and a sink; the bottleneck is the link from the router to the sink."""

    groups: Sequence[Group]
    mbps: float
    rtt_ms: float
    queue: str | Mapping[str, Any]
    seconds: float
    warmup_s: float = 0.0
    stagger_s: float = 0.0
    """The flows after the first start at random within this."""
    loss: Mapping[str, Any] | None = None
    loss_before_queue: bool = False
    """What is lost never reaches the queue of the bottleneck; otherwise it is lost behind it."""
    changes: Sequence[Mapping[str, Any]] = ()
    tcp: Mapping[str, Any] = field(default_factory=dict)
    packets: int | None = None
    """Segments that each flow sends."""
    record: Mapping[str, Any] | None = None
    """Series to record."""

    @property
    def bdp_packets(self) -> float:
        """BDP in packets."""
        return bdp_packets(self.mbps * 1e6, self.rtt_ms / 1e3)

    def scenario(self, seed: int) -> dict[str, Any]:
        """Return the scenario; the seed draws the starts too."""
        draw = Random(seed)
        nearest_ms = min(group.rtt_ms or self.rtt_ms for group in self.groups)
        network = Graph("r", "d")
        path = link(f"{self.mbps}Mbps", f"{nearest_ms / 2}ms", self.queue)
        bottleneck = network.connect("r", "d", **path, reverse={"rate": ACCESS, "queue": "1000000p"})
        app = bulk(None if self.packets is None else self.packets * MSS_BYTES)
        for group in self.groups:
            for _ in range(group.flows):
                name = f"s{len(network.flows)}"
                start_s = draw.uniform(0, self.stagger_s) if network.flows else 0.0
                start_s = start_s if group.start_s is None else group.start_s
                delay_ms = ((group.rtt_ms or self.rtt_ms) - nearest_ms) / 2
                network.add_host(name, "r", **link(ACCESS, f"{delay_ms}ms", "1000000p"))
                own: dict[str, Any] = ({"cc": group.cc} if group.cc else {}) | ({"tcp": dict(group.tcp)} if group.tcp else {})
                network.add_flow(name, "d", app=group.app or app, start=f"{start_s:.6f}s", **own)
        for lossy in network.links[1:] if self.loss_before_queue else [bottleneck]:
            lossy.update({"loss": self.loss} if self.loss else {})
        if self.changes:
            bottleneck["changes"] = list(self.changes)
        tcp = {"profile": "linux", "recv_buffer": "1073741824B", "initial_recv_window": "unlimited", **self.tcp}
        recorded = {"record": self.record} if self.record else {}
        return network.scenario(f"{self.seconds}s", tcp, warmup=f"{self.warmup_s}s", **recorded)


@dataclass(frozen=True)
class WrittenWorld:
    """A scenario as it is written."""

    text: Mapping[str, Any]

    def scenario(self, _seed: int) -> dict[str, Any]:
        """Return the scenario, which is the same for all seeds."""
        return dict(self.text)


def goodputs(summary: Summary) -> list[float]:
    """Return the goodput of every flow in bit/s."""
    return [flow["goodput_bps"] for flow in summary["flows"]]


def window_segments(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean of the first flow's segments per base RTT: the window where no queue adds to the RTT."""
    return goodputs(summary)[0] * world.rtt_ms / 1e3 / (8 * MSS_BYTES)


def pftk_ratio(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Rate of the first flow / that of PFTK, equation 30, for the loss indications counted in the run, b = 2 and T0 = 1 s."""
    flow = summary["flows"][0]
    p = (flow["recovery_count"] + flow["rto_count"]) / flow["sent_packets"]
    rtt_s, b = world.rtt_ms / 1e3, 2
    per_packet_s = rtt_s * math.sqrt(2 * b * p / 3) + min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return flow["goodput_bps"] / (8 * MSS_BYTES) * per_packet_s


def utilisation(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Part of the time in which the bottleneck sends, in percent."""
    return 100 * float(summary["links"][0]["utilisation"])


def goodput_percent(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Goodput of all flows / what the bottleneck carries of payload, in percent."""
    return 100 * sum(goodputs(summary)) / (world.mbps * 1e6 * MSS_BYTES / PACKET_BYTES)


def queue_ms(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean wait in the queue."""
    return 1e3 * float(summary["links"][0]["delay_queue_mean_s"])


def queue_per_flow(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean queue in packets / flows, the packet in transmission included."""
    link = summary["links"][0]
    return float(link["queue_mean_packets"] + link["utilisation"]) / len(summary["flows"])


def queue_packets(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean queue in packets."""
    return float(summary["links"][0]["queue_mean_packets"])


def queue_peak(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Longest queue in packets, with the packet in transmission."""
    return float(summary["links"][0]["queue_max_packets"]) + 1


def drops(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Packets dropped by the queue."""
    return float(summary["links"][0]["drops"]["queue"])


def jain_index(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Jain's index of the goodputs."""
    return float(jain(goodputs(summary)))


def first_share(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Part of all goodput that the first group has."""
    rates = goodputs(summary)
    return sum(rates[: world.groups[0].flows]) / sum(rates)


def rtt_exponent(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Return the e of goodput ~ RTT^-e, from the two groups of the world."""
    first, count = world.groups[0], world.groups[0].flows
    rates = goodputs(summary)
    ratio = (sum(rates[:count]) / count) / (sum(rates[count:]) / (len(rates) - count))
    return math.log(ratio) / math.log((world.groups[1].rtt_ms or world.rtt_ms) / (first.rtt_ms or world.rtt_ms))


def rounds(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Round trips of data until the last byte is acknowledged: completion without the handshake, and the way back."""
    return float(summary["flows"][0]["completion_s"]) / (world.rtt_ms / 1e3) - 0.5


def resumed_s(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Time from the first transmission of the only segment to the retransmission that arrives."""
    return float(summary["flows"][0]["completion_s"]) - 1.5 * world.rtt_ms / 1e3


def block_gbps(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Payload of the blocks that are written every second / the time until all flows have theirs acknowledged.

    A block that is not complete at the end of the run has taken until then.
    """
    acked, flows, blocks = series["acked"], len(summary["flows"]), int(world.seconds)
    own = BLOCK_BYTES // flows
    taken_s = 0.0
    ends = {flow: (acked["t_s"][acked["id"] == flow], acked["value"][acked["id"] == flow]) for flow in range(flows)}
    for block in range(blocks):
        done_s = block
        for times, values in ends.values():
            complete = times[values >= own * (block + 1)]
            done_s = max(done_s, float(complete[0]) if len(complete) else world.seconds)
        taken_s += done_s - block
    return blocks * own * flows * 8 / taken_s / 1e9


def queue_rtts(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean wait in the queue / the base RTT."""
    return float(summary["links"][0]["delay_queue_mean_s"]) / (world.rtt_ms / 1e3)


def second_share(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Part of all goodput that the groups after the first have."""
    return 1 - first_share(world, summary, series)


def law_drops(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Packets dropped by the discipline's decision."""
    return float(summary["links"][0]["drops"]["aqm"])


def marks_per_round(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Return p W, the marks for each flow and round trip: of the whole run, which has to be long beside its start."""
    link, flows = summary["links"][0], len(summary["flows"])
    rtt_s = world.rtt_ms / 1e3 + float(link["delay_queue_mean_s"])
    return float(link["marked_packets"]) * rtt_s / (world.seconds * flows)


def queue_amplitude(world: PublishedWorld, summary: Summary, series: Series) -> float:
    """Mean difference of the longest and the shortest queue within two teeth of DCTCP, whose length is equation 11."""
    queue = series["queue"]
    own = (queue["id"] == 0) & (queue["t_s"] >= world.warmup_s)
    times, packets = queue["t_s"][own], queue["value"][own] / PACKET_BYTES
    threshold = world.queue["mark_threshold"] if isinstance(world.queue, Mapping) else 0
    flows = len(summary["flows"])
    rtt_s = (world.bdp_packets + threshold) * 8 * PACKET_BYTES / (world.mbps * 1e6)
    tooth_s = math.sqrt(2 * (world.bdp_packets + threshold) / flows) / 2 * rtt_s
    window = ((times - world.warmup_s) / (2 * tooth_s)).astype(int)
    heights = [float(packets[window == i].max() - packets[window == i].min()) for i in range(int(window.max()))]
    return sum(heights) / len(heights)
