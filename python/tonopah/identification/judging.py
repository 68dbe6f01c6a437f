"""Which candidate is nearest, how sure that is, and whether it is none of them: learnt from the simulations of the trace's link.

Each simulated trace is judged by those over other drawn links, once with its own candidate present and once without it and its
kin. Two logistic regressions learn from that what a gap to the second means, and what distance from the first means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tonopah.identification.sending import Sending
from tonopah.identification.simulations import Candidate, Simulated

NEAREST = 3
SPREAD = 0.02
LEAST_OWN, LEAST = 0.05, 1e-3
"""Least distances: of a candidate's own simulations, and of a trace. Some senders do the same over every drawn link."""
TWINS = 0.25
"""Two candidates are twins if leaving one out confuses them in more than this share of the simulations of either."""
SET = 0.20
"""Candidates within this share of the first's distance could be it."""
UNKNOWN = 0.7
RIDGE = 1e-2
SHRINKAGE = 0.1
Row = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """What a trace is taken for."""

    order: list[int]
    """Candidates, the nearest first."""
    distances: Row
    own: Row
    """By candidate: the median distance of its own simulations."""
    names: list[int]
    """Candidates that could be it: within a share of the first's distance, and twins of it."""
    twins: list[int]
    """Twins of the first."""
    confidence: float
    unknown: float
    """Probability that it is none of the candidates."""
    bound: float
    """Distance at which it would be none of them, the gap being what it is."""


class Standard:
    """Features by what is usual among simulations."""

    def __init__(self, rows: Row):
        self.centre, self.scale = rows.mean(axis=0), rows.std(axis=0) + SPREAD

    def __call__(self, rows: Row) -> Row:
        """Return features less their mean, in units of their spread."""
        return (rows - self.centre) / self.scale


