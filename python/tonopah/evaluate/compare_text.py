"""A comparison as Markdown, for a comment on a pull request."""

import math
from collections.abc import Sequence

from tonopah._core import engine_version
from tonopah.evaluate.comparison import ComparedRow, Comparison, summary
from tonopah.evaluate.labels import label
from tonopah.metrics import count_text, show

SHOWN = 5
ALL_ROWS = 30
"""Rows that the folded table shows; the JSON has all."""
HEAD = ["| metric | where | A | B | difference [95 % interval] | adjusted p |", "| --- | --- | --- | --- | --- | --- |"]


def headline(comparison: Comparison, rows: Sequence[ComparedRow]) -> str:
    """Return the first line: what was found in numbers."""
    counts = summary(rows)
    words = [
        count_text(counts["regressed"], "regression"),
        count_text(counts["improved"], "improvement"),
        f"{counts['same']} unchanged",
        *([f"{counts['unclear']} unclear"] if counts["unclear"] else []),
    ]
    cast = comparison.cast
    return f"Congestion control: {', '.join(words)} ({cast.baseline.label} → {cast.subject.label})"


def markdown(comparison: Comparison, rows: Sequence[ComparedRow]) -> str:
    """Return the whole text: at most about sixty lines."""
    lines = [headline(comparison, rows), ""]
    for title, outcome in (("Regressions", "regressed"), ("Improvements", "improved")):
        found = by_size([row for row in rows if row.outcome == outcome])
        if found:
            rest = f" ({len(found) - SHOWN} more in the file compare.json)" if len(found) > SHOWN else ""
            lines += [f"**{title}**{rest}", "", *HEAD, *(line(row) for row in found[:SHOWN]), ""]
    shown = by_size(rows)[:ALL_ROWS]
    lines += [f"<details><summary>{len(shown)} of {len(rows)} rows, the greatest changes first</summary>", "", *HEAD]
    lines += [*(line(row) for row in shown), "", "</details>", ""]
    seeds = f"seeds 1 to {comparison.replicates}, n = {comparison.replicates}"
    return "\n".join([*lines, f"Tonopah {engine_version()}, {seeds}; `{comparison.command}`", ""])


def by_size(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Return rows by the size of their change, measured by the threshold; broken bounds first."""

    def size(row: ComparedRow) -> float:
        value = row.difference.value / (100 if row.unit == "%" else 1)
        return abs(value) / row.threshold if not math.isnan(value) and row.threshold else 0.0

    return sorted(rows, key=lambda row: (not row.broken, -size(row)))


def line(row: ComparedRow) -> str:
    """Return a row of a table."""
    known = label(row.metric)
    if row.broken:
        return f"| {row.metric}, a bound | {row.place} | {show(row.a)} | {show(row.b)} | allowed {show(row.threshold)} | |"
    found, p = row.difference, "–" if math.isnan(row.p_holm) else "< 0.001" if row.p_holm < 0.001 else f"{row.p_holm:.3f}"
    change = f"{found.value:+.1f} %" if row.unit == "%" else f"{found.value:+.3f}"
    ends = ", ".join(f"{end:+.1f}" if row.unit == "%" else f"{end:+.3f}" for end in (found.low, found.high))
    values = [f"{show(value * known.factor, 3)} {known.unit}".strip() for value in (row.a, row.b)]
    return f"| {known.label} | {row.place} | {values[0]} | {values[1]} | {change} [{ends}] | {p} |"
