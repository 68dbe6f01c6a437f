"""A published claim against the measured effect: supported, not supported, contradicted or not testable, and why.

Every test works on replicates (never on packets or flows). It has two p values: of the claimed direction, and of the
opposite one. Both families are adjusted for the number of tests in the study (Holm 1979); a test is *supported* when
the first is below 2.5 %, *contradicted* when the second is, and otherwise *not supported*. A test that must hold at
several points needs all of them: its p value is the largest (intersection-union test; R. L. Berger, Technometrics 24,
1982, 295-300). A claim is as good as its worst test.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah import stats
from tonopah.axes import positions
from tonopah.metrics import Metric, metric, show
from tonopah.stats import Estimate
from tonopah.study_file import Claim, StudySpec, Test
from tonopah.table import values_at

if TYPE_CHECKING:
    import pandas as pd

    from tonopah.plan import Plan

ALPHA = 0.025
"""Of each one-sided test, so that a verdict and a two-sided 95 % interval agree."""

WORST_FIRST = ("contradicted", "not supported", "not testable", "supported")


@dataclass(frozen=True)
class Part:
    """The outcome of one test: what was asked, the effect with its interval in `unit`, and one sentence."""

    asked: str
    sentence: str
    effect: Estimate = stats.NOTHING
    unit: str = ""
    p_for: float = math.nan
    p_against: float = math.nan
    verdict: str = "not testable"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim: its worst part's verdict, and all parts."""

    claim: Claim
    verdict: str
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Data:
    """Replicates of one metric and algorithm: `values[k, i]` of replicate k at point i, in shown units; complete rows only."""

    values: np.ndarray
    seeds: list[int]
    labels: list[str]
    at: list[float]
    shown: Metric


def judge(spec: StudySpec, plan: "Plan", table: "pd.DataFrame") -> list[Verdict]:
    """Return the verdict on every claim of the study from its table of runs."""
    parts = [[run_test(test, spec, plan, table) for test in claim.tests] for claim in spec.claims]
    flat = [part for group in parts for part in group]
    adjusted_for = stats.holm([part.p_for for part in flat])
    adjusted_against = stats.holm([part.p_against for part in flat])
    judged = iter(conclude(*triple) for triple in zip(flat, adjusted_for, adjusted_against, strict=True))
    verdicts = []
    for claim, group in zip(spec.claims, parts, strict=True):
        mine = [next(judged) for _ in group]
        worst = min((part.verdict for part in mine), key=WORST_FIRST.index, default="not testable")
        verdicts.append(Verdict(claim, worst, mine))
    return verdicts


def conclude(part: Part, p_for: float, p_against: float) -> Part:
    """Return the part with its verdict from the adjusted p values."""
    if math.isnan(p_for):
        return part
    verdict = "supported" if p_for < ALPHA else "contradicted" if p_against < ALPHA else "not supported"
    return replace(part, p_for=p_for, p_against=p_against, verdict=verdict)


def run_test(test: Test, spec: StudySpec, plan: "Plan", table: "pd.DataFrame") -> Part:
    """Return the outcome of one test, not yet adjusted for the number of tests."""
    algorithm = test.algorithm or spec.baseline
    names = {axis: sweep.label for sweep in spec.sweeps if len(sweep.vary) == 1 for axis in sweep.vary}
    asked = ask(test, algorithm, names.get(test.over or "", ""))
    if test.metric not in table.columns:
        return Part(asked, f"The runs have no metric {test.metric}.")
    if test.order:
        return test_order(test, [points_of(test, spec, plan, table, label) for label in test.order], asked)
    data = points_of(test, spec, plan, table, algorithm)
    if len(data.values) < 2:
        return Part(asked, f"{len(data.values)} complete replicates; at least 2 are needed.")
    if test.trend and len(data.at) < (3 if test.trend == "saturating" else 2):
        return Part(asked, f"{len(data.at)} points are too few for a trend.")
    tests: dict[str | None, Callable[[Test, Data, str], Part]] = {
        "increasing": test_slope, "decreasing": test_slope, "flat": test_flat, "saturating": test_saturating,
        None: test_threshold,
    }  # fmt: skip
    return tests[test.trend](test, data, asked)


