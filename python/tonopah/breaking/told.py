"""A finding in words and numbers: what fails, beside whom, and how sure that is."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tonopah.breaking.classes import LIMIT
from tonopah.breaking.observed import Observed
from tonopah.breaking.runs import Wanted
from tonopah.breaking.scenario import Setup
from tonopah.breaking.search import MANY, Finding
from tonopah.breaking.trial import Trials, sign_test
from tonopah.metrics import show
from tonopah.stats import Estimate, Exact, Mean, difference_of, finite, holm, ratio_of
from tonopah.stats.kinds import KINDS, KindName
from tonopah.stats.making import Longer

Value = Callable[[Setup, Observed, Observed], float]
NO_EFFECT = (None, None, None)
LEVEL = 0.05
"""Of all findings of a folder together (Holm)."""


@dataclass(frozen=True)
class Quantity:
    """What a class compares: its name, its unit, whether more of it is worse, and its value in a run beside another."""

    name: str
    unit: str
    factor: float
    more_is_worse: bool
    value: Value
    kind: KindName = "time"
    """What it is, which decides how the judge compares it (`stats/kinds.py`)."""


def wait_s(setup: Setup, run: Observed, _: Observed) -> float:
    """Return the greatest median of the delay of the subject's flows."""
    return max(run.value(flow, "delay_p50_s") for flow in setup.subjects)


def least_share_bps(setup: Setup, run: Observed, other: Observed) -> float:
    """Return the share below which a flow starves, by what the better of the two leaves to all."""
    flows = (*setup.subjects, *setup.rivals)
    fair = max(run.mean(flows), other.mean(flows)) / len(flows)
    return LIMIT["starve"] * fair


def together(setup: Setup, run: Observed, other: Observed) -> float:
    """Return the longest starvation of a flow of the subject, measured by what the other leaves to all."""
    return run.starved_s(setup.subjects, least_share_bps(setup, run, other))


def recovery_s(setup: Setup, run: Observed, other: Observed) -> float:
    """Return the time to the level that the better of the two reaches."""
    return run.recovery_s(setup, LIMIT["level"] * max(run.level(setup), other.level(setup)))


QUANTITIES: dict[str, Quantity] = {
    "underuse": Quantity("goodput", "Mb/s", 1e-6, False, lambda setup, run, _: run.mean(setup.subjects), "positive"),
    "delay": Quantity("median one-way delay", "ms", 1e3, True, wait_s, "positive"),
    "loss": Quantity("loss", "%", 100.0, True, lambda setup, run, _: run.loss(setup.subjects), "proportion"),
    "slow": Quantity("time", "s", 1.0, True, lambda setup, run, _: run.time_s(setup)),
    "unfinished": Quantity("time", "s", 1.0, True, lambda setup, run, _: run.time_s(setup)),
    "recovery": Quantity("time to recover", "s", 1.0, True, recovery_s),
    "stall": Quantity("longest silence", "s", 1.0, True, lambda setup, run, _: run.silence_s(setup)),
    "unsteady": Quantity("variation of goodput", "", 1.0, True, lambda setup, run, _: run.variation(setup), "share"),
    "starvation": Quantity("longest starvation of a flow", "s", 1.0, True, together),
    "yields": Quantity("longest starvation", "s", 1.0, True, together),
    "harm": Quantity("goodput of the rivals", "Mb/s", 1e-6, False, lambda setup, run, _: run.mean(setup.rivals), "positive"),
}


