"""Rules that the numbers of a published table must obey; each finding states the numbers that it is based on.

A printed number stands for all numbers that round to it; a rule is broken only if none of them obeys it. Rules about rates
allow 5 % in addition, since reports measure time in several ways (first packet to last, or the whole run).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tonopah.metrics import show
from tonopah.spec.published import UNITS, Best, Change, Column, Published, numeric

RATE_MARGIN = 0.05
HEADERS_BYTES = 52
"""IPv4 and TCP with timestamps."""


@dataclass(frozen=True)
class Finding:
    """One rule applied to one record: whether it holds, and a sentence with the numbers."""

    table: str
    rule: str
    record: str
    holds: bool
    sentence: str


@dataclass(frozen=True)
class Printed:
    """A printed number in SI units, and the range of the numbers that round to it."""

    value: float
    low: float
    high: float
    text: str

    def share(self, other: "Printed") -> tuple[float, float]:
        """Return the range of self / other."""
        return self.low / other.high, self.high / other.low if other.low > 0 else float("inf")


Record = Mapping[str, Printed]
Given = Mapping[str, float]
Outcome = tuple[bool, str] | None


def read_cell(cell: str, column: Column) -> Printed:
    """Return a cell with the range that its last digit allows."""
    factor = UNITS[column.unit]
    half = half_digit(cell)
    value = float(cell)
    return Printed(value * factor, (value - half) * factor, (value + half) * factor, f"{cell} {column.unit}".strip())


def half_digit(cell: str) -> float:
    """Return half a unit of the last digit; a whole number counts as exact."""
    mantissa, _, exponent = cell.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if decimals == 0 and not exponent:
        return 0.0
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


def check(table: Published) -> list[Finding]:
    """Return the findings of all rules on a table, in the order of its rows; a rule that lacks a number has none."""
    findings = []
    for row in table.rows:
        record = {
            column.quantity: read_cell(cell, column)
            for column, cell in zip(table.columns, row, strict=True)
            if column.quantity and cell
        }
        for name, rule in RULES.items():
            outcome = rule(record, table.given)
            if outcome is not None:
                findings.append(Finding(table.id, name, table.label(row), *outcome))
    findings += [finding for best in table.best for finding in check_best(table, best)]
    findings += [finding for change in table.changes if (finding := check_difference(table, change))]
    return findings


def shares(record: Record, given: Given) -> Outcome:
    """Delivered and dropped packets are shares of the packets sent."""
    del given
    if not {"delivery", "drop"} <= set(record):
        return None
    delivery, drop = record["delivery"], record["drop"]
    total = delivery.value + drop.value
    numbers = f"{delivery.text} + {drop.text} = {show(100 * total, 5)} %"
    if delivery.low + drop.low > 1 + 1e-9:
        return False, f"{numbers}: they cannot be shares of the same packets, so they were counted at different places."
    return True, f"{numbers}, not more than 100 %."


def ratio(whole: str, part: str, share: str) -> Callable[[Record, Given], Outcome]:
    """Return the rule that `share` is `part` / `whole`."""

    def rule(record: Record, given: Given) -> Outcome:
        del given
        if not {whole, part, share} <= set(record) or record[whole].value <= 0:
            return None
        low, high = record[part].share(record[whole])
        stated, value = record[share], record[part].value / record[whole].value
        numbers = f"{record[part].text} / {record[whole].text} = {show(100 * value, 6)} %, printed {stated.text}"
        holds = low <= stated.high * (1 + 1e-9) and high >= stated.low * (1 - 1e-9)
        return holds, f"{numbers}{'' if holds else ': they do not agree'}."

    return rule


def bytes_per_time(record: Record, given: Given) -> Outcome:
    """Throughput is received bytes × 8 / duration."""
    if not {"throughput", "received_bytes"} <= set(record) or "duration" not in given:
        return None
    rate = 8 * record["received_bytes"].value / given["duration"]
    stated = record["throughput"]
    numbers = f"{record['received_bytes'].text} × 8 / {given['duration']:g} s = {show(rate / 1e6, 7)} Mb/s, printed {stated.text}"
    holds = stated.low * (1 - 1e-9) <= rate <= stated.high * (1 + 1e-9)
    return holds, f"{numbers}{'' if holds else f' ({percent(stated.value, rate)})'}."


def not_above_offer(record: Record, given: Given) -> Outcome:
    """Throughput does not exceed the offered load."""
    offered = record["offered"].low if "offered" in record else given.get("offered")
    kind = "offered"
    if offered is None and "generated_bytes" in record and "duration" in given:
        offered, kind = 8 * record["generated_bytes"].value / given["duration"], "generated"
    if offered is None or "throughput" not in record:
        return None
    numbers = f"{record['throughput'].text} of {show(offered / 1e6, 5)} Mb/s {kind}"
    holds = record["throughput"].low <= offered * (1 + 1e-9)
    return holds, f"{numbers}{'' if holds else ': more than was offered'}."


def packets_per_time(record: Record, given: Given) -> Outcome:
    """Throughput is received packets × size × 8 / duration; if not, the finding names the size that would fit."""
    if not {"throughput", "received"} <= set(record) or not {"packet", "duration"} <= set(given):
        return None
    received, stated, duration = record["received"], record["throughput"], given["duration"]
    if given.get("acks_counted"):
        # Of three packets two are data; the mean of two rates is half of their sum.
        size = (2 * (given["packet"] + HEADERS_BYTES) + HEADERS_BYTES) / 3 / 2
        numbers = f"{received.value:.0f} packets of data and ACKs, on average {show(2 * size, 5)} B, half of their rate"
    else:
        size = given["packet"]
        numbers = f"{received.value:.0f} packets × {size:g} B × 8 / {duration:g} s"
    rate = received.value * size * 8 / duration
    numbers += f" = {show(rate / 1e3, 5)} kb/s, printed {stated.text} ({percent(stated.value, rate)})"
    if abs(stated.value / rate - 1) <= RATE_MARGIN:
        return True, f"{numbers}."
    fits = stated.value * duration / (8 * received.value)
    return False, f"{numbers}: they do not agree. {show(fits, 4)} B per packet would fit."


def generation(record: Record, given: Given) -> Outcome:
    """Packets of the stated size and interval make the generated bytes; if not, the finding names the interval that would fit."""
    if "generated_bytes" not in record or not {"packet", "interval", "duration"} <= set(given):
        return None
    generated, packet, interval = record["generated_bytes"], given["packet"], given["interval"]
    expected = given["duration"] / interval * packet
    numbers = f"{packet:g} B every {time_text(interval)} for {given['duration']:g} s are {expected:,.0f} B, "
    numbers += f"printed {generated.text}"
    if abs(generated.value - expected) <= packet * (1 + 1e-9):
        return True, f"{numbers}."
    fits = given["duration"] * packet / generated.value
    return False, f"{numbers}: they do not agree. An interval of {time_text(fits)} would fit."


def jain_range(record: Record, given: Given) -> Outcome:
    """Jain's index of n flows is between 1/n and 1."""
    if "jain" not in record or "flows" not in given:
        return None
    least = 1 / given["flows"]
    numbers = f"{record['jain'].text} of {given['flows']:g} flows, possible: {show(least, 3)} to 1"
    holds = record["jain"].high >= least and record["jain"].low <= 1
    return holds, f"{numbers}{'' if holds else ': not the index of that many flows'}."


