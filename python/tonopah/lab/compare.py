"""Two scenarios that differ in one thing, with the same seeds: what differs, and whether the difference is more than chance."""

from collections.abc import Callable
from typing import Any

from tonopah.errors import LimitError
from tonopah.lab.session import Session
from tonopah.metrics import metric
from tonopah.stats import mean_of

METRICS = ("goodput_bps", "delay_s", "rtt_s", "loss_ratio", "retransmitted_packets", "jain", "utilisation_max")
"""Of the network as a whole (docs/glossary.md)."""
CONFIDENCE = 0.95
Make = Callable[[dict[str, Any], int], Session]


def compare(make: Make, before: dict[str, Any], after: dict[str, Any], seed: int, replicates: int) -> dict[str, Any]:
    """Return means of both scenarios over paired seeds, with the interval of the difference and its two-sided p value.

    The difference of each pair is a sample; its mean has the interval of Student's t distribution (stats/quantity.py).
    """
    seeds = range(seed, seed + replicates)
    one, other = ([networks_of(make(unrecorded(document), each)) for each in seeds] for document in (before, after))
    rows = [row for name in METRICS if (row := compared(name, one, other)) is not None]
    alike = all(row["certain"] for row in rows)
    note = "Nothing is random here: every seed gives the same run, so there is no interval." if alike else ""
    return {"rows": rows, "replicates": replicates, "note": note}


def unrecorded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario that records next to nothing: only its summary is wanted."""
    return {**document, "record": {"series": ["cwnd"], "every": "1000s"}}


def networks_of(session: Session) -> dict[str, Any]:
    """Return the metrics of the network of a run that has not begun. Raises LimitError."""
    session.start()
    session.thread.join()
    if session.summary is None:
        raise LimitError((session.error or {"message": "the run was stopped"})["message"])
    return session.summary["network"]


def compared(name: str, one: list[dict[str, Any]], other: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a metric of both; None if a run has not measured it."""
    shown = metric(name)
    values = [[run[name] for run in runs] for runs in (one, other)]
    if any(value is None for side in values for value in side):
        return None
    before, after = ([value * shown.factor for value in side] for side in values)
    difference = mean_of([b - a for a, b in zip(before, after, strict=True)])
    interval = difference.interval(CONFIDENCE)
    return {
        "metric": name, "label": shown.label, "unit": shown.unit, "before": sum(before) / len(before),
        "after": sum(after) / len(after), "difference": interval.value, "certain": difference.certain,
        "low": interval.low if difference.judged else None, "high": interval.high if difference.judged else None,
        "p": min(1.0, 2 * min(difference.p_greater(), difference.p_less())) if difference.judged else None,
    }  # fmt: skip
