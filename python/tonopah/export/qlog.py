"""A run as qlog, a trace for each TCP flow as its source sees it: for qvis and other tools of QUIC.

The file is a JSON text sequence (RFC 7464) of qlog 0.3, which qvis reads, with the schema of the main draft beside it
(draft-ietf-quic-qlog-main-schema); the events are those for QUIC (draft-ietf-quic-qlog-quic-events), by the names of 0.3 or, if
asked, those of the draft, for tools know no others. What they mean here:

- a packet number counts the segments that the source has sent; a SYN is of type `initial`, everything else `1RTT`;
- a segment with data carries a frame `stream`, with the offset of its first byte;
- an ACK carries a frame `ack` with the packets that it newly acknowledges or selectively acknowledges. Bytes that were sent more
  than once count for their last transmission;
- `packet_lost` says that the sender has marked bytes of a packet lost, when it did so and why: `trigger` is
  `reordering_threshold`, `time_threshold` or `pto_expired`. Without a trigger bytes were sent again that are not marked
  (probes, rescue retransmissions): nothing would acknowledge the packet that had them before;
- `metrics_updated` has what has changed of the sender at the recording interval of the scenario, or at each change; and as
  `cc_NAME` what its algorithm shows of itself, if the scenario records that (`record.internals`);
- `congestion_state_updated` follows from recovery's state, the windows, and whether the application limits the sender; where it
  would be slow start or congestion avoidance, an algorithm with states of its own has its word, if they are recorded. Its
  `trigger` is what the sender took for congestion (`dup_ack`, `sack`, `rack`, `tlp`, `head_timeout`, `ecn`, `algorithm`,
  `timeout`), or `undo`, `recovery_end`, `ssthresh`; where the application limits it or no longer does, there is none.
"""

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from tonopah._core import check, engine_version, trace
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.runs.simulation import INTERNAL, RunResult, checked_seed, engine_form, run_prepared
from tonopah.scenario.paths import fetch, put
from tonopah.writing import replace_file

METRICS = {
    "cwnd": "congestion_window", "ssthresh": "ssthresh", "pipe": "bytes_in_flight", "srtt": "smoothed_rtt", "rtt": "latest_rtt",
    "rttvar": "rtt_variance", "min_rtt": "min_rtt", "timeouts": "pto_count", "pacing_rate": "pacing_rate",
    "delivery_rate": "delivery_rate",
}  # fmt: skip
"""Series of the engine, and the metrics of QUIC; the last one is ours, in bit/s as the pacing rate."""
IN_MILLISECONDS = ("srtt", "rtt", "rttvar", "min_rtt")
STATES = ("state", "limit")
"""Series that the congestion state follows from besides the windows."""
OWN_STATE = f"{INTERNAL}state"
"""The state of an algorithm that has its own."""
PREFIXES = {
    "0.3": {"packet": "transport:packet_", "recovery": "recovery:"},
    "quic": {"packet": "quic:packet_", "recovery": "quic:recovery_"},
}
"""How the names of events begin: in qlog 0.3, and in the draft for QUIC. There, lost packets are packets."""
RECORD_SEPARATOR = "\x1e"

Event = tuple[float, str, dict[str, Any]]
"""Time in s, name, data."""


