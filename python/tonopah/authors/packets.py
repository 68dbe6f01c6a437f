"""The packets of a run as the authors' scripts see them: one line for each sending, loss and reception of a TCP packet."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Numbers = dict[str, float]
Scenario = dict[str, Any]
SILENCE = {"kind": "constant", "length": "100000s"}
"""Period without writes, longer than any run: an application that ends, but closes nothing."""


class Packet(NamedTuple):
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


Lines = Sequence[Packet]


@dataclass(frozen=True)
class Seen:
    """What a script sees of a run: the scenario, its packets, its summary, and the series that the scenario records."""

    scenario: Scenario
    lines: Lines
    summary: Mapping[str, Any]
    series: Mapping[str, Mapping[str, Any]]


LINE = re.compile(
    r'"t_s":([^,]+),"event":"(sent|dropped|delivered)","flow":(\d+),"towards":"(\w+)","size_bytes":(\d+),'
    r'[^\n]*?"transport":"tcp","flags":\[([^\]]*)\],"seq":(\d+),"payload_bytes":(\d+),"ack":(\w+)'
)
"""A line about a TCP packet but for its transmission on a link. Runs have a million lines: to read each as JSON takes five times
as long."""


def packets(trace: str) -> list[Packet]:
    """Return the packets of the engine's JSON trace, in the order of time, without transmissions on links."""
    made = [
        Packet(
            float(time_s), event, int(flow), towards == "sink", int(size), int(seq), int(payload), "syn" in flags,
            "fin" in flags, None if ack == "null" else int(ack),
        )
        for time_s, event, flow, towards, size, flags, seq, payload, ack in LINE.findall(trace)
    ]  # fmt: skip
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
