"""The environment for agents: Gymnasium's own check, determinism, and what a step means."""

import warnings

import numpy as np
import pytest

import tonopah as tp

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from tonopah.examples import learn
from tonopah.gym import DEFAULT, CongestionEnv

SHORT = {**DEFAULT, "duration": "5s"}


class Standing(tp.CongestionControl):
    """The window that an agent keeps which never changes it."""

    owns_window = True

    def __init__(self, setup):
        super().__init__(setup)
        self.cwnd_bytes = 10 * setup.mss_bytes

    def on_ack(self, ack, view):
        """Nothing."""

    def on_congestion(self, event, view):
        """Nothing."""

    def on_undo(self, before, view):
        """Nothing."""


def episode(env, seed, action):
    """Return observations, rewards and the last info of an episode with one action."""
    observation, _ = env.reset(seed=seed)
    seen, over = [observation], False
    while not over:
        observation, reward, terminated, over, info = env.step(np.array([action], np.float32))
        assert not terminated and env.observation_space.contains(observation)
        seen.append(np.append(observation, reward))
    return seen, info


def test_gymnasium_accepts_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(CongestionEnv(SHORT), skip_render_check=True)


def test_the_same_seed_and_actions_give_the_same_episode():
    env = CongestionEnv(SHORT)
    one, two, other = (episode(env, seed, 0.05)[0] for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    # 5 s from the first segment, after a handshake of 40 ms.
    assert len(one) == 5 / 0.05


def test_an_agent_that_changes_nothing_is_an_algorithm_that_does_nothing():
    env = CongestionEnv(SHORT)
    seen, info = episode(env, 5, 0.0)
    mine = info["result"].flow(0)
    other = tp.run(SHORT, seed=env.seed, cc=Standing).flow(0)
    assert (mine.goodput_bps, mine.delay_s, mine.loss_ratio) == (other.goodput_bps, other.delay_s, other.loss_ratio)
    # Ten segments in flight all the time, but for those that are lost and repaired.
    assert np.expm1(seen[-2][5]) == pytest.approx(10)


def test_a_larger_window_carries_more_until_it_waits():
    _, small = episode(CongestionEnv(SHORT, most_segments=5), 1, 1.0)
    _, large = episode(CongestionEnv(SHORT, most_segments=40), 1, 1.0)
    _, huge = episode(CongestionEnv(SHORT, most_segments=90), 1, 1.0)
    few, more, most = (info["result"].flow(0) for info in (small, large, huge))
    assert few.goodput_bps < 0.3 * more.goodput_bps and most.delay_s > 1.5 * more.delay_s
    assert huge["interval"].rtt_s > 2 * huge["interval"].min_rtt_s


def test_several_run_side_by_side():
    envs = SyncVectorEnv([lambda: CongestionEnv(SHORT)] * 2)
    first, _ = envs.reset(seed=[7, 8])
    alone, _ = CongestionEnv(SHORT).reset(seed=8)
    assert np.array_equal(first[1], alone)
    for _ in range(10):
        observations, *_ = envs.step(np.zeros((2, 1), np.float32))
    assert not np.array_equal(*observations)


def test_mistakes_have_a_path():
    with pytest.raises(tp.InputError, match="flow: the scenario lists no flow 1"):
        CongestionEnv(flow=1)
    with pytest.raises(tp.InputError, match="interval_s"):
        CongestionEnv(interval_s=0)
    with pytest.raises(tp.InputError, match="most_segments"):
        CongestionEnv(most_segments=1)
    with pytest.raises(tp.ScenarioError, match=r"network\.bottleneck\.rate"):
        CongestionEnv({**SHORT, "network": {"kind": "dumbbell", "bottleneck": {"rate": "x"}}})
    env = CongestionEnv({**SHORT, "duration": "100ms"})
    episode(env, 1, 0.0)
    with pytest.raises(RuntimeError, match="reset the environment"):
        env.step([0.0])


def test_the_example_learns_to_beat_reno():
    found = learn.main()
    assert found["learned"].flow(0).goodput_bps > 1.2 * found["reno"].flow(0).goodput_bps


@pytest.mark.parametrize("action", [np.array([np.nan]), np.array([np.inf]), np.array([0.1, 0.2]), [], "0.1", None])
def test_an_action_that_is_no_number_is_refused(action):
    env = CongestionEnv(SHORT)
    with pytest.raises(tp.InputError, match="before the first reset"):
        env.step([0.0])
    env.reset(seed=1)
    with pytest.raises(tp.InputError, match="is no change of the window"):
        env.step(action)
    env.step(0.1)
