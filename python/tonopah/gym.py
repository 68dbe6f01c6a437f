"""A Gymnasium environment: an agent sets the congestion window of one flow, interval by interval. Needs the extra `gym`."""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsFloat

try:
    import gymnasium
except ImportError as error:
    raise ImportError("tonopah.gym needs Gymnasium: pip install '.[gym]' in the checkout") from error
import numpy as np
from numpy.typing import NDArray

from tonopah._core import AGENT_FIELDS, AgentRun, ScenarioError
from tonopah.errors import InputError, relay
from tonopah.scenario.document import prepare, to_json
from tonopah.study.run import Result

AGENT = {"python": "tonopah.gym:Agent"}
"""What stands for the agent as `cc` of its flow."""
MOST = 1000.0
"""Upper bound of what is observed."""
DEFAULT = {
    "duration": "30s",
    "network": {
        "kind": "dumbbell",
        "pairs": 1,
        "bottleneck": {"rate": "10Mbps", "delay": "18ms", "queue": "66p", "loss": {"kind": "packet", "p": 0.005}},
    },
    "flow": [{"from": "left0", "to": "right0"}],
}
"""One flow over a link that loses a packet of 200."""

Observation = NDArray[np.float32]


@dataclass(frozen=True)
class Interval:
    """What happened between two steps, as the sender knows it."""

    now_s: float
    length_s: float
    mss_bytes: float
    cwnd_bytes: float
    """Window in force during the interval."""
    pipe_bytes: float
    """Estimate of the data in the network at its end (RFC 6675)."""
    min_rtt_s: float
    """Minimum RTT so far; NaN before the first sample, as `srtt_s` and `rtt_s`."""
    srtt_s: float
    acked_bytes: float
    lost_bytes: float
    sent_bytes: float
    marked_bytes: float
    rtt_s: float
    """Mean of the samples of the interval; that of the last one with samples if it has none."""
    timeouts: float

    @property
    def delivered_bps(self) -> float:
        """Bytes acknowledged in the interval, in bits per second."""
        return 8 * self.acked_bytes / self.length_s

    @property
    def lost_bps(self) -> float:
        """Bytes marked lost in the interval, in bits per second."""
        return 8 * self.lost_bytes / self.length_s


def throughput_less_delay(interval: Interval) -> float:
    """Return the default reward: Mb/s delivered, less twice the Mb/s lost, less one for each 10 ms above the minimum RTT."""
    waited_s = interval.rtt_s - interval.min_rtt_s
    return (interval.delivered_bps - 2 * interval.lost_bps) / 1e6 - (0.0 if math.isnan(waited_s) else waited_s / 0.01)


