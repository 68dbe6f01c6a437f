"""An agent that learns to beat Reno on a link that loses packets: `python -m tonopah.examples.learn`, less than a minute.

The policy is linear, and improved by the cross-entropy method: of many policies drawn around a mean, the best fifth gives the
next mean. Losses at random say nothing about congestion, which Reno cannot know; the RTT does.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tonopah as tp
from tonopah.gym import DEFAULT, CongestionEnv

POLICIES = 30
BEST = 6


def play(env: CongestionEnv, policy: NDArray[np.float64], seed: int) -> tuple[float, tp.Result]:
    """Return the sum of rewards of an episode, and its result."""
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    info: dict[str, Any] = {}
    while not over:
        action = np.tanh(policy[:-1] @ observation + policy[-1])
        observation, reward, _, over, info = env.step((action,))
        total += float(reward)
    return total, info["result"]


def learn(env: CongestionEnv, generations: int, seed: int = 1) -> NDArray[np.float64]:
    """Return the policy found after some generations; the same seed finds the same one."""
    random = np.random.default_rng(seed)
    mean, spread = np.zeros(9), np.full(9, 0.2)
    for generation in range(generations):
        policies = random.normal(mean, spread, (POLICIES, 9))
        scores = np.array([play(env, policy, generation)[0] for policy in policies])
        best = policies[np.argsort(scores)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"generation {generation + 1}: best reward {scores.max():.0f}", file=sys.stderr)
    return mean


def main(generations: int = 6) -> dict[str, tp.Result]:
    """Learn, and compare with Reno on runs that were not learned from."""
    policy = learn(CongestionEnv({**DEFAULT, "duration": "10s"}, most_segments=200), generations)
    env = CongestionEnv(most_segments=200)
    learned = play(env, policy, 1000)[1]
    found = {"learned": learned, "reno": tp.run(DEFAULT, seed=env.seed, cc="reno")}
    for name, result in found.items():
        flow = result.flow(0)
        goodput_bps, delay_s = flow.goodput_bps or 0.0, flow.delay_s or 0.0
        print(f"{name}: {goodput_bps / 1e6:.2f} Mb/s, delay {1000 * delay_s:.1f} ms")
    return found


if __name__ == "__main__":
    main()
