"""The numbers by which senders are told apart, from the bytes outstanding over time and the retransmissions."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tonopah.identification.link import PathOf
from tonopah.identification.sending import Sending

POINTS = 600
SKIPPED = POINTS // 10
"""The start, which features 1 to 3 and 5 leave out."""
QUANTILES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
PER_OCTAVE = 3
"""Bands of the spectrum in an octave. A queue of a few per cent more moves the rhythm of losses by as much: a single harmonic
would tell whether the length of the trace is a multiple of it."""
EDGES = (-9, -0.3, -0.1, -0.03, -0.005, 0.005, 0.03, 0.1, 0.3, 9)
EPISODE_RTTS, EPISODE_S, LATE = 6, 0.25, 0.02
"""An episode of losses begins so long after the retransmission before, and in all but the first part of the time."""
APART_RTTS, AFTER_RTTS, BEFORE_RTTS, STEPS = 8, 3, 1, 8
FEWEST_EPISODES = 3
START_RTTS = 24


@dataclass(frozen=True)
class Episodes:
    """What a sender does between losses."""

    starts_s: NDArray[np.float64]
    shapes: NDArray[np.float64]
    """A row for each pair of episodes: outstanding, in bandwidth-delay products, at equal steps between them."""
    drops: NDArray[np.float64]
    """What is outstanding after an episode, as a share of what was a round trip before it."""


def episodes(sending: Sending, path: PathOf) -> Episodes:
    """Return the episodes of losses of a sender."""
    rtt, again = path.rtt_s, np.sort(sending.retransmissions_s)
    again = again[again >= LATE * sending.seconds]
    first = np.diff(again, prepend=-np.inf) > max(EPISODE_RTTS * rtt, EPISODE_S)
    starts, shapes, drops = again[first], [], []
    for one, other in itertools.pairwise(starts):
        if other - one >= APART_RTTS * rtt:
            times = np.linspace(one + AFTER_RTTS * rtt, other - BEFORE_RTTS * rtt, STEPS)
            shape = sending.at(times) / path.bdp_bytes
            before = float(sending.at(np.array([one - rtt]))[0]) / path.bdp_bytes
            shapes.append(shape)
            drops.append(shape[0] / before if before > 0 else 0.0)
    return Episodes(starts, np.array(shapes).reshape(-1, STEPS), np.array(drops))


def bands() -> NDArray[np.float64]:
    """Return the weights of the harmonics in each third of an octave, which overlap by half."""
    harmonics = np.arange(1, (POINTS - SKIPPED) // 2)
    centres = 2.0 ** (np.arange(int(PER_OCTAVE * np.log2(harmonics[-1])) + 1) / PER_OCTAVE)
    weights = np.maximum(0.0, 1 - PER_OCTAVE * np.abs(np.log2(harmonics / centres[:, None])))
    return weights[weights.sum(axis=1) > 0]


BANDS = bands()
GROUPS: tuple[tuple[str, int, float], ...] = (
    ("level", len(QUANTILES), 2), ("rhythm", len(BANDS), 8), ("steps", len(EDGES) - 1, 3), ("shape", STEPS, 2),
    ("shapes", STEPS, 2), ("drop", 1, 2), ("gaps", 3, 3), ("start", START_RTTS, 1), ("losses", 2, 1),
)  # fmt: skip
"""Groups of features in their order: name, number, and a factor: the larger, the smaller a difference that counts."""
WEIGHTS = np.concatenate([np.full(count, float(weight)) for _, count, weight in GROUPS])


def features(sending: Sending, path: PathOf) -> NDArray[np.float64]:
    """Return the features of a sender over a link, in the order of `GROUPS`."""
    times = np.linspace(0.0, sending.seconds, POINTS)
    x = sending.at(times) / path.bdp_bytes
    s = x[SKIPPED:]
    changes, _ = np.histogram(np.diff(s), EDGES)
    found = episodes(sending, path)
    shape, spread, drop = np.zeros(STEPS), np.zeros(STEPS), 0.0
    if len(found.shapes) >= FEWEST_EPISODES:
        shape, spread, drop = found.shapes.mean(axis=0), found.shapes.std(axis=0), float(found.drops.mean())
    gaps = np.diff(found.starts_s)
    between = (np.log1p(gaps.mean()), np.log1p(gaps.std())) if len(gaps) else (0.0, 0.0)
    segments = float(sending.delivered[-1, 1]) / sending.mss_bytes if len(sending.delivered) else 0.0
    share = len(sending.retransmissions_s) / segments if segments > 0 else 0.0
    start = sending.at(path.rtt_s * np.arange(1.0, START_RTTS + 1)) / path.bdp_bytes
    return WEIGHTS * np.concatenate(
        [
            np.quantile(s, QUANTILES),
            np.sqrt(BANDS @ np.abs(np.fft.rfft(s - s.mean())[1 : BANDS.shape[1] + 1]) ** 2) / len(s),
            changes / len(s),
            shape,
            spread,
            [drop],
            [*between, s.std()],
            start,
            [np.log1p(1000 * share), np.log1p(len(found.starts_s))],
        ]
    )
