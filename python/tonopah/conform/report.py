"""What a subject gave as JSON and as lines of text, with the packets around a deviation."""

import json
import math
import textwrap
from dataclasses import dataclass
from typing import Any

from tonopah._core import engine_version
from tonopah.conform.case import Measure, Outcome, Spec
from tonopah.conform.observed import Observed
from tonopah.conform.runs import Runs
from tonopah.conform.words import DEVIATES, HOLDS, VERDICTS
from tonopah.metrics import count_text
from tonopah.stats import or_none

SHOWN = 5
"""Packets before and after a deviation."""
AROUND_S = 0.5
"""Within this time of it."""
SAMPLE = "The cases are a sample of what it says: what holds here is no proof of the rest."


@dataclass(frozen=True)
class Report:
    """A subject against a specification."""

    subject: str
    spec: Spec
    seed: int
    outcomes: list[Outcome]

    def status(self, strict: bool) -> int:
        """Return the exit code: 1 if something deviates; if strict, whatever does not hold."""
        verdicts = {one.verdict for one in self.outcomes}
        return int(bool(verdicts - {HOLDS})) if strict else int(DEVIATES in verdicts)

    @property
    def head(self) -> list[str]:
        """What it is, in lines."""
        reading = f" They are {self.spec.reading}." if self.spec.reading else ""
        return [f"{self.subject} and {self.spec.title} ({self.spec.text_of}), seed {self.seed}", SAMPLE + reading]

    @property
    def counts(self) -> str:
        """How many of each verdict."""
        found = [(sum(one.verdict == verdict for one in self.outcomes), verdict) for verdict in VERDICTS]
        told = ", ".join(f"{count} {verdict}" for count, verdict in found if count)
        return f"{count_text(len(self.outcomes), 'case')}: {told}"

    def as_json(self) -> dict[str, Any]:
        """Return everything."""
        return {
            "schema": 1, "subject": self.subject, "spec": self.spec.name, "text_of": self.spec.text_of,
            "engine": engine_version(), "seed": self.seed, "cases": [case_json(one) for one in self.outcomes],
        }  # fmt: skip


def case_json(one: Outcome) -> dict[str, Any]:
    """Return a case."""
    return {
        "id": one.case.id,
        "title": one.case.title,
        "source": one.case.source,
        "verdict": one.verdict,
        "measured": {measure.name: or_none(measure.value) for measure in one.measures},
        "bounds": {measure.name: [or_none(measure.low), or_none(measure.high)] for measure in one.measures},
        "form": one.form,
        "moment_s": or_none(one.moment_s),
        "packets": one.packets,
        "note": "; ".join(text for text in (one.note, one.case.note) if text),
    }


def as_text(report: Report) -> str:
    """Return everything as JSON text."""
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def number(name: str, value: float | None) -> str:
    """Return a number as people read it."""
    if value is None or not math.isfinite(value):
        return "never" if value is not None and value > 0 else "none"
    return f"{value / 1e6:.4g} Mb/s" if name.endswith("_bps") else f"{value:.4g}"


def said(measure: Measure) -> str:
    """Return a measure with its bounds."""
    low, high = (None if one is None else number(measure.name, one) for one in (measure.low, measure.high))
    bounds = f"= {low}" if low == high else f"≥ {low}" if high is None else f"≤ {high}" if low is None else f"{low} … {high}"
    return f"{measure.name.removesuffix('_bps').replace('_', ' ')} {number(measure.name, measure.value)} ({bounds})"


def lines(report: Report, width: int) -> list[str]:
    """Return the report as lines of at most this width: one a case if it fits, with the packets around what deviates."""
    found = [piece for text in report.head for piece in textwrap.wrap(text, width)] + [""]
    for one in report.outcomes:
        start = f"{one.case.id:<4} {one.case.title:<31} {one.verdict:<15}"
        # What deviates comes first.
        told = [said(measure) for measure in sorted(one.measures, key=lambda measure: measure.holds)]
        text = ", ".join([*([one.note] if one.note else []), *told])
        if len(start) + len(text) <= width:
            found.append((start + text).rstrip())
        else:
            indent = " " * 5
            found += [start.rstrip(), *textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)]
        found += [packet_line(packet, width) for packet in one.packets]
    return [*found, "", report.counts]


def packet_line(packet: dict[str, Any], width: int) -> str:
    """Return a packet, or a change of state, as a line."""
    mark = "→" if packet["event"] == "state" else " "
    text = f"  {mark} {packet['t_s']:.6f}  {packet['node']:<8} {packet['text']}"
    state = f"{packet['in_flight_bytes'] / 1e3:.1f} kB in flight" + (f"  {packet['state']}" if packet["state"] else "")
    return f"{text:<56} {state}"[:width] if packet["event"] != "state" else text[:width]


def around(runs: Runs, run: Observed, moment: float) -> list[dict[str, Any]]:
    """Return the packets before and after a moment at the source, and what changes there."""
    packets = runs.packets(run.scenario, moment - AROUND_S, moment + AROUND_S)
    before = [one for one in packets if one["t_s"] <= moment]
    after = [one for one in packets if one["t_s"] > moment]
    rows = [packet_row(run, one) for one in before[-SHOWN:]]
    changed = changes_at(run, moment)
    if changed:
        rows.append({"t_s": moment, "event": "state", "node": "left0", "text": changed, "in_flight_bytes": 0.0, "state": ""})
    return rows + [packet_row(run, one) for one in after[:SHOWN]]


def packet_row(run: Observed, packet: dict[str, Any]) -> dict[str, Any]:
    """Return a packet that the source sent or received."""
    size, is_sent = packet["payload_bytes"], packet["event"] == "sent"
    if "seq" not in packet:
        # What is in a datagram of a whole transport only that knows.
        text = f"{size:,} B"
    elif is_sent:
        text = f"{size:,} B from {packet['seq']:,}" + (" again" if packet["retransmission"] else "") if size else "no data"
    else:
        text = f"ACK of {packet['ack']:,}" if packet["ack"] is not None else "no ACK"
        text += f" and {size:,} B" if size else ""
    at = packet["t_s"]
    in_flight = or_none(run.at("pipe", at)) or 0.0
    verb = "sent" if is_sent else "received"
    return {
        "t_s": at, "event": verb, "node": "left0", "text": f"{verb:<9}{text}", "in_flight_bytes": in_flight,
        "state": state_at(run, at),
    }  # fmt: skip


def state_at(run: Observed, at: float) -> str:
    """Return the state of the algorithm at a time; of one that shows none that of the sender."""
    return next((stay.word for stay in run.shown_stays if stay.begin <= at < stay.end), "")


def changes_at(run: Observed, moment: float) -> str:
    """Return in words what changes at a moment."""
    early = math.nextafter(moment, 0.0)
    states = state_at(run, early), state_at(run, moment)
    windows = run.at("cwnd", early), run.at("cwnd", moment)
    told = [f"state {states[0] or 'open'} → {states[1] or 'open'}"] if states[0] != states[1] else []
    if windows[0] != windows[1] and all(math.isfinite(one) for one in windows):
        told.append(f"cwnd {windows[0] / 1e3:.1f} kB → {windows[1] / 1e3:.1f} kB")
    return ", ".join(told)