def ask(test: Test, algorithm: str, axis: str) -> str:
    """Return what a test asks, in words; `axis` is the axis along which it asks."""
    shown, axis = metric(test.metric), axis[:1].lower() + axis[1:]
    over = f" over {axis}" if test.over else " at every point"
    if test.order:
        return f"{shown.label}: {' < '.join(test.order)}" + (f" (mean over {axis})" if test.over else " at the default point")
    if test.trend == "flat":
        return f"{shown.label} of {algorithm} flat{over} (within ±{test.margin_percent:g} %)"
    if test.trend:
        return f"{shown.label} of {algorithm} {test.trend}{over}"
    side, bound = ("above", test.above) if test.above is not None else ("below", test.below)
    return f"{shown.label} of {algorithm} {side} {show(bound * shown.factor)} {shown.unit}".rstrip() + over


def points_of(test: Test, spec: StudySpec, plan: "Plan", table: "pd.DataFrame", algorithm: str) -> Data:
    """Return the replicates that a test looks at: one column for each point of its sweep (or of all, or the default)."""
    import pandas as pd

    shown = metric(test.metric)
    chosen: list[tuple[set[str], dict[str, Any], str]] = []
    if not test.over:
        chosen.append((plan.base, {}, "the default"))
    for ids, sweep in zip(plan.sweeps, spec.sweeps, strict=True):
        if set(sweep.vary) == {test.over}:
            chosen += [(ids, {test.over: value}, str(value)) for value in sweep.vary[test.over]]
        elif not test.over and not test.order and len(sweep.vary) == 1:
            axis, values = next(iter(sweep.vary.items()))
            chosen += [(ids, {axis: value}, f"{axis} = {value}") for value in values]
    columns = [values_at(table[table["run"].isin(ids)], test.metric, algorithm, where) for ids, where, _ in chosen]
    complete = pd.concat(columns, axis=1).dropna()
    values = complete.to_numpy(dtype=float) * shown.factor
    at = positions([where[test.over] for _, where, _ in chosen])[0] if test.over else [float(i) for i in range(len(chosen))]
    return Data(values, list(complete.index), [label for _, _, label in chosen], at, shown)


def test_slope(test: Test, data: Data, asked: str) -> Part:
    """Increasing or decreasing: the slope of each replicate's least-squares line, times the range, by the t test.

    A significant step the other way between two neighbours (2.5 %, adjusted over the steps) spoils a trend.
    """
    sign = 1.0 if test.trend == "increasing" else -1.0
    width = data.at[-1] - data.at[0]
    changes = np.array([stats.slope(data.at, row) for row in data.values]) * width
    # Replicates without randomness differ by rounding only; that is no change.
    changes[np.abs(changes) < 1e-9 * np.abs(data.values).max()] = 0.0
    effect = stats.mean_interval(changes)
    first, last = data.values[:, 0].mean(), data.values[:, -1].mean()
    sentence = (
        f"From {data.labels[0]} to {data.labels[-1]} it goes from {show(first)} to {show(last)} {data.shown.unit}".rstrip()
        + "; the effect is the change of the fitted line."
    )
    steps = np.diff(data.values, axis=1)
    against = stats.holm([stats.p_greater(-sign * steps[:, i]) for i in range(steps.shape[1])])
    p_for, p_against = stats.p_greater(sign * changes), stats.p_less(sign * changes)
    if p_for < ALPHA and min(against) < ALPHA:
        i = int(np.argmin(against))
        direction = "falls" if sign > 0 else "rises"
        sentence += f" But it {direction} from {data.labels[i]} to {data.labels[i + 1]}."
        p_for = 1.0
    return Part(asked, sentence, effect, data.shown.unit, p_for, p_against)


