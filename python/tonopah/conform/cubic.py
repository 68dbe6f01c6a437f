"""Cases of CUBIC, RFC 9438.

The curve W(t) = C (t - K)^3 + Wmax, K = cbrt((Wmax - w0) / C), is compared from the end of recovery, where the window is w0. V is
a link of 100 Mb/s, 50 ms, with a queue of 3000 packets, on which nothing is lost but what a case loses. Windows are in segments.
"""

import math
from typing import Any

import numpy as np

from tonopah.conform.case import Spec, Trial
from tonopah.conform.observed import LOSS, Observed, Stay
from tonopah.conform.words import DeviatesError
from tonopah.conform.worlds import MSS, change, outage, script, world

SPEC = Spec("rfc9438", "CUBIC", "RFC 9438, August 2023", "cubic")
case = SPEC.case
C, BETA = 0.4, 0.7
ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""Growth of the window that Reno would have, a segment in each round trip (4.3)."""
POINTS = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2)


def v(
    delay: str = "50ms", queue: int = 3000, seconds: float = 20, losses: tuple[int, ...] = (700,), **more: Any
) -> dict[str, Any]:
    """Return V, in which these packets are lost."""
    loss = {"kind": "nth", "data_packets": list(losses)}
    return world("100Mbps", delay, queue, seconds=seconds, loss=loss, **more)


def recovery(t: Trial, run: Observed, number: int = 0) -> Stay:
    """Return an episode of recovery that ends."""
    found = [stay for stay in run.recoveries() if math.isfinite(stay.end)]
    t.binds(len(found) > number, f"{len(found)} recoveries end, {number + 1} are needed")
    return found[number]


def segments(run: Observed, name: str, at: float) -> float:
    """Return a number of bytes in segments."""
    return run.at(name, at) / run.mss


def before(run: Observed, stay: Stay) -> float:
    """Return the window before an episode, in segments."""
    return run.before("cwnd", stay.begin) / run.mss


def in_flight(run: Observed, stay: Stay) -> float:
    """Return the data in flight before an episode, in segments.

    That is the most in the round trip before, since what is reported no longer counts; at most the window, which a probe for
    the tail goes beyond.
    """
    begin = float(np.nextafter(stay.begin, 0))
    most = float(np.max(run.held("pipe", stay.begin - run.at("srtt", stay.begin), begin)))
    return min(most / run.mss, max(before(run, stay), 1))


def round_trips(run: Observed, start: float, end: float) -> float:
    """Return how many round trips a stretch of time has."""
    times, rtts = run.changes("rtt", start, end)
    edges = np.concatenate([[start], times, [end]])
    held = np.concatenate([[run.at("rtt", start)], rtts])
    return float(np.sum(np.diff(edges) / held))


def curve(t: Trial, run: Observed) -> None:
    """Hold the window against the curve; where Reno's is larger, it has no say."""
    stay = recovery(t, run)
    w_max, w0 = before(run, stay), segments(run, "cwnd", stay.end)
    k = math.cbrt(max(w_max - w0, 0) / C)
    t.binds(k > 0.5, f"K is {k:.2f} s")
    for x in POINTS:
        at = stay.end + x * k
        wanted = C * (x * k - k) ** 3 + w_max
        if at < float(run.scenario["duration"].removesuffix("s")) and w0 + ALPHA * round_trips(run, stay.end, at) < wanted:
            width = max(0.005 * wanted, 1.5)
            t.check(f"cwnd_at_{x:g}_K".replace(".", "_"), segments(run, "cwnd", at), wanted - width, wanted + width, at)


@case("c1", "a loss", "4.6")
def _(t: Trial) -> None:
    run = t.run(v())
    stay = recovery(t, run)
    wanted = BETA * in_flight(run, stay)
    for name in ("ssthresh", "cwnd"):
        t.check(name, segments(run, name, stay.end), wanted - 1, wanted + 1, stay.begin)
    windows = run.held("cwnd", stay.begin, stay.end) / MSS
    t.check("least_cwnd", float(np.min(windows)), wanted - 1, None, stay.end)


@case("c2", "the curve", "4.2")
def _(t: Trial) -> None:
    curve(t, t.run(v()))


@case("c3", "growth by time, not by RTT", "4.2")
def _(t: Trial) -> None:
    curve(t, t.run(v("25ms")))


@case("c4", "as fast as Reno", "4.3")
def _(t: Trial) -> None:
    run = t.run(v("5ms", 5000, 12, (60,)))
    stay = recovery(t, run)
    reached = run.first("cwnd", before(run, stay) * MSS, stay.end)
    if not math.isfinite(reached) or reached > 10:
        raise DeviatesError("the window does not reach that before the loss in 10 s")
    grown = segments(run, "cwnd", reached) - segments(run, "cwnd", stay.end)
    t.near("segments_per_rtt", grown / round_trips(run, stay.end, reached), ALPHA, 0.08, reached)
    grown = segments(run, "cwnd", reached + 2) - segments(run, "cwnd", reached)
    t.check("segments_per_rtt_then", grown / round_trips(run, reached, reached + 2), 0.92, 1.15, reached + 2)


@case("c5", "fast convergence", "4.7")
def _(t: Trial) -> None:
    base = t.run(v())
    later = base.sent_packets(recovery(t, base).end + 2)
    run = t.run(v(losses=(700, later)))
    stay = recovery(t, run, 1)
    window, w0 = before(run, stay), segments(run, "cwnd", stay.end)
    t.binds(window < before(run, recovery(t, run)), "the second window is not below the first")
    at = stay.end + math.cbrt((0.85 * window - w0) / C) if w0 < 0.85 * window else stay.end
    t.near("share_at_K", segments(run, "cwnd", at) / window, 0.85, 0.01, at)