class CongestionEnv(gymnasium.Env[Observation, Observation]):
    """The congestion window of one flow as an environment; an episode is a run of a scenario.

    The action is a number from -1 to 1: the window becomes 2^action times as large, of at least two segments. It is in force
    from the next ACK on. Losses are repaired by the endpoint; recovery does not change the window.

    The observation has, of the last interval: segments acknowledged, lost, and sent; the mean RTT over the minimum RTT, less 1;
    the minimum RTT in units of 100 ms; the window and the pipe in segments; time-outs. Counts and windows are as log(1 + x).

    The same seed and actions give the same episode, bit for bit. The end of the run truncates the episode; then `info["result"]`
    is the result of the run.

    Parameters
    ----------
    scenario : str, path or mapping, optional
        A scenario (docs/generated/scenario.md); one flow over a lossy link if absent. Other flows have the algorithms that it
        gives them.
    flow : int
        Number of the flow in `flow` of the scenario whose window is set.
    interval_s : float
        Time between two steps, from the first segment that the flow sends.
    reward : callable, optional
        Function of an `Interval`; `throughput_less_delay` if absent.
    most_segments : int
        Upper bound of the window in segments. Windows of many times what the path holds make episodes slow: what is lost is sent
        again.

    Raises
    ------
    ScenarioError
        The scenario cannot be run; the error names the path of the key at fault.
    InputError
        There is no such flow, or a number is out of its range.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: str | Path | Mapping[str, Any] | None = None,
        flow: int = 0,
        interval_s: float = 0.05,
        reward: Callable[[Interval], SupportsFloat] = throughput_less_delay,
        most_segments: int = 500,
    ):
        if not 0.001 <= interval_s <= 1000:
            raise InputError("interval_s", f"{interval_s!r} is no time between two steps", "from 0.001 to 1000 s")
        plain, self._source = prepare(DEFAULT if scenario is None else scenario, None)
        self.world = deepcopy(dict(plain))
        flows = self.world.get("flow", [])
        if isinstance(flow, bool) or not isinstance(flow, int) or not 0 <= flow < len(flows):
            raise InputError("flow", f"the scenario lists no flow {flow!r}", "flows are listed as [[flow]]")
        flows[flow]["cc"] = AGENT
        if not 2 <= most_segments <= 1e6:
            raise InputError("most_segments", f"{most_segments!r} is no bound of a window", "from 2 to 1000000")
        self.most_segments = most_segments
        self.text, self.interval_s, self.reward_of = to_json(self.world), interval_s, reward
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(0.0, MOST, (8,), np.float32)
        self._start(1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin a new run, up to the end of the first interval; without a seed, with one that follows from the last.

        Returns
        -------
        (observation, info)
            `info["seed"]` is the seed of the run, for `tonopah.run`.
        """
        super().reset(seed=seed)
        self.seed = int(self.np_random.integers(2**63))
        self._start(self.seed)
        _, interval = self._advance(None)
        self.cwnd_bytes = 10 * interval.mss_bytes
        return self._observe(interval), {"seed": self.seed}

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Set the window and go on by an interval.

        Returns
        -------
        (observation, reward, terminated, truncated, info)
            `terminated` is always false; `truncated` when the run is over. `info["interval"]` is an `Interval`.
        """
        if not hasattr(self, "cwnd_bytes"):
            raise InputError("step", "there is no run before the first reset", "reset() begins one")
        values = np.asarray(action)
        given = float(values.reshape(-1)[0]) if values.size == 1 and values.dtype.kind in "biuf" else np.nan
        if not np.isfinite(given):
            raise InputError("action", f"{action!r} is no change of the window", "one number from -1 to 1")
        change = min(max(given, -1.0), 1.0)
        least, most = 2 * self.mss_bytes, self.most_segments * self.mss_bytes
        self.cwnd_bytes = min(max(self.cwnd_bytes * 2.0**change, least), most)
        over, interval = self._advance(self.cwnd_bytes)
        info: dict[str, Any] = {"interval": interval}
        if over:
            info["result"] = Result(self._steps.summary(), {})  # pyright: ignore[reportArgumentType]
        return self._observe(interval), self.reward_of(interval), False, over, info

    def _start(self, seed: int) -> None:
        try:
            self._steps = AgentRun(self.text, seed, self.interval_s)
        except ScenarioError as error:
            raise relay(error, self._source) from None
        self.now_s, self.rtt_s, self.mss_bytes = 0.0, np.nan, 1.0

    def _advance(self, cwnd_bytes: float | None) -> tuple[bool, Interval]:
        over, numbers = self._steps.advance(cwnd_bytes)
        found = dict(zip(AGENT_FIELDS, numbers, strict=True))
        total, samples = found.pop("rtt_sum_s"), found.pop("rtt_samples")
        if samples:
            self.rtt_s = total / samples
        length_s = max(found["now_s"] - self.now_s, 1e-9)
        self.now_s, self.mss_bytes = found["now_s"], found["mss_bytes"]
        return over, Interval(length_s=length_s, rtt_s=self.rtt_s, **found)

    def _observe(self, interval: Interval) -> Observation:
        mss = interval.mss_bytes or 1.0
        sizes = (interval.acked_bytes, interval.lost_bytes, interval.sent_bytes, self.cwnd_bytes, interval.pipe_bytes)
        acked, lost, sent, cwnd, pipe = (math.log1p(size / mss) for size in sizes)
        # Before the first sample of the RTT there is nothing to compare with.
        known = not math.isnan(interval.rtt_s)
        inflation, least = (interval.rtt_s / interval.min_rtt_s - 1, interval.min_rtt_s / 0.1) if known else (0.0, 0.0)
        inflation, least = min(max(inflation, 0.0), MOST), min(least, MOST)
        return np.array((acked, lost, sent, inflation, least, cwnd, pipe, math.log1p(interval.timeouts)), dtype=np.float32)