def test_flat(test: Test, data: Data, asked: str) -> Part:
    """Flat: every point's mean is within the margin of the mean over all points, by two one-sided t tests each.

    D. J. Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680. The opposite: some point is beyond the margin.
    """
    overall = data.values.mean(axis=1)
    if np.mean(overall) == 0:
        return Part(asked, "The metric is zero on average, so that a relative margin has no meaning.")
    deviations = 100 * (data.values - overall[:, None]) / np.mean(overall)
    margin = test.margin_percent
    columns = [deviations[:, i] for i in range(deviations.shape[1])]
    worst = int(np.argmax([abs(column.mean()) for column in columns]))
    effect = stats.mean_interval(columns[worst])
    p_for = max(max(stats.p_greater(c, -margin), stats.p_less(c, margin)) for c in columns)
    p_against = min(1.0, len(columns) * min(min(stats.p_greater(c, margin), stats.p_less(c, -margin)) for c in columns))
    sentence = f"The point farthest from the overall mean of {show(overall.mean())} {data.shown.unit}".rstrip()
    sentence += f" is at {data.labels[worst]}; the effect is its distance."
    return Part(asked, sentence, effect, "%", p_for, p_against)


def test_saturating(test: Test, data: Data, asked: str) -> Part:
    """Saturating: rises in the first step, and by less than half as fast in the last step (paired t tests, both needed)."""
    steps = np.diff(data.values, axis=1) / np.diff(data.at)
    first, last = steps[:, 0], steps[:, -1]
    p_for = max(stats.p_greater(first), stats.p_greater(first / 2 - last))
    p_against = stats.p_less(np.array([stats.slope(data.at, row) for row in data.values]))
    share = stats.difference_percent(last, first)
    effect = Estimate(share.value + 100, share.low + 100, share.high + 100, share.n)
    means = ", ".join(show(value) for value in data.values.mean(axis=0))
    sentence = (
        f"Means {means} {data.shown.unit}".rstrip() + f"; the effect is the slope of the last step ({data.labels[-2]} to "
        f"{data.labels[-1]}) in percent of the first ({data.labels[0]} to {data.labels[1]})."
    )
    return Part(asked, sentence, effect, "%", p_for, p_against)


def test_threshold(test: Test, data: Data, asked: str) -> Part:
    """Above or below a bound at every point: one-sided t test at each. The opposite: some point is on the other side."""
    sign, bound = (1.0, test.above) if test.above is not None else (-1.0, test.below)
    assert bound is not None
    bound *= data.shown.factor
    distances = sign * (data.values - bound)
    columns = [distances[:, i] for i in range(distances.shape[1])]
    worst = int(np.argmin([column.mean() for column in columns]))
    effect = stats.mean_interval(data.values[:, worst])
    p_for = max(stats.p_greater(column) for column in columns)
    p_against = min(1.0, len(columns) * min(stats.p_less(column) for column in columns))
    extreme = "lowest" if sign > 0 else "highest"
    sentence = f"The {extreme} of {len(columns)} points is at {data.labels[worst]}; the effect is its mean."
    return Part(asked, sentence, effect, data.shown.unit, p_for, p_against)


def test_order(test: Test, group: list[Data], asked: str) -> Part:
    """Order from low to high: each neighbour above the one before, by paired t tests on replicates (mean over the points)."""
    common = sorted(set.intersection(*(set(data.seeds) for data in group)))
    if len(common) < 2:
        return Part(asked, "The algorithms have fewer than 2 replicates in common.")
    means = [data.values[[data.seeds.index(seed) for seed in common]].mean(axis=1) for data in group]
    steps = [high - low for low, high in itertools.pairwise(means)]
    worst = int(np.argmin([step.mean() for step in steps]))
    effect = stats.difference_percent(means[worst + 1], means[worst])
    p_for = max(stats.p_greater(step) for step in steps)
    p_against = min(1.0, len(steps) * min(stats.p_less(step) for step in steps))
    shown = group[0].shown.unit
    values = ", ".join(f"{label} {show(mean.mean())}" for label, mean in zip(test.order, means, strict=True))
    sentence = f"Means: {values} {shown}".rstrip() + f"; the effect is {test.order[worst + 1]} against {test.order[worst]}."
    return Part(asked, sentence, effect, "%", p_for, p_against)
