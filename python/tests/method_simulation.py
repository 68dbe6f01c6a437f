"""Studies whose truth is known, judged as any study is: how often are the verdicts wrong?

Each synthetic study has 3 to 20 replicates and 1 to 8 claims of 1 to 4 criteria of all kinds. The true effects are none, small
(within the margin), on the margin, or large, in either direction; the noise is normal, skewed (log-normal) or heavy-tailed
(Student's t with 3 degrees of freedom), with coefficients of variation from 1 to 30 %. The judge knows nothing but the tables.

    python python/tests/method_simulation.py 500        # `make method`
"""

import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tonopah.analysis import claims
from tonopah.spec.plan import PartPlan, Plan
from tonopah.spec.reader import parse_spec

MARGIN = 5.0
FLOWS = [10, 20, 30, 40, 50]
NOISES = ("normal", "skewed", "heavy")
WRONG = {"supported": "holds", "contradicted": "opposite", "no effect": "small"}
"""What has to be true for a verdict to be right."""


@dataclass(frozen=True)
class Truth:
    """What is true of a criterion: what it claims, the opposite, and that the effect is below the margin."""

    holds: bool
    opposite: bool
    small: bool


@dataclass
class Made:
    """A synthetic study: its claims, the columns of its table, and what is true."""

    claims: list[dict] = field(default_factory=list)
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    truths: list[list[Truth]] = field(default_factory=list)