@dataclass(frozen=True)
class Told:
    """A finding as files and pages show it."""

    number: int
    finding: Finding
    sentence: str
    axes: str
    worst: str
    """The reference beside which the subject fails least clearly: what is shown beside it."""
    quantity: str
    unit: str
    values: dict[str, list[float | None]]
    """By algorithm: the quantity with each fresh seed, in the unit."""
    effect: tuple[float | None, float | None, float | None]
    """How much more or less it is than with `worst`, as the judge says it of this kind, with the interval that holds for all
    findings of the folder together."""
    effect_unit: str
    p: float
    """That the subject is no worse than `worst`, adjusted for all findings of the folder."""
    error: str = ""

    @property
    def confirmed(self) -> bool:
        """Tell whether it is more than chance among all findings together."""
        return self.p < LEVEL

    @property
    def file(self) -> str:
        """Name of its scenario."""
        return f"{self.number:02}-{self.finding.name}.toml"

    @property
    def times(self) -> str:
        """With how many of the fresh seeds it fails."""
        return f"{len(self.finding.fails)} of {len(self.finding.seeds)}"

    def as_json(self) -> dict[str, Any]:
        """Return it for findings.json."""
        facts = asdict(self)
        found: dict[str, Any] = facts.pop("finding")
        names = {"name": "class"}
        return {"file": self.file, **{names.get(key, key): value for key, value in found.items()}, **facts, "accepted": None}


