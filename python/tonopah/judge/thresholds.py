"""Every number that a word of an evaluation hangs on, with its source: one table, which docs/evaluate.md shows."""

from dataclasses import dataclass

from tonopah.judge.effects import LEAST, margin_of
from tonopah.judge.metrics import label
from tonopah.stats.kinds import KINDS

OURS = "ours"
DELAY_LEAST_S = 0.005
"""Less queueing delay than this does not count: the standing queue that CoDel allows (RFC 8289 §4.4, TARGET)."""
LEAST_OF: dict[str, float] = dict.fromkeys(
    ("qdelay_p95_s", "qdelay_p50_s", "qdelay_p99_s", "delay_p95_s", "link_wait_s"), DELAY_LEAST_S
)
"""Differences that have to be exceeded beside the ratio, by metric, beside those of loss (effects.py)."""

MARGIN_OF = {"left": 0.2, "late_share": 0.10}
"""Differences that count, of metrics that only an evaluation has."""


@dataclass(frozen=True)
class Threshold:
    """A number that words hang on."""

    what: str
    value: str
    source: str = OURS


TABLE = (
    Threshold("ratio of goodput, delay, times", "1.25", "ours: to lose a fifth"),
    Threshold("queueing delay, beside the ratio", "5 ms", "RFC 8289 §4.4, TARGET of CoDel"),
    Threshold("loss, beside the ratio", "0.5 percentage points", "ours; RFC 9743 §5.1.3: excessively high"),
    Threshold("utilisation, Jain's index; share", "0.05; 0.10", OURS),
    Threshold("goodput that is left to a victim", "0.2 of its fair share", "ours: 0.1 of what one of two has alone"),
    Threshold("opinion score", "0.2", "ours; ITU-T P.800 rates in steps of 1"),
    Threshold("starving; may starve", "below 5 % of the fair share for 10 s; upper bound of its runs at 0.5", OURS),
    Threshold("yields", "below 0.35 of the fair share", OURS),
    Threshold("length of a run; halves; longest", "20 epochs; 1/4 of the margin; 300 s, 2.5 million packets", OURS),
    Threshold("C1: packets a second at a loss of 0.5; of 0.9", "10 x the baseline; 25", "ours; RFC 9743 §5.1.1"),
    Threshold("C1: goodput and packets of 200 flows", "0.9 x and 2 x the baseline", OURS),
    Threshold("C8: growth of time-outs; packets in 30 s", "1.9 x, one each and 2; 10", "RFC 6298 §5.5, doubled; ours"),
    Threshold("C18: trip of a breaker", "10 % loss in 3 x 5 s", "ours, in the sense of RFC 8084 §5"),
    Threshold("C22: gain of a receiver that misleads", "1.1 x that of the baseline", OURS),
    Threshold("level, all questions of a report together", "0.05", OURS),
)  # fmt: skip


def margin_at(metric: str) -> float:
    """Return the effect that counts: the logarithm of a ratio, or a difference."""
    return MARGIN_OF.get(metric) or margin_of(metric, "difference" if KINDS[label(metric).kind].effect == "difference" else "log")


def smallest_difference(metric: str) -> float:
    """Return the difference that has to be exceeded beside the ratio; 0 where the ratio alone counts."""
    owner, _, rest = metric.partition("_")
    return LEAST_OF.get(metric) or LEAST.get(metric) or (smallest_difference(rest) if owner in ("x", "y") else 0.0)


def markdown() -> list[str]:
    """Return the table as lines of Markdown."""
    rows = [f"| {one.what} | {one.value} | {one.source} |" for one in TABLE]
    return ["| what counts | from | source |", "|---|---|---|", *rows]