RULES: dict[str, Callable[[Record, Given], Outcome]] = {
    "delivery + drop ≤ 1": shares,
    "delivery = received / sent": ratio("sent", "received", "delivery"),
    "drop = dropped / sent": ratio("sent", "dropped", "drop"),
    "throughput = received bytes × 8 / duration": bytes_per_time,
    "throughput ≤ offered load": not_above_offer,
    "throughput = packets × size × 8 / duration": packets_per_time,
    "generated = duration / interval × size": generation,
    "1/n ≤ Jain's index ≤ 1": jain_range,
}


def check_best(table: Published, best: Best) -> list[Finding]:
    """Check whether the best of a column is the one that the text names, in each part of the table that `per` makes."""
    column = next(column for column in table.columns if column.name == best.column)
    findings = []
    for which in dict.fromkeys(table.cell(row, best.per) if best.per else "" for row in table.rows):
        rows = [row for row in table.rows if not best.per or table.cell(row, best.per) == which]
        groups: dict[str, list[float]] = {}
        for row in rows:
            if numeric(table.cell(row, best.column)):
                groups.setdefault(table.group(row, best), []).append(float(table.cell(row, best.column)))
        if best.who not in groups or len(groups) < 2:
            continue
        values = {name: sum(cells) / (len(cells) if best.of == "mean" else 1) for name, cells in groups.items()}
        winner = (max if best.highest else min)(values, key=lambda name: values[name])
        holds = values[winner] == values[best.who]
        kind = f"{'highest' if best.highest else 'lowest'} {'total' if best.of == 'sum' else 'mean'} {best.column}"
        unit = f" {column.unit}" if column.unit else ""
        listed = ", ".join(f"{name} {show(value, 5)}" for name, value in values.items())
        said = f"{best.text}: the" if best.text else "The"
        sentence = f"{said} text gives {best.who} the {kind}; by the table {winner} has it ({listed}{unit}, one run each)."
        findings.append(Finding(table.id, "the best of a column is the one that the text names", which, holds, sentence))
    return findings


def check_difference(table: Published, change: Change) -> Finding | None:
    """Check whether a stated difference in percent is that of the printed values."""
    column = next(column for column in table.columns if column.name == change.column)
    cells = {row[0]: table.cell(row, change.column) for row in table.rows}
    if not (numeric(cells[change.of]) and numeric(cells[change.to])):
        return None
    of, to = read_cell(cells[change.of], column), read_cell(cells[change.to], column)
    low, high = (100 * (bound - 1) for bound in of.share(to))
    half = half_digit(change.percent)
    holds = low - 1e-9 <= float(change.percent) + half and high + 1e-9 >= float(change.percent) - half
    value = 100 * (of.value / to.value - 1)
    sentence = (
        f"{of.text} against {to.text} is {value:+.4g} %, printed {change.percent} %{'' if holds else ': they do not agree'}."
    )
    return Finding(table.id, "stated difference = that of the values", f"{change.column}: {change.of}", holds, sentence)


def percent(value: float, reference: float) -> str:
    """Format the difference of a value to another in percent."""
    return f"{100 * (value / reference - 1):+.3g} %" if reference else "no reference"


def time_text(seconds: float) -> str:
    """Format a time."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor * 0.9999:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