def order(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings as they are listed: alone first, then by class, the clearest first; those on an edge last."""
    return sorted(findings, key=lambda one: (one.edge, one.kind != "alone", one.name, -one.margin, one.world))


def weaknesses(told: Sequence[Told], axes: int) -> list[tuple[str, list[Told]]]:
    """Return findings in groups, each with what is said of all: many of a class under one axis each are one weakness."""
    groups: dict[tuple[str, ...], list[Told]] = {}
    for one in told:
        single = len(one.finding.where.axes) <= 1 and not one.finding.edge
        groups.setdefault((one.finding.kind, one.finding.name, "" if single else str(one.number)), []).append(one)
    found = []
    for (kind, name, _), some in groups.items():
        if len(some) >= MANY:
            found.append((f"{kind} {name} under {len(some)} of {axes} axes, each alone", some))
        else:
            found += [("", [one]) for one in some]
    return found


def tell(trials: Trials, findings: Sequence[Finding]) -> list[Told]:
    """Return findings with their sentences and effects, in order."""
    made = [one_finding(trials, number, one, LEVEL / len(findings)) for number, one in enumerate(order(findings), 1)]
    adjusted = holm([one.p for one in made])
    return [Told(**{**vars(one), "p": p}) for one, p in zip(made, adjusted, strict=True)]


def one_finding(trials: Trials, number: int, one: Finding, level: float) -> Told:
    """Return a finding with its sentence and an interval of level `level`, its p value not yet adjusted."""
    world, runs = one.where, trials.runs
    setup, others = runs.setup(world, trials.subject), trials.references_of(one.name, world)
    assert setup
    mine = runs.all([Wanted(world, trials.subject, seed) for seed in one.seeds])
    theirs = {name: runs.all([Wanted(world, name, seed) for seed in one.seeds]) for name in others}
    axes = runs.space.text(world)
    if one.name == "error":
        error = next((run.error or "no end within the events that a run may have" for run in mine if run and run.failed), "")
        sentence = f"{short(trials, trials.subject)}: {error}"
        return Told(number, one, sentence, axes, others[0], "", "", {}, NO_EFFECT, "", sign_test(len(one.fails), 0), error)
    quantity = QUANTITIES[one.name]
    sign = 1.0 if quantity.more_is_worse else -1.0
    found: dict[str, np.ndarray] = {}
    differences: dict[str, np.ndarray] = {}
    for name, seen in theirs.items():
        pairs = [(m, t) if m and t and not m.failed and not t.failed else None for m, t in zip(mine, seen, strict=True)]
        values = [
            (quantity.value(setup, *pair), quantity.value(setup, *reversed(pair))) if pair else (math.nan, math.nan)
            for pair in pairs
        ]
        both = quantity.factor * np.array(values)
        found[trials.subject], found[name] = both[:, 0], both[:, 1]
        differences[name] = both[:, 0] - both[:, 1]
    bad = {name: failing(trials, one, world, mine, seen) for name, seen in theirs.items()}
    beside = [name for name in others if bad[name] > len(one.fails) / 2] or list(others)
    worst = min(beside, key=lambda name: float(np.nanmedian(sign * differences[name])))
    effects = judged(quantity, found[trials.subject], found[worst], longer(setup, one.name, mine, theirs[worst]))
    # Each of the effects that a kind asks for has to hold.
    p = max(effect.p_greater() if quantity.more_is_worse else effect.p_less() for effect, _ in effects)
    if one.how == "rare":
        # It fails with some seeds only: the sign test of failures says how sure it is, not the median.
        p = sign_test(len(one.fails), len(one.exchanged))
    return Told(
        number, one, sentence_of(trials, one, setup, quantity, found, others), axes, worst, quantity.name, quantity.unit,
        {name: [rounded(value) for value in values] for name, values in found.items()},
        bounds(effects[0][0].interval(1 - level)), effects[0][1], p,
    )  # fmt: skip


def judged(quantity: Quantity, mine: np.ndarray, theirs: np.ndarray, unended: Longer) -> list[tuple[Mean | Exact, str]]:
    """Return the effects by which the judge compares a kind, each with its unit: of a proportion both, of the others one.

    There is no ratio to a reference that has none; the difference says it then.
    """
    asked = KINDS[quantity.kind].effect
    ratio = ratio_of(mine, theirs, quantity.kind, unended)
    difference = difference_of(mine, theirs, kind=quantity.kind), quantity.unit
    if math.isnan(ratio.value) or asked == "difference":
        return [difference]
    return [(ratio, "%"), difference] if asked == "both" else [(ratio, "%")]


def longer(setup: Setup, name: str, mine: Sequence[Any], theirs: Sequence[Any]) -> Longer:
    """Return which transfers had not ended, whose times are only known to be longer; None where all had."""
    if setup.app != "transfer" or name not in ("slow", "unfinished"):
        return None
    sides = [np.array([not (run and run.ended(setup)) for run in side]) for side in (mine, theirs)]
    return (sides[0], sides[1]) if any(side.any() for side in sides) else None


def failing(trials: Trials, one: Finding, world: Any, mine: Sequence[Any], theirs: Sequence[Any]) -> int:
    """Return with how many seeds the subject fails beside one reference."""
    return sum(trials.margin_of(one.name, world, *pair) >= 0 for pair in zip(mine, theirs, strict=True))


def rounded(value: float) -> float | None:
    """Return a number as JSON can hold it, which has no infinity: a side of an interval that is open, a time without an end."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def bounds(found: Estimate) -> tuple[float | None, float | None, float | None]:
    """Return an estimate, then its interval."""
    return rounded(found.value), rounded(found.low), rounded(found.high)


def short(trials: Trials, label: str) -> str:
    """Return the name of an algorithm in a sentence."""
    subject = trials.runs.algorithms[label].subject
    known = [one.subject.name for one in trials.runs.algorithms.values()]
    return subject.name if known.count(subject.name) == 1 else subject.label


def sentence_of(
    trials: Trials, one: Finding, setup: Setup, quantity: Quantity, found: dict[str, np.ndarray], others: Sequence[str]
) -> str:
    """Return what fails beside what; medians over the fresh seeds, or over those with which a rare one fails."""
    chosen = [place for place, seed in enumerate(one.seeds) if one.how == "stable" or seed in one.fails]
    unit = f" {quantity.unit}" if quantity.unit else ""

    def text(name: str) -> str:
        values = finite(found[name][chosen])
        return show(float(np.median(values))) if len(values) else "nothing"

    rest = ", ".join(f"{short(trials, name)} {text(name)}" for name in others)
    if one.name == "harm":
        head = f"{setup.rival} beside {short(trials, trials.subject)} {text(trials.subject)}{unit}"
        return f"{head}; beside {rest.replace(', ', ', beside ')}"
    return f"{quantity.name} of {short(trials, trials.subject)} {text(trials.subject)}{unit}; {rest}"
