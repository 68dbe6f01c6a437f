"""A run as qlog, a trace for each TCP flow as its source sees it: for qvis and other tools of QUIC.

The file is that of the main schema (draft-ietf-quic-qlog-main-schema), as a JSON text sequence (RFC 7464); the events are those
for QUIC (draft-ietf-quic-qlog-quic-events), for tools know no others. What they mean here:

- a packet number counts the segments that the source has sent; a SYN is of type `initial`, everything else `1RTT`;
- a segment with data carries a frame `stream`, with the offset of its first byte;
- an ACK carries a frame `ack` with the packets that it newly acknowledges or selectively acknowledges. Bytes that were sent more
  than once count for their last transmission;
- `packet_lost` says that bytes of a packet were sent again, at the time when they were;
- `recovery_metrics_updated` has samples of the sender, taken at the recording interval of the scenario.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah._core import engine_version, trace
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.runs.simulation import RunResult, checked_seed, engine_form, run_prepared
from tonopah.scenario.paths import fetch, put
from tonopah.writing import replace_file

METRICS = {"cwnd": "congestion_window", "ssthresh": "ssthresh", "pipe": "bytes_in_flight", "srtt": "smoothed_rtt"}
"""Series of the engine, and the metrics of QUIC."""
IN_MILLISECONDS = ("srtt",)
RECORD_SEPARATOR = "\x1e"

Event = tuple[float, str, dict[str, Any]]
"""Time in s, name, data."""


def run(scenario: dict[str, Any], name: str | None, seed: int, target: Path) -> RunResult:
    """Run a scenario, write a trace of each TCP flow and return its result.

    With one such flow the trace is `target`, with several flow 3 has `NAME-3.EXT`. Raises ScenarioError when the scenario cannot
    be run or has no TCP flow, OSError when a file cannot be written.
    """
    try:
        lines = engine_form(scenario, name).call(trace, checked_seed(seed), json=True).splitlines()
    except ScenarioError as error:
        raise relay(error, name) from None
    # The same run once more: the log of packets has no series.
    wanted = list(fetch(scenario, "record.series") or [])
    put(scenario, "record.series", list(dict.fromkeys([*wanted, *METRICS])))
    result = run_prepared(scenario, name, seed)
    flows = [flow for flow in result.summary["flows"] if flow["transport"] == "tcp"]
    if not flows:
        raise InputError("flow", "no flow uses TCP: there is nothing to log", None, name)
    senders = {flow["flow"]: QlogSender() for flow in flows}
    events: dict[int, list[Event]] = {number: [] for number in senders}
    for line in map(json.loads, lines):
        if line.get("flow") in senders and line["event"] in ("sent", "delivered"):
            events[line["flow"]].extend(senders[line["flow"]].events(line))
    for flow in flows:
        number = flow["flow"]
        path = target if len(flows) == 1 else target.with_name(f"{target.stem}-{number}{target.suffix}")
        made = sorted([*events[number], *metrics(result, number)], key=lambda event: event[0])
        replace_file(path, "".join(records(flow, seed, made)))
    return result


@dataclass
class QlogSender:
    """What a source has sent: the number of the last packet that carried each byte."""

    count: int = 0
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    packets: list[int] = field(default_factory=list)
    """Parallel lists in the order of sequence numbers, without overlap."""
    acknowledged: set[int] = field(default_factory=set)

    def events(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events that a line of the event log stands for; the sink's own are not seen here."""
        if line["event"] == "sent" and line["towards"] == "sink":
            yield from self.sent(line)
        elif line["event"] == "delivered" and line["towards"] == "source":
            frames = self.acknowledgments(line)
            yield line["t_s"], "quic:packet_received", packet(line, None, frames)

    def sent(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the transmission of a segment, and before it the loss of those whose bytes it repeats."""
        number, self.count = self.count, self.count + 1
        seq, length, frames = line["seq"], line["payload_bytes"], []
        if length:
            for lost in self.replace(seq, seq + length, number):
                yield line["t_s"], "quic:packet_lost", {"header": {"packet_type": "1RTT", "packet_number": lost}}
            raw = {"payload_length": length}
            frames = [{"frame_type": "stream", "stream_id": 0, "offset": seq - 1, "fin": "fin" in line["flags"], "raw": raw}]
        yield line["t_s"], "quic:packet_sent", packet(line, number, frames)

    def replace(self, start: int, end: int, number: int) -> list[int]:
        """Note that packet `number` carries these bytes; return the packets not acknowledged that carried some before."""
        low = bisect_left(self.ends, start + 1)
        high = bisect_left(self.starts, end)
        old = list(zip(self.starts[low:high], self.ends[low:high], self.packets[low:high], strict=True))
        kept = [(a, min(b, start), n) for a, b, n in old if a < start]
        after = [(max(a, end), b, n) for a, b, n in old if b > end]
        pieces = [*kept, (start, end, number), *after]
        self.starts[low:high] = [piece[0] for piece in pieces]
        self.ends[low:high] = [piece[1] for piece in pieces]
        self.packets[low:high] = [piece[2] for piece in pieces]
        return sorted({n for _, _, n in old} - self.acknowledged)

    def acknowledgments(self, line: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the frame that acknowledges what the ACK and its SACK blocks cover for the first time."""
        if line["ack"] is None:
            return []
        new: set[int] = set()
        below = bisect_left(self.ends, line["ack"] + 1)
        new.update(self.packets[:below])
        del self.starts[:below], self.ends[:below], self.packets[:below]
        for start, end in line.get("sack", ()):
            new.update(self.packets[bisect_left(self.starts, start) : bisect_left(self.ends, end + 1)])
        new -= self.acknowledged
        self.acknowledged |= new
        return [{"frame_type": "ack", "acked_ranges": ranges(sorted(new))}] if new else []


def ranges(numbers: list[int]) -> list[list[int]]:
    """Return ascending numbers as ranges: first and last, or the only one."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return found


def packet(line: Mapping[str, Any], number: int | None, frames: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of the event of a packet."""
    header: dict[str, Any] = {"packet_type": "initial" if "syn" in line["flags"] else "1RTT"}
    if number is not None:
        header["packet_number"] = number
    raw = {"length": line["size_bytes"], "payload_length": line["payload_bytes"]}
    return {"header": header, "frames": frames, "raw": raw}


def metrics(result: RunResult, flow: int) -> Iterator[Event]:
    """Yield the samples of the sender's state whenever one of them has changed."""
    at: dict[float, dict[str, float]] = {}
    for name, metric in METRICS.items():
        table = result.series(name)
        of_flow = table[table["flow"] == flow]
        for t_s, value in zip(of_flow["t_s"], of_flow["value"], strict=True):
            # A threshold without a limit, and an RTT before the first sample, are no numbers.
            if math.isfinite(value):
                at.setdefault(float(t_s), {})[metric] = value * 1000 if name in IN_MILLISECONDS else round(value)
    last: dict[str, float] = {}
    for t_s in sorted(at):
        changed = {name: value for name, value in at[t_s].items() if last.get(name) != value}
        if changed:
            last |= changed
            yield t_s, "quic:recovery_metrics_updated", changed


def records(flow: Mapping[str, Any], seed: int, events: Iterable[Event]) -> Iterator[str]:
    """Yield the records of a file."""
    title = f"flow {flow['flow']}, {flow['from']} to {flow['to']}, {flow['cc']}"
    yield record({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": title,
        "description": f"Simulated by Tonopah {engine_version()}, seed {seed}; TCP in terms of QUIC",
        "trace": {
            "title": title,
            "vantage_point": {"name": flow["from"], "type": "client"},
            "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                "protocol_types": ["TCP"],
                "group_id": f"flow {flow['flow']}",
            },
        },
    })  # fmt: skip
    for t_s, name, data in events:
        yield record({"time": round(t_s * 1000, 6), "name": name, "data": data})


def record(value: dict[str, Any]) -> str:
    """Return a record of a JSON text sequence."""
    return f"{RECORD_SEPARATOR}{json.dumps(value, separators=(',', ':'))}\n"
