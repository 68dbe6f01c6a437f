"""Beta and C of a CUBIC: a grid of simulations, and one refinement around the best of it."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tonopah.identification.features import features
from tonopah.identification.judging import SET, Standard
from tonopah.identification.link import PathOf
from tonopah.identification.sending import Sending
from tonopah.identification.simulations import candidates_of, longest_s, simulate

BETAS, CS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.4, 0.8, 1.6)
REPEATS = 3
Point = tuple[float, float, bool]


@dataclass(frozen=True)
class Parameters:
    """The best beta and C, and the range of all whose distance is near that of the best."""

    beta: float
    c: float
    hystart: bool
    beta_low: float
    beta_high: float
    c_low: float
    c_high: float

    @property
    def text(self) -> str:
        """In words."""
        start = "with" if self.hystart else "without"
        return (
            f"beta {self.beta:g} ({self.beta_low:g} to {self.beta_high:g}), C {self.c:g} ({self.c_low:g} to {self.c_high:g}), "
            f"{start} HyStart"
        )


def cubic_parameters(sending: Sending, path: PathOf, seed: int) -> tuple[Parameters, np.ndarray]:
    """Return the parameters of the CUBIC that sends most like a trace, and how its simulations differ from it by feature."""
    grid: list[Point] = list(itertools.product(BETAS, CS, (True, False)))
    sent = sending.until(longest_s(path, REPEATS * len(grid)))
    rows, trace = simulated(sent, path, grid, seed), features(sent, path)
    scale = Standard(np.vstack(list(rows.values()))).scale

    def away(point: Point) -> float:
        return float(np.abs((rows[point] - trace) / scale).mean())

    beta, c, hystart = min(rows, key=away)
    finer: list[Point] = [
        (round(min(0.9, max(0.1, beta + 0.05 * up)), 3), round(c * 2 ** (0.5 * far), 4), hystart)
        for up, far in itertools.product((-1, 0, 1), repeat=2)
    ]
    rows |= simulated(sent, path, [point for point in dict.fromkeys(finer) if point not in rows], seed)
    best = min(rows, key=away)
    near = [point for point in rows if away(point) <= (1 + SET) * away(best)]
    betas, cs = [point[0] for point in near], [point[1] for point in near]
    return Parameters(*best, min(betas), max(betas), min(cs), max(cs)), rows[best] - trace


def simulated(sending: Sending, path: PathOf, grid: Sequence[Point], seed: int) -> dict[Point, np.ndarray]:
    """Return the features of the simulations of each point."""
    given = [{"name": "cubic", "profile": "linux", "beta": beta, "c": c, "hystart": hystart} for beta, c, hystart in grid]
    made = simulate(path, candidates_of(given), sending, seed, repeats=REPEATS)
    return {point: made.rows[made.owner == number] for number, point in enumerate(grid)}