def run(scenario: dict[str, Any], name: str | None, seed: int, target: Path, names: str = "0.3") -> RunResult:
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
    put(scenario, "record.series", list(dict.fromkeys([*wanted, *METRICS, *STATES])))
    result = run_prepared(scenario, name, seed)
    flows = [flow for flow in result.summary["flows"] if flow["transport"] == "tcp"]
    if not flows:
        raise InputError("flow", "no flow uses TCP: there is nothing to log", None, name)
    settings = json.loads(engine_form(scenario, name).call(check, checked_seed(seed)))["graph"]
    senders = {flow["flow"]: QlogSender() for flow in flows}
    events: dict[int, list[Event]] = {number: [] for number in senders}
    for line in map(json.loads, lines):
        if line.get("flow") in senders:
            events[line["flow"]].extend(senders[line["flow"]].events(line))
    for flow in flows:
        number = flow["flow"]
        path = target if len(flows) == 1 else target.with_name(f"{target.stem}-{number}{target.suffix}")
        sampled = [*metrics(result, number, senders[number].largest), *states(result, number, senders[number].congestion)]
        made = [parameters(settings, flow), *sorted([*events[number], *sampled], key=lambda event: event[0])]
        replace_file(path, "".join(records(flow, seed, made, names)))
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
    lost: set[int] = field(default_factory=set)
    largest: int = 1
    """Payload of the largest packet."""
    congestion: list[tuple[float, str]] = field(default_factory=list)
    """When the sender took something for congestion, and what."""

    def events(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events that a line of the event log stands for; the sink's own are not seen here."""
        match line["event"], line.get("towards"):
            case "sent", "sink":
                yield from self.sent(line)
            case "delivered", "source":
                yield line["t_s"], "packet:received", packet(line, None, self.acknowledgments(line))
            case "lost", _:
                yield from self.losses(
                    line["t_s"], self.carriers(line["seq"], line["seq"] + line["payload_bytes"]), line["trigger"]
                )
            case "congestion", _:
                self.congestion.append((line["t_s"], line["cause"]))

    def losses(self, t_s: float, numbers: Iterable[int], trigger: str | None = None) -> Iterator[Event]:
        """Yield the loss of those packets that are neither acknowledged nor lost already."""
        for number in sorted(set(numbers) - self.acknowledged - self.lost):
            self.lost.add(number)
            why = {"trigger": trigger} if trigger else {}
            yield t_s, "packet:lost", {"header": {"packet_type": "1RTT", "packet_number": number}, **why}

    def carriers(self, start: int, end: int) -> list[int]:
        """Return the packets that carried these bytes last."""
        return self.packets[self.places(start, end)]

    def places(self, start: int, end: int) -> slice:
        """Return where these bytes stand in the lists."""
        return slice(bisect_left(self.ends, start + 1), bisect_left(self.starts, end))

    def sent(self, line: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the transmission of a segment, and before it the loss of those whose bytes it repeats though none is marked."""
        number, self.count = self.count, self.count + 1
        seq, length, frames = line["seq"], line["payload_bytes"], []
        if length:
            self.largest = max(self.largest, length)
            yield from self.losses(line["t_s"], self.carriers(seq, seq + length))
            self.replace(seq, seq + length, number)
            raw = {"payload_length": length}
            frames = [{"frame_type": "stream", "stream_id": 0, "offset": seq - 1, "fin": "fin" in line["flags"], "raw": raw}]
        yield line["t_s"], "packet:sent", packet(line, number, frames)

    def replace(self, start: int, end: int, number: int) -> None:
        """Note that packet `number` carries these bytes."""
        places = self.places(start, end)
        old = list(zip(self.starts[places], self.ends[places], self.packets[places], strict=True))
        kept = [(a, min(b, start), n) for a, b, n in old if a < start]
        after = [(max(a, end), b, n) for a, b, n in old if b > end]
        pieces = [*kept, (start, end, number), *after]
        self.starts[places] = [piece[0] for piece in pieces]
        self.ends[places] = [piece[1] for piece in pieces]
        self.packets[places] = [piece[2] for piece in pieces]

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


def samples(result: RunResult, name: str, flow: int) -> Iterator[tuple[float, float, str]]:
    """Yield time, value and word of the samples of a series."""
    table = result.series(name)
    of_flow = table[table["flow"] == flow]
    words = of_flow["word"] if "word" in of_flow else [""] * len(of_flow)
    yield from zip(of_flow["t_s"].astype(float), of_flow["value"].astype(float), words, strict=True)


def metrics(result: RunResult, flow: int, packet_bytes: int) -> Iterator[Event]:
    """Yield the samples of the sender's state whenever one of them has changed."""
    at: dict[float, dict[str, float | str]] = {}
    for name, metric in METRICS.items():
        for t_s, value, _ in samples(result, name, flow):
            # A threshold without a limit, and an RTT before the first sample, are no numbers.
            if math.isfinite(value):
                at.setdefault(t_s, {})[metric] = value * 1000 if name in IN_MILLISECONDS else round(value)
                if name == "pipe":
                    at[t_s]["packets_in_flight"] = math.ceil(value / packet_bytes)
    for name in (name for name in result.names if name.startswith(INTERNAL)):
        for t_s, value, word in samples(result, name, flow):
            at.setdefault(t_s, {})[f"cc_{name.removeprefix(INTERNAL)}"] = word or value
    last: dict[str, float | str] = {}
    for t_s in sorted(at):
        changed = {name: value for name, value in at[t_s].items() if last.get(name) != value}
        if changed:
            last |= changed
            yield t_s, "recovery:metrics_updated", changed


def states(result: RunResult, flow: int, congestion: Sequence[tuple[float, str]]) -> Iterator[Event]:
    """Yield the changes of the congestion state; `congestion` is what the sender took for it, and when."""
    at: dict[float, dict[str, float]] = {}
    for name in (*STATES, "cwnd", "ssthresh"):
        for t_s, value, _ in samples(result, name, flow):
            at.setdefault(t_s, {})[name] = value
    words = {t_s: word for t_s, _, word in samples(result, OWN_STATE, flow)} if OWN_STATE in result.names else {}
    now: dict[str, float] = {}
    old, own, reduced = "", "", math.nan
    for t_s in sorted({*at, *words}):
        now |= at.get(t_s, {})
        own = words.get(t_s, own)
        new, threshold = congestion_state(now, own), now.get("ssthresh", math.nan)
        if new != old:
            count = bisect_right(congestion, t_s, key=itemgetter(0))
            cause = trigger(old, new, congestion[count - 1][1] if count else None, raised=threshold > reduced)
            yield t_s, "recovery:congestion_state_updated", {**({"old": old} if old else {}), "new": new, **cause}
            old = new
        reduced = threshold


def trigger(old: str, new: str, cause: str | None, *, raised: bool) -> dict[str, str]:
    """Return what changed the state; `cause` is what was last taken for congestion.

    Only undoing a reduction raises ssthresh (RFC 4015 section 3.2).
    """
    if new in ("recovery", "loss"):
        return {"trigger": cause} if cause else {}
    if old in ("recovery", "loss"):
        return {"trigger": "undo" if raised else "recovery_end"}
    return {"trigger": "ssthresh"} if (old, new) == ("slow_start", "congestion_avoidance") else {}


def congestion_state(now: Mapping[str, float], own: str) -> str:
    """Return the state in the words of QUIC, or the algorithm's `own` if it has one.

    2 is CWR, which also reduces; slow start is below ssthresh (RFC 5681).
    """
    state, ssthresh = now.get("state", 0), now.get("ssthresh", math.nan)
    if state >= 2:
        return "loss" if state == 4 else "recovery"
    if now.get("limit") == 0:
        return "application_limited"
    if own:
        return own
    return "slow_start" if not now.get("cwnd", 0) >= ssthresh else "congestion_avoidance"


def parameters(graph: Mapping[str, Any], flow: Mapping[str, Any]) -> Event:
    """Return the settings of a sender as the first event."""
    listed = graph["flow"][flow["flow"]] if flow["flow"] < len(graph["flow"]) else {}
    tcp = {**graph["tcp"], **(listed.get("tcp") or {})}
    given = {"reordering_threshold": tcp.get("dup_thresh"), "tonopah_cc": flow["cc"], "tonopah_cc_profile": flow["cc_profile"]}
    given["tonopah_initial_window"] = tcp.get("initial_window")
    return 0.0, "recovery:parameters_set", {key: value for key, value in given.items() if value is not None}


def records(flow: Mapping[str, Any], seed: int, events: Iterable[Event], names: str) -> Iterator[str]:
    """Yield the records of a file."""
    title = f"flow {flow['flow']}, {flow['from']} to {flow['to']}, {flow['cc']}"
    yield record({
        # Readers of 0.3 look for these two at the beginning.
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": title,
        "description": f"Simulated by Tonopah {engine_version()}, seed {seed}; TCP in terms of QUIC",
        "trace": {
            "title": title,
            "vantage_point": {"name": flow["from"], "type": "client"},
            "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
            "common_fields": {
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                "protocol_types": ["TCP"],
                "group_id": f"flow {flow['flow']}",
            },
        },
    })  # fmt: skip
    for t_s, name, data in events:
        kind, _, rest = name.partition(":")
        # The drafts have lost packets among recovery's events.
        kind = "recovery" if rest == "lost" and names == "0.3" else kind
        whole = f"{PREFIXES[names][kind]}{'packet_' if kind == 'recovery' and rest == 'lost' else ''}{rest}"
        yield record({"time": round(t_s * 1000, 6), "name": whole, "data": data})


def record(value: dict[str, Any]) -> str:
    """Return a record of a JSON text sequence."""
    return f"{RECORD_SEPARATOR}{json.dumps(value, separators=(',', ':'))}\n"
