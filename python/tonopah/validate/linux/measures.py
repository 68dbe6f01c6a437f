"""What is compared, and the goals. Every definition here stands in the page too (page.md.j2)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from tonopah.stats import holm, mean_interval, or_none, t_quantile
from tonopah.validate.frame import CaseResult, Check, close
from tonopah.validate.linux.flow_track import Episode, FlowTrack, episodes, grid, moved
from tonopah.validate.linux.packets import LoggedPacket, acked_s, retransmitted
from tonopah.validate.linux.recordings import LinuxCase
from tonopah.validate.linux.two_flows import TwoFlows, TwoFlowSide

WINDOW_ERROR = 0.05
STEADY = 0.05
STEADY_GOODPUT = 0.01
DRAWN_GOODPUT = 0.03
RANDOM_GOODPUT = 0.05
SHARE = 0.10
SIGNIFICANCE = 0.05
SEGMENTS = 1
RTTS = 1.0


@dataclass
class FlowResult:
    """One flow of a case on both sides: tracks on the common grid, and what was measured."""

    algorithm: str
    kernel: FlowTrack
    ours: FlowTrack
    window_error: float
    """mean |ours - kernel's window| / mean kernel's window, over the grid until completion."""
    window_ratio: float
    """Mean window, ours / kernel's."""
    goodput_bps: float
    kernel_goodput_bps: float
    retransmits: int
    kernel_retransmits: int
    episodes: list[Episode]
    kernel_episodes: list[Episode]

    @property
    def goodput_ratio(self) -> float:
        """Goodput, ours / kernel's."""
        return ratio(self.goodput_bps, self.kernel_goodput_bps)


@dataclass
class LinuxResult(CaseResult[LinuxCase]):
    """A case: its flows beside its goals."""

    flows: list[FlowResult] = field(default_factory=list)
    replicates: list[list[float]] = field(default_factory=list)
    """Goodput (bit/s) of each flow in each replicate."""
    beside: TwoFlows | None = None
    """Several recordings of two flows against our runs; of these no windows are compared."""


def ratio(a: float, b: float) -> float:
    """Return a / b; not a number where b is 0."""
    return a / b if b else math.nan


def compare_flow(algorithm: str, kernel: FlowTrack, ours: FlowTrack, until_s: float | None = None) -> FlowResult:
    """Return the measures of one flow, those of its window until `until_s`. Both sides are read at the same instants."""
    times = grid(kernel)
    k, o = kernel.at(times), ours.at(times)
    seen = times <= (times[-1] if until_s is None else until_s)
    theirs, mine = k.window[seen], o.window[seen]
    # Episodes and sums are read at the recording's own samples: what is too short to show there shows on neither side.
    sampled = ours.at(kernel.t_s)
    return FlowResult(
        algorithm, k, o,
        window_error=ratio(float(np.mean(np.abs(mine - theirs))), float(np.mean(theirs))),
        window_ratio=ratio(float(np.mean(mine)), float(np.mean(theirs))),
        goodput_bps=sampled.goodput_bps, kernel_goodput_bps=kernel.goodput_bps,
        retransmits=int(sampled.retransmits[-1]), kernel_retransmits=int(kernel.retransmits[-1]),
        episodes=episodes(sampled), kernel_episodes=episodes(kernel),
    )  # fmt: skip


def steady_checks(flow: FlowResult) -> list[Check]:
    """Return the goals of a flow that is alone and loses only by overflow of the queue."""
    ours, kernel = len(flow.episodes), len(flow.kernel_episodes)
    window, theirs = float(np.mean(flow.ours.window)), float(np.mean(flow.kernel.window))
    return [
        Check("mean window", segments(window), segments(theirs), "within 5 %", close(window, theirs, STEADY)),
        Check("loss episodes", str(ours), str(kernel), "within 5 %", close(ours, kernel, STEADY)),
        Check("goodput, Mb/s", mbps(flow.goodput_bps), mbps(flow.kernel_goodput_bps), "within 1 %",
              close(flow.goodput_bps, flow.kernel_goodput_bps, STEADY_GOODPUT)),
    ]  # fmt: skip