@case("c6", "a time-out", "4.8")
def _(t: Trial) -> None:
    run = t.run(world("100Mbps", "50ms", 3000, seconds=40, tcp={"initial_ssthresh": "500p"}, **outage(1.5, 2.5)))
    found = run.recoveries(1.5, LOSS)
    t.binds(bool(found) and math.isfinite(found[0].end), "no time-out is overcome")
    begin = found[0].begin
    t.check("loss_window", segments(run, "cwnd", begin), 1, 1, begin)
    wanted = BETA * in_flight(run, found[0])
    t.check("ssthresh", segments(run, "ssthresh", begin), wanted - 1, wanted + 1, begin)
    start = run.first("cwnd", run.at("ssthresh", found[-1].end), found[-1].end)
    t.binds(math.isfinite(start) and start < 30, "slow start does not reach the threshold in 30 s")
    w0 = segments(run, "cwnd", start)
    shares = []
    for age in range(1, 9):
        reno = w0 + ALPHA * round_trips(run, start, start + age)
        shares.append(segments(run, "cwnd", start + age) / max(w0 + C * age**3, reno))
    worst = int(np.argmax(np.abs(np.array(shares) - 1)))
    t.near("share_of_curve", shares[worst], 1, 0.015, start + 1 + worst)


@case("c7", "a spurious loss is undone", "4.9")
def _(t: Trial) -> None:
    base = t.run(v())
    at = recovery(t, base).end + 2
    run = t.run(v(changes=[change(at, delay="120ms", overtake=True), change(at + 0.002, delay="50ms", overtake=True)]))
    found = run.recoveries(at)
    t.binds(bool(found) and math.isfinite(found[0].end), "no recovery begins and ends")
    t.binds(run.flow["dropped_packets"] == 1, "more is lost than what the case loses")
    stay = found[0]
    back = stay.end + run.at("srtt", stay.end)
    for name in ("cwnd", "ssthresh"):
        wanted = run.before(name, stay.begin) / MSS
        windows = run.held(name, stay.end, back) / MSS
        nearest = float(windows[np.argmin(np.abs(windows - wanted))])
        t.check(name, nearest, wanted - 1, wanted + 1, back)
    t.near("share_of_undisturbed", run.at("cwnd", stay.end + 2) / base.at("cwnd", stay.end + 2), 1, 0.02, stay.end + 2)


@case("c8", "limited by the application", "5.8, RFC 7661")
def _(t: Trial) -> None:
    base = t.run(v())
    end = recovery(t, base).end
    app = script((0, base.sent(end)), (end, MSS, MSS * 8 / 10e6, 40))
    run = t.run(v(app=app, tcp={"cwnd_validation": True}))
    t.check("share_10_s_later", run.at("cwnd", end + 10) / run.at("cwnd", end), None, 1.02, end + 10)


@case("c9", "marks down to one segment", "4.6, RFC 3168 6.1.2")
def _(t: Trial) -> None:
    marked: dict[str, Any] = {"marks": {"kind": "packet", "p": 1.0}}
    run = t.run(world("10Mbps", "48ms", 100, tcp={"ecn": "classic"}, seconds=20, **marked))
    times, windows = run.changes("cwnd")
    first = run.recoveries(least=2)
    t.binds(bool(first), "marks reduce nothing")
    t.check("least_cwnd", float(np.min(windows)) / MSS, None, 1, float(times[np.argmin(windows)]))
    falls = times[1:][np.diff(windows) < 0]
    falls = falls[falls <= times[np.argmin(windows)]]
    gaps = np.diff(falls) / run.sampled("srtt", falls[1:]) if len(falls) > 1 else np.array([1.0])
    t.check("least_rtts_between", float(np.min(gaps)), 0.9, None, float(falls[1 + np.argmin(gaps)]) if len(falls) > 1 else None)


@case("c10", "at most half in a round trip", "4.2")
def _(t: Trial) -> None:
    base = t.run(v())
    end = recovery(t, base).end
    run = t.run(v(seconds=40, app=script((0, base.sent(end)), (end + 20, 250e6))))
    times, windows = run.changes("cwnd", end + 20)
    grow = run.sampled("ssthresh", times) <= windows
    t.binds(bool(np.any(grow)), "no congestion avoidance after the pause")
    times, windows = times[grow], windows[grow]
    later = run.sampled("cwnd", np.minimum(times + run.sampled("srtt", times), times[-1]))
    ratios = later / windows
    t.check("growth_per_rtt", float(np.max(ratios)), None, 1.5, float(times[np.argmax(ratios)]))


@case("c11", "least windows", "4.2, 4.6")
def _(t: Trial) -> None:
    loss = {"kind": "packet", "p": 0.2}
    run = t.run(world("1Mbps", "5ms", 2, seconds=60, loss=loss))
    t.binds(bool(run.recoveries()), "nothing is lost")
    for name, least in (("cwnd", 1), ("ssthresh", 2)):
        times, values = run.column(name)
        known = ~np.isnan(values) if name == "ssthresh" else np.full(len(values), True)
        # Lower than every window: one that is no number.
        low = np.nan_to_num(values[known], nan=-1.0)
        t.check(f"least_{name}", float(np.min(low)) / MSS, least, None, float(times[known][np.argmin(low)]))