def noise(kind: str, draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return noise of mean 0 and standard deviation 1."""
    if kind == "normal":
        return draw.normal(size=shape)
    if kind == "skewed":
        sigma = 0.6
        spread = math.sqrt((math.exp(sigma**2) - 1) * math.exp(sigma**2))
        return (np.exp(sigma * draw.normal(size=shape)) - math.exp(sigma**2 / 2)) / spread
    return draw.standard_t(3, size=shape) / math.sqrt(3)


def effect(draw: np.random.Generator) -> float:
    """Return a true effect in percent: none, small, on the margin, or large."""
    sign = draw.choice([-1.0, 1.0])
    size = draw.choice(["none", "none", "none", "small", "margin", "large"])
    return float(sign * {"none": 0.0, "small": draw.uniform(0.5, 4), "margin": MARGIN, "large": draw.uniform(8, 40)}[size])


def replicates(means: np.ndarray, kind: str, draw: np.random.Generator, n: int) -> np.ndarray:
    """Return replicates of these means (labels × points): part of the noise is common to all labels of a replicate."""
    cv = draw.choice([0.01, 0.03, 0.1, 0.3])
    shared = draw.choice([0.0, 0.5, 0.9])
    common, own = noise(kind, draw, (n, 1, means.shape[1])), noise(kind, draw, (n, *means.shape))
    factor = 1 + cv * (math.sqrt(shared) * common + math.sqrt(1 - shared) * own)
    # Nothing that is measured here is negative; heavy tails rarely get there.
    return np.maximum(means * factor, 1e-3)


def line(delta: float, turn: bool) -> np.ndarray:
    """Return means along the axis that rise by this many percent, and with `turn` fall again."""
    shape = np.array([0, 0.5, 1, 0.5, 0]) if turn else np.linspace(-0.5, 0.5, len(FLOWS))
    return 1 + delta / 100 * shape


def criterion(name: str, delta: float, draw: np.random.Generator) -> tuple[dict, np.ndarray, Truth]:
    """Return a criterion on a column, the means (labels a and b × points) of an effect in percent, and what is true."""
    flat = np.ones(len(FLOWS))
    # Claims are right more often than not.
    up, small = (delta > 0) == (draw.random() < 0.75), abs(delta) < MARGIN
    along = Truth(delta > 0, delta < 0, small) if up else Truth(delta < 0, delta > 0, small)
    means = np.array([flat, flat * (1 + delta / 100)])
    of = {"metric": name, "difference": {"of": "b"}}
    side = "above_percent" if up else "below_percent"
    kind = draw.choice(["difference", "mean", "each", "within", "order", "bound", "trend", "flat", "turn", "parts"])
    # Every other claim of an effect declares no margin: then chance alone may look like an effect.
    margin = {"margin_percent": MARGIN} if draw.random() < 0.5 else {}
    match kind:
        case "difference":
            return of | {side: 0} | margin, means, along
        case "mean" | "each":
            over = {"over": "network.flows", "points": kind}
            return of | over | {side: 0} | margin, means, along
        case "within":
            return of | {"within_percent": MARGIN}, means, Truth(small, abs(delta) > MARGIN, False)
        case "order":
            labels = ["a", "b"] if up else ["b", "a"]
            # The margin is one of the higher beside the lower.
            relative = delta if up else 100 / (1 + delta / 100) - 100
            return (
                {"metric": name, "order": labels} | margin,
                means,
                Truth(along.holds, along.opposite, abs(relative) < MARGIN),
            )
        case "bound":
            test = {"metric": name, ("above" if up else "below"): 1e6, "algorithm": "b", "over": "network.flows"}
            return test, means, Truth(along.holds, along.opposite, False)
        case "trend":
            found = line(delta, False)
            flatness = Truth(along.holds, along.opposite, abs(delta) / 2 < MARGIN)
            direction = "increasing" if up else "decreasing"
            return along_axis(name, direction, **margin), np.array([found, flat]), flatness
        case "flat":
            found = line(2 * delta, False)
            return (
                along_axis(name, "flat", margin_percent=MARGIN),
                np.array([found, flat]),
                Truth(small, abs(delta) > MARGIN, False),
            )
        case "turn":
            found = line(delta, True)
            distance = 100 * np.max(np.abs(found / found.mean() - 1))
            shape = "rises, then falls" if up else "falls, then rises"
            return (
                along_axis(name, shape, **margin),
                np.array([found, flat]),
                Truth(along.holds, along.opposite, bool(distance < MARGIN)),
            )
    test = {"metric": name, "parts": ["two", "one"], side: 0, "algorithm": "b"} | margin
    return test, means, along


def along_axis(name: str, shape: str, **more: float) -> dict:
    """Return a criterion on the shape along the axis."""
    return {"metric": name, "trend": shape, "over": "network.flows", "algorithm": "a", **more}


def make_study(draw: np.random.Generator, kind: str, n: int) -> tuple[Made, dict[str, pd.DataFrame]]:
    """Return a study with noise of a kind and `n` replicates, and its tables."""
    made, other = Made(), {}
    for i in range(int(draw.integers(1, 9))):
        tests, truths = [], []
        for j in range(int(draw.integers(1, 5))):
            name = f"m{i}x{j}"
            test, means, truth = criterion(name, effect(draw), draw)
            made.columns[name] = replicates(means, kind, draw, n)
            # The second part is an independent network; only comparisons of parts read it.
            other[name] = made.columns[name]
            if "parts" in test:
                made.columns[name] = replicates(np.ones_like(means), kind, draw, n)
            tests.append({"part": "one"} | test if "parts" not in test else test)
            truths.append(truth)
        made.claims.append({"id": f"C{i}", "text": "claimed", "test": tests})
        made.truths.append(truths)
    return made, {"one": table("one", made.columns, n), "two": table("two", other, n)}


def table(part: str, columns: dict[str, np.ndarray], n: int) -> pd.DataFrame:
    """Return the table of runs of a part."""
    rows = pd.MultiIndex.from_product(
        [range(1, n + 1), ["a", "b"], FLOWS], names=["seed", "algorithm", "network.flows"]
    ).to_frame(index=False)
    values = pd.DataFrame({name: 1e6 * column.reshape(-1) for name, column in columns.items()})
    runs = [f"{part}-{seed}-{label}-{flows}" for seed, label, flows in rows.itertuples(index=False)]
    return pd.concat([pd.Series(runs, name="run"), rows, values], axis=1)


def judge(made: Made, tables: dict[str, pd.DataFrame]) -> list[claims.Verdict]:
    """Return the verdicts of the package on a synthetic study."""
    spec = parse_spec({
        "question": "?", "scenario": {}, "compare": {"cc": ["a", "b"]}, "replicates": len(tables["one"]["seed"].unique()),
        "sweep": [{"vary": {"network.flows": FLOWS}}], "part": [{"id": "one"}, {"id": "two"}], "claim": made.claims,
        "derived": [{"name": name, "kind": "average"} for name in made.columns],
    })  # fmt: skip
    plan = {}
    for name, rows in tables.items():
        plan[name] = PartPlan(sweeps=[set(rows["run"])], base=set(rows[rows["network.flows"] == FLOWS[1]]["run"]))
    return claims.judge(spec, Plan(parts=plan), tables)


def is_wrong(verdict: str, truths: list[Truth]) -> bool:
    """Tell whether a verdict on a claim is false: it is supported by all of its criteria, the others need one."""
    if verdict not in WRONG:
        return False
    join: Callable = all if verdict == "supported" else any
    return not join(getattr(truth, WRONG[verdict]) for truth in truths)


def simulate(studies: int, seed: int = 1, noises: tuple[str, ...] = NOISES) -> dict[str, Counter]:
    """Return, for each kind of noise and for all, how many studies, claims and criteria have which verdicts, and wrong ones."""
    draw, found = np.random.default_rng(seed), {kind: Counter() for kind in (*noises, "all")}
    for number in range(studies):
        kind, n = noises[number % len(noises)], int(draw.integers(3, 21))
        made, tables = make_study(draw, kind, n)
        counts, wrong = Counter(studies=1), set()
        for verdict, truths in zip(judge(made, tables), made.truths, strict=True):
            counts[f"claims {verdict.verdict}"] += 1
            counts["claims"] += 1
            if is_wrong(verdict.verdict, truths):
                wrong.add("no effect" if verdict.verdict == "no effect" else "effect")
                counts[f"claims wrong {verdict.verdict}"] += 1
            for test, truth in zip(verdict.tests, truths, strict=True):
                counts["criteria"] += 1
                counts[f"criteria {test.verdict}"] += 1
                counts[f"criteria wrong {test.verdict}"] += is_wrong(test.verdict, [truth])
        for what in wrong:
            counts[f"studies wrong {what}"] += 1
        found[kind] += counts
        found["all"] += counts
    return found


def markdown(found: dict[str, Counter]) -> str:
    """Return the result as a table."""
    heads = ("noise", "studies", "with a wrong *supported* or *contradicted*", "with a wrong *no effect*", "claims")
    words = ("supported", "contradicted", "no effect", "undecided")
    criteria = ("criteria", "wrongly supported or contradicted", "wrongly no effect")
    lines = [row(*heads, *words, *criteria), "|" + "---|" * 12]
    for kind, c in found.items():
        wrong = [share(c[f"studies wrong {what}"], c["studies"]) for what in ("effect", "no effect")]
        verdicts = [share(c[f"claims {word}"], c["claims"]) for word in words]
        decided = share(c["criteria wrong supported"] + c["criteria wrong contradicted"], c["criteria"])
        none = share(c["criteria wrong no effect"], c["criteria"])
        lines.append(row(kind, c["studies"], *wrong, c["claims"], *verdicts, c["criteria"], decided, none))
    return "\n".join(lines)


def row(*cells: object) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def share(part: int, whole: int) -> str:
    """Return a share in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


if __name__ == "__main__":
    print(markdown(simulate(int(sys.argv[1]) if len(sys.argv) > 1 else 500)))