def drawn_checks(runs: Sequence[FlowTrack], kernel: FlowTrack) -> list[Check]:
    """Return the goals of an algorithm that draws: the kernel's run is one of many, as each of ours is.

    Windows are read on the grid, like everywhere: a recording has most samples where its own window changes, and a mean over
    those would weigh its recoveries more than ours.
    """
    times, found = grid(kernel), []
    for name, of, goal, tolerance in (
        ("mean window", lambda track: float(np.mean(track.at(times).window)), "5 %", STEADY),
        ("loss episodes", lambda track: float(len(episodes(track))), "5 %", STEADY),
        ("goodput, Mb/s", lambda track: track.goodput_bps / 1e6, "3 %", DRAWN_GOODPUT),
    ):
        mine, theirs = [of(run) for run in runs], of(kernel)
        (low, high), mean = next_run(mine), float(np.mean(mine))
        met = low <= theirs <= high or close(mean, theirs, tolerance)
        ours = f"{mean:.3f} ({low:.3f} – {high:.3f}), {len(mine)} seeds"
        found.append(Check(name, ours, f"{theirs:.3f}", f"in our interval or {goal}", met))
    return found


def scripted_checks(
    case: LinuxCase, flow: FlowResult, ours: Sequence[LoggedPacket], kernel: Sequence[LoggedPacket]
) -> list[Check]:
    """Return the goals of a flow that loses exactly the packets of a list."""
    a, b = retransmitted(list(ours)), retransmitted(list(kernel))
    same = sorted(a) == sorted(b)
    order = "" if a == b or not same else " (in another order)"
    found = [Check("segments retransmitted", numbers(a) + order, numbers(b), "the same", same)]
    found += after_recovery(flow)
    rtt = 2 * case.owd_ms / 1000
    mine, theirs = completion(case, flow.episodes, ours), completion(case, flow.kernel_episodes, kernel)
    apart = (mine - theirs) / rtt if mine is not None and theirs is not None else math.inf
    found.append(Check("completion", seconds(mine), seconds(theirs), "within 1 RTT", abs(apart) <= RTTS))
    error = flow.window_error
    found.append(Check("window error", f"{100 * error:.1f} %", "–", "at most 5 %", error <= WINDOW_ERROR))
    return found


def after_recovery(flow: FlowResult) -> list[Check]:
    """Return the goals for window and ssthresh at the end of each episode."""
    sides = (flow.episodes, flow.kernel_episodes)
    found = []
    for name, label in (("window", "cwnd"), ("ssthresh", "ssthresh")):
        mine, theirs = ([getattr(episode, name) for episode in side] for side in sides)
        met = len(mine) == len(theirs) and all(
            a == b or abs(a - b) <= SEGMENTS or (math.isnan(a) and math.isnan(b)) for a, b in zip(mine, theirs, strict=True)
        )
        found.append(Check(f"{label} after recovery", thresholds_text(mine), thresholds_text(theirs), "± 1 segment", met))
    return found


def completion(case: LinuxCase, found: Sequence[Episode], packets: Sequence[LoggedPacket]) -> float | None:
    """Return when all is repaired: the receiver acknowledges the last byte of data, or, without end, the last episode is over."""
    if case.bytes is not None:
        return acked_s(packets, case.bytes)
    return found[-1].end_s if found else None


def random_checks(flow: FlowResult, goodputs: Sequence[float]) -> list[Check]:
    """Return the goals of a flow with random losses.

    The kernel's goodput, one draw, is compared with the interval of our seeds; `flow`, which had the recorded losses, as
    one that loses by overflow.
    """
    found, kernel = mean_interval(goodputs), flow.kernel_goodput_bps
    low, high = found.low * (1 - RANDOM_GOODPUT), found.high * (1 + RANDOM_GOODPUT)
    ours = f"{mbps(found.value)} ({mbps(found.low)} – {mbps(found.high)}); seeds {mbps(min(goodputs))} – {mbps(max(goodputs))}"
    name = f"goodput of {len(goodputs)} seeds, Mb/s"
    seeds = Check(name, ours, mbps(kernel), "in our interval ± 5 %", low <= kernel <= high)
    return [seeds, *(replace(check, name=f"replay: {check.name}") for check in steady_checks(flow))]