class Judge:
    """Knows the simulations of a link."""

    def __init__(self, simulated: Simulated, others: Simulated | None = None):
        self.simulated, self.others = simulated, others
        self.candidates: Sequence[Candidate] = simulated.candidates
        self.standard = Standard(np.vstack([simulated.rows, others.rows]) if others else simulated.rows)
        self.rows = self.standard(simulated.rows)
        self.owner = simulated.owner
        pairs = np.abs(self.rows[:, None, :] - self.rows[None, :, :]).mean(axis=2)
        pairs[simulated.draw[:, None] == simulated.draw[None, :]] = np.inf
        self.left_out = np.array([self.by_candidate(row) for row in pairs])
        """Distance of each simulation from each candidate, those over the same drawn link left out: a trace has another one."""
        self.own = np.array(
            [max(LEAST_OWN, float(np.median(self.left_out[self.owner == one, one]))) for one in range(len(self.candidates))]
        )
        self.twin = self.find_twins()
        self.named, self.none = self.learn()

    def by_candidate(self, distances: Row) -> Row:
        """Return the distance from each candidate: the mean of those from its nearest simulations."""
        return np.array([np.sort(distances[self.owner == one])[:NEAREST].mean() for one in range(len(self.candidates))])

    def find_twins(self) -> NDArray[np.bool_]:
        """Return which candidates this link does not tell apart."""
        count = len(self.candidates)
        taken = np.zeros((count, count))
        for owner, row in zip(self.owner, self.left_out, strict=True):
            taken[owner, int(row.argmin())] += 1
        share = taken / taken.sum(axis=1, keepdims=True)
        twins = (share > TWINS) | (share.T > TWINS) | np.eye(count, dtype=bool)
        for one in range(count):
            for other in range(count):
                same = {self.candidates[one].name, self.candidates[other].name} == {"reno", "lp"}
                twins[one, other] |= same and self.candidates[one].is_kin(self.candidates[other])
        return np.asarray(twins)

    def first_and_gap(self, distances: Row, without: Sequence[int] = (), kin: bool = False) -> tuple[int, float]:
        """Return the nearest candidate and the logarithm of how much further the second is, twins of the first not counted."""
        left = distances.copy()
        left[list(without)] = np.inf
        first = int(left.argmin())
        out = [
            one
            for one in range(len(left))
            if self.twin[first, one] or (kin and self.candidates[first].is_kin(self.candidates[one]))
        ]
        nearest = left[first]
        left[out] = np.inf
        second = float(left.min())
        return first, math.log(max(second, LEAST) / max(nearest, LEAST)) if np.isfinite(second) else 3.0

    def learn(self) -> tuple[Row, Row]:
        """Return the weights of both regressions."""
        gaps, right, signs, unknown = [], [], [], []
        for owner, row in zip(self.owner, self.left_out, strict=True):
            first, gap = self.first_and_gap(row)
            gaps.append([gap])
            right.append(float(self.twin[owner, first]))
            first, gap = self.first_and_gap(row, kin=True)
            signs.append([math.log(max(row[first], LEAST) / self.own[first]), gap])
            unknown.append(0.0)
            # What does the same on this link would take its place.
            kin = [
                one for one, other in enumerate(self.candidates) if self.twin[owner, one] or other.is_kin(self.candidates[owner])
            ]
            # Of two candidates without one there is no second, and the gap says nothing.
            if len(kin) < len(self.candidates) - 1:
                first, gap = self.first_and_gap(row, kin, kin=True)
                signs.append([math.log(max(row[first], LEAST) / self.own[first]), gap])
                unknown.append(1.0)
        for row in self.strange():
            first, gap = self.first_and_gap(row, kin=True)
            signs.append([math.log(max(row[first], LEAST) / self.own[first]), gap])
            unknown.append(1.0)
        # Without a gap first and second are equally near: either may be it.
        named = np.append(logistic(np.array(gaps), np.array(right), constant=False), 0.0)
        return named, logistic(np.array(signs), np.array(unknown))

    def strange(self) -> list[Row]:
        """Return the distances of the simulations of others from each candidate, those over the same drawn link left out."""
        if not self.others:
            return []
        pairs = np.abs(self.standard(self.others.rows)[:, None, :] - self.rows[None, :, :]).mean(axis=2)
        pairs[self.others.draw[:, None] == self.simulated.draw[None, :]] = np.inf
        return [self.by_candidate(row) for row in pairs]

    def judge(self, row: Row, distances: Row | None = None) -> Judged:
        """Return what a trace with these features is taken for; other distances order the candidates where they are given."""
        found = self.by_candidate(np.abs(self.rows - self.standard(row)).mean(axis=1))
        ordered = found if distances is None else distances
        first, gap = self.first_and_gap(found)
        confidence = probability(self.named, [gap])
        _, wide = self.first_and_gap(found, kin=True)
        unknown = probability(self.none, [math.log(max(found[first], LEAST) / self.own[first]), wide])
        order = [int(one) for one in np.argsort(ordered, kind="stable")]
        first = order[0]
        twins = [one for one in range(len(found)) if self.twin[first, one] and one != first]
        near = [one for one in order if found[one] <= (1 + SET) * found[first]]
        names = list(dict.fromkeys([first, *near, *(two for one in near for two in np.flatnonzero(self.twin[one]).tolist())]))
        wall = math.log(UNKNOWN / (1 - UNKNOWN))
        slope, other, shift = self.none
        bound = self.own[first] * math.exp((wall - shift - other * wide) / slope) if slope > 0 else math.inf
        return Judged(order, found, self.own, names, twins, confidence, unknown, float(bound))

    def nearest(self, row: Row, candidate: int) -> Sending:
        """Return the simulation of a candidate that is nearest to a trace with these features."""
        mine = np.flatnonzero(self.owner == candidate)
        return self.simulated.sent[int(mine[np.abs(self.rows[mine] - self.standard(row)).mean(axis=1).argmin()])]

    def discriminant(self, row: Row) -> Row:
        """Return the distance from the mean of each candidate after whitening within candidates (linear discriminant)."""
        count = len(self.candidates)
        means = np.array([self.rows[self.owner == one].mean(axis=0) for one in range(count)])
        inside = self.rows - means[self.owner]
        cover = inside.T @ inside / max(1, len(inside) - count)
        cover = (1 - SHRINKAGE) * cover + SHRINKAGE * np.eye(len(cover)) * np.trace(cover) / len(cover)
        away = means - self.standard(row)
        return np.sqrt(np.einsum("ij,ij->i", away, np.linalg.solve(cover, away.T).T))


def logistic(signs: Row, labels: Row, *, constant: bool = True) -> Row:
    """Return the weights of a logistic regression with a small ridge, a constant last (Newton's method)."""
    x = np.column_stack([signs, np.ones(len(signs))]) if constant else signs
    w = np.zeros(x.shape[1])
    ridge = RIDGE * np.eye(len(w))
    if constant:
        ridge[-1, -1] = 1e-6
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        step = np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + ridge * len(x), x.T @ (labels - p) - ridge @ w * len(x))
        w = w + step
        if np.abs(step).max() < 1e-9:
            break
    return w


def probability(weights: Row, signs: Sequence[float]) -> float:
    """Return what a regression says of some signs."""
    return float(1 / (1 + np.exp(-np.clip(np.dot(weights, [*signs, 1.0]), -30, 30))))