def shared_checks(flows: Sequence[FlowResult], shares: Sequence[Sequence[float]], kernel: Sequence[float]) -> list[Check]:
    """Return the goals of flows that compete; `shares[k]` are those of our k-th replicate."""
    found = []
    for i, theirs in enumerate(kernel):
        mine = [share[i] for share in shares]
        low, high = next_run(mine)
        mean = float(np.mean(mine))
        met = low <= theirs <= high or close(mean, theirs, SHARE)
        ours = f"{100 * mean:.1f} % ({100 * low:.1f} – {100 * high:.1f})"
        name = f"share, flow {i} {flows[i].algorithm}"
        found.append(Check(name, ours, f"{100 * theirs:.1f} % (one draw)", "in our interval or 10 %", met))
    return found


def adjust_for_number(results: Sequence[LinuxResult]) -> None:
    """Set the goals of the cases with several recordings: their p values are adjusted for the number of these cases."""
    several = [(result, result.beside) for result in results if result.beside is not None]
    adjusted = holm([found.p for _, found in several])
    for (result, found), p in zip(several, adjusted, strict=True):
        found.p_adjusted = p
        result.checks = beside_checks(result.case.algorithm(0), found, len(several))


def beside_checks(algorithm: str, found: TwoFlows, tests: int) -> list[Check]:
    """Return the goals of an algorithm beside another one that was recorded several times; `tests` cases were adjusted for."""
    ours, kernel = found.ours.mean_goodput_bps, found.kernel.mean_goodput_bps
    name = f"share of {algorithm}, %: p = {found.p_adjusted:.3f} (Holm, {tests})"
    return [
        Check(name, share_text(found.ours), share_text(found.kernel), f"p ≥ {SIGNIFICANCE:g}", found.p_adjusted >= SIGNIFICANCE),
        Check("goodput of both, Mb/s", mbps(ours), mbps(kernel), "within 1 %", close(ours, kernel, STEADY_GOODPUT)),
    ]


def share_text(side: TwoFlowSide) -> str:
    """Return mean and range of the shares of one side."""
    low, high = side.share_range
    return f"{100 * side.mean_share:.1f} ({100 * low:.1f} – {100 * high:.1f}); {side.count} runs"


def next_run(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval for one further run: mean ± t · s · √(1 + 1/n) (Hahn and Meeker, Statistical Intervals, §4.7)."""
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    half = t_quantile(0.975, n - 1) * float(np.std(values, ddof=1)) * math.sqrt(1 + 1 / n)
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def shares_of(tracks: Sequence[FlowTrack]) -> list[float]:
    """Return each flow's part of all payload acknowledged while all of them were there."""
    payload, _ = moved(tracks)
    return [ratio(x, sum(payload)) for x in payload]


def mbps(value: float) -> str:
    """Return a rate in Mb/s."""
    return f"{value / 1e6:.3f}"


def segments(value: float) -> str:
    """Return a window in segments."""
    return f"{value:.1f}"


def seconds(value: float | None) -> str:
    """Return an instant."""
    return "never" if value is None else f"{value:.3f} s"


def thresholds_text(values: Sequence[float]) -> str:
    """Return numbers of segments."""
    return ", ".join("not set" if math.isnan(value) else f"{value:.1f}".removesuffix(".0") for value in values) or "no episode"


def numbers(values: Sequence[int], most: int = 8) -> str:
    """Return numbers of segments in their order: neighbours as a range, the first ones if there are many."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    shown = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs[:most])
    return f"{shown}, … ({len(values)} in all)" if len(runs) > most else shown or "none"


def facts(result: LinuxResult) -> dict[str, Any]:
    """Return what a program is told of a result beside its goals."""
    return {
        "kind": result.case.kind,
        "flows": [flow_json(flow) for flow in result.flows],
        "replicate_goodput_bps": result.replicates,
        "recordings": len(result.case.recorded),
        "beside": None if result.beside is None else asdict(result.beside),
    }


def flow_json(flow: FlowResult) -> dict[str, Any]:
    """Return a flow's measures as data of JSON; not-a-number becomes null."""
    names = ("algorithm", "window_error", "window_ratio", "goodput_ratio", "goodput_bps", "kernel_goodput_bps",
             "retransmits", "kernel_retransmits")  # fmt: skip
    found = {name: or_none(getattr(flow, name)) for name in names}
    for name in ("episodes", "kernel_episodes"):
        found[name] = [{key: or_none(value) for key, value in vars(episode).items()} for episode in getattr(flow, name)]
    return found
